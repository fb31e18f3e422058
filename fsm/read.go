package fsm

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/tidwall/btree"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Index is that of the last log entry that was applied.
func (s *State) Index() uint64 { return s.index }

// Term is that of the last log entry that was applied.
func (s *State) Term() uint64 { return s.term }

// Revision is that of the last applied change.
func (s *State) Revision() uint64 { return s.revision }

// LastToken is the highest fencing token ever given.
func (s *State) LastToken() uint64 { return s.lastToken }

// ClusterID is "seed.incarnation" of the cluster whose state this is.
func (s *State) ClusterID() string { return s.clusterID }

// Settings are the replicated bounds in force.
func (s *State) Settings() Settings { return s.settings }

// LargestDuration is the largest max_duration ever in force. It bounds every duration of a permit, cooling included.
func (s *State) LargestDuration() time.Duration { return s.largestDuration }

// FeatureLevel is the newest level whose commands may be proposed.
func (s *State) FeatureLevel() uint32 { return s.featureLevel }

// Definition returns the definition of that name, or nil.
func (s *State) Definition(name string) *StoredDefinition {
	return s.gate(name).definition
}

// Definitions are those whose names are at or after from, in the order of their names.
func (s *State) Definitions(from string) iter.Seq[*StoredDefinition] {
	return func(yield func(*StoredDefinition) bool) {
		s.gates.Ascend(from, func(_ string, g *gate) bool { return g.definition == nil || yield(g.definition) })
	}
}

// DefinitionCount counts definitions.
func (s *State) DefinitionCount() int { return s.definitionCount }

// Permit returns the permit with that token, live, held or cooling; or nil.
func (s *State) Permit(token uint64) *semaphore.Permit {
	p, _ := s.permits.Get(token)
	return p
}

// PermitCount counts permits: live, held and cooling.
func (s *State) PermitCount() int { return s.permits.Len() }

// Permits are those whose tokens are at or after from, by token: live, held and cooling.
func (s *State) Permits(from uint64) iter.Seq[*semaphore.Permit] {
	return func(yield func(*semaphore.Permit) bool) {
		s.permits.Ascend(from, func(_ uint64, p *semaphore.Permit) bool { return yield(p) })
	}
}

// Own returns the live or held permit of that identity, or nil. A cooling permit is nobody's.
func (s *State) Own(sem string, id semaphore.Identity) *semaphore.Permit {
	p, _ := s.identities.Get(&semaphore.Permit{Semaphore: sem, Identity: id})
	return p
}

// Holders are the permits of a semaphore by token: live, held and cooling. A semaphore that was deleted keeps its
// permits.
func (s *State) Holders(sem string) iter.Seq[*semaphore.Permit] {
	return func(yield func(*semaphore.Permit) bool) {
		s.holders.Ascend(&semaphore.Permit{Semaphore: sem}, func(p *semaphore.Permit) bool {
			return p.Semaphore == sem && yield(p)
		})
	}
}

// HoldersFrom are the permits of all semaphores in the order of (semaphore, token), from that key on: what paging
// needs.
func (s *State) HoldersFrom(sem string, token uint64) iter.Seq[*semaphore.Permit] {
	return func(yield func(*semaphore.Permit) bool) {
		s.holders.Ascend(&semaphore.Permit{Semaphore: sem, Token: token}, yield)
	}
}

// HolderCount counts the permits of a semaphore: live, held and cooling.
func (s *State) HolderCount(sem string) int { return int(s.gate(sem).permits) }

// Used is the weight of the permits of a semaphore: live, held and cooling.
func (s *State) Used(sem string) uint64 { return s.gate(sem).used }

// PermitRevision is the revision of the semaphore's last grant, end or hold of a permit, or end of cooling. From
// feature level 3 on it is at least the revision that created the definition, so that what was read before a deletion
// never fits. 0 without any of these.
func (s *State) PermitRevision(sem string) uint64 {
	g := s.gate(sem)
	if s.featureLevel >= 3 && g.definition != nil {
		return max(g.permitRevision, g.definition.CreatedRevision)
	}
	return g.permitRevision
}

// Claim returns the claim of that firing, or nil.
func (s *State) Claim(sem string, f semaphore.Firing) *semaphore.Claim {
	c, _ := s.claims.Get(&semaphore.Claim{Semaphore: sem, Firing: f})
	return c
}

