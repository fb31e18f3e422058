package keeper

import (
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
)

// history says which revision the state had when, by the monotonic clock of this server, in one leadership. The state machine compares no
// times, so the leader turns the lifetime of requests into a revision.
type history struct {
	epoch *epoch
	past  []moment // oldest first
}

type moment struct {
	at       time.Time
	revision uint64
}

// before takes note of the revision that the state has now, and returns the newest one that it had a lifetime ago or earlier; 0 while this
// server has not led for that long.
func (h *history) before(e *epoch, revision uint64, lifetime time.Duration) uint64 {
	if h.epoch != e {
		h.epoch, h.past = e, nil
	}
	now := time.Now()
	h.past = append(h.past, moment{now, revision})
	old := 0
	for old < len(h.past) && now.Sub(h.past[old].at) >= lifetime {
		old++
	}
	if old == 0 {
		return 0
	}
	h.past = slices.Delete(h.past, 0, old-1) // the newest of them may be asked for again
	return h.past[0].revision
}

// trimRequests forgets requests that have been remembered for their lifetime.
func (k *Keeper) trimRequests(e *epoch, state *fsm.State, past *history) {
	upTo := past.before(e, state.Revision(), state.Settings().Requests.OrDefault().Lifetime)
	if upTo == 0 || state.FeatureLevel() < 3 {
		return
	}
	propose := func(names []string) {
		k.cfg.Proposer.Go(fsm.Trim{Term: e.term, UpTo: upTo, Names: names}, func(batcher.Outcome) {}) // what fails is found again in a minute
	}
	var names []string
	room := fsm.MaxTrimmed // for how many requests the next command forgets
	for name, n := range state.Trimmable(upTo) {
		names = append(names, name)
		for ; n >= room; room = fsm.MaxTrimmed {
			n -= room
			propose(names)
			if names = nil; n > 0 {
				names = []string{name}
			}
		}
		room -= n
	}
	if len(names) > 0 {
		propose(names)
	}
}
