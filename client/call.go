package client

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxHints is how many hints in a row a call follows without a pause. It prevents a busy loop when two servers name
// each other as the leader.
const maxHints = 3

// call describes how a call may be made and retried.
type call struct {
	// idempotent calls have the same effect if they are made twice, so they are also retried after an unknown outcome.
	idempotent bool
	// harmless calls make no changes, so their outcome is never unknown. They are idempotent.
	harmless bool
	// hasRequestID is set for a call with a request id, which lets the servers recognize a retry while they remember
	// the request.
	hasRequestID bool
	// permitMayEnd is set for an idempotent call on a permit that may end after one attempt has been carried out and
	// before the next.
	permitMayEnd bool
	// forHeldPermit is set for a call on a permit that this process may hold. If a server belongs to a different
	// cluster, it does not recognize the permit, so the call is tried on the other servers.
	forHeldPermit bool
	// timeout bounds one attempt.
	timeout time.Duration
	// within bounds all attempts together. If it is 0, only ctx bounds them.
	within time.Duration
}

// mayFollowSuccess reports whether a call can be refused with err even though an earlier attempt was carried out,
// either because the servers have forgotten the request since then or because the permit has ended.
func (how call) mayFollowSuccess(err error) bool {
	_, tooOld := tooOldSince(err)
	_, ended := errors.AsType[*NoSuchPermitError](err)
	return how.hasRequestID && tooOld || how.permitMayEnd && ended
}

// do makes attempts until one succeeds, a server returns a final refusal, a retry is not safe, certificate errors keep
// the Client from reaching any server, or ctx ends. try makes one attempt. It must read anything that depends on the
// time of the attempt, such as the clock, each time it is called.
func (c *Client) do(ctx context.Context, how call, try func(ctx context.Context, conn *link) error) error {
	failure := new(UnavailableError)
	hints := 0
	var started time.Time
	if how.within > 0 {
		started = time.Now()
		how.timeout = min(how.timeout, how.within)
	}
	if !how.harmless && !how.forHeldPermit {
		if err := c.requireOneCluster(ctx); err != nil {
			return err
		}
	}
	for n := 0; ; n++ {
		if ctx.Err() != nil {
			failure.Ended = ctx.Err()
			return failure
		}
		address := c.router.pick()
		conn, err := c.router.conn(address)
		if err != nil {
			return err
		}
		attempt, cancel := withTimeout(ctx, how.timeout)
		err = try(attempt, conn)
		cancel()
		if err == nil {
			return nil
		}
		v := judge(err)
		if v.foreign && how.forHeldPermit {
			v.final = false
		}
		if v.final {
			err = typed(ctx, err)
			if failure.Unknown && how.mayFollowSuccess(err) {
				failure.add(address, err)
				return failure
			}
			return err
		}
		if n == 0 && how.within > 0 { // created only now, because most calls succeed at the first attempt and do not need it
			bounded, cancel := withTimeout(ctx, how.within-time.Since(started))
			defer cancel()
			ctx = bounded
		}
		failure.add(address, conn.handshakes.explain(err))
		failure.Unknown = failure.Unknown || !v.notDone && !how.harmless
		if !v.notDone && !how.idempotent && !how.harmless {
			failure.Ended = ctx.Err()
			return failure
		}
		if v.hint != (leaderHint{}) && hints < maxHints && c.router.follow(address, v.hint) {
			hints++
			continue
		}
		hints = 0
		c.router.failed(address)
		// Try every endpoint once before the first pause.
		if round := (n + 1) / len(c.router.endpoints); round > 0 {
			c.router.forget()
			if !c.router.tlsEstablished.Load() && failure.onlyCertificateErrors(len(c.router.endpoints)) {
				return failure
			}
			c.pause(ctx, max(backoff(round-1), v.wait))
		}
	}
}

// pause sleeps, but returns early when the Client is closed, so that calls that can take a long time, such as a
// release, do not delay Close.
func (c *Client) pause(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	sleep(ctx, d)
}

