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

// Selector selects semaphores by their definitions. A definition must match both Names and Labels. One of Names, Labels
// and All must be set.
type Selector struct {
	// Names lists names, or globs such as "nightly-*". If a plain name has no definition, the call fails with a
	// *NoSuchDefinitionError.
	Names []string
	// Labels are conditions on labels, such as "team=data".
	Labels string
	// All selects every definition.
	All bool
}

func (s Selector) message() *gatekeeperv1.Selector {
	return &gatekeeperv1.Selector{Names: s.Names, Labels: s.Labels, All: s.All}
}

// signature contains pointers to the fields of a request that identify its author and the request itself.
type signature struct {
	author, requestID *string
	revision          *uint64
}

// operate fills in a change's signature and makes the change. If it generates the request id, it also sends the newest
// revision that the Client has seen, as acquisitions do, so that the change is made only once, however late a retry
// arrives. A first attempt may look too old merely because the Client has not made a call for a long time. If so,
// operate retries the change with a new id.
func operate[M, R any](
	ctx context.Context, c *Client, m *M, by signature,
	method func(gatekeeperv1.OperatorServiceClient, context.Context, *M, ...grpc.CallOption) (*R, error),
) (*R, error) {
	*by.author = cmp.Or(*by.author, c.settings.defaults.acquirer)
	if *by.requestID != "" {
		return method(c.Operator(), ctx, m) // only the application knows how old the request is
	}
	for *by.revision = c.seen.Load(); ; {
		*by.requestID = NewRequestID()
		reply, err := method(c.Operator(), ctx, m)
		if r, ok := any(reply).(interface{ GetRevision() uint64 }); ok && err == nil {
			c.observe(r.GetRevision())
		}
		revision, tooOld := tooOldSince(err)
		if !tooOld || revision <= *by.revision || errors.Is(err, ErrOutcomeUnknown) {
			return reply, err
		}
		c.observe(revision)
		*by.revision = revision
	}
}

// MoveRequest is a request to move work from one group to another; see Client.Move.
type MoveRequest struct {
	Selector           Selector
	FromGroup, ToGroup string
	// Drain is how long holders in the old group may continue, from 0 to 24 h. With 0, their next refresh is refused.
	Drain time.Duration
	// DryRun reports what the move would do, without changing anything.
	DryRun bool
	// Expected is the Digest from a dry run's response. The move fails with a *ChangedSinceError if its effect would
	// differ now. If Expected is empty, this is not checked.
	Expected string
	// Author and Reason are written to the journal. Author defaults to the Client's acquirer.
	Author, Reason string
	// RequestID defaults to a new id for each call; see Client.Move.
	RequestID string
}

// Move changes the selected definitions that admit FromGroup to admit ToGroup instead, in a single change that can be
// undone as a whole. Definitions that do not admit FromGroup are not changed. The response lists what was moved and
// what was not, the holders that must stop, and reasons why the move may be a mistake (Doubts, Mistake). Move itself
// rejects only impossible changes. Change is 0 if nothing was moved, for example because no definition admits
// FromGroup. Mistake then names the argument that is probably wrong. To ask for confirmation before a move, do a dry
// run first, then make the move with the dry run's Digest as Expected.
//
// The move is made only once, even if the call is retried. An application that retries it after an unknown outcome
// must use the same RequestID for both calls. The second call then returns the same response as the first. Servers
// remember a request for at least 10 minutes, so set a deadline for ctx. A later retry is refused with
// ErrOutcomeUnknown if the Client generated the id and has seen a revision. All of this also applies to Pause, Resume,
// Cordon and Uncordon.
//
// The error is a *ChangedSinceError, a *NoSuchDefinitionError, a *NoMatchError, an *InvalidFieldError, or an
// error that any call can return.
func (c *Client) Move(ctx context.Context, req MoveRequest) (*gatekeeperv1.MoveResponse, error) {
	m := &gatekeeperv1.MoveRequest{
		Selector: req.Selector.message(), FromGroup: req.FromGroup, ToGroup: req.ToGroup, Drain: drain(req.Drain), DryRun: req.DryRun,
		Expected: req.Expected, Author: req.Author, Reason: req.Reason, RequestId: req.RequestID,
	}
	return operate(ctx, c, m, signature{&m.Author, &m.RequestId, &m.RequestRevision}, gatekeeperv1.OperatorServiceClient.Move)
}

// End specifies when a pause or a cordon ends. With the zero value, it lasts until someone ends it. At most one field
// may be set.
type End struct {
	// At is a time on the leader's clock.
	At time.Time
	// After is a duration that starts when the request is applied.
	After time.Duration
}

// PauseRequest is a request to pause semaphores; see Client.Pause.
type PauseRequest struct {
	Selector Selector
	End      End
	// Stop also makes the holders stop. Without it, they keep their permits.
	Stop bool
	// Drain is how long holders that must stop may continue, from 0 to 24 h. It requires Stop.
	Drain time.Duration
	// KeepPaused leaves the pauses of semaphores that are already paused unchanged. Without it, this pause replaces
	// them.
	KeepPaused bool
	// Expected is the Digest from a Preview of this request. The pause fails with a *ChangedSinceError if the selector
	// now matches different definitions, or if the definitions or their pauses have changed. If Expected is empty, this
	// is not checked.
	Expected string
	// Author and Reason are written to the journal. Author defaults to the Client's acquirer.
	Author, Reason string
	// RequestID defaults to a new id for each call; see Client.Move.
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
		m.End = &gatekeeperv1.PauseRequest_Duration{Duration: durationpb.New(r.End.After)}
	}
	return m, r.End.check()
}

