package fsm

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// draft is the machine's private working copy of the state while it applies entries. The methods in this file and in
// memory.go are the only ones that write its trees; each keeps every index of what it writes.
//
// A command first looks, then writes, and no write can fail: so no command is ever half applied.
type draft struct {
	*State // never published; see publish

	events  []Event
	ordinal uint32 // of the next journal entry of this revision
}

func newDraft(s *State) *draft { return &draft{State: s} }

// begin starts an entry.
func (d *draft) begin(index, term uint64) {
	d.index, d.term, d.events = index, term, nil
}

// publish returns the state as readers may have it. The draft goes on with copies of what it writes from here on.
func (d *draft) publish() *State { return d.fork() }

// advance starts an effective command: what it changes carries the new revision.
func (d *draft) advance() uint64 {
	d.revision++
	d.ordinal = 0
	return d.revision
}

// emit adds an event of the current revision.
func (d *draft) emit(e Event) {
	e.Revision = d.revision
	d.events = append(d.events, e)
}

// setPermit replaces old by now: nil for old adds a permit, nil for now removes it. It is the one place where permits
// change, and so where used weight, counts and the permit revision do.
func (d *draft) setPermit(old, now *semaphore.Permit) {
	p := now
	if p == nil {
		p = old
	}
	t := d.tally(p.Semaphore)
	if old != nil {
		t.used -= uint64(old.Weight)
		t.permits--
		if now == nil {
			d.permits.Delete(old.Token)
			d.holders.Delete(old)
		}
		if old.State != semaphore.Cooling && (now == nil || now.State == semaphore.Cooling) {
			d.identities.Delete(old)
		}
	}
	if now != nil {
		t.used += uint64(now.Weight)
		t.permits++
		d.permits.Set(now.Token, now)
		d.holders.Set(now)
		if now.State != semaphore.Cooling {
			d.identities.Set(now)
		}
	}
	if old == nil || now == nil || old.State != now.State {
		t.permitRevision = d.revision
	}
	d.setTally(p.Semaphore, t)
}

// setTally keeps the tally of a name for as long as anything of that name is left: its definition, permits, claims or
// journal. After that nothing could tell it from a name that never was.
func (d *draft) setTally(name string, t tally) {
	if t.permits == 0 && t.claims == 0 && t.journal == 0 {
		defined := d.Definition(name) != nil
		if !defined || (t.permitRevision == 0 && t.lowWater.IsZero()) {
			d.tallies.Delete(name)
			return
		}
	}
	d.tallies.Set(name, &t)
}

// setClaim replaces old by now, as setPermit does. A firing that is claimed again replaces its older claim.
func (d *draft) setClaim(old, now *semaphore.Claim) {
	c := now
	if c == nil {
		c = old
	}
	t := d.tally(c.Semaphore)
	if old != nil {
		t.claims--
		d.claimTokens.Delete(old.Token)
		if now == nil {
			d.claims.Delete(old)
		}
	}
	if now != nil {
		t.claims++
		d.claims.Set(now)
		d.claimTokens.Set(now.Token, now)
	}
	d.setTally(c.Semaphore, t)
}

// claimOf returns the claim that this token holds or held, or nil when a newer one took its place.
func (d *draft) claimOf(token uint64) *semaphore.Claim {
	c, _ := d.claimTokens.Get(token)
	return c
}

// turnClaim sets the state of a claim.
func (d *draft) turnClaim(c *semaphore.Claim, state semaphore.ClaimState) {
	turned := *c
	turned.State, turned.Revision = state, d.revision
	d.setClaim(c, &turned)
}

// raiseLowWater never lowers it.
func (d *draft) raiseLowWater(name string, to time.Time) {
	t := d.tally(name)
	if to.After(t.lowWater) {
		t.lowWater = to
		d.setTally(name, t)
	}
}

// setDefinition adds, replaces or, with nil, removes the definition of that name.
func (d *draft) setDefinition(name string, now *StoredDefinition) {
	if now == nil {
		d.definitions.Delete(name)
		// Nothing may be left of the name; then its tally goes too.
		if t, ok := d.tallies.Get(name); ok {
			d.setTally(name, *t)
		}
		return
	}
	d.definitions.Set(name, now)
}