// onlyCertificateErrors reports whether all endpoints have been tried and have failed because of a certificate, so that
// another round would fail too. Calls share the router, so one round of attempts may not reach every endpoint.
func (e *UnavailableError) onlyCertificateErrors(endpoints int) bool {
	return len(e.Tried) >= endpoints && !slices.ContainsFunc(e.Tried, func(a Attempt) bool {
		_, ok := errors.AsType[*CertificateError](a.Err)
		return !ok
	})
}

func (e *UnavailableError) add(endpoint string, err error) {
	e.Tried = slices.DeleteFunc(e.Tried, func(a Attempt) bool { return a.Endpoint == endpoint })
	e.Tried = append(e.Tried, Attempt{endpoint, err})
}

// errTooLate is the error for an attempt whose response arrived too late to be relied on.
var errTooLate = errors.New("the response arrived too late to be relied on")

// unsentError is the error for an attempt that had no connection.
type unsentError struct{ error }

func (e *unsentError) Unwrap() error { return e.error }

// markUnsent wraps the error in an unsentError if the attempt never reached a server. p is the call's peer.
func markUnsent(p *peer.Peer, err error) error {
	if err == nil || p.Addr != nil {
		return err
	}
	if s, ok := status.FromError(err); !ok || info(s) != nil || judge(err).final {
		return err
	}
	return &unsentError{err}
}

// verdict describes how to react to a failed attempt.
type verdict struct {
	// final is set if the server's decision is final, or the call cannot be made.
	final bool
	// notDone is set if the call was definitely not carried out.
	notDone bool
	// foreign is set if the server belongs to another cluster.
	foreign bool
	hint    leaderHint
	// wait is how long the server asks clients to wait before retrying.
	wait time.Duration
}

// judge classifies an error by its ErrorInfo, or by its code if it is not a Gatekeeper error.
func judge(err error) verdict {
	if errors.Is(err, errTooLate) {
		return verdict{}
	}
	if errors.As(err, new(*unsentError)) {
		return verdict{notDone: true}
	}
	if errors.Is(err, ErrWrongCluster) {
		return verdict{final: true, notDone: true, foreign: true}
	}
	s, ok := status.FromError(err)
	if !ok {
		return verdict{final: true}
	}
	if i := info(s); i != nil {
		switch i.GetReason() {
		case reasonNotLeader:
			return verdict{notDone: true, hint: parseHint(i)}
		case reasonNoLeader, reasonNotAppended, reasonHopLimit, reasonRecovering, reasonTooManyFailures, // invalid tokens came from this address
			reasonSubmissionLost: // a late attempt of the same submission, or another submitter, replaced it
			return verdict{notDone: true, wait: retryDelay(s)}
		case reasonNotConfirmed, reasonOutcomeUnknown, reasonShuttingDown:
			return verdict{}
		}
		return verdict{final: true}
	}
	switch s.Code() {
	case codes.Unavailable:
		return verdict{}
	case codes.Canceled, codes.DeadlineExceeded: // of the attempt or of the caller; the loop checks ctx
		return verdict{}
	}
	return verdict{final: true}
}

// caller is the connection used by the generated clients: unary calls are retried, and streams are opened once, on the
// current target.
type caller struct{ *Client }

var _ grpc.ClientConnInterface = caller{}

// Invoke makes a unary call.
func (c caller) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if ctx.Err() != nil {
		return ctx.Err() // not an outage: no server was called
	}
	return c.do(ctx, c.callFor(method, args), func(ctx context.Context, conn *link) error {
		var p peer.Peer
		return markUnsent(&p, conn.Invoke(ctx, method, args, reply, append(slices.Clip(opts), grpc.Peer(&p))...))
	})
}

// NewStream opens a stream. It returns gRPC's errors unchanged. Unlike Watch, it does not reopen a broken stream.
func (c caller) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	conn, err := c.router.conn(c.router.pick())
	if err != nil {
		return nil, err
	}
	return conn.NewStream(ctx, desc, method, opts...)
}

