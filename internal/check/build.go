package check

import (
	"fmt"
	"math"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// never is later than every time in a history.
const never = time.Duration(math.MaxInt64)

// maxClockDrift is the largest relative difference in rate between two clocks.
const maxClockDrift = 0.01

// builder turns a history into steps.
type builder struct {
	parts      map[string]*partition
	all        map[uint64]*grant
	index      map[uint64]int // each token's position among its semaphore's tokens
	cooldowns  map[string]cooling
	granted    map[attempt]*grant // by acquisition
	holders    map[history.Identity]holder
	unanswered map[owner]*unanswered
	before     map[uint64]*grant // the owner's previous grant, by token
	rules      map[history.Definition]*rule
	cordonOps  []history.Operation // cordons and uncordons
	editOps    []*retriedOp
	releaseOps []*retriedOp
	byID       map[string]*retriedOp // edits, by semaphore and request id
	byToken    map[uint64]*retriedOp // releases, by token
}

// holder is a number that stands for an identity.
type holder int

// owner is an identity at a semaphore.
type owner struct {
	semaphore string
	holder    holder
}

// unanswered describes an owner's acquires without a response: they may have superseded any permit that the owner later
// holds.
type unanswered struct {
	from time.Duration
	// replaced maps each token that these acquires replace to the earliest time of its replacement.
	replaced map[uint64]time.Duration
}

// retriedOp is an operation with all its attempts.
type retriedOp struct {
	first history.Operation
	known *history.Operation
}

// cooling holds the shortest cooldown in any of a semaphore's definitions.
type cooling struct {
	known           bool
	minHold, onLoss time.Duration
	hold            bool // with every definition, an expired permit keeps its slot
	hasCooldown     bool // some definition has a cooldown
}

func newBuilder(h *history.History) *builder {
	b := &builder{
		parts: map[string]*partition{}, all: grants(h), index: map[uint64]int{}, cooldowns: map[string]cooling{}, granted: map[attempt]*grant{},
		holders: map[history.Identity]holder{}, unanswered: map[owner]*unanswered{}, before: map[uint64]*grant{},
		rules: map[history.Definition]*rule{}, byID: map[string]*retriedOp{}, byToken: map[uint64]*retriedOp{},
	}
	counts := map[string]int{}
	last := map[owner]*grant{}
	var latest time.Duration // the latest call for a lower token: a higher token is granted later
	for _, g := range inOrder(b.all) {
		if g.task {
			g.call = min(max(g.call, latest), g.known)
		}
		latest = max(latest, g.call)
		b.before[g.token] = last[b.owner(g)]
		last[b.owner(g)] = g
		b.index[g.token] = counts[g.semaphore]
		counts[g.semaphore]++
		if key, ok := attemptOf(g.request); ok {
			b.granted[key] = g
		}
	}
	for _, op := range h.Operations {
		d := op.Request.Definition
		if op.Request.Kind != history.Edit || d == nil {
			continue
		}
		c := b.cooldowns[op.Request.Semaphore]
		if !c.known {
			c = cooling{true, d.MinHold, d.LossDelay, d.HoldOnExpiry, false}
		}
		c.minHold, c.onLoss, c.hold = min(c.minHold, d.MinHold), min(c.onLoss, d.LossDelay), c.hold && d.HoldOnExpiry
		c.hasCooldown = c.hasCooldown || d.MinHold > 0 || d.LossDelay > 0 || d.HoldOnExpiry
		b.cooldowns[op.Request.Semaphore] = c
	}
	return b
}

func (b *builder) part(semaphore string) *partition {
	p := b.parts[semaphore]
	if p == nil {
		p = &partition{semaphore: semaphore}
		b.parts[semaphore] = p
	}
	return p
}

// step returns a step for a permit.
func (b *builder) step(kind stepKind, g *grant) *step {
	return &step{
		kind: kind, grant: g, index: b.index[g.token], weight: weight(g.request), hasCooldown: b.cooldowns[g.semaphore].hasCooldown,
		holder: b.holder(g.identity), old: b.all[g.superseded],
	}
}

func (b *builder) owner(g *grant) owner { return owner{g.semaphore, b.holder(g.identity)} }

func (b *builder) holder(id history.Identity) holder {
	h, ok := b.holders[id]
	if !ok {
		h = holder(len(b.holders) + 1)
		b.holders[id] = h
	}
	return h
}

func weight(r history.Request) uint64 { return uint64(max(r.Weight, 1)) }

// operation adds the steps that follow from a single call. Edits and releases are built from all their attempts
// together.
func (b *builder) operation(op history.Operation) {
	r := op.Request
	if r.Kind == history.Acquire && r.Wait {
		b.queued(op)
	}
	if op.Outcome() == history.Refused {
		return
	}
	switch r.Kind {
	case history.Acquire:
		b.acquire(op)
		return
	case history.Edit:
		key := fmt.Sprintf("%s\x00%s\x00%s", r.Semaphore, r.RequestID, op.Client)
		if r.RequestID == "" {
			key += fmt.Sprintf("\x00%d", op.Seq)
		}
		b.editOps = addAttempt(b.editOps, b.byID, key, op)
		return
	case history.Read:
		if answer, ok := op.Response(); ok {
			st := &step{kind: stepRead, request: r, answer: answer}
			if answer.Definition != nil {
				st.rule = &rule{Definition: *answer.Definition}
			}
			b.part(r.Semaphore).add(op.At, op.Return.At, st)
		}
		return
	case history.Pause, history.Resume:
		b.pause(op)
		return
	case history.Cordon, history.Uncordon:
		b.cordonOps = append(b.cordonOps, op)
		return
	case history.Submit:
		b.addTaskPermits(r.Semaphore)
		return
	case history.Cancel:
		if key, ok := attemptOf(r); ok && b.granted[key] != nil {
			g := b.granted[key]
			b.part(g.semaphore).add(op.At, op.At, b.step(stepMaybeReleased, g))
		}
		return
	}
	if g := b.all[r.Token]; g != nil {
		b.onPermit(op, g)
	}
}

// queued puts the caller in the queue until its response arrives. A caller without a response may stay in the queue
// forever.
func (b *builder) queued(op history.Operation) {
	p := b.part(op.Request.Semaphore)
	p.add(op.At, op.At, &step{kind: stepQueued, request: op.Request})
	if op.Outcome() != history.Unknown {
		p.add(op.Return.At, op.Return.At, &step{kind: stepLeft, request: op.Request})
	}
}

// addAttempt adds an attempt to its operation.
func addAttempt[K comparable](all []*retriedOp, by map[K]*retriedOp, key K, op history.Operation) []*retriedOp {
	t := by[key]
	if t == nil {
		t = &retriedOp{first: op}
		by[key] = t
		all = append(all, t)
	}
	if _, ok := op.Response(); ok && t.known == nil {
		t.known = &op
	}
	return all
}

func (b *builder) acquire(op history.Operation) {
	r := op.Request
	answer, ok := op.Response()
	if !ok {
		if key, named := attemptOf(r); !named || b.granted[key] == nil {
			b.part(r.Semaphore).add(op.At, op.At, &step{kind: stepUnansweredAcquire, weight: weight(r), request: r})
			b.addUnanswered(op)
		}
		return
	}
	if answer.Result == history.Denied {
		b.part(r.Semaphore).add(op.At, op.Return.At, &step{kind: stepDenied, weight: weight(r), request: r, answer: answer, holder: b.holder(r.Identity)})
	}
}

// addUnanswered records an acquire without a response. Operations are sorted by the time of their calls, so the first
// of each kind is the earliest.
func (b *builder) addUnanswered(op history.Operation) {
	r := op.Request
	if r.Firing != "" {
		return // an acquire with a firing supersedes nothing
	}
	key := owner{r.Semaphore, b.holder(r.Identity)}
	u := b.unanswered[key]
	if u == nil {
		u = &unanswered{from: op.At, replaced: map[uint64]time.Duration{}}
		b.unanswered[key] = u
	}
	if _, ok := u.replaced[r.Replaces]; !ok && r.Replaces != 0 {
		u.replaced[r.Replaces] = op.At
	}
}

func (b *builder) pause(op history.Operation) {
	st := &step{kind: stepPaused, request: op.Request}
	if op.Request.Kind == history.Resume {
		st.kind = stepResumed
	}
	b.part(op.Request.Semaphore).change(op, st)
}

// change adds the step for a change. A change without a response may never have happened.
func (p *partition) change(op history.Operation, st *step) {
	to := never
	if _, ok := op.Response(); ok {
		to = op.Return.At
	}
	st.unknown = to == never
	p.add(op.At, to, st)
}

// onPermit adds the steps for a call that names a token.
func (b *builder) onPermit(op history.Operation, g *grant) {
	p := b.part(g.semaphore)
	answer, answered := op.Response()
	switch r := op.Request; r.Kind {
	case history.Release:
		b.releaseOps = addAttempt(b.releaseOps, b.byToken, r.Token, op)
	case history.EndTask:
		p.add(op.At, op.At, b.step(stepMaybeReleased, g))
		if answered { // the response is the same for a permit that had already ended
			p.add(op.At, op.Return.At, b.step(stepEnded, g))
		}
	case history.Clear:
		if !answered {
			p.add(op.At, op.At, b.step(stepFree, g))
			return
		}
		p.add(op.At, op.Return.At, b.step(stepFreed, g))
	case history.Revoke:
		switch {
		case r.UnsafeNow && answered:
			p.add(op.At, op.Return.At, b.step(stepFreed, g))
		case r.UnsafeNow:
			p.add(op.At, op.At, b.step(stepMaybeFreed, g))
		case answered:
			st := b.step(stepRevoked, g)
			st.request = r
			p.add(op.At, op.Return.At, st)
		}
	case history.TakeOver: // equivalent to a revoke without a drain
		if answered {
			p.add(op.At, op.Return.At, b.step(stepRevoked, g))
		}
	case history.Refresh:
		switch answer.Result {
		case history.Refreshed:
			p.add(op.At, op.Return.At, b.step(stepAlive, g))
		case history.Lost:
			p.add(op.At, op.Return.At, b.step(stepEnded, g))
		}
	case history.Verify:
		if answered {
			st := b.step(stepVerified, g)
			st.answer = answer
			p.add(op.At, op.Return.At, st)
		}
	}
}

// edits adds one step for each edit, covering all its attempts.
func (b *builder) edits() {
	for _, t := range b.editOps {
		p := b.part(t.first.Request.Semaphore)
		st := &step{kind: stepEdited, request: t.first.Request, unknown: true}
		if d := t.first.Request.Definition; d != nil {
			if b.rules[*d] == nil {
				r, err := newRule(*d)
				if err != nil {
					p.err = err
					return
				}
				b.rules[*d] = r
			}
			st.rule = b.rules[*d]
		}
		to := never
		if t.known != nil {
			st.unknown, to, st.answer = false, t.known.Return.At, t.known.Return.Response
		}
		p.add(t.first.At, to, st)
	}
}

// releases adds one step for each release, covering all its attempts.
func (b *builder) releases() {
	for _, t := range b.releaseOps {
		g := b.all[t.first.Request.Token]
		p := b.part(g.semaphore)
		switch {
		case t.known == nil:
			p.add(t.first.At, t.first.At, b.step(stepMaybeReleased, g))
		case t.known.Return.Response.Result == history.Released:
			p.add(t.first.At, t.known.Return.At, b.step(stepReleased, g))
		default:
			if t.known.At != t.first.At {
				p.add(t.first.At, t.first.At, b.step(stepMaybeReleased, g))
			}
			p.add(t.known.At, t.known.Return.At, b.step(stepEnded, g))
		}
	}
}

// grants adds each grant and the moments that its permit passes.
func (b *builder) grants() {
	endedBy := map[*grant]time.Duration{} // when the owner's next grant was known; this permit had ended before that
	for token, before := range b.before {
		if before != nil {
			endedBy[before] = b.all[token].known
		}
	}
	for _, g := range inOrder(b.all) {
		u := b.unanswered[b.owner(g)]
		if g.superseded == 0 && b.before[g.token] == nil && u == nil {
			g.fresh = true // no response says so, but there was no permit to supersede
		}
		p := b.part(g.semaphore)
		granted := b.step(stepGrant, g)
		p.add(g.call, g.known, granted)
		addMoment := func(at time.Duration, kind stepKind) {
			if at <= g.call {
				granted.early.pass(kind)
				return
			}
			p.add(at, at, b.step(kind, g))
		}
		for _, op := range g.seen {
			p.add(op.At, op.Return.At, b.step(stepAlive, g))
		}
		// Steps at the same moment can occur in any order. To keep the model's search small, omit them for permits that
		// had already ended.
		if at, ended := endedBy[g]; u != nil && !g.singleRun() && (!ended || u.from < at) {
			addMoment(u.from, stepMaybeSuperseded)
			if from, ok := u.replaced[g.token]; ok {
				addMoment(from, stepReplaced)
			}
		}
		c := b.cooldowns[g.semaphore]
		addMoment(g.lapse, stepLapsed)
		held := b.heldSince(g) + minElapsed(c.minHold)
		if c.hasCooldown {
			addMoment(held, stepCooled)
		}
		if !c.hold {
			free := max(g.lapse+minElapsed(c.onLoss), held)
			addMoment(free, stepFree)
		}
	}
}

// heldSince returns the earliest time at which the identity may have acquired its permit. It looks back past superseded
// tokens, because min_hold continues under a new token. It returns 0 if the response with the first token may have been
// lost.
func (b *builder) heldSince(g *grant) time.Duration {
	for !g.fresh {
		before := b.before[g.token]
		if g.superseded != 0 {
			before = b.all[g.superseded]
		}
		if before == nil || before.token >= g.token || b.unanswered[b.owner(g)] != nil {
			return 0
		}
		g = before
	}
	return g.call
}

// minElapsed returns the shortest time in which d can elapse on a clock that runs at a different rate.
func minElapsed(d time.Duration) time.Duration { return d - time.Duration(maxClockDrift*float64(d)) }
