package fsm

import (
	"time"

	"github.com/tidwall/btree"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// draft is the machine's private working copy of the state while it applies entries. The methods in this file and in
// journal.go are the only ones that write its trees; each keeps every index of what it writes.
//
// A command first looks, then writes, and no write can fail: so no command is ever half applied.
type draft struct {
	*State // never published; see publish

	// These no reader asks for.
	claimTokens  *btree.Map[uint64, *semaphore.Claim]
	deletionAges *btree.BTreeG[deletion]   // by (revision, name)
	sightingAges *btree.BTreeG[Sighting]   // the longest unseen first
	memorySizes  *btree.BTreeG[memorySize] // of semaphores; the fewest requests first
	submitters   *btree.BTreeG[submitter]  // by token

	entries uint64 // how many were begun; see write
	events  []Event
	ordinal uint32        // of the next journal entry of this revision
	noted   *JournalEntry // the first of this revision
}

type deletion struct {
	revision uint64
	name     string
}

func deletionBefore(a, b deletion) bool {
	if a.revision != b.revision {
		return a.revision < b.revision
	}
	return a.name < b.name
}

// newDraft begins empty.
func newDraft(clusterID string) *draft {
	return &draft{
		State:        newState(clusterID),
		claimTokens:  btree.NewMap[uint64, *semaphore.Claim](0),
		deletionAges: newTree(deletionBefore),
		sightingAges: newTree(sightingOlder),
		memorySizes:  newTree(fewerRequests),
		submitters:   newTree(submitterBefore),
	}
}

// begin starts an entry of that many commands.
func (d *draft) begin(index, term uint64, commands int) {
	d.index, d.term = index, term
	d.entries++
	d.events = make([]Event, 0, commands) // subscribers may keep the last entry's
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

// write returns the gate of that name to write to. The first time in an entry that is a copy, because readers have the
// gate as it was; after that it is the same copy until the entry is published. A caller that removed something calls
// sweep.
func (d *draft) write(name string) *gate {
	g := d.gate(name)
	if g != noGate && g.written == d.entries {
		return g
	}
	c := *g
	c.written = d.entries
	d.gates.Set(name, &c)
	return &c
}

// sweep drops the gate of a name of which nothing is left: nobody could tell it from a name that never was.
func (d *draft) sweep(name string, g *gate) {
	if !g.empty() {
		return
	}
	if _, waits := d.dues.Get(name); !waits {
		d.gates.Delete(name)
		d.settleMemory(name)
	}
}

// setDefinition adds, replaces or, with nil, removes the definition of that name.
func (d *draft) setDefinition(name string, now *StoredDefinition) {
	g := d.write(name)
	if g.definition != nil {
		d.definitionCount--
	}
	if now != nil {
		d.definitionCount++
	}
	g.definition = now
	d.rules = d.index
	d.sweep(name, g)
}

// setCordons replaces the cordons. The old slice belongs to published states: now is another one.
func (d *draft) setCordons(now []*Cordon) {
	d.cordons, d.cordonRevision, d.rules = now, d.revision, d.index
}

// setDue replaces what is due under that name; the zero value takes it away.
func (d *draft) setDue(name string, now due) {
	d.rules = d.index
	if len(now.drains) > 0 || len(now.ends) > 0 {
		d.dues.Set(name, &now)
	} else if _, was := d.dues.Delete(name); was {
		d.sweep(name, d.gate(name))
	}
}

// setPermit replaces old by now: nil for old adds a permit, nil for now removes it. It is the one place where permits
// change, and so where used weight, counts and the permit revision do.
func (d *draft) setPermit(old, now *semaphore.Permit) {
	p := now
	if p == nil {
		p = old
	}
	g := d.write(p.Semaphore)
	if old != nil {
		g.used -= uint64(old.Weight)
		g.permits--
		if now == nil {
			d.permits.Delete(old.Token)
			d.holders.Delete(old)
		}
		if old.State != semaphore.Cooling && (now == nil || now.State == semaphore.Cooling) {
			d.identities.Delete(old)
		}
	}
	if now != nil {
		g.used += uint64(now.Weight)
		g.permits++
		d.permits.Set(now.Token, now)
		d.holders.Set(now)
		if now.State != semaphore.Cooling {
			d.identities.Set(now)
		}
	}
	if old == nil || now == nil || old.State != now.State {
		g.permitRevision = d.revision
	}
	d.sweep(p.Semaphore, g)
}

// setClaim replaces old by now, as setPermit does. A firing that is claimed again replaces its older claim.
func (d *draft) setClaim(old, now *semaphore.Claim) {
	c := now
	if c == nil {
		c = old
	}
	g := d.write(c.Semaphore)
	if old != nil {
		g.claims--
		d.claimTokens.Delete(old.Token)
		if now == nil {
			d.claims.Delete(old)
		}
	}
	if now != nil {
		g.claims++
		d.claims.Set(now)
		d.claimTokens.Set(now.Token, now)
	}
	d.sweep(c.Semaphore, g)
}

// claimOf returns the claim that this token holds or held, or nil when a newer one took its place.
func (d *draft) claimOf(token uint64) *semaphore.Claim {
	c, _ := d.claimTokens.Get(token)
	return c
}

// turnClaim replaces a claim when something has become of it. One that is open with no attempt is as if it had never
// been. Servers below feature level 4 kept nothing of an open claim, and took a job that its holder cut short for a
// lost one.
func (d *draft) turnClaim(c *semaphore.Claim, after semaphore.Claim) {
	switch after.State {
	case semaphore.ClaimOpen:
		if d.featureLevel < 4 || after.Attempts == 0 {
			d.setClaim(c, nil)
			return
		}
	case semaphore.ClaimCutShort:
		if d.featureLevel < 4 {
			after.State = semaphore.ClaimSpent
		}
	default:
	}
	after.Revision = d.revision
	d.setClaim(c, &after)
}

// raiseLowWater never lowers it.
func (d *draft) raiseLowWater(name string, to time.Time) {
	if to.After(d.LowWater(name)) {
		d.write(name).lowWater = to.UnixNano()
	}
}
