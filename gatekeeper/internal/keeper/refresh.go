package keeper

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/lessor"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Refresh keeps permits alive on behalf of a unary call received at the given monotonic time. It returns one result for
// each token, in order. After an error, the outcome is unknown for all of them.
//
// owner must own the permits: another identity's token is reported as lost, and another principal's token as if it had
// never existed.
func (k *Keeper) Refresh(ctx context.Context, received time.Time, owner semaphore.Owner, tokens []TokenRefresh) ([]TokenResult, error) {
	processed := k.lessor.Receive()
	visible, err := k.visible(owner, tokens)
	if err != nil {
		processed()
		return nil, err
	}
	r, err := k.renew(lessor.Frame{Received: received, Owner: owner}, visible, processed)
	if err != nil || len(tokens) == 0 {
		return nil, err
	}
	if r == nil {
		// Only a server that still leads can say for certain that the tokens are unknown.
		return visible.merge(nil), k.confirm(ctx, visible.tenure, received)
	}
	k.lengthen(ctx, r.before)
	if err := k.confirm(ctx, r.tenure, received); err != nil {
		return nil, err
	}
	results, err := r.results()
	if err != nil {
		return nil, err
	}
	return visible.merge(results), nil
}

// visibleTokens holds the tokens in a frame that its principal may see.
type visibleTokens struct {
	tenure    *tenure // nil if all tokens are visible without a lookup
	tokens    []TokenRefresh
	requested []TokenRefresh // all tokens in the frame; nil if tokens contains them all
	hidden    []bool         // by index in requested
}

// visible omits other principals' tokens. It needs a state that reflects every response sent before the call, so it
// fails if this server is not the leader.
func (k *Keeper) visible(owner semaphore.Owner, tokens []TokenRefresh) (visibleTokens, error) {
	if owner.Principal == nil {
		return visibleTokens{tokens: tokens}, nil
	}
	t, err := k.leading()
	if err != nil {
		return visibleTokens{}, err
	}
	state := k.cfg.Machine.State()
	out := visibleTokens{tenure: t, requested: tokens, hidden: make([]bool, len(tokens))}
	for i, t := range tokens {
		if sem, id, known := ownerOf(state, t.Token); known && owner.Sees(sem, id) {
			out.tokens = append(out.tokens, t)
		} else {
			out.hidden[i] = true
		}
	}
	return out, nil
}

// merge combines the results for the visible tokens with those for the hidden ones, in the order requested.
func (s *visibleTokens) merge(results []TokenResult) []TokenResult {
	if len(results) == len(s.requested) || s.requested == nil {
		return results
	}
	all := make([]TokenResult, len(s.requested))
	for i, t := range s.requested {
		if s.hidden[i] {
			all[i] = TokenResult{Token: t.Token, Status: StatusLost, Message: UnknownTokenMessage(t.Token)}
		} else {
			all[i], results = results[0], results[1:]
		}
	}
	return all
}

// renewal is a refresh whose deadlines have been extended. Its results may be sent once leadership is confirmed.
type renewal struct {
	k         *Keeper
	tenure    *tenure
	received  time.Time
	tokens    []TokenRefresh
	refreshes []lessor.Refresh
	before    []lessor.Verdict
	seen      lessor.Seen
}

// renew extends the deadlines and then calls processed immediately. It calls processed even if it returns an error. If
// no token is visible, it returns nil.
func (k *Keeper) renew(frame lessor.Frame, visible visibleTokens, processed func()) (*renewal, error) {
	defer processed()
	t, err := k.leading()
	if err == nil && visible.tenure != nil && visible.tenure != t {
		err = k.notLeader() // the tokens were looked up in another term
	}
	tokens := visible.tokens
	if err != nil || len(tokens) == 0 {
		return nil, err
	}
	r := &renewal{k: k, tenure: t, received: frame.Received, tokens: tokens, refreshes: make([]lessor.Refresh, len(tokens))}
	for i, token := range tokens {
		r.refreshes[i] = lessor.Refresh{Token: token.Token, ClientDuration: token.Duration}
	}
	r.before, r.seen = k.lessor.Renew(t.term, frame, r.refreshes, k.admit, make([]lessor.Verdict, 0, len(tokens)))
	processed()
	k.shorten(t, r.before)
	return r, nil
}

