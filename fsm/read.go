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

// Index returns the index of the last applied log entry.
func (s *State) Index() uint64 { return s.index }

// Term returns the term of the last applied log entry.
func (s *State) Term() uint64 { return s.term }

// Revision returns the revision of the last applied change.
func (s *State) Revision() uint64 { return s.revision }

// LastToken returns the highest fencing token that has ever been granted.
func (s *State) LastToken() uint64 { return s.lastToken }

// ClusterID returns the id of the cluster, in the form "seed.incarnation".
func (s *State) ClusterID() string { return s.clusterID }

// Settings returns the replicated settings in force.
func (s *State) Settings() Settings { return s.settings }

// LargestDuration returns the largest max_duration that has ever been in force. It is an upper bound on the duration
// and the cooling of every permit.
func (s *State) LargestDuration() time.Duration { return s.largestDuration }

// FeatureLevel returns the feature level in force. Only commands up to this level may be proposed.
func (s *State) FeatureLevel() uint32 { return s.featureLevel }

// Definition returns the definition with the given name, or nil.
func (s *State) Definition(name string) *StoredDefinition {
	return s.gate(name).definition
}

// Definitions returns the definitions with names at or after from, sorted by name.
func (s *State) Definitions(from string) iter.Seq[*StoredDefinition] {
	return func(yield func(*StoredDefinition) bool) {
		s.gates.Ascend(from, func(_ string, g *gate) bool { return g.definition == nil || yield(g.definition) })
	}
}

// DefinitionCount returns the number of definitions.
func (s *State) DefinitionCount() int { return s.definitionCount }

// Permit returns the permit with the given token (live, held or cooling), or nil.
func (s *State) Permit(token uint64) *semaphore.Permit {
	p, _ := s.permits.Get(token)
	return p
}

// PermitCount returns the number of permits: live, held and cooling.
func (s *State) PermitCount() int { return s.permits.Len() }

// Permits returns the permits (live, held and cooling) with tokens at or after from, sorted by token.
func (s *State) Permits(from uint64) iter.Seq[*semaphore.Permit] {
	return func(yield func(*semaphore.Permit) bool) {
		s.permits.Ascend(from, func(_ uint64, p *semaphore.Permit) bool { return yield(p) })
	}
}

// Own returns the identity's live or held permit, or nil. A cooling permit belongs to no identity.
func (s *State) Own(sem string, id semaphore.Identity) *semaphore.Permit {
	p, _ := s.identities.Get(&semaphore.Permit{Semaphore: sem, Identity: id})
	return p
}

// Holders returns a semaphore's permits (live, held and cooling), sorted by token. A deleted semaphore keeps its
// permits.
func (s *State) Holders(sem string) iter.Seq[*semaphore.Permit] {
	return func(yield func(*semaphore.Permit) bool) {
		s.holders.Ascend(&semaphore.Permit{Semaphore: sem}, func(p *semaphore.Permit) bool {
			return p.Semaphore == sem && yield(p)
		})
	}
}

// HoldersFrom returns the permits of all semaphores, sorted by (semaphore, token), starting at the given key. It is
// used for paging.
func (s *State) HoldersFrom(sem string, token uint64) iter.Seq[*semaphore.Permit] {
	return func(yield func(*semaphore.Permit) bool) {
		s.holders.Ascend(&semaphore.Permit{Semaphore: sem, Token: token}, yield)
	}
}

// HolderCount returns the number of a semaphore's permits: live, held and cooling.
func (s *State) HolderCount(sem string) int { return int(s.gate(sem).permits) }

// Used returns the total weight of a semaphore's permits: live, held and cooling.
func (s *State) Used(sem string) uint64 { return s.gate(sem).used }

// PermitRevision returns the revision of the last change to the semaphore's permits: a grant, an end, a hold or the end
// of cooling. At feature level 3 and above, it is at least the revision that created the definition, so that a revision
// read before a deletion never matches. It is 0 if there was no such change.
func (s *State) PermitRevision(sem string) uint64 {
	g := s.gate(sem)
	if s.featureLevel >= 3 && g.definition != nil {
		return max(g.permitRevision, g.definition.CreatedRevision)
	}
	return g.permitRevision
}

// Claim returns the claim of a firing, or nil.
func (s *State) Claim(sem string, f semaphore.Firing) *semaphore.Claim {
	c, _ := s.claims.Get(&semaphore.Claim{Semaphore: sem, Firing: f})
	return c
}

// Claims returns a semaphore's remembered firings: first those without a due time, sorted by name, then the rest,
// sorted by due time and name.
func (s *State) Claims(sem string) iter.Seq[*semaphore.Claim] {
	return func(yield func(*semaphore.Claim) bool) {
		s.claims.Ascend(&semaphore.Claim{Semaphore: sem}, func(c *semaphore.Claim) bool {
			return c.Semaphore == sem && yield(c)
		})
	}
}

