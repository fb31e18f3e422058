package check

import (
	"regexp"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// A step is one transition of the model: an operation that callers observed, or the passing of a deadline.
type step struct {
	kind stepKind
	// unknown means that the step may or may not have happened.
	unknown  bool
	grant    *grant
	index    int // the grant's position in token order
	holder   holder
	old      *grant // the grant that this one superseded, if a response named it
	weight   uint64
	request  history.Request
	answer   history.Response
	rule     *rule
	excluded *regexp.Regexp // the acquirers that a cordon excludes
	// from and to are the times between which it happened, for messages.
	from, to time.Duration
	// hasCooldown reports whether a slot of this semaphore can stay taken after its holder is gone.
	hasCooldown bool
	// early lists the moments that had already passed when the grant was requested. As separate steps they could occur
	// in any order.
	early moments
}

type stepKind byte

const (
	stepGrant             stepKind = iota
	stepUnansweredAcquire          // an acquire without a response: from here on it may have been granted
	stepQueued                     // from here on a caller may be in the queue
	stepLeft                       // the caller left the queue
	stepDenied                     // an acquire was denied
	stepAlive                      // the permit was refreshed, or named again in a response to its holder
	stepEnded                      // a response reported that the permit had ended
	stepReleased                   // the permit was released
	stepMaybeReleased              // from here on it may have been released
	stepMaybeFreed                 // from here on an operator may have freed it
	stepMaybeSuperseded            // from here on an acquire without a response may have superseded it
	stepReplaced                   // like stepMaybeSuperseded, but that acquire declared that it replaces this token
	stepLapsed                     // from here on it may have expired
	stepCooled                     // from here on its slot may be free after a release
	stepFree                       // from here on its slot may be free after an expiry
	stepFreed                      // an operator freed it
	stepRevoked
	stepVerified
	stepEdited
	stepRead
	stepPaused
	stepResumed
	stepCordoned
	stepUncordoned
)

// node is a state with its key.
type node struct {
	*state
	key string
}

func model() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{node{&state{}, (&state{}).key()}} },
		Step: func(from, input, _ any) []any {
			st, before := input.(*step), from.(node)
			if st.kind == stepGrant && st.index != before.granted && !st.unknown {
				return nil // check this before cloning the state: of thousands of pending grants, only one can be next
			}
			if st.unknown {
				return append(st.next(before), before)
			}
			return st.next(before)
		},
		Equal: func(a, b any) bool { return a.(node).key == b.(node).key },
	}
	return m.ToModel()
}

// next returns the possible states after the step. It returns none if a semaphore in this state could not have taken
// the step.
func (st *step) next(before node) []any {
	var all []any
	try := func(apply func(*state) bool) {
		if after := before.clone(); apply(after) {
			all = append(all, node{after, after.key()})
		}
	}
	if st.kind != stepGrant {
		try(st.apply)
		return all
	}
	for _, apply := range st.grants() {
		try(apply)
	}
	return all
}

// apply applies a step other than a grant. It returns false if a semaphore in this state could not have taken it.
func (st *step) apply(s *state) bool {
	switch st.kind {
	case stepGrant:
		panic("check: a grant can result in several states")
	case stepUnansweredAcquire:
		s.unansweredWeight += st.weight
	case stepQueued:
		s.queue++
	case stepLeft:
		s.queue--
	case stepDenied:
		return st.denied(s)
	case stepAlive:
		return st.alive(s)
	case stepEnded:
		return st.ended(s)
	case stepReleased:
		return st.released(s)
	case stepMaybeReleased, stepMaybeFreed, stepMaybeSuperseded, stepReplaced, stepLapsed, stepCooled, stepFree:
		st.passed(s)
	case stepFreed:
		s.drop(st.grant.token)
		s.clip()
	case stepRevoked:
		if p, _, ok := s.find(st.grant.token); ok {
			p.revoked = true
			s.put(st.grant.token, p)
		}
		s.draining = s.draining || st.request.Drain
	case stepVerified:
		return st.verified(s)
	case stepEdited:
		return st.edited(s)
	case stepRead:
		return st.read(s)
	case stepPaused:
		s.paused, s.stopped = true, st.request.Stop
		s.draining = s.draining || st.request.Drain
	case stepResumed:
		s.paused, s.stopped = false, false
	case stepCordoned:
		s.cordon(st.request.CordonID, st.excluded)
		s.draining = s.draining || st.request.Drain
	case stepUncordoned:
		s.cordon(st.request.CordonID, nil)
	}
	return true
}

