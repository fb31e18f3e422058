package api

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/past"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// permitService serves gatekeeper.v1.PermitService. Its streams are in acquire.go and keepalive.go.
type permitService struct {
	gatekeeperv1.UnimplementedPermitServiceServer
	*API
	keeper permitKeeper
}

func (s *permitService) TryAcquire(ctx context.Context, m *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
	received := time.Now() // read first, because the client starts measuring before this call
	call, err := tryAcquireFrom(m, received)
	if err != nil {
		return nil, err
	}
	answer, err := s.keeper.TryAcquire(ctx, call)
	if err != nil {
		return nil, err
	}
	if answer.Outcome == semaphore.Denied {
		denial := toDenial(answer.Denial, call.Firing)
		return &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Denial{Denial: denial}}, nil
	}
	return &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Grant{Grant: toGrant(&answer)}}, nil
}

func (s *permitService) Refresh(ctx context.Context, m *gatekeeperv1.RefreshRequest) (*gatekeeperv1.RefreshResponse, error) {
	received := time.Now() // read first, because the client starts measuring before this call
	if len(m.GetTokens()) == 0 {
		return nil, invalid("tokens", "", "must contain at least one token")
	}
	tokens, err := tokensFrom("tokens", m.GetTokens())
	if err != nil {
		return nil, err
	}
	holder, err := holderFrom(m.GetIdentity())
	if err != nil {
		return nil, err
	}
	owner, err := s.owner(ctx, holder)
	if err != nil {
		return nil, err
	}
	results, err := s.keeper.Refresh(ctx, received, owner, tokens)
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.RefreshResponse{Results: toResults(results)}, nil
}

func (s *permitService) Release(ctx context.Context, m *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error) {
	if err := validToken(m.GetToken()); err != nil {
		return nil, err
	}
	job, err := jobEndFrom(m.GetOutcome())
	if err != nil {
		return nil, err
	}
	if m.GetFailure() != "" && job != semaphore.JobFailed {
		return nil, invalid("failure", m.GetFailure(), "must be empty unless outcome is RELEASE_OUTCOME_FAILED")
	}
	holder, err := holderFrom(m.GetIdentity())
	if err != nil {
		return nil, err
	}
	owner, err := s.owner(ctx, holder)
	if err != nil {
		return nil, err
	}
	result, err := s.keeper.Release(ctx, fsm.Release{Token: m.GetToken(), Job: job, Failure: failureFrom(m.GetFailure()), Result: m.GetResult()}, owner)
	if err != nil {
		return nil, err
	}
	return toReleased(&result), nil
}

func (s *permitService) Revoke(ctx context.Context, m *gatekeeperv1.RevokeRequest) (*gatekeeperv1.RevokeResponse, error) {
	if err := validToken(m.GetToken()); err != nil {
		return nil, err
	}
	author, reason, err := authorReasonFrom(m)
	if err != nil {
		return nil, err
	}
	drain, err := durationFrom("drain", m.GetDrain(), 0)
	if err != nil {
		return nil, err
	}
	if drain != 0 && m.GetUnsafeNow() {
		return nil, invalid("drain", drain.String(), "must not be set with unsafe_now, which gives the holder no time to stop")
	}
	result, err := s.keeper.Revoke(ctx, fsm.Revoke{
		Token: m.GetToken(), Author: author, Reason: reason, Drain: drain, UnsafeNow: m.GetUnsafeNow(),
	})
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.RevokeResponse{Permit: toPermit(result.Permit), Revision: result.Revision}, nil
}

func (s *permitService) TakeOver(ctx context.Context, m *gatekeeperv1.TakeOverRequest) (*gatekeeperv1.TakeOverResponse, error) {
	if err := validToken(m.GetToken()); err != nil {
		return nil, err
	}
	by := identityFrom(m.GetIdentity())
	if err := by.Validate(); err != nil {
		return nil, err
	}
	reason, err := reasonFrom(m.GetReason())
	if err != nil {
		return nil, err
	}
	result, err := s.keeper.TakeOver(ctx, fsm.TakeOver{Token: m.GetToken(), By: by, Reason: reason})
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.TakeOverResponse{Permit: toPermit(result.Permit), Revision: result.Revision}, nil
}