// callFor returns how a method may be called and retried. Clear and changes to the cluster are not idempotent: if the
// first attempt was carried out, the retry is refused, which would look like a failure. Pause, Cordon and Uncordon are
// not idempotent without a request id: a repeated pause or cordon would replace the first one, so undoing it would only
// restore that one, and a repeated Uncordon would find no cordon.
func (c caller) callFor(method string, args any) call {
	how := call{timeout: c.settings.attemptTimeout}
	switch method {
	case gatekeeperv1.PermitService_Release_FullMethodName,
		gatekeeperv1.PermitService_Cancel_FullMethodName:
		how.idempotent, how.forHeldPermit = true, true
	case gatekeeperv1.OperatorService_Resume_FullMethodName,
		gatekeeperv1.WorkService_CancelJob_FullMethodName:
		how.idempotent = true
	case gatekeeperv1.PermitService_TakeOver_FullMethodName:
		how.idempotent, how.permitMayEnd = true, true
	case gatekeeperv1.PermitService_Revoke_FullMethodName:
		r, ok := args.(*gatekeeperv1.RevokeRequest)
		how.idempotent = !ok || !r.GetUnsafeNow() // the retry of an unsafe revoke would find no permit
		how.permitMayEnd = how.idempotent
	case gatekeeperv1.PermitService_Refresh_FullMethodName:
		how.harmless, how.forHeldPermit = true, true
	case gatekeeperv1.PermitService_Verify_FullMethodName,
		gatekeeperv1.PermitService_CatchUp_FullMethodName,
		gatekeeperv1.PermitService_ListHolders_FullMethodName,
		gatekeeperv1.PermitService_ListWaiters_FullMethodName,
		gatekeeperv1.DefinitionService_GetDefinition_FullMethodName,
		gatekeeperv1.DefinitionService_ListDefinitions_FullMethodName,
		gatekeeperv1.DefinitionService_SummarizeDefinitions_FullMethodName,
		gatekeeperv1.DefinitionService_Explain_FullMethodName,
		gatekeeperv1.OperatorService_Preview_FullMethodName,
		gatekeeperv1.OperatorService_ListCordons_FullMethodName,
		gatekeeperv1.OperatorService_ListHistory_FullMethodName,
		gatekeeperv1.OperatorService_ListKnown_FullMethodName,
		gatekeeperv1.OperatorService_ListFirings_FullMethodName,
		gatekeeperv1.OperatorService_ListDenied_FullMethodName,
		gatekeeperv1.WorkService_GetJob_FullMethodName,
		gatekeeperv1.WorkService_ListJobs_FullMethodName,
		gatekeeperv1.WorkService_ListTasks_FullMethodName,
		gatekeeperv1.WorkService_ListWorkers_FullMethodName,
		gatekeeperv1.ClusterService_GetStatus_FullMethodName,
		gatekeeperv1.ClusterService_ListMembers_FullMethodName,
		gatekeeperv1.AuthService_WhoAmI_FullMethodName,
		gatekeeperv1.AuthService_CanI_FullMethodName,
		gatekeeperv1.AuthService_ListBindings_FullMethodName:
		how.harmless = true
	case gatekeeperv1.DefinitionService_BatchEdit_FullMethodName,
		gatekeeperv1.OperatorService_Move_FullMethodName,
		gatekeeperv1.OperatorService_Undo_FullMethodName,
		gatekeeperv1.ClusterService_AddMember_FullMethodName, // returns when the new member has caught up
		gatekeeperv1.ClusterService_RemoveMember_FullMethodName,
		gatekeeperv1.ClusterService_TransferLeadership_FullMethodName:
		how.timeout = max(how.timeout, longTimeout)
	}
	if r, ok := args.(interface{ GetAsOf() uint64 }); ok && r.GetAsOf() != 0 {
		how.idempotent = true // changes made by the first attempt are newer than as_of
	}
	if r, ok := args.(*gatekeeperv1.DeleteJobRequest); ok && r.GetSubmittedRevision() != 0 {
		how.idempotent = true
	}
	if r, ok := args.(interface{ GetDryRun() bool }); ok && r.GetDryRun() {
		how.harmless = true
	}
	if r, ok := args.(interface{ GetRequestId() string }); ok && r.GetRequestId() != "" {
		how.idempotent, how.hasRequestID = true, true
	}
	return how
}

const (
	// longTimeout bounds an attempt at a call that can take a long time.
	longTimeout = time.Minute
	// forever is the timeout for an attempt without a time limit.
	forever = time.Duration(1<<63 - 1)
)
