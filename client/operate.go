package client

import (
	"cmp"
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Selector chooses semaphores by their definitions. Names and Labels must both match. One of Names, Labels and All must
// be set.
type Selector struct {
	// Names are names, or globs such as "nightly-*". A plain name that has no definition fails with a
	// *NoSuchDefinitionError.
	Names []string
	// Labels are conditions on labels, such as "team=data".
	Labels string
	// All chooses every definition.
	All bool
}

func (s Selector) message() *gatekeeperv1.Selector {
	return &gatekeeperv1.Selector{Names: s.Names, Labels: s.Labels, All: s.All}
}

// signature is who makes a change, and which request it is.
type signature struct {
	author, requestID *string
	revision          *uint64
}

// operate makes a change, with the defaults of its signature. With an id that it draws it sends the newest revision
// that the Client had seen, as acquisitions do: then the change is not made twice, however late a repeat arrives. A
// first attempt may look too old only because the Client has asked for nothing for long, so it is made again under a
// new id.
func operate[M, R any](
	ctx context.Context, c *Client, m *M, by signature,
	method func(gatekeeperv1.OperatorServiceClient, context.Context, *M, ...grpc.CallOption) (*R, error),
) (*R, error) {
	*by.author = cmp.Or(*by.author, c.settings.defaults.acquirer)
	if *by.requestID != "" {
		return method(c.Operator(), ctx, m) // the application knows how old it is
	}
	for *by.revision = c.seen.Load(); ; {
		*by.requestID = NewRequestID()
		reply, err := method(c.Operator(), ctx, m)
		if r, ok := any(reply).(interface{ GetRevision() uint64 }); ok && err == nil {
			c.saw(r.GetRevision())
		}
		revision, tooOld := tooOldSince(err)
		if !tooOld || revision <= *by.revision || errors.Is(err, ErrOutcomeUnknown) {
			return reply, err
		}
		c.saw(revision)
		*by.revision = revision
	}
}

// MoveRequest moves work from one group to another: see Client.Move.
type MoveRequest struct {
	Selector           Selector
	FromGroup, ToGroup string
	// Drain is for how long holders in the old group may continue, from 0 to 24 h. With 0 their next refresh is
	// refused.
	Drain time.Duration
	// DryRun only answers what the move would do.
	DryRun bool
	// Expected is the Digest of the answer to a dry run. The move fails with a *ChangedSinceError if it would do
	// something else now. Empty: it does whatever it does now.
	Expected string
	// Author and Reason are journaled. Author is the Client's acquirer by default.
	Author, Reason string
	// RequestID is drawn for each call by default; see Client.Move.
	RequestID string
}

// Move lets the chosen definitions that admit FromGroup admit ToGroup instead, in one change that is undone as one;
// definitions that do not admit FromGroup stay as they are. The answer says what was moved and what was not, which
// holders must stop, and why the move may be a mistake (Doubts, Mistake): Move itself only refuses what cannot be done.
// Change is 0 when nothing was moved, for example because no definition admits FromGroup; Mistake then says which word
// is likely wrong. To show a person what a move would do, and then do that or nothing, make a dry run, and then the
// move with its Digest as Expected.
//
// The move is made once, however often the call is retried. An application that repeats it after an unknown outcome
// gives both calls the same RequestID: then the second gets the answer of the first. Servers remember a request for at
// least 10 minutes, so bound ctx. A retry that comes later than that is refused if the Client drew the id and has seen
// a revision: the outcome is unknown then (ErrOutcomeUnknown). This holds for Pause, Resume, Cordon and Uncordon too.
//
// The error is a *ChangedSinceError, a *NoSuchDefinitionError, a *NothingChosenError, an *InvalidFieldError, or one
// that every call has.
func (c *Client) Move(ctx context.Context, req MoveRequest) (*gatekeeperv1.MoveResponse, error) {
	m := &gatekeeperv1.MoveRequest{
		Selector: req.Selector.message(), FromGroup: req.FromGroup, ToGroup: req.ToGroup, Drain: drain(req.Drain), DryRun: req.DryRun,
		Expected: req.Expected, Author: req.Author, Reason: req.Reason, RequestId: req.RequestID,
	}
	return operate(ctx, c, m, signature{&m.Author, &m.RequestId, &m.RequestRevision}, gatekeeperv1.OperatorServiceClient.Move)
}

// End says when a pause or a cordon ends. The zero value: not before someone ends it. At most one field is set.
type End struct {
	// At is an instant, by the leader's clock.
	At time.Time
	// After is a time from the moment at which the request is carried out.
	After time.Duration
}

// PauseRequest pauses semaphores: see Client.Pause.
type PauseRequest struct {
	Selector Selector
	End      End
	// Stop makes holders stop too. Without it, they keep their permits.
	Stop bool
	// Drain is for how long holders may continue that must stop, from 0 to 24 h. Only with Stop.
	Drain time.Duration
	// KeepPaused leaves the pauses of semaphores that are paused already. Without it, this pause replaces them.
	KeepPaused bool
	// Expected is the Digest of a Preview of this request. The pause fails with a *ChangedSinceError if the selector
	// chooses other definitions now, or the definitions or their pauses have changed. Empty: it pauses whatever the
	// selector chooses now.
	Expected string
	// Author and Reason are journaled. Author is the Client's acquirer by default.
	Author, Reason string
	// RequestID is drawn for each call by default; see Client.Move.
	RequestID string
}

func (r PauseRequest) message() (*gatekeeperv1.PauseRequest, error) {
	m := &gatekeeperv1.PauseRequest{
		Selector: r.Selector.message(), Stop: r.Stop, Drain: drain(r.Drain), KeepPaused: r.KeepPaused, Expected: r.Expected,
		Author: r.Author, Reason: r.Reason, RequestId: r.RequestID,
	}
	switch {
	case !r.End.At.IsZero():
		m.End = &gatekeeperv1.PauseRequest_Until{Until: timestamppb.New(r.End.At)}
	case r.End.After != 0:
		m.End = &gatekeeperv1.PauseRequest_Lasts{Lasts: durationpb.New(r.End.After)}
	}
	return m, r.End.check()
}

// Pause makes the chosen semaphores grant no permits until the pause ends, by its End or by Resume. Callers keep their
// places in the queue. The change is one, and is undone as one.
//
// The error is a *ChangedSinceError, a *NoSuchDefinitionError, a *NothingChosenError, an *InvalidFieldError, or one
// that every call has.
func (c *Client) Pause(ctx context.Context, req PauseRequest) (*gatekeeperv1.PauseResponse, error) {
	m, err := req.message()
	if err != nil {
		return nil, err
	}
	return operate(ctx, c, m, signature{&m.Author, &m.RequestId, &m.RequestRevision}, gatekeeperv1.OperatorServiceClient.Pause)
}

// ResumeRequest ends pauses: see Client.Resume.
type ResumeRequest struct {
	Selector Selector
	// Change ends only the pauses that this change has set. 0: whichever change set them.
	Change uint64
	// Expected is the Digest of a Preview of this request; see PauseRequest.
	Expected string
	// Author and Reason are journaled. Author is the Client's acquirer by default.
	Author, Reason string
	// RequestID is drawn for each call by default; see Client.Move.
	RequestID string
}

func (r ResumeRequest) message() *gatekeeperv1.ResumeRequest {
	return &gatekeeperv1.ResumeRequest{
		Selector: r.Selector.message(), Change: r.Change, Expected: r.Expected, Author: r.Author, Reason: r.Reason, RequestId: r.RequestID,
	}
}

// Resume ends the pauses of the chosen semaphores. Those that are not paused stay as they are; the answer names the
// others. The error is as Pause's; but to resume all where there is no definition succeeds.
func (c *Client) Resume(ctx context.Context, req ResumeRequest) (*gatekeeperv1.ResumeResponse, error) {
	m := req.message()
	return operate(ctx, c, m, signature{&m.Author, &m.RequestId, &m.RequestRevision}, gatekeeperv1.OperatorServiceClient.Resume)
}

// CordonRequest shuts callers out: see Client.Cordon.
type CordonRequest struct {
	// ID names the cordon. A cordon with the same id is replaced. Default: one that follows from the patterns.
	ID string
	// GroupPattern and AcquirerPattern are RE2 expressions that match whole names. A caller that matches either is shut
	// out. One is required.
	GroupPattern, AcquirerPattern string
	End                           End
	// Drain is for how long holders may continue that match, from 0 to 24 h.
	Drain time.Duration
	// Author and Reason are journaled. Author is the Client's acquirer by default.
	Author, Reason string
	// RequestID is drawn for each call by default; see Client.Move.
	RequestID string
}

func (r CordonRequest) message() (*gatekeeperv1.CordonRequest, error) {
	m := &gatekeeperv1.CordonRequest{
		Id: r.ID, GroupPattern: r.GroupPattern, AcquirerPattern: r.AcquirerPattern, Drain: drain(r.Drain),
		Author: r.Author, Reason: r.Reason, RequestId: r.RequestID,
	}
	switch {
	case !r.End.At.IsZero():
		m.End = &gatekeeperv1.CordonRequest_Until{Until: timestamppb.New(r.End.At)}
	case r.End.After != 0:
		m.End = &gatekeeperv1.CordonRequest_Lasts{Lasts: durationpb.New(r.End.After)}
	}
	return m, r.End.check()
}

// Cordon shuts groups or acquirers out of every semaphore until the cordon ends, by its End or by Uncordon. Holders
// that match must stop. The answer has the cordon's id. The error is an *InvalidFieldError, or one that every call has.
func (c *Client) Cordon(ctx context.Context, req CordonRequest) (*gatekeeperv1.CordonResponse, error) {
	m, err := req.message()
	if err != nil {
		return nil, err
	}
	return operate(ctx, c, m, signature{&m.Author, &m.RequestId, &m.RequestRevision}, gatekeeperv1.OperatorServiceClient.Cordon)
}

// UncordonRequest ends a cordon: see Client.Uncordon.
type UncordonRequest struct {
	ID string
	// Author and Reason are journaled. Author is the Client's acquirer by default.
	Author, Reason string
	// RequestID is drawn for each call by default; see Client.Move.
	RequestID string
}

// Uncordon ends a cordon. The error is a *NoSuchCordonError, or one that every call has.
func (c *Client) Uncordon(ctx context.Context, req UncordonRequest) (*gatekeeperv1.UncordonResponse, error) {
	m := &gatekeeperv1.UncordonRequest{Id: req.ID, Author: req.Author, Reason: req.Reason, RequestId: req.RequestID}
	return operate(ctx, c, m, signature{&m.Author, &m.RequestId, &m.RequestRevision}, gatekeeperv1.OperatorServiceClient.Uncordon)
}

// Previewable is a request of which Preview says what it would do: a PauseRequest, a ResumeRequest or a CordonRequest.
// A MoveRequest has DryRun instead.
type Previewable interface {
	preview() (*gatekeeperv1.PreviewRequest, error)
}

func (r PauseRequest) preview() (*gatekeeperv1.PreviewRequest, error) {
	m, err := r.message()
	return &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Pause{Pause: m}}, err
}

func (r ResumeRequest) preview() (*gatekeeperv1.PreviewRequest, error) {
	return &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Resume{Resume: r.message()}}, nil
}

func (r CordonRequest) preview() (*gatekeeperv1.PreviewRequest, error) {
	m, err := r.message()
	return &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Cordon{Cordon: m}}, err
}

// Preview answers what a request would do, and changes nothing: which holders must stop, who is shut out, and why a
// person should agree first (Confirm). Its Digest is for Expected of the same request. The error is as that of the
// request.
func (c *Client) Preview(ctx context.Context, req Previewable) (*gatekeeperv1.PreviewResponse, error) {
	m, err := req.preview()
	if err != nil {
		return nil, err
	}
	return c.Operator().Preview(ctx, m)
}

// check refuses an End that the API's message cannot hold.
func (e End) check() error {
	if !e.At.IsZero() && e.After != 0 {
		return invalidField("end", e.After.String(), "must not have both a time and a duration")
	}
	return nil
}

func drain(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}
