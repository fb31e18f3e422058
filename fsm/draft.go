package fsm

import (
	"time"

	"github.com/tidwall/btree"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// draft is the machine's private working copy of the state while it applies entries. Only the methods in this file,
// journal.go, requests.go and work.go write its trees, and each of them updates every index of the data that it writes.
//
// A command first reads and then writes. Writes cannot fail, so no command is ever half applied.
type draft struct {
	*State // never published; see publish

	// Readers do not need the fields below.
	claimTokens  *btree.Map[uint64, *semaphore.Claim]
	deletionAges *btree.BTreeG[deletion]   // by (revision, name)
	sightingAges *btree.BTreeG[Sighting]   // least recently seen first
	memorySizes  *btree.BTreeG[memorySize] // of semaphores; fewest requests first
	submitters   *btree.BTreeG[submitter]  // by token

	entries    uint64 // number of entries begun; see write
	events     []Event
	ordinal    uint32        // of the next journal entry of this revision
	firstEntry *JournalEntry // the first journal entry of this revision
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

// newDraft returns an empty draft.
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

// begin starts an entry with the given number of commands.
func (d *draft) begin(index, term uint64, commands int) {
	d.index, d.term = index, term
	d.entries++
	d.events = make([]Event, 0, commands) // a new slice, because subscribers may keep the previous one
}

// publish returns a state for readers. Afterwards, the draft copies each node before it writes to it.
func (d *draft) publish() *State { return d.fork() }

// advance starts a new revision for a command that has an effect. All changes that the command makes carry it.
func (d *draft) advance() uint64 {
	d.revision++
	d.ordinal = 0
	return d.revision
}

// emit adds an event with the current revision.
func (d *draft) emit(e Event) {
	e.Revision = d.revision
	d.events = append(d.events, e)
}

// write returns a writable gate for a name. The first call in an entry copies the gate, because readers may be using
// the old one. Later calls return the same copy until the entry is published. A caller that removes something must call
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

// sweep deletes a name's gate if it is empty, so that the name is indistinguishable from one that never existed.
func (d *draft) sweep(name string, g *gate) {
	if !g.empty() {
		return
	}
	if _, pending := d.timers.Get(name); !pending {
		d.gates.Delete(name)
		d.settleMemory(name)
	}
}

// setDefinition adds or replaces the definition with the given name, or removes it if updated is nil.
func (d *draft) setDefinition(name string, updated *StoredDefinition) {
	g := d.write(name)
	if g.definition != nil {
		d.definitionCount--
	}
	if updated != nil {
		d.definitionCount++
	}
	g.definition = updated
	d.rules = d.index
	d.sweep(name, g)
}

// setCordons replaces the cordons. updated must be a new slice, because the old one belongs to published states.
func (d *draft) setCordons(updated []*Cordon) {
	d.cordons, d.cordonRevision, d.rules = updated, d.revision, d.index
}

// setTimers replaces a name's drains and temporary edits. The zero value removes them.
func (d *draft) setTimers(name string, updated pendingTimers) {
	d.rules = d.index
	if len(updated.drains) > 0 || len(updated.ends) > 0 {
		d.timers.Set(name, &updated)
	} else if _, existed := d.timers.Delete(name); existed {
		d.sweep(name, d.gate(name))
	}
}

// setPermit replaces old with updated. If old is nil, it adds a permit; if updated is nil, it removes one. It is the
// only code that changes permits, the used weight, the counts and the permit revision.
func (d *draft) setPermit(old, updated *semaphore.Permit) {
	p := updated
	if p == nil {
		p = old
	}
	g := d.write(p.Semaphore)
	if old != nil {
		g.used -= uint64(old.Weight)
		g.permits--
		if updated == nil {
			d.permits.Delete(old.Token)
			d.holders.Delete(old)
		}
		if old.State != semaphore.Cooling && (updated == nil || updated.State == semaphore.Cooling) {
			d.identities.Delete(old)
		}
	}
	if updated != nil {
		g.used += uint64(updated.Weight)
		g.permits++
		d.permits.Set(updated.Token, updated)
		d.holders.Set(updated)
		if updated.State != semaphore.Cooling {
			d.identities.Set(updated)
		}
	}
	if old == nil || updated == nil || old.State != updated.State {
		g.permitRevision = d.revision
	}
	d.sweep(p.Semaphore, g)
}

// setClaim replaces old with updated, like setPermit. When a firing is claimed again, the new claim replaces the old
// one.
func (d *draft) setClaim(old, updated *semaphore.Claim) {
	c := updated
	if c == nil {
		c = old
	}
	g := d.write(c.Semaphore)
	if old != nil {
		g.claims--
		d.claimTokens.Delete(old.Token)
		if updated == nil {
			d.claims.Delete(old)
		}
	}
	if updated != nil {
		g.claims++
		d.claims.Set(updated)
		d.claimTokens.Set(updated.Token, updated)
	}
	d.sweep(c.Semaphore, g)
}

// claimOf returns the claim that the token holds or held, or nil if a newer claim has replaced it.
func (d *draft) claimOf(token uint64) *semaphore.Claim {
	c, _ := d.claimTokens.Get(token)
	return c
}

// updateClaim updates a claim. An open claim without attempts is removed, as if it had never existed. Servers below
// feature level 4 did not keep open claims and treated a job that its holder cut short as lost.
func (d *draft) updateClaim(c *semaphore.Claim, after semaphore.Claim) {
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

// raiseLowWater raises a semaphore's low-water mark to the given time. It never lowers it.
func (d *draft) raiseLowWater(name string, to time.Time) {
	if to.After(d.LowWater(name)) {
		d.write(name).lowWater = to.UnixNano()
	}
}