// Pause stops the selected semaphores from granting permits until the pause ends, either at its End or through Resume.
// Callers keep their places in the queue. A pause is a single change that can be undone as a whole.
//
// The error is a *ChangedSinceError, a *NoSuchDefinitionError, a *NoMatchError, an *InvalidFieldError, or an
// error that any call can return.
func (c *Client) Pause(ctx context.Context, req PauseRequest) (*gatekeeperv1.PauseResponse, error) {
	m, err := req.message()
	if err != nil {
		return nil, err
	}
	return operate(ctx, c, m, signature{&m.Author, &m.RequestId, &m.RequestRevision}, gatekeeperv1.OperatorServiceClient.Pause)
}

// ResumeRequest is a request to end pauses; see Client.Resume.
type ResumeRequest struct {
	Selector Selector
	// Change selects only the pauses that were set by the change with this revision. With 0, it selects all pauses.
	Change uint64
	// Expected is the Digest from a Preview of this request; see PauseRequest.
	Expected string
	// Author and Reason are written to the journal. Author defaults to the Client's acquirer.
	Author, Reason string
	// RequestID defaults to a new id for each call; see Client.Move.
	RequestID string
}

func (r ResumeRequest) message() *gatekeeperv1.ResumeRequest {
	return &gatekeeperv1.ResumeRequest{
		Selector: r.Selector.message(), Change: r.Change, Expected: r.Expected, Author: r.Author, Reason: r.Reason, RequestId: r.RequestID,
	}
}

// Resume ends the pauses of the selected semaphores. Semaphores that are not paused are not changed. The response lists
// the resumed semaphores. The errors are the same as for Pause, except that a selector with All succeeds even if there
// are no definitions.
func (c *Client) Resume(ctx context.Context, req ResumeRequest) (*gatekeeperv1.ResumeResponse, error) {
	m := req.message()
	return operate(ctx, c, m, signature{&m.Author, &m.RequestId, &m.RequestRevision}, gatekeeperv1.OperatorServiceClient.Resume)
}

// CordonRequest is a request to exclude callers; see Client.Cordon.
type CordonRequest struct {
	// ID names the cordon. An existing cordon with the same id is replaced. The default is derived from the patterns.
	ID string
	// GroupPattern and AcquirerPattern are RE2 expressions that must match the whole name. A caller that matches either
	// of them is excluded. At least one is required.
	GroupPattern, AcquirerPattern string
	End                           End
	// Drain is how long matching holders may continue, from 0 to 24 h.
	Drain time.Duration
	// Author and Reason are written to the journal. Author defaults to the Client's acquirer.
	Author, Reason string
	// RequestID defaults to a new id for each call; see Client.Move.
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
		m.End = &gatekeeperv1.CordonRequest_Duration{Duration: durationpb.New(r.End.After)}
	}
	return m, r.End.check()
}

// Cordon excludes groups or acquirers from every semaphore until the cordon ends, either at its End or through
// Uncordon. Matching holders must stop. The response contains the cordon's id. The error is an *InvalidFieldError, or
// an error that any call can return.
func (c *Client) Cordon(ctx context.Context, req CordonRequest) (*gatekeeperv1.CordonResponse, error) {
	m, err := req.message()
	if err != nil {
		return nil, err
	}
	return operate(ctx, c, m, signature{&m.Author, &m.RequestId, &m.RequestRevision}, gatekeeperv1.OperatorServiceClient.Cordon)
}

// UncordonRequest is a request to end a cordon; see Client.Uncordon.
type UncordonRequest struct {
	ID string
	// Author and Reason are written to the journal. Author defaults to the Client's acquirer.
	Author, Reason string
	// RequestID defaults to a new id for each call; see Client.Move.
	RequestID string
}

// Uncordon ends a cordon. The error is a *NoSuchCordonError, or an error that any call can return.
func (c *Client) Uncordon(ctx context.Context, req UncordonRequest) (*gatekeeperv1.UncordonResponse, error) {
	m := &gatekeeperv1.UncordonRequest{Id: req.ID, Author: req.Author, Reason: req.Reason, RequestId: req.RequestID}
	return operate(ctx, c, m, signature{&m.Author, &m.RequestId, &m.RequestRevision}, gatekeeperv1.OperatorServiceClient.Uncordon)
}

// Previewable is a request that Preview accepts: a PauseRequest, a ResumeRequest or a CordonRequest. A MoveRequest has
// DryRun instead.
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

// Preview reports what a request would do, without changing anything. The response lists the holders that must stop,
// the callers that are excluded, and the reasons why a person should confirm the change (Confirm). To make the change,
// send the same request with the response's Digest as Expected. The errors are the same as for the request itself.
func (c *Client) Preview(ctx context.Context, req Previewable) (*gatekeeperv1.PreviewResponse, error) {
	m, err := req.preview()
	if err != nil {
		return nil, err
	}
	return c.Operator().Preview(ctx, m)
}

// check rejects an End that the API's message cannot represent.
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