// Claims are the remembered firings of a semaphore: first those without due time by name, then the others by due time
// and name.
func (s *State) Claims(sem string) iter.Seq[*semaphore.Claim] {
	return func(yield func(*semaphore.Claim) bool) {
		s.claims.Ascend(&semaphore.Claim{Semaphore: sem}, func(c *semaphore.Claim) bool {
			return c.Semaphore == sem && yield(c)
		})
	}
}

// ClaimsBackward are the remembered firings of a semaphore in the reverse order of Claims: those behind one of them, or
// all for nil.
func (s *State) ClaimsBackward(sem string, behind *semaphore.Firing) iter.Seq[*semaphore.Claim] {
	from := &semaphore.Claim{Semaphore: sem + "\x00"} // behind all claims of sem
	if behind != nil {
		from = &semaphore.Claim{Semaphore: sem, Firing: *behind}
	}
	return func(yield func(*semaphore.Claim) bool) {
		s.claims.Descend(from, func(c *semaphore.Claim) bool {
			return !claimBefore(c, from) || c.Semaphore == sem && yield(c)
		})
	}
}

// ClaimedSemaphores are the names that have remembered firings, in their order, also those of deleted definitions.
func (s *State) ClaimedSemaphores() iter.Seq[string] {
	return func(yield func(string) bool) {
		s.gates.Scan(func(name string, g *gate) bool { return g.claims == 0 || yield(name) })
	}
}

// ClaimCount counts the remembered firings of a semaphore.
func (s *State) ClaimCount(sem string) int { return int(s.gate(sem).claims) }

// LowWater is the due time at and below which the semaphore refuses firings, because they may have been forgotten; zero
// when none was.
func (s *State) LowWater(sem string) time.Time { return timeFromProto(s.gate(sem).lowWater) }

// Names are those of which anything is kept, in their order: definitions, also deleted ones that have permits,
// remembered firings, drains or a journal left.
func (s *State) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		s.gates.Scan(func(name string, _ *gate) bool { return name == "" || yield(name) })
	}
}

// Drains are those of the semaphore's edits that are not over, by revision, also after its deletion. Do not modify the
// slice. Those of pauses, cordons and revoked permits stand there.
func (s *State) Drains(sem string) []semaphore.Drain {
	return s.due(sem).drains
}

// Ends are the semaphore's edits that end, by revision. Do not modify the slice.
func (s *State) Ends(sem string) []*EditEnd {
	return s.due(sem).ends
}

// Quarantine is how long after a promotion nothing is granted, because a recovery lost permits whose holders may still
// believe in them; 0 when there is nothing to wait for. EndQuarantine ends it.
func (s *State) Quarantine() time.Duration { return s.quarantine }

// HistoryBegins is when a recovery last lost permits: the journal does not tell who held what before it. Zero when none
// did.
func (s *State) HistoryBegins() time.Time { return s.historyBegins }

// Sightings are who was seen asking, by group, then by acquirer: the last of each, the MaxSightings newest.
func (s *State) Sightings() iter.Seq[Sighting] {
	return func(yield func(Sighting) bool) { s.sightings.Scan(yield) }
}

// Sighting returns when that acquirer of that group was last seen asking, and whether it was.
func (s *State) Sighting(group, acquirer string) (Sighting, bool) {
	return s.sightings.Get(Sighting{Group: group, Acquirer: acquirer})
}

// SightingCount counts sightings.
func (s *State) SightingCount() int { return s.sightings.Len() }

// Cordons are sorted by id. Do not modify the slice.
func (s *State) Cordons() []*Cordon { return s.cordons }

// Cordon returns the cordon of that id, or nil.
func (s *State) Cordon(id string) *Cordon {
	if i, found := slices.BinarySearchFunc(s.cordons, id, func(c *Cordon, id string) int { return cmp.Compare(c.ID, id) }); found {
		return s.cordons[i]
	}
	return nil
}

// CordonRevision is the revision of the last change of the set of cordons.
func (s *State) CordonRevision() uint64 { return s.cordonRevision }

