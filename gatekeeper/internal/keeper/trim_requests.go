package keeper

import (
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// history records the revision of the state over time during one epoch, by this server's monotonic clock, oldest first.
// The state machine does not compare times, so the leader converts the lifetime of requests into a revision.
type history []moment

type moment struct {
	at       time.Time
	revision uint64
}

// revisionOlderThan records the current revision of the state and returns the newest revision that is at least a
// lifetime old. It returns 0 until this server has been the leader for that long.
func (h *history) revisionOlderThan(revision uint64, lifetime time.Duration) uint64 {
	now := time.Now()
	*h = append(*h, moment{now, revision})
	old := 0
	for old < len(*h) && now.Sub((*h)[old].at) >= lifetime {
		old++
	}
	if old == 0 {
		return 0
	}
	*h = slices.Delete(*h, 0, old-1) // keep the newest old moment: it may be needed again
	return (*h)[0].revision
}

// trimCommands returns the commands that forget requests older than their lifetime.
func trimCommands(term uint64, state *fsm.State, past *history) (cmds []fsm.Command) {
	upTo := past.revisionOlderThan(state.Revision(), state.Settings().Requests.OrDefault().Lifetime)
	if upTo == 0 || state.FeatureLevel() < 3 {
		return nil
	}
	trim := func(names []string) { cmds = append(cmds, fsm.Trim{Term: term, UpTo: upTo, Names: names}) }
	var names []string
	room := fsm.MaxTrimmed // the number of requests that the next command can still forget
	for name, n := range state.Trimmable(upTo) {
		names = append(names, name)
		for ; n >= room; room = fsm.MaxTrimmed {
			n -= room
			trim(names)
			if names = nil; n > 0 {
				names = []string{name}
			}
		}
		room -= n
	}
	if len(names) > 0 {
		trim(names)
	}
	return cmds
}
