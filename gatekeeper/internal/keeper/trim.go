package keeper

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// trimInterval is how often the leader looks for firings and requests to forget.
const trimInterval = time.Minute

// housekeep forgets old firings and requests. It reads an immutable state and blocks nothing. If a proposal fails, the
// next run, a minute later, finds the same entries.
func (k *Keeper) housekeep(e *epoch.Epoch, past *history) {
	state := k.cfg.Machine.State()
	e.Propose(nil, trimCommands(e.Term, state, past)...)
	for name := range state.ClaimedSemaphores() {
		if cmd, ok := forgettable(retentionFor(state, name), slices.Collect(state.Claims(name)), k.cfg.WallClock()); ok {
			cmd.Term = e.Term
			if fsm.Level(cmd) > state.FeatureLevel() {
				cmd.Firings = nil // this may leave nothing to forget; the command is then a no-op
			}
			e.Propose(nil, cmd)
		}
	}
}

// retentionFor returns the definition that determines how long a semaphore's firings are remembered. Firings of a
// deleted definition are kept for the default time, because they apply again if the name is redefined.
func retentionFor(state *fsm.State, name string) *semaphore.Definition {
	if sd := state.Definition(name); sd != nil {
		return sd.Definition
	}
	return &semaphore.Definition{
		Name: name, FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
	}
}

// maxForgotten limits the future firings in one command. The next run, a minute later, finds the ones that do not fit.
const maxForgotten = 4096

// forgettable selects the firings to forget: those older than the retention and, above the limit, those due furthest
// from now, so that mistaken due times never displace today's firings. A firing whose permit still occupies a slot is
// never forgotten.
//
// Past firings are forgotten up to a due time, because the low-water mark, which keeps them from running again,
// compares only due times. The mark never rises above the current time. Firings due too far ahead to be claimed are
// forgotten individually, without raising the mark. Firings due sooner are kept until they are due, because nothing
// else would keep them from running twice. The same is true of firings without a due time, so those are forgotten last,
// unless they are known to be old.
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
