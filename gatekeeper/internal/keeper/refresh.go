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
	"github.com/gatekeeperd/gatekeeper/internal/planted"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Refresh keeps permits alive on behalf of a unary call that was received at that monotonic time. There is one result a
// token, in order. An error says nothing about any of them.
func (k *Keeper) Refresh(ctx context.Context, received time.Time, tokens []TokenRefresh) ([]TokenResult, error) {
	return k.refresh(ctx, lessor.Frame{Received: received}, tokens, k.lessor.Receive())
}

// refresh calls processed as soon as the deadlines have been moved, and in any case.
func (k *Keeper) refresh(
	ctx context.Context, frame lessor.Frame, tokens []TokenRefresh, processed func(),
) ([]TokenResult, error) {
	defer processed()
	e, err := k.leading()
	if err != nil || len(tokens) == 0 {
		return nil, err
	}
	refreshes := make([]lessor.Refresh, len(tokens))
	for i, t := range tokens {
		refreshes[i] = lessor.Refresh{Token: t.Token, States: t.Duration}
	}
	before, seen := k.lessor.Renew(e.term, frame, refreshes, k.admit, make([]lessor.Verdict, 0, len(tokens)))
	processed()

	k.shorten(e, before)
	k.lengthen(ctx, before)
	if !planted.Is(planted.RefreshUnconfirmed) {
		if err := k.confirm(ctx, e, frame.Received); err != nil {
			return nil, err
		}
	}
	after := before
	if !k.lessor.Unchanged(seen) {
		after = k.lessor.Check(e.term, refreshes, k.admit, make([]lessor.Verdict, 0, len(tokens)))
	}
	results := make([]TokenResult, len(tokens))
	for i := range tokens {
		if after[i].Status == lessor.NotLeading || before[i].Status == lessor.NotLeading {
			return nil, k.notLeader()
		}
		results[i] = k.result(tokens[i].Token, &before[i], &after[i])
		k.cfg.Metrics.Refreshed(results[i].Status)
		if tokens[i].Reports && after[i].Permit != nil {
			k.silence.Progress(after[i].Permit.Semaphore, tokens[i].Token, frame.Received.Add(-tokens[i].SinceProgress))
		}
	}
	return results, nil
}

// result is the answer for one token: refreshed only if its deadline was moved out before Confirm, and it was still live,
// admitted and not marked after it.
func (k *Keeper) result(token uint64, before, after *lessor.Verdict) TokenResult {
	r := TokenResult{Token: token, Status: StatusRetry}
	switch {
	case after.Status == lessor.Refused:
		r.Status, r.Stop = StatusStopping, after.Decision.Stop
		r.Message = k.whyStop(k.cfg.Machine.State(), after.Permit, r.Stop)
	case after.Status == lessor.Ended:
		r.Status, r.Message = StatusLost, "there is no live permit with this token: it was released, has expired, or was never granted"
	case after.Status == lessor.Renewed && before.Status == lessor.Renewed:
		r.Status, r.Duration = StatusRefreshed, before.Answer
		if after.Decision.Stop != semaphore.NotStopping {
			state := k.cfg.Machine.State()
			r.Stop = after.Decision.Stop
			r.Message, r.DrainLeft = k.whyStop(state, after.Permit, r.Stop), k.drainLeft(state, after.Permit)
		}
	}
	return r
}

// shorten commits the shorter durations that were claimed; nobody waits for it.
func (k *Keeper) shorten(e *epoch, verdicts []lessor.Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Shorten == 0 {
			continue
		}
		token := v.Permit.Token
		k.cfg.Proposer.Go(fsm.Extend{Token: token, Duration: v.Shorten, Term: e.term}, func(o batcher.Outcome) {
			if o.Err == nil || errors.Is(o.Err, consensus.ErrNotAppended) {
				k.lessor.Shortened(e.term, token)
			}
		})
	}
}

// patience is the part of the shortest duration in a frame for which its answer waits for the log at most: a refresh must
// not come too late because of what it does not need.
const patience = 10

// lengthen commits the longer durations of edited definitions, so that they may be answered. What cannot be committed in
// time is answered with the duration that was in force.
func (k *Keeper) lengthen(ctx context.Context, verdicts []lessor.Verdict) {
	if !slices.ContainsFunc(verdicts, func(v lessor.Verdict) bool { return v.Lengthen != 0 }) {
		return // nearly always
	}
	type committed struct{ i int }
	var waiting int
	done := make(chan committed, len(verdicts)) // never blocks the log
	shortest := semaphore.MaxSpan
	for i := range verdicts {
		v := &verdicts[i]
		if v.Status == lessor.Renewed {
			shortest = min(shortest, v.Answer)
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
	late := time.NewTimer(shortest / patience)
	defer late.Stop()
	for ; waiting > 0; waiting-- {
		select {
		case c := <-done:
			if c.i >= 0 {
				verdicts[c.i].Answer = verdicts[c.i].Lengthen
			}
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
