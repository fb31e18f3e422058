package check

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// state is what is known about a semaphore at one moment. It represents a set of possible states: a slot in maybe may
// have become free at any moment since it was added. Only slots in sure prevent a grant, but slots in either can
// explain a denial.
type state struct {
	def     *rule
	version uint64 // version of def; 0 if no response named it
	paused  bool
	stopped bool // paused, and holders were ordered to stop
	// cordons maps the id of each cordon to the acquirers that it excludes. The map is replaced, not modified.
	cordons map[string]*regexp.Regexp

	sure  map[uint64]slot
	maybe map[uint64]slot
	// lost is the weight of slots that may still be cooling, regardless of who held them.
	lost uint64
	// bound limits the total weight of slots in maybe and lost.
	bound uint64
	// unansweredWeight is the weight that may have been granted to acquires without a response.
	unansweredWeight uint64
	// queue is the largest possible number of waiters.
	queue int
	// peak is the largest number of permits that any definition has had.
	peak uint64
	// granted counts the grants with a known token that have taken effect. They take effect in token order.
	granted int
	// draining reports whether a change excluded holders but let them continue temporarily.
	draining bool
	// before holds the moments of permits that have not been granted yet, by token.
	before map[uint64]moments
}

// slot is a permit's slot, with what is known about the permit.
type slot struct {
	grant  *grant
	weight uint64
	holder holder
	// gone means that this token no longer has a holder. released means that the permit was released and did not
	// expire.
	gone, released bool
	revoked        bool
	// debt is the superseded grant that the holder relies on the longest. The slot stays taken until that grant lapses,
	// even if the holder releases this token.
	debt *grant
	// hadDebt means that the slot had a debt. The server lets a debt lapse later than the holder does, so the slot may
	// stay taken a little longer.
	hadDebt bool
	moments
}

// moments records which points in time a permit has passed. Before lapsed, the permit cannot have expired. Before
// cooled, its slot is taken even if the permit was released. Before free, its slot is taken even if the permit expired.
// After maybeReleased, the permit may have been released. After maybeFreed, an operator may have freed its slot.
//
// After maybeSuperseded, an acquire whose response was lost may have superseded the permit. The slot then belongs to
// the new token, which may end at any time, but stays taken until this permit has lapsed. After replaced, that acquire
// may have declared that the holder no longer relies on this permit.
type moments struct{ lapsed, cooled, free, maybeReleased, maybeFreed, maybeSuperseded, replaced bool }

func (m *moments) pass(kind stepKind) {
	switch kind {
	case stepMaybeReleased:
		m.maybeReleased = true
	case stepMaybeFreed:
		m.maybeReleased, m.maybeFreed = true, true
	case stepMaybeSuperseded:
		m.maybeSuperseded = true
	case stepReplaced:
		m.maybeSuperseded, m.replaced = true, true
	case stepLapsed:
		m.lapsed = true
	case stepCooled:
		m.cooled = true
	case stepFree:
		m.lapsed, m.free = true, true
	}
}

// mayHaveEnded reports whether the permit may no longer have a holder.
func (p slot) mayHaveEnded() bool { return p.gone || p.lapsed || p.maybeReleased || p.maybeSuperseded }

// mayBeFree reports whether the slot may be free.
func (p slot) mayBeFree() bool {
	if p.maybeFreed {
		return true
	}
	ended := p.released || p.maybeReleased || p.maybeSuperseded && (p.lapsed || p.replaced)
	return p.debt == nil && (p.free || p.cooled && ended)
}

// rule is a definition with compiled patterns.
type rule struct {
	history.Definition
	group, acquirer *regexp.Regexp
}

func newRule(d history.Definition) (*rule, error) {
	r := &rule{Definition: d}
	var err error
	if r.group, err = compilePattern(d.GroupPattern); err != nil {
		return nil, err
	}
	r.acquirer, err = compilePattern(d.AcquirerPattern)
	return r, err
}

func compilePattern(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		pattern = ".*"
	}
	return regexp.Compile(`^(?:` + pattern + `)$`)
}

func (r *rule) matches(id history.Identity) bool {
	return r.group.MatchString(id.Group) && r.acquirer.MatchString(id.Acquirer)
}

// admits reports whether the rule and the cordons admit the identity.
func (s *state) admits(id history.Identity) bool {
	for _, excluded := range s.cordons {
		if excluded.MatchString(id.Acquirer) {
			return false
		}
	}
	return s.def != nil && s.def.matches(id)
}

