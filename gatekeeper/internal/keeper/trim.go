package keeper

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// trimEvery is how often the leader looks for firings and requests that need not be remembered any longer.
const trimEvery = time.Minute

// housekeep forgets old firings and requests while this server leads. It reads an immutable state and holds nothing up.
func (k *Keeper) housekeep() {
	defer k.runs.Done()
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	var past history
	for {
		select {
		case <-k.closed:
			return
		case <-tick.C:
		}
		e := k.epoch.Load()
		if e == nil {
			continue
		}
		state := k.cfg.Machine.State()
		k.trimRequests(e, state, &past)
		for name := range state.ClaimedSemaphores() {
			if cmd, ok := forgettable(keeping(state, name), slices.Collect(state.Claims(name)), time.Now()); ok {
				cmd.Term = e.term
				k.cfg.Proposer.Go(cmd, func(batcher.Outcome) {}) // what fails is found again in a minute
			}
		}
	}
}

// keeping is the definition that says how long the firings of a name are remembered. Those of a deleted one are kept as
// long as by default: the name may come back, and its firings with it.
func keeping(state *fsm.State, name string) *semaphore.Definition {
	if sd := state.Definition(name); sd != nil {
		return sd.Definition
	}
	return &semaphore.Definition{
		Name: name, FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
	}
}

// forgettable chooses which firings to forget: those older than the retention, and the oldest beyond the limit. A firing
// whose permit takes a slot is never forgotten. Those with a due time are forgotten up to one due time, because the
// low-water mark that refuses their repeats compares due times only. Nothing refuses the repeats of the others, so none
// of them is forgotten that is not known to be old.
func forgettable(def *semaphore.Definition, claims []*semaphore.Claim, now time.Time) (fsm.Forget, bool) {
	horizon := now.Add(-def.FiringRetention)
	var dated, undated []*semaphore.Claim
	for _, c := range claims {
		switch {
		case c.State == semaphore.ClaimHeld:
		case c.Firing.Due.IsZero():
			undated = append(undated, c)
		default:
			dated = append(dated, c)
		}
	}
	slices.SortFunc(dated, func(a, b *semaphore.Claim) int { return a.Firing.Due.Compare(b.Firing.Due) })
	slices.SortFunc(undated, func(a, b *semaphore.Claim) int { return cmp.Compare(a.Revision, b.Revision) })

	forget := fsm.Forget{Semaphore: def.Name}
	excess := len(claims) - int(def.FiringLimit)
	old := 0
	for old < len(dated) && (old < excess || !dated[old].Firing.Due.After(horizon)) {
		forget.UpTo = dated[old].Firing.Due
		old++
	}
	excess -= old
	for i, c := range undated {
		if i < excess || !c.At.IsZero() && !c.At.After(horizon) {
			forget.Names = append(forget.Names, c.Firing.Name)
		}
	}
	return forget, old > 0 || len(forget.Names) > 0
}