// Rules is the index of the last entry that changed a definition, a pause, a cordon or a drain, or that of the snapshot
// from which this server began: while it stays the same, so does what is said of the same live permit. Servers differ
// in it.
func (s *State) Rules() uint64 { return s.rules }

// Request returns how the acquire of that request id ended, or returns nil: it has not, it was never seen, or it is
// long forgotten.
func (s *State) Request(sem string, id semaphore.Identity, requestID string) *Remembered {
	if requestID == "" {
		return nil
	}
	k, _ := s.requestKeys.Get(keyOfRequest(&Remembered{Semaphore: sem, Identity: id, RequestID: requestID}))
	return k.request
}

// Forgotten is the revision up to which ended requests of a semaphore, or edits if sem is empty, may have been
// forgotten; 0: none was.
func (s *State) Forgotten(sem string) uint64 {
	if m, ok := s.memories.Get(sem); ok || sem == "" {
		if !ok {
			return 0
		}
		return m.forgotten
	}
	return s.namesForgotten
}

// TooOld returns nil unless a request that is not remembered may have been made, and forgotten since. revision is one
// as of which it had not been made; 0, if none is known, is never too old. sem is empty for an edit.
func (s *State) TooOld(sem string, revision uint64) *TooOld {
	if forgotten := s.Forgotten(sem); revision != 0 && revision < forgotten {
		return &TooOld{RequestRevision: revision, Forgotten: forgotten, Revision: s.revision}
	}
	return nil
}

// RequestMemory returns how many requests are remembered of all semaphores and how many edits, with estimates of their
// sizes in bytes.
func (s *State) RequestMemory() (requests, edits int, requestBytes, editBytes uint64) {
	m := s.memory("")
	return s.requests.Len() - m.requests.len(), m.requests.len(), s.requestBytes, m.bytes
}

// Trimmable returns how many requests of each name Trim would forget up to that revision; the empty name stands for
// edits.
func (s *State) Trimmable(upTo uint64) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		s.memories.Scan(func(name string, m *memory) bool {
			list := m.requests.items
			list = list[:max(0, len(list)-s.keptRequests(name))]
			n, _ := slices.BinarySearchFunc(list, upTo+1, func(r *Remembered, upTo uint64) int { return cmp.Compare(r.Revision, upTo) })
			return n == 0 || yield(name, n)
		})
	}
}

// EditRequest returns what the change of an operator of that request id did: a batch of edits, a pause, a cordon, an
// undo; or returns nil.
func (s *State) EditRequest(requestID string) *Remembered {
	return s.Request("", semaphore.Identity{}, requestID)
}

// EndedPermit returns how the permit with that token ended; or returns nil: it has not, or it is long forgotten.
func (s *State) EndedPermit(token uint64) *Remembered {
	r, _ := s.requestTokens.Get(token)
	return r
}

// WasDeleted reports whether a definition of that name was deleted and not created again, as far as that is remembered.
func (s *State) WasDeleted(name string) bool {
	_, ok := s.deletions.Get(name)
	return ok
}

// Retired reports whether a server of that id was removed from the cluster; its id is never taken again.
func (s *State) Retired(id string) bool {
	_, found := search(s.retired, id, func(r string) string { return r })
	return found
}

// ChangesForgotten is the newest revision of a change of which it is not known how many entries it made, and of which
// one was forgotten; 0: there is none. Changes that know all their entries (JournalEntry.Change) do not count.
func (s *State) ChangesForgotten() uint64 { return s.changesForgotten }

// EndsForgotten is when the newest permit of a semaphore ended of those whose end the journal has forgotten since
// feature level 3; zero: none was.
func (s *State) EndsForgotten(sem string) time.Time {
	return timeFromProto(s.gate(sem).runLog().forgotten)
}

// Journal is what is left of the history of a semaphore, from that revision on and in its order; of everything when sem
// is empty.
func (s *State) Journal(sem string, from uint64) iter.Seq[*JournalEntry] {
	return func(yield func(*JournalEntry) bool) {
		if sem == "" {
			merge(journalBefore, forward(s.edits, from), forward(s.runs, from), yield)
			return
		}
		g := s.gate(sem)
		rest := func(list []*JournalEntry) func() *JournalEntry {
			list = list[firstFrom(list, from):]
			return func() *JournalEntry {
				if len(list) == 0 {
					return nil
				}
				e := list[0]
				list = list[1:]
				return e
			}
		}
		merge(journalBefore, rest(g.edits.items), rest(g.runLog().entries.items), yield)
	}
}