// ClaimsBackward returns a semaphore's remembered firings in the reverse order of Claims. It starts with the firing
// that follows cursor in this order, or with the first one if cursor is nil.
func (s *State) ClaimsBackward(sem string, cursor *semaphore.Firing) iter.Seq[*semaphore.Claim] {
	from := &semaphore.Claim{Semaphore: sem + "\x00"} // after all claims of sem
	if cursor != nil {
		from = &semaphore.Claim{Semaphore: sem, Firing: *cursor}
	}
	return func(yield func(*semaphore.Claim) bool) {
		s.claims.Descend(from, func(c *semaphore.Claim) bool {
			return !claimBefore(c, from) || c.Semaphore == sem && yield(c)
		})
	}
}

// ClaimedSemaphores returns the names with remembered firings, sorted, including the names of deleted definitions.
func (s *State) ClaimedSemaphores() iter.Seq[string] {
	return func(yield func(string) bool) {
		s.gates.Scan(func(name string, g *gate) bool { return g.claims == 0 || yield(name) })
	}
}

// ClaimCount returns the number of remembered firings of a semaphore.
func (s *State) ClaimCount(sem string) int { return int(s.gate(sem).claims) }

// LowWater returns the low-water mark, or zero if no firing has been forgotten. The semaphore refuses firings that are
// due at or before the mark because they may have been forgotten.
func (s *State) LowWater(sem string) time.Time { return timeFromProto(s.gate(sem).lowWater) }

// Names returns all names that have stored data, sorted. They include the names of deleted definitions that still have
// permits, remembered firings, drains or journal entries.
func (s *State) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		s.gates.Scan(func(name string, _ *gate) bool { return name == "" || yield(name) })
	}
}

// Drains returns the unfinished drains of the semaphore's edits, sorted by revision, even after its deletion. Do not
// modify the slice. The drains of pauses, cordons and revoked permits are stored with those objects.
func (s *State) Drains(sem string) []semaphore.Drain {
	return s.pendingTimers(sem).drains
}

// Ends returns the semaphore's temporary edits, sorted by revision. Do not modify the slice.
func (s *State) Ends(sem string) []*EditEnd {
	return s.pendingTimers(sem).ends
}

// Quarantine returns how long a newly promoted leader must wait before granting anything, because a recovery lost
// permits and their holders may still rely on them. It is 0 if there is no quarantine. EndQuarantine ends it.
func (s *State) Quarantine() time.Duration { return s.quarantine }

// HistoryBegins returns the time of the last recovery that lost permits, or zero if there was none. The journal does
// not list all holders before that time.
func (s *State) HistoryBegins() time.Time { return s.historyBegins }

// Sightings returns the last sighting of each caller, sorted by group and acquirer. The latest MaxSightings are kept.
func (s *State) Sightings() iter.Seq[Sighting] {
	return func(yield func(Sighting) bool) { s.sightings.Scan(yield) }
}

// Sighting returns the last sighting of an acquirer in a group, and whether there is one.
func (s *State) Sighting(group, acquirer string) (Sighting, bool) {
	return s.sightings.Get(Sighting{Group: group, Acquirer: acquirer})
}

// SightingCount returns the number of sightings.
func (s *State) SightingCount() int { return s.sightings.Len() }

// Cordons returns the cordons, sorted by id. Do not modify the slice.
func (s *State) Cordons() []*Cordon { return s.cordons }

// Cordon returns the cordon with the given id, or nil.
func (s *State) Cordon(id string) *Cordon {
	if i, found := slices.BinarySearchFunc(s.cordons, id, func(c *Cordon, id string) int { return cmp.Compare(c.ID, id) }); found {
		return s.cordons[i]
	}
	return nil
}

// CordonRevision returns the revision of the last change to the set of cordons.
func (s *State) CordonRevision() uint64 { return s.cordonRevision }

// Rules returns the index of the last entry that changed a definition, a pause, a cordon or a drain, or the index of
// the snapshot from which this server started. While the index stays the same, so does the decision about an unchanged
// live permit. The index may differ between servers.
func (s *State) Rules() uint64 { return s.rules }

// Request returns how the acquisition with the given request id ended. It returns nil if the request has not ended, has
// never been seen or has been forgotten.
func (s *State) Request(sem string, id semaphore.Identity, requestID string) *Remembered {
	if requestID == "" {
		return nil
	}
	k, _ := s.requestKeys.Get(keyOfRequest(&Remembered{Semaphore: sem, Identity: id, RequestID: requestID}))
	return k.request
}

// Forgotten returns the latest revision up to which a semaphore's ended requests may have been forgotten, or 0 if none
// have been. If sem is empty, it is the revision for edits.
func (s *State) Forgotten(sem string) uint64 {
	if m, ok := s.requestMemories.Get(sem); ok || sem == "" {
		if !ok {
			return 0
		}
		return m.forgotten
	}
	return s.namesForgotten
}

