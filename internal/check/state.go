package check

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// state is what is known of one semaphore at one moment. It is a set of possible states written as one: a slot in maybe
// may have become free at any moment since it came there, so that only what is in sure stands in the way of a grant,
// and both can explain a denial.
type state struct {
	def     *rule
	version uint64 // of def; 0 when no answer named it
	paused  bool
	stopped bool // paused with stop
	// cordons are the acquirers that each one shuts out, by its id. The map is replaced, not changed.
	cordons map[string]*regexp.Regexp

	sure  map[uint64]slot
	maybe map[uint64]slot
	// lost is the weight of slots that may still cool. Whose they were makes no difference.
	lost uint64
	// bound is the most weight that slots in maybe and lost can have together.
	bound uint64
	// ghosts is the weight that grants without an answer may have taken.
	ghosts uint64
	// queue is how many may stand in the queue.
	queue int
	// peak is the most permits that there ever were.
	peak uint64
	// granted counts the grants that an answer named: they come in the order of their tokens.
	granted int
	// draining: a change let holders go on for a while although it shut them out.
	draining bool
	// before are the moments that came before the grant to which they belong.
	before map[uint64]moments
}

// slot is one permit's.
type slot struct {
	grant  *grant
	weight uint64
	holder holder
	// gone: nobody holds it any more under this token; released: because it was given back, and not because it expired.
	gone, released bool
	revoked        bool
	// debt is the superseded grant on which its holder counts the longest. Until it lapses the slot is taken, whatever
	// the holder of this token does.
	debt *grant
	// owes: it had a debt. The server lets a debt lapse later than its holder does, so the slot may stay taken for a
	// little.
	owes bool
	moments
}

// moments are points in time that a permit has passed. Before lapsed it cannot have expired; before cooled its slot is
// taken although it was given back, and before free although it expired. After leaving somebody may have given it back,
// and after unsafe an operator may have freed it.
//
// After haunted, an acquire whose answer was lost may have superseded it. Its slot is then the other token's, which may
// end at any time, but the slot stays taken until this permit has lapsed. After replaced, that acquire may have said
// that nobody counts on this permit any more.
type moments struct{ lapsed, cooled, free, leaving, unsafe, haunted, replaced bool }

func (m *moments) pass(kind stepKind) {
	switch kind {
	case stepLeaving:
		m.leaving = true
	case stepUnsafe:
		m.leaving, m.unsafe = true, true
	case stepHaunted:
		m.haunted = true
	case stepReplaced:
		m.haunted, m.replaced = true, true
	case stepLapsed:
		m.lapsed = true
	case stepCooled:
		m.cooled = true
	case stepFree:
		m.lapsed, m.free = true, true
	}
}

// mayHaveEnded says whether it can be that nobody holds it.
func (p slot) mayHaveEnded() bool { return p.gone || p.lapsed || p.leaving || p.haunted }

// mayBeFree says whether it can be that its slot is not taken.
func (p slot) mayBeFree() bool {
	if p.unsafe {
		return true
	}
	ended := p.released || p.leaving || p.haunted && (p.lapsed || p.replaced)
	return p.debt == nil && (p.free || p.cooled && ended)
}

// rule is a definition whose patterns are compiled.
type rule struct {
	history.Definition
	group, acquirer *regexp.Regexp
}

func newRule(d history.Definition) (*rule, error) {
	r := &rule{Definition: d}
	var err error
	if r.group, err = whole(d.GroupPattern); err != nil {
		return nil, err
	}
	r.acquirer, err = whole(d.AcquirerPattern)
	return r, err
}

func whole(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		pattern = ".*"
	}
	return regexp.Compile(`^(?:` + pattern + `)$`)
}

func (r *rule) matches(id history.Identity) bool {
	return r.group.MatchString(id.Group) && r.acquirer.MatchString(id.Acquirer)
}

// admits says whether the rule and the cordons let this identity in.
func (s *state) admits(id history.Identity) bool {
	for _, caught := range s.cordons {
		if caught.MatchString(id.Acquirer) {
			return false
		}
	}
	return s.def != nil && s.def.matches(id)
}

// cordon sets the cordon of an id; nil ends it.
func (s *state) cordon(id string, caught *regexp.Regexp) {
	s.cordons = maps.Clone(s.cordons)
	switch {
	case caught == nil:
		delete(s.cordons, id)
	case s.cordons == nil:
		s.cordons = map[string]*regexp.Regexp{id: caught}
	default:
		s.cordons[id] = caught
	}
}

func (s *state) clone() *state {
	c := *s
	c.sure, c.maybe, c.before = maps.Clone(s.sure), maps.Clone(s.maybe), maps.Clone(s.before)
	return &c
}

// taken is the weight that is surely taken.
func (s *state) taken() uint64 { return sum(s.sure) }

// most is the greatest weight that can be taken.
func (s *state) most() uint64 { return s.taken() + min(s.bound, sum(s.maybe)+s.lost) + s.ghosts }

func sum(slots map[uint64]slot) uint64 {
	var n uint64
	for _, p := range slots {
		n += p.weight
	}
	return n
}

// find returns the permit's slot, as far as there may be one.
func (s *state) find(token uint64) (p slot, sure, ok bool) {
	if p, ok := s.sure[token]; ok {
		return p, true, true
	}
	p, ok = s.maybe[token]
	return p, false, ok
}

// put sets a slot where it belongs. What comes into maybe is taken, as far as anybody knows.
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
	if p.gone && (p.released || !p.haunted) {
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

// drop takes a slot away: it is surely free.
func (s *state) drop(token uint64) {
	delete(s.sure, token)
	delete(s.maybe, token)
}

// there says that a slot in maybe was seen to be taken: those that cannot be taken beside it are free.
func (s *state) there(token uint64) bool {
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

// prune forgets slots that are free, because they are heavier than what can be taken.
func (s *state) prune() {
	for token, p := range s.maybe {
		if p.gone && p.weight > s.bound {
			delete(s.maybe, token)
		}
	}
	s.clip()
}

// holds says whether an identity surely holds a permit.
func (s *state) holds(who holder) bool {
	for _, p := range s.sure {
		if p.holder == who && !p.mayHaveEnded() {
			return true
		}
	}
	return false
}

// settle notes that nobody counts on a grant any more.
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

// key distinguishes states.
func (s *state) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%p %d %t %t %t %d %d %d %d %d %d", s.def, s.version, s.paused, s.stopped, s.draining, s.lost, s.bound, s.ghosts, s.queue, s.granted, s.peak)
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