// results returns the results of a renewal. Call it only after leadership has been confirmed.
func (r *renewal) results() ([]TokenResult, error) {
	k := r.k
	after := r.before
	if !k.lessor.Unchanged(r.seen) {
		after = k.lessor.Check(r.tenure.term, r.refreshes, k.admit, make([]lessor.Verdict, 0, len(r.tokens)))
	}
	results := make([]TokenResult, len(r.tokens))
	for i, t := range r.tokens {
		if after[i].Status == lessor.NotLeading || r.before[i].Status == lessor.NotLeading {
			return nil, k.notLeader()
		}
		results[i] = k.result(t.Token, &r.before[i], &after[i])
		k.cfg.Metrics.Refreshed(results[i].Status)
		if t.Reports && after[i].Permit != nil {
			k.missed.Progress(after[i].Permit.Semaphore, t.Token, r.received.Add(-t.SinceProgress))
		}
	}
	return results, nil
}

// result returns the result for one token. The token is refreshed only if its deadline was extended before Confirm and
// its permit was still live, admitted and not marked afterwards.
func (k *Keeper) result(token uint64, before, after *lessor.Verdict) TokenResult {
	r := TokenResult{Token: token, Status: StatusRetry}
	switch {
	case before.Status == lessor.Foreign:
		r.Status, r.Message = StatusLost, "the permit with this token belongs to a different identity"
	case after.Status == lessor.Refused:
		r.Status, r.Stop = StatusStopping, after.Decision.Stop
		r.Message = k.stopMessage(k.cfg.Machine.State(), after.Permit, r.Stop)
	case after.Status == lessor.Ended:
		r.Status = StatusLost
		r.Message, r.SupersededBy = whyLost(k.cfg.Machine.State(), token)
	case after.Status == lessor.Renewed && before.Status == lessor.Renewed:
		r.Status, r.Duration = StatusRefreshed, before.ResponseDuration
		if after.Decision.Stop != semaphore.NotStopping {
			state := k.cfg.Machine.State()
			r.Stop = after.Decision.Stop
			r.Message, r.DrainLeft = k.stopMessage(state, after.Permit, r.Stop), k.drainLeft(state, after.Permit)
		}
	}
	return r
}

// whyLost explains why a token is no longer valid. If it was superseded and its identity still holds the permit,
// whyLost also returns the new token.
func whyLost(state *fsm.State, token uint64) (why string, supersededBy uint64) {
	if ended := state.EndedPermit(token); ended != nil && ended.Outcome == semaphore.EndSuperseded {
		if now := state.Own(ended.Semaphore, ended.Identity); now != nil && now.State == semaphore.Live {
			return supersededText(now), now.Token
		}
	}
	return describeEnd(state, "", token), 0
}

// shorten commits the shorter durations that clients have reported using. It does not wait for the outcome.
func (k *Keeper) shorten(t *tenure, verdicts []lessor.Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Shorten == 0 {
			continue
		}
		token := v.Permit.Token
		k.cfg.Proposer.Go(fsm.Extend{Token: token, Duration: v.Shorten, Term: t.term}, func(o batcher.Outcome) {
			if o.Err == nil || errors.Is(o.Err, consensus.ErrNotAppended) {
				k.lessor.Shortened(t.term, token)
			}
		})
	}
}

// waitDivisor limits how long a response waits for the log: at most the shortest duration in its frame, divided by
// waitDivisor. A refresh must not be delayed by work it does not depend on.
const waitDivisor = 10

// lengthen commits the longer durations in edited definitions, so that the response may use them. If a duration is not
// committed in time, the response contains the previous one.
func (k *Keeper) lengthen(ctx context.Context, verdicts []lessor.Verdict) {
	if !needsLengthening(verdicts) {
		return
	}
	type committed struct{ i int }
	var waiting int
	done := make(chan committed, len(verdicts)) // never blocks the log
	shortest := semaphore.MaxSpan
	for i := range verdicts {
		v := &verdicts[i]
		if v.Status == lessor.Renewed {
			shortest = min(shortest, v.ResponseDuration)
		}
		if v.Lengthen == 0 {
			continue
		}
		waiting++
		k.cfg.Proposer.Go(fsm.Extend{Token: v.Permit.Token, Duration: v.Lengthen}, func(o batcher.Outcome) {
			r, ok := o.Result.(fsm.PermitResult)
			if o.Err == nil && ok && r.Permit != nil && r.Permit.Duration >= v.Lengthen {
				done <- committed{i}
				return
			}
			done <- committed{-1}
		})
	}
	late := time.NewTimer(shortest / waitDivisor)
	defer late.Stop()
	for ; waiting > 0; waiting-- {
		select {
		case c := <-done:
			if c.i >= 0 {
				verdicts[c.i].ResponseDuration = verdicts[c.i].Lengthen
			}
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// needsLengthening reports whether any duration must be lengthened, which is rare.
func needsLengthening(verdicts []lessor.Verdict) bool {
	return slices.ContainsFunc(verdicts, func(v lessor.Verdict) bool { return v.Lengthen != 0 })
}