// TooOld returns non-nil if a request that is not remembered may have been carried out and then forgotten. revision is
// a revision at which the request had not been made yet. If it is 0 (unknown), the request is never too old. sem is
// empty for an edit.
func (s *State) TooOld(sem string, revision uint64) *TooOld {
	if forgotten := s.Forgotten(sem); revision != 0 && revision < forgotten {
		return &TooOld{RequestRevision: revision, Forgotten: forgotten, Revision: s.revision}
	}
	return nil
}

// RequestMemory returns the number of remembered requests across all semaphores, the number of remembered edits, and
// estimates of their sizes in bytes.
func (s *State) RequestMemory() (requests, edits int, requestBytes, editBytes uint64) {
	m := s.requestMemory("")
	return s.requests.Len() - m.requests.len(), m.requests.len(), s.requestBytes, m.bytes
}

// Trimmable returns, for each name, how many requests Trim would forget up to the given revision. The empty name stands
// for edits.
func (s *State) Trimmable(upTo uint64) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		s.requestMemories.Scan(func(name string, m *requestMemory) bool {
			list := m.requests.items
			list = list[:max(0, len(list)-s.keptRequests(name))]
			n, _ := slices.BinarySearchFunc(list, upTo+1, func(r *Remembered, upTo uint64) int { return cmp.Compare(r.Revision, upTo) })
			return n == 0 || yield(name, n)
		})
	}
}

// EditRequest returns the remembered operator change (a batch of edits, a pause, a cordon, an undo and so on) with the
// given request id, or nil.
func (s *State) EditRequest(requestID string) *Remembered {
	return s.Request("", semaphore.Identity{}, requestID)
}

// EndedPermit returns how the permit with the given token ended. It returns nil if the permit has not ended or was
// forgotten.
func (s *State) EndedPermit(token uint64) *Remembered {
	r, _ := s.requestTokens.Get(token)
	return r
}

// WasDeleted reports whether a definition with this name was deleted and not re-created, as far as the state remembers.
func (s *State) WasDeleted(name string) bool {
	_, ok := s.deletions.Get(name)
	return ok
}

// Retired reports whether the server with this id was removed from the cluster. Its id is never used again.
func (s *State) Retired(id string) bool {
	_, found := search(s.retired, id, func(r string) string { return r })
	return found
}

// ChangesForgotten returns the latest revision of a change with an unknown number of journal entries, some of which may
// have been forgotten, or 0 if there is none. Changes with a known number of entries (JournalEntry.Change) do not
// count.
func (s *State) ChangesForgotten() uint64 { return s.changesForgotten }

// EndsForgotten returns the time of the latest permit end that the journal has forgotten for a semaphore since feature
// level 3, or zero if it has forgotten none.
func (s *State) EndsForgotten(sem string) time.Time {
	return timeFromProto(s.gate(sem).runLog().forgotten)
}

// Journal returns the remaining history of a semaphore, starting at the given revision, in ascending order. If sem is
// empty, it returns the history of all semaphores.
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

// JournalBackward returns the remaining history of a semaphore before the given revision, newest first. If before is 0,
// it starts at the newest entry. If sem is empty, it returns the history of all semaphores.
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
			remaining := firstFrom(list, before)
			return func() *JournalEntry {
				if remaining == 0 {
					return nil
				}
				remaining--
				return list[remaining]
			}
		}
		merge(after, rest(g.edits.items), rest(g.runLog().entries.items), yield)
	}
}

// firstFrom returns the index of the first entry at or after the given revision.
func firstFrom(list []*JournalEntry, from uint64) int {
	i, _ := slices.BinarySearchFunc(list, from, func(e *JournalEntry, from uint64) int { return cmp.Compare(e.Revision, from) })
	return i
}

// forward returns a function that returns a tree's entries one by one, then nil.
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
		it = tree.Iter() // an iterator at the end cannot move back
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

// merge merges two streams that are each sorted by before, and yields their entries in that order. A stream ends with
// nil.
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

// Facts returns the facts for a decision on req, except those that only the leader knows: Admission, OwnOverheld and
// WaitsAhead.
func (s *State) Facts(req *semaphore.Request, requestID string) semaphore.Facts {
	g := s.gate(req.Semaphore)
	f := semaphore.Facts{Own: s.Own(req.Semaphore, req.Identity), Used: g.used, LowWater: timeFromProto(g.lowWater), Drains: s.Drains(req.Semaphore)}
	// Below feature level 3, nothing is superseded: any request by an identity with a permit counts as a retry.
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

// gate returns the data stored under a name. It must not be modified; see draft.write.
func (s *State) gate(name string) *gate {
	if g, ok := s.gates.Get(name); ok {
		return g
	}
	return noGate
}

// pendingTimers returns a name's drains and temporary edits. The caller must not modify the slices in place.
func (s *State) pendingTimers(name string) pendingTimers {
	if now, ok := s.timers.Get(name); ok {
		return *now
	}
	return pendingTimers{}
}
