package api

import (
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// holdersAt pages over the permits that took slots at an instant, as far as the journal remembers: those that still do, and
// those that ended later. Instants are those of the leaders' clocks.
func holdersAt(state *fsm.State, chosen func(name string) bool, group string, then time.Time, limit int, from pageKey) *gatekeeperv1.ListHoldersResponse {
	out := &gatekeeperv1.ListHoldersResponse{Revision: state.Revision()}
	var taken page
	var last pageKey
	// A recovery lost permits of which the journal says nothing, also of names that nothing else is left of.
	begins := state.HistoryBegins()
	full := false
	for name := range state.Names() {
		if name == "" || !chosen(name) {
			continue
		}
		if b := historyBegins(state, name); b.After(begins) {
			begins = b
		}
		if full || name < from.name {
			continue
		}
		for _, p := range heldAt(state, name, then) {
			if name == from.name && p.GetToken() <= from.token || group != "" && p.GetIdentity().GetGroup() != group {
				continue
			}
			if !taken.add(limit, p) {
				out.NextPageToken, full = last.String(), true
				break
			}
			out.Permits = append(out.Permits, p)
			last = pageKey{name: name, token: p.GetToken()}
		}
	}
	out.HistoryBegins = toTimestamp(begins)
	return out
}

// heldAt are the permits of a semaphore that took slots at an instant, by token.
func heldAt(state *fsm.State, name string, then time.Time) (held []*gatekeeperv1.Permit) {
	for p := range state.Holders(name) {
		// A cooling permit's holder is gone: its end stands in the journal.
		if p.State != semaphore.Cooling && !p.GrantedAt.After(then) {
			held = append(held, toPermit(p))
		}
	}
	for entry := range state.Journal(name, 0) {
		if !endsPermit(entry) || entry.Permit.GrantedAt.After(then) || !entry.At.After(then) {
			continue
		}
		p := toPermit(entry.Permit)
		p.EndedAt, p.Ended = toTimestamp(entry.At), toEnd(entry.Kind.End())
		held = append(held, p)
	}
	slices.SortFunc(held, func(a, b *gatekeeperv1.Permit) int { return int(int64(a.GetToken()) - int64(b.GetToken())) })
	return held
}

// endsPermit tells whether a journal entry is the end of a permit. That of a grant which nobody heard of is none: nobody held it.
func endsPermit(entry *fsm.JournalEntry) bool {
	end := entry.Kind.End()
	return entry.Permit != nil && end != semaphore.NotEnded && end != semaphore.EndAbandoned
}

// historyBegins is from when on the journal of a semaphore is whole, but for what a recovery lost; zero when it is whole from the beginning.
func historyBegins(state *fsm.State, name string) time.Time {
	if forgotten := state.EndsForgotten(name); !forgotten.IsZero() {
		return forgotten
	}
	for entry := range state.Journal(name, 0) {
		if entry.Kind == fsm.Created {
			return time.Time{} // nothing came before
		}
		return entry.At
	}
	// Of what is there the creation was noted once, and gave way to entries of others.
	for entry := range state.Journal("", 0) {
		return entry.At
	}
	return time.Time{}
}