func (s *permitService) Clear(ctx context.Context, m *gatekeeperv1.ClearRequest) (*gatekeeperv1.ClearResponse, error) {
	if err := validToken(m.GetToken()); err != nil {
		return nil, err
	}
	author, reason, err := authorReasonFrom(m)
	if err != nil {
		return nil, err
	}
	result, err := s.keeper.Clear(ctx, m.GetToken(), author, reason)
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.ClearResponse{Revision: result.Revision}, nil
}

func (s *permitService) Cancel(ctx context.Context, m *gatekeeperv1.CancelRequest) (*gatekeeperv1.CancelResponse, error) {
	if err := semaphore.ValidSemaphoreName(m.GetSemaphore()); err != nil {
		return nil, err
	}
	identity := identityFrom(m.GetIdentity())
	if err := identity.Validate(); err != nil {
		return nil, err
	}
	if m.GetRequestId() == "" {
		return nil, invalid("request_id", "", "must identify the request to cancel")
	}
	if err := semaphore.ValidateRequestID(m.GetRequestId()); err != nil {
		return nil, err
	}
	result, err := s.keeper.Cancel(ctx, m.GetSemaphore(), identity, m.GetRequestId())
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.CancelResponse{Released: result.ReturnedPermit != nil, Revision: result.Revision}, nil
}

func (s *permitService) Verify(ctx context.Context, m *gatekeeperv1.VerifyRequest) (*gatekeeperv1.VerifyResponse, error) {
	if err := validToken(m.GetToken()); err != nil {
		return nil, err
	}
	if m.GetSemaphore() != "" {
		if err := semaphore.ValidSemaphoreName(m.GetSemaphore()); err != nil {
			return nil, err
		}
	}
	v, err := s.keeper.Verify(ctx, m.GetSemaphore(), m.GetToken())
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.VerifyResponse{Valid: v.Valid, Permit: s.withRemaining(s.cfg.Machine.State(), v.Permit), Message: v.Message, Revision: v.Revision}, nil
}

// withRemaining converts a permit and adds its remaining time, if known to this server.
func (a *API) withRemaining(state *fsm.State, p *semaphore.Permit) *gatekeeperv1.Permit {
	if p == nil {
		return nil
	}
	out := toPermit(p)
	if left, ok := a.reader.DrainLeft(state, p); ok {
		out.DrainLeft = durationpb.New(left)
	}
	if left, ok := a.reader.Remaining(p.Token); ok {
		out.ExpiresIn = durationpb.New(max(left, 0))
	}
	return out
}

// holder returns the permit as shown in lists, with the remaining time and the reason its holder must stop, if any.
func (a *API) holder(state *fsm.State, p *semaphore.Permit) *gatekeeperv1.Permit {
	out := a.withRemaining(state, p)
	cause, reason := a.reader.StopCause(state, p)
	out.Stop, out.StopReason = gatekeeperv1.StopCause(cause), reason
	return out
}