// JournalBackward is what is left of the history of a semaphore before that revision, newest first; from the newest
// when before is 0; of everything when sem is empty.
func (s *State) JournalBackward(sem string, before uint64) iter.Seq[*JournalEntry] {
	if before == 0 {
		before = math.MaxUint64
	}
	after := func(a, b *JournalEntry) bool { return journalBefore(b, a) }
	return func(yield func(*JournalEntry) bool) {
		if sem == "" {
			merge(after, backward(s.edits, before), backward(s.runs, before), yield)
			return
		}
		g := s.gate(sem)
		rest := func(list []*JournalEntry) func() *JournalEntry {
			left := firstFrom(list, before)
			return func() *JournalEntry {
				if left == 0 {
					return nil
				}
				left--
				return list[left]
			}
		}
		merge(after, rest(g.edits.items), rest(g.runLog().entries.items), yield)
	}
}

// firstFrom is the index of the first entry of that revision or a later one.
func firstFrom(list []*JournalEntry, from uint64) int {
	i, _ := slices.BinarySearchFunc(list, from, func(e *JournalEntry, from uint64) int { return cmp.Compare(e.Revision, from) })
	return i
}

// forward and backward return one entry of a tree after the other, then nil.
func forward(tree *btree.BTreeG[*JournalEntry], from uint64) func() *JournalEntry {
	it := tree.Iter()
	more := it.Seek(&JournalEntry{Revision: from})
	return func() *JournalEntry {
		if !more {
			return nil
		}
		e := it.Item()
		more = it.Next()
		return e
	}
}

func backward(tree *btree.BTreeG[*JournalEntry], before uint64) func() *JournalEntry {
	it := tree.Iter()
	more := it.Seek(&JournalEntry{Revision: before})
	if more {
		more = it.Prev()
	} else {
		it = tree.Iter() // one that has come to its end does not turn back
		more = it.Last()
	}
	return func() *JournalEntry {
		if !more {
			return nil
		}
		e := it.Item()
		more = it.Prev()
		return e
	}
}

// merge yields the entries of two streams, each in the order of before, in that order. A stream ends with nil.
func merge(before func(a, b *JournalEntry) bool, x, y func() *JournalEntry, yield func(*JournalEntry) bool) {
	a, b := x(), y()
	for a != nil || b != nil {
		if b == nil || a != nil && before(a, b) {
			if !yield(a) {
				return
			}
			a = x()
			continue
		}
		if !yield(b) {
			return
		}
		b = y()
	}
}

// Facts are what a decision on req looks at, but for what only the leader knows: Admission, OwnOverheld and WaitsAhead.
func (s *State) Facts(req *semaphore.Request, requestID string) semaphore.Facts {
	g := s.gate(req.Semaphore)
	f := semaphore.Facts{Own: s.Own(req.Semaphore, req.Identity), Used: g.used, LowWater: timeFromProto(g.lowWater), Drains: s.Drains(req.Semaphore)}
	// Below feature level 3 nothing is superseded: whatever request an identity makes, it is answered as a repeat.
	f.Repeat = f.Own != nil && (s.featureLevel < 3 || requestID != "" && f.Own.RequestID == requestID)
	if g.definition != nil {
		f.Definition, f.Pause = g.definition.Definition, g.definition.Pause
	}
	if req.Firing != nil {
		f.Claim = s.Claim(req.Semaphore, *req.Firing)
	}
	if s.featureLevel >= 4 {
		f.Tasks = s.Work(req.Semaphore).Waiting
		f.OwnTask = f.Own != nil && s.TaskOf(f.Own.Token) != nil
	}
	return f
}

// gate returns what is kept under a name. It must not be written; see draft.write.
func (s *State) gate(name string) *gate {
	if g, ok := s.gates.Get(name); ok {
		return g
	}
	return noGate
}

// due returns what is due under a name, as a value to change.
func (s *State) due(name string) due {
	if now, ok := s.dues.Get(name); ok {
		return *now
	}
	return due{}
}
