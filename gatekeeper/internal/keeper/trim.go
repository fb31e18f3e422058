package keeper

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// trimEvery is how often the leader looks for firings and requests that it can forget.
const trimEvery = time.Minute

// housekeep forgets old firings and requests. It reads an immutable state and blocks nothing. If a proposal fails, the
// next run a minute later finds the same entries.
func (k *Keeper) housekeep(e *epoch.Epoch, past *history) {
	state := k.cfg.Machine.State()
	e.Propose(nil, trims(e.Term, state, past)...)
	for name := range state.ClaimedSemaphores() {
		if cmd, ok := forgettable(keeping(state, name), slices.Collect(state.Claims(name)), k.cfg.WallClock()); ok {
			cmd.Term = e.Term
			if fsm.Level(cmd) > state.FeatureLevel() {
				cmd.Firings = nil // perhaps nothing is left to forget, and the command does nothing
			}
			e.Propose(nil, cmd)
		}
	}
}

// keeping returns the definition that says how long the firings of a name are remembered. The firings of a deleted
// definition are kept for the default time, because the name may be defined again, and then regains its firings.
func keeping(state *fsm.State, name string) *semaphore.Definition {
	if sd := state.Definition(name); sd != nil {
		return sd.Definition
	}
	return &semaphore.Definition{
		Name: name, FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
	}
}

// maxForgotten bounds one command. Firings that do not fit are found again in a minute.
const maxForgotten = 4096

// forgettable chooses the firings to forget: those older than the retention, and beyond the limit those that are due
// the furthest from now, so that mistaken due times never push out today's firings. A firing whose permit still
// occupies a slot is never forgotten.
//
// Past firings are forgotten up to one due time, because the low-water mark that refuses their repeats compares due
// times only. The mark never rises above now. Firings that are due too far ahead to be claimed are forgotten one by
// one, without the mark. Firings that are due sooner are kept until their due time: nothing would refuse their repeats.
// Nothing would refuse repeats of firings without a due time either, so those are forgotten last, unless they are known
// to be old.
func forgettable(def *semaphore.Definition, claims []*semaphore.Claim, now time.Time) (fsm.Forget, bool) {
	horizon := now.Add(-def.FiringRetention)
	ahead, bounded := def.MaxAhead()
	if !bounded {
		ahead = semaphore.DefaultFiringMaxAhead
	}
	near := now.Add(min(ahead, semaphore.DefaultFiringMaxAhead))
	var past, future, undated []*semaphore.Claim
	for _, c := range claims {
		switch {
		case c.State == semaphore.ClaimHeld:
		case c.Firing.Due.IsZero():
			undated = append(undated, c)
		case !c.Firing.Due.After(now):
			past = append(past, c)
		case c.Firing.Due.After(near):
			future = append(future, c)
		}
	}
	slices.SortFunc(past, func(a, b *semaphore.Claim) int { return a.Firing.Due.Compare(b.Firing.Due) })
	slices.SortFunc(future, func(a, b *semaphore.Claim) int { return b.Firing.Due.Compare(a.Firing.Due) })
	slices.SortFunc(undated, func(a, b *semaphore.Claim) int { return cmp.Compare(a.Revision, b.Revision) })

	forget := fsm.Forget{Semaphore: def.Name}
	excess := len(claims) - int(def.FiringLimit)
	for len(past) > 0 && !past[0].Firing.Due.After(horizon) {
		forget.UpTo = past[0].Firing.Due
		past = past[1:]
		excess--
	}
	for ; excess > 0 && len(past)+len(future) > 0; excess-- {
		if len(future) > 0 && (len(past) == 0 || future[0].Firing.Due.Sub(now) > now.Sub(past[0].Firing.Due)) {
			if len(forget.Firings) < maxForgotten {
				forget.Firings = append(forget.Firings, future[0].Firing)
			}
			future = future[1:]
		} else {
			forget.UpTo = past[0].Firing.Due
			past = past[1:]
		}
	}
	for i, c := range undated {
		if i < excess || !c.At.IsZero() && !c.At.After(horizon) {
			forget.Names = append(forget.Names, c.Firing.Name)
		}
	}
	return forget, !forget.UpTo.IsZero() || len(forget.Names) > 0 || len(forget.Firings) > 0
}