// cordon sets the cordon with an id, or removes it if excluded is nil.
func (s *state) cordon(id string, excluded *regexp.Regexp) {
	s.cordons = maps.Clone(s.cordons)
	switch {
	case excluded == nil:
		delete(s.cordons, id)
	case s.cordons == nil:
		s.cordons = map[string]*regexp.Regexp{id: excluded}
	default:
		s.cordons[id] = excluded
	}
}

func (s *state) clone() *state {
	c := *s
	c.sure, c.maybe, c.before = maps.Clone(s.sure), maps.Clone(s.maybe), maps.Clone(s.before)
	return &c
}

// taken returns the weight that is definitely taken.
func (s *state) taken() uint64 { return sum(s.sure) }

// maxTaken returns the largest weight that can be taken.
func (s *state) maxTaken() uint64 {
	return s.taken() + min(s.bound, sum(s.maybe)+s.lost) + s.unansweredWeight
}

func sum(slots map[uint64]slot) uint64 {
	var n uint64
	for _, p := range slots {
		n += p.weight
	}
	return n
}

// find returns the slot of a permit that may be live, and whether the slot is in sure.
func (s *state) find(token uint64) (p slot, sure, ok bool) {
	if p, ok := s.sure[token]; ok {
		return p, true, true
	}
	p, ok = s.maybe[token]
	return p, false, ok
}

// put stores a slot in sure or maybe. A slot that moves to maybe counts as taken until proven otherwise.
func (s *state) put(token uint64, p slot) {
	_, wasMaybe := s.maybe[token]
	s.drop(token)
	if !p.mayBeFree() {
		if s.sure == nil {
			s.sure = map[uint64]slot{}
		}
		s.sure[token] = p
		return
	}
	if p.gone && (p.released || !p.maybeSuperseded) {
		s.lost += p.weight
	} else {
		if s.maybe == nil {
			s.maybe = map[uint64]slot{}
		}
		s.maybe[token] = p
	}
	if !wasMaybe {
		s.bound += p.weight
	}
	s.clip()
}

// drop removes a slot that is definitely free.
func (s *state) drop(token uint64) {
	delete(s.sure, token)
	delete(s.maybe, token)
}

// confirmTaken records that a slot in maybe is known to be taken, and removes slots that cannot be taken at the same
// time. It returns false if the slot cannot be taken.
func (s *state) confirmTaken(token uint64) bool {
	p := s.maybe[token]
	if p.weight > s.bound {
		return false
	}
	for other, o := range s.maybe {
		if other != token && o.weight > s.bound-p.weight {
			delete(s.maybe, other)
		}
	}
	s.lost = min(s.lost, s.bound-p.weight)
	s.clip()
	return true
}

// prune removes slots without a holder whose weight exceeds the bound, because they must be free.
func (s *state) prune() {
	for token, p := range s.maybe {
		if p.gone && p.weight > s.bound {
			delete(s.maybe, token)
		}
	}
	s.clip()
}

// holds reports whether an identity definitely holds a permit.
func (s *state) holds(who holder) bool {
	for _, p := range s.sure {
		if p.holder == who && !p.mayHaveEnded() {
			return true
		}
	}
	return false
}

// settle records that no holder relies on a grant anymore.
func (s *state) settle(g *grant) {
	for token, p := range s.sure {
		if p.debt == g {
			p.debt = nil
			s.put(token, p)
		}
	}
}

func (s *state) clip() {
	s.bound = min(s.bound, sum(s.maybe)+s.lost)
	s.lost = min(s.lost, s.bound)
}

// key returns a string that identifies the state.
func (s *state) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%p %d %t %t %t %d %d %d %d %d %d", s.def, s.version, s.paused, s.stopped, s.draining, s.lost, s.bound, s.unansweredWeight, s.queue, s.granted, s.peak)
	for _, id := range slices.Sorted(maps.Keys(s.cordons)) {
		fmt.Fprintf(&b, " %q", id)
	}
	for _, slots := range []map[uint64]slot{s.sure, s.maybe} {
		b.WriteByte('|')
		for _, token := range slices.Sorted(maps.Keys(slots)) {
			fmt.Fprintf(&b, "%d%v ", token, slots[token])
		}
	}
	b.WriteByte('|')
	for _, token := range slices.Sorted(maps.Keys(s.before)) {
		fmt.Fprintf(&b, "%d%v ", token, s.before[token])
	}
	return b.String()
}