func (st *step) denied(s *state) bool {
	switch st.answer.Reason {
	case "NO_SUCH_SEMAPHORE":
		return s.def == nil
	case "GROUP_MISMATCH", "ACQUIRER_MISMATCH":
		return s.def != nil && !s.def.matches(st.request.Identity)
	case "PAUSED":
		return s.paused
	case "WEIGHT_EXCEEDS_PERMITS":
		return s.def != nil && st.weight > uint64(s.def.Permits)
	case "NO_FREE_PERMIT":
		return s.def != nil && !s.holds(st.holder) && (st.answer.Waiting > 0 || s.queue > 0 || s.maxTaken()+st.weight > uint64(s.def.Permits))
	}
	return true // the model does not track the waiters or the remembered firings
}

func (st *step) alive(s *state) bool {
	token := st.grant.token
	p, sure, ok := s.find(token)
	if !ok || p.gone || p.revoked && !s.draining {
		return false
	}
	if !s.draining && (!s.admits(st.grant.identity) || s.stopped) {
		return false
	}
	return sure || s.confirmTaken(token)
}

func (st *step) ended(s *state) bool {
	token := st.grant.token
	p, _, ok := s.find(token)
	if !ok {
		return st.index < s.granted // it was granted, so it has ended
	}
	if !p.mayHaveEnded() {
		return false
	}
	st.endOwn(s, p)
	return true
}

func (st *step) released(s *state) bool {
	p, sure, ok := s.find(st.grant.token)
	if !ok || p.gone || !sure && !s.confirmTaken(st.grant.token) {
		return false
	}
	p.released = true
	st.endOwn(s, p)
	return true
}

// endOwn ends the step's permit. Its slot becomes free, unless it is cooling or now belongs to another token.
func (st *step) endOwn(s *state, p slot) { st.end(s, st.grant.token, p) }

func (st *step) end(s *state, token uint64, p slot) {
	p.gone = true
	if st.hasCooldown || p.hadDebt || p.maybeSuperseded && !p.released {
		s.put(token, p)
		return
	}
	_, sure, _ := s.find(token)
	s.drop(token)
	if !sure && p.released {
		s.bound -= min(s.bound, p.weight) // until now it counted as taken
	}
	s.clip()
}

// passed records a moment, even for a permit that has not been granted yet.
func (st *step) passed(s *state) {
	token := st.grant.token
	if st.kind == stepLapsed {
		s.settle(st.grant)
	}
	p, _, ok := s.find(token)
	if !ok && st.index < s.granted {
		return // its slot is already free
	}
	m := p.moments
	if !ok {
		m = s.before[token]
	}
	m.pass(st.kind)
	if !ok {
		if s.before == nil {
			s.before = map[uint64]moments{}
		}
		s.before[token] = m
		return
	}
	p.moments = m
	s.put(token, p)
}

func (st *step) verified(s *state) bool {
	p, sure, ok := s.find(st.grant.token)
	if st.answer.Result == history.Valid {
		return ok && !p.gone && (sure || s.confirmTaken(st.grant.token))
	}
	return !ok && st.index < s.granted || ok && p.mayHaveEnded()
}

func (st *step) edited(s *state) bool {
	r := st.request
	known := s.def == nil || s.version != 0
	switch {
	case r.ExpectedVersion == 0 && s.def != nil:
		return false
	case r.ExpectedVersion != 0 && (s.def == nil || known && s.version != r.ExpectedVersion):
		return false
	}
	if s.def == nil {
		s.paused, s.stopped = false, false
	}
	s.def, s.version = st.rule, st.answer.Revision
	s.draining = s.draining || r.Drain
	if st.rule != nil {
		s.peak = max(s.peak, uint64(st.rule.Permits))
	}
	return true
}

func (st *step) read(s *state) bool {
	got := st.answer.Definition
	if got == nil || s.def == nil {
		return got == nil && s.def == nil
	}
	if s.version != 0 && s.version != st.answer.Revision {
		return false
	}
	s.version = st.answer.Revision
	return *got == s.def.Definition
}
