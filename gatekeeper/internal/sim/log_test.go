package sim

import (
	"bytes"
	"fmt"
	"regexp"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// replayedLog is the history reconstructed from the log that all members agree on.
type replayedLog struct {
	world    *world
	violated []string

	granted     map[uint64]*semaphore.Permit
	grantTerm   map[uint64]uint64        // the term in which a token was issued
	cooledAt    map[uint64]time.Duration // when a token's slot finished cooling
	ended       map[uint64]ending
	changed     map[change]bool
	definitions map[string]*fsm.StoredDefinition
	lastToken   uint64            // the last token granted
	terms       map[uint64]uint64 // by revision, the term of the entry that made the change
}

// ending describes how a permit ended according to the log.
type ending struct {
	kind fsm.EventKind
	term uint64
	at   time.Duration // when the entry was first written, on any disk
	by   uint64        // the token that superseded it
}

// change identifies an edit of a semaphore.
type change struct {
	revision  uint64
	semaphore string
}

func (tr *replayedLog) fail(format string, args ...any) {
	tr.violated = append(tr.violated, fmt.Sprintf(format, args...))
}

// replay replays the entries that every member has applied, and returns violations of the safety rules.
func (w *world) replay(h *history.History) []string {
	tr := &replayedLog{
		world: w, granted: make(map[uint64]*semaphore.Permit), grantTerm: make(map[uint64]uint64), cooledAt: make(map[uint64]time.Duration),
		ended: make(map[uint64]ending), changed: make(map[change]bool),
		definitions: make(map[string]*fsm.StoredDefinition), terms: make(map[uint64]uint64),
	}
	runs, tasks := newFiringTracker(tr), newTaskTracker(tr, h)
	turns := newGrantOrder(tr, tasks, h)
	upTo := w.indexes[w.members[0].id]
	entries := tr.commonLog(upTo)
	machine := fsm.New(w.clusterID)
	var applied fsm.Applied
	machine.Subscribe(func(a fsm.Applied) { applied = a })
	for i, l := range entries {
		w.paths.countEntry(entries, i, w)
		if l.Type != raft.LogCommand {
			continue
		}
		before := machine.State()
		commands, err := fsm.Decode(l.Data)
		if err != nil {
			tr.fail("entry %d cannot be decoded: %v", l.Index, err)
			break
		}
		applied = fsm.Applied{}
		results, err := machine.Apply(l.Index, l.Term, l.Data)
		if err != nil {
			tr.fail("entry %d cannot be applied: %v", l.Index, err)
			break
		}
		at := w.writtenAt(l)
		for i := range applied.Events {
			tr.event(&applied.Events[i], l, at)
			tasks.event(&applied.Events[i], l, applied.State)
			turns.event(&applied.Events[i], l)
		}
		turns.entry(commands, results, l)
		for i := range commands {
			w.paths.countCommand(commands[i], results[i], l, before, tr)
			runs.command(commands[i], results[i], l)
		}
	}
	hash, err := machine.State().Hash()
	if want := w.hashAt(upTo); err != nil || hexOf(hash) != want {
		tr.fail("state hash after replaying the log up to %d is %s, but the members report %s (%v)", upTo, hexOf(hash), want, err)
	}
	tr.compare(h)
	runs.compare(h, machine.State())
	if w.judge != nil {
		tasks.compare(h, machine.State())
	}
	return tr.violated
}

// commonLog returns all entries up to an index, and reports entries that differ between members. A member may lack
// entries that a snapshot replaced.
func (tr *replayedLog) commonLog(upTo uint64) (entries []raft.Log) {
	for index := uint64(1); index <= upTo; index++ {
		var source *member
		var common raft.Log
		for _, m := range tr.world.members {
			l, ok := m.disk.entry(index)
			switch {
			case !ok:
			case source == nil:
				source, common = m, l
			case l.Term != common.Term || !bytes.Equal(l.Data, common.Data):
				tr.fail("%s and %s have applied different entries at index %d", source.id, m.id, index)
				return entries
			}
		}
		if source == nil {
			tr.fail("no member has entry %d", index)
			return entries
		}
		entries = append(entries, common)
	}
	return entries
}

// writtenAt returns the time at which an entry was first written. A follower may have written it before the leader.
func (w *world) writtenAt(l raft.Log) time.Duration {
	first := time.Duration(1<<63 - 1)
	for _, m := range w.members {
		if at, ok := m.disk.written[entryID{l.Index, l.Term}]; ok {
			first = min(first, at.Sub(w.start))
		}
	}
	return first
}

func (tr *replayedLog) event(e *fsm.Event, l raft.Log, at time.Duration) {
	tr.terms[e.Revision] = l.Term
	switch e.Kind {
	case fsm.Created, fsm.Replaced, fsm.RevertedEvent:
		tr.definitions[e.Semaphore] = e.Definition
		tr.changed[change{e.Revision, e.Semaphore}] = true
	case fsm.Deleted:
		delete(tr.definitions, e.Semaphore)
		tr.changed[change{e.Revision, e.Semaphore}] = true
	case fsm.SupersededEvent:
		tr.world.paths.inc(reacquired)
		tr.ended[e.Superseded.Token] = ending{e.Kind, l.Term, at, e.Permit.Token}
		if e.Superseded.Identity != e.Permit.Identity || e.Superseded.Firing != nil {
			tr.fail("entry %d: permit %+v supersedes %+v, which has a different identity or a firing", l.Index, e.Permit, e.Superseded)
		}
		tr.grant(e.Permit, l)
	case fsm.Granted:
		tr.grant(e.Permit, l)
	case fsm.CoolingEnded:
		tr.cooledAt[e.Permit.Token] = at
	case fsm.Released, fsm.Expired, fsm.HeldEvent, fsm.CoolingEvent, fsm.Abandoned, fsm.FreedUnsafely:
		if e.Kind == fsm.HeldEvent {
			tr.world.paths.inc(heldForOperator)
		}
		if _, already := tr.ended[e.Permit.Token]; !already {
			tr.ended[e.Permit.Token] = ending{e.Kind, l.Term, at, 0}
		}
	}
}

// grant records a newly issued token.
func (tr *replayedLog) grant(p *semaphore.Permit, l raft.Log) {
	if p.Token <= tr.lastToken {
		tr.fail("entry %d grants token %d after token %d", l.Index, p.Token, tr.lastToken)
	}
	tr.lastToken = p.Token
	tr.granted[p.Token], tr.grantTerm[p.Token] = p, l.Term
	tr.checkAdmitted(p, l)
}

// freed returns how and when a token's slot was freed, if it was. A slot that is cooling or held for an operator counts
// as freed. The slot of a superseded token passes to the superseding token, and counts as freed only once it has
// cooled.
func (tr *replayedLog) freed(token uint64) (end ending, freed bool) {
	end, freed = tr.ended[token]
	if !freed || end.by == 0 {
		return end, freed
	}
	for freed && end.by != 0 {
		token = end.by
		end, freed = tr.ended[token]
	}
	if freed && (end.kind == fsm.CoolingEvent || end.kind == fsm.HeldEvent) {
		end.at, freed = tr.cooledAt[token]
	}
	return end, freed
}

// checkAdmitted checks that the patterns in force at the time of a grant admit its holder.
func (tr *replayedLog) checkAdmitted(p *semaphore.Permit, l raft.Log) {
	rule := tr.definitions[p.Semaphore]
	if rule == nil {
		tr.fail("entry %d grants token %d of %s, which has no definition", l.Index, p.Token, p.Semaphore)
		return
	}
	for _, match := range [][2]string{{rule.Definition.GroupPattern, p.Identity.Group}, {rule.Definition.AcquirerPattern, p.Identity.Acquirer}} {
		if !regexp.MustCompile(`^(?:` + match[0] + `)$`).MatchString(match[1]) {
			tr.fail("entry %d grants token %d of %s to %s, which %q does not admit", l.Index, p.Token, p.Semaphore, match[1], match[0])
		}
	}
}

// compare reports responses that contradict the log, and slots that were freed while their holder still believed that
// it held the permit.
func (tr *replayedLog) compare(h *history.History) {
	for _, b := range h.Beliefs {
		end, ended := tr.freed(b.Token)
		switch {
		case tr.granted[b.Token] == nil:
			tr.fail("%s relied on token %d of %s, which was never granted", b.Client, b.Token, b.Semaphore)
		case ended && b.Until > end.at:
			tr.fail("token %d of %s ended at %v (event %d), but %s relied on it until %v", b.Token, b.Semaphore, end.at, end.kind, b.Client, b.Until)
		}
	}
	for token, at := range tr.world.lost {
		if end, ended := tr.ended[token]; !ended || end.at > at {
			tr.fail("the holder of token %d was notified at %v that its permit was lost, but the permit was live", token, at)
		}
	}
	for i := range h.Operations {
		op := &h.Operations[i]
		answer, ok := op.Response()
		if !ok {
			continue
		}
		switch r := op.Request; {
		case r.Kind == history.Acquire && answer.Result == history.Granted:
			if p := tr.granted[answer.Token]; p == nil || p.Semaphore != r.Semaphore || p.Identity.HolderID != r.Identity.HolderID {
				tr.fail("%s was granted token %d, but the log has %+v", op.Client, answer.Token, p)
			}
		case r.Kind == history.Release && answer.Result == history.Released:
			if end, ok := tr.ended[r.Token]; !ok || end.kind != fsm.Released && end.kind != fsm.CoolingEvent {
				tr.fail("%s released token %d, but the log has %+v", op.Client, r.Token, end)
			}
		case r.Kind == history.Edit:
			if !tr.changed[change{answer.Revision, r.Semaphore}] {
				tr.fail("the edit of %s at revision %d was acknowledged but is not in the log", r.Semaphore, answer.Revision)
			}
		}
	}
}