// ListHolders pages through permits in (semaphore, token) order. Each page reads the current state. A permit that
// exists from the first page to the last is listed exactly once.
func (s *permitService) ListHolders(ctx context.Context, m *gatekeeperv1.ListHoldersRequest) (*gatekeeperv1.ListHoldersResponse, error) {
	chosen, limit, from, err := s.listFrom(ctx, m)
	if err != nil {
		return nil, err
	}
	asOf, err := timestampFrom("at", m.GetAt())
	if err != nil {
		return nil, err
	}
	state, err := s.read(ctx, m.GetStale())
	if err != nil {
		return nil, err
	}
	if !asOf.IsZero() {
		if len(m.GetStates()) > 0 {
			return nil, invalid("states", m.GetStates()[0].String(), "cannot be combined with at: only holders are known for past times")
		}
		wanted := func(name string) bool { return chosen.MatchNow(state, name) }
		return holdersAt(state, wanted, m, asOf, limit, from), nil
	}
	out := &gatekeeperv1.ListHoldersResponse{Revision: state.Revision()}
	var taken page
	var last pageKey
	for p := range chosen.Holders(state, from.name, from.token+1) {
		if !inGroup(m, p.Identity) || !inState(m.GetStates(), p) {
			continue
		}
		permit := s.holder(state, p)
		if !taken.add(limit, permit) {
			out.NextPageToken = last.String()
			break
		}
		out.Permits = append(out.Permits, permit)
		last = pageKey{name: p.Semaphore, token: p.Token}
	}
	return out, nil
}

// holdersAt pages through the permits that occupied slots at a given time, as far back as the journal reaches.
func holdersAt(
	state *fsm.State, wanted func(name string) bool, m *gatekeeperv1.ListHoldersRequest, at time.Time, limit int, from pageKey,
) *gatekeeperv1.ListHoldersResponse {
	out := &gatekeeperv1.ListHoldersResponse{Revision: state.Revision(), HistoryBegins: toTimestamp(past.KnownSince(state, wanted))}
	var taken page
	var last pageKey
	for h := range past.Holders(state, wanted, at, from.name) {
		if h.Semaphore == from.name && h.Token <= from.token || !inGroup(m, h.Identity) {
			continue
		}
		permit := toPermit(h.Permit)
		permit.EndedAt, permit.Ended = toTimestamp(h.EndedAt), toEnd(h.End)
		if !taken.add(limit, permit) {
			out.NextPageToken = last.String()
			break
		}
		out.Permits = append(out.Permits, permit)
		last = pageKey{name: h.Semaphore, token: h.Token}
	}
	return out
}

// ListWaiters pages through waiters in (semaphore, place) order. Each page reads the current queues. A waiter that is
// queued from the first page to the last is listed exactly once, unless the leader changes and starts new queues.
func (s *permitService) ListWaiters(ctx context.Context, m *gatekeeperv1.ListWaitersRequest) (*gatekeeperv1.ListWaitersResponse, error) {
	chosen, limit, from, err := s.listFrom(ctx, m)
	if err != nil {
		return nil, err
	}
	// The queue is in the leader's memory, so leadership is confirmed as for any read.
	state, err := s.reader.Read(ctx)
	if err != nil {
		return nil, err
	}
	wanted := func(name string) bool { return chosen.MatchNow(state, name) }
	out := new(gatekeeperv1.ListWaitersResponse)
	if m.GetPageToken() == "" && m.GetGroup() == "" {
		for name := range state.WorkBySemaphore() {
			if wanted(name) {
				out.Tasks = append(out.Tasks, toWaitingTasks(state, name, maxWaitingJobs-len(out.GetTasks()))...)
			}
		}
	}
	var taken page
	after := queue.Cursor{Semaphore: from.name, Rank: time.Duration(from.rank), Seq: from.token}
	for {
		waiters := s.reader.Waiters(wanted, after, limit+1)
		for i := range waiters {
			w := &waiters[i]
			waiter := toWaiter(w)
			if !inGroup(m, w.Identity) {
				waiter = nil
			} else if !taken.add(limit, waiter) {
				out.NextPageToken = pageKey{name: after.Semaphore, token: after.Seq, rank: int64(after.Rank)}.String()
				return out, nil
			}
			if after = w.Cursor; waiter != nil {
				out.Waiters = append(out.Waiters, waiter)
			}
		}
		if len(waiters) <= limit {
			return out, nil
		}
	}
}

func validToken(token uint64) error {
	if token == 0 {
		return invalid("token", "0", "must be a permit token")
	}
	return nil
}
