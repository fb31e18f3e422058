package semaphore

import (
	"slices"
	"time"
)

// model is a single-threaded model of a server for scenarios and property tests. It supplies the facts for Decide and
// applies its decisions, as the state machine and the lessor do. Tests set its clock.
type model struct {
	now   time.Duration // the leader's monotonic clock
	token uint64
	// revision counts grants and changes that exclude holders, as in the state machine.
	revision uint64
	gates    map[string]*gate
	cordons  []*cordon
}

// gate is the state of one semaphore.
type gate struct {
	def      *Definition // nil: deleted, or never defined
	patterns Patterns
	pause    *Pause
	slots    []*slot // sorted by token
	claims   map[string]*Claim
	lowWater time.Time
	drain    uint64 // the revision of the latest edit with an unfinished drain
}

// slot is a permit with the times that the lessor tracks for it.
type slot struct {
	*Permit
	granted, deadline time.Duration
}

type cordon struct {
	id              string
	group, acquirer *Pattern
	drain           uint64 // the cordon's revision during its drain, otherwise 0
}

func newModel() *model { return &model{gates: map[string]*gate{}} }

func (w *model) gate(name string) *gate {
	g := w.gates[name]
	if g == nil {
		g = &gate{claims: map[string]*Claim{}}
		w.gates[name] = g
	}
	return g
}

// define creates or replaces a definition; nil deletes it. Permits, claims and any pause remain.
func (w *model) define(name string, d *Definition) error {
	g := w.gate(name)
	if d == nil {
		g.def, g.patterns = nil, Patterns{}
		return nil
	}
	if err := d.Validate(DefaultMaxDuration); err != nil {
		return err
	}
	patterns, err := CompilePatterns(d.GroupPattern, d.AcquirerPattern)
	g.def, g.patterns = d.Clone(), patterns
	return err
}

func (w *model) facts(name string, id Identity, firing *Firing) *Facts {
	g := w.gate(name)
	f := &Facts{Definition: g.def, Pause: g.pause, Used: g.used(), LowWater: g.lowWater}
	f.Admission.Group, f.Admission.Acquirer = g.patterns.Match(id.Group, id.Acquirer)
	f.Drains = []Drain{{g.drain, 1}}
	for _, c := range w.cordons {
		if c.group.Match(id.Group) || c.acquirer.Match(id.Acquirer) {
			f.Admission.Cordons = append(f.Admission.Cordons, Cordon{Drain: Drain{c.drain, 1}})
		}
	}
	if firing != nil {
		f.Claim = g.claims[firing.text()]
	}
	for _, s := range g.slots {
		if s.Identity == id && s.State != Cooling {
			f.Own = s.Permit
			f.OwnOverheld = g.def != nil && g.def.MaxHold > 0 && w.now-s.granted > g.def.MaxHold
		}
	}
	return f
}

func (g *gate) used() uint64 {
	var used uint64
	for _, s := range g.slots {
		used += uint64(s.Weight)
	}
	return used
}

// acquire decides a request and applies the decision.
func (w *model) acquire(req *Request, f *Facts) (Decision, *Permit) {
	d := Decide(req, f)
	g := w.gate(req.Semaphore)
	switch d.Outcome {
	case Granted:
		w.token++
		w.revision++
		p := &Permit{
			Semaphore: req.Semaphore, Identity: req.Identity, Weight: req.Weight, Firing: req.Firing,
			Token: w.token, Duration: g.def.Duration, State: Live, GrantedRevision: w.revision,
		}
		g.slots = append(g.slots, &slot{p, w.now, w.now + p.Duration + Grace(p.Duration)})
		if req.Firing != nil {
			attempts := uint32(1)
			if f.Claim != nil {
				attempts += f.Claim.Attempts
			}
			g.claims[req.Firing.text()] = &Claim{
				Semaphore: req.Semaphore, Firing: *req.Firing, Token: p.Token, Winner: p.Identity, State: ClaimHeld, Attempts: attempts,
			}
		}
		return d, p
	case Refreshed:
		w.extend(f.Own.Token)
		return d, f.Own
	case Reacquired:
		w.token++
		for _, s := range g.slots {
			if s.Token == f.Own.Token {
				now := *s.Permit
				now.Token = w.token
				s.Permit, s.deadline = &now, max(s.deadline, w.now+now.Duration+Grace(now.Duration))
				return d, &now
			}
		}
	case Denied:
	}
	return d, nil
}

// endDrains ends all drains.
func (w *model) endDrains() {
	for _, g := range w.gates {
		g.drain = 0
		if g.pause != nil {
			updated := *g.pause
			updated.Drain, g.pause = 0, &updated
		}
		for _, s := range g.slots {
			updated := *s.Permit
			updated.Order, s.Permit = updated.Order.Drained(), &updated
		}
	}
	for _, c := range w.cordons {
		c.drain = 0
	}
}

// refresh refreshes a permit on behalf of its holder.
func (w *model) refresh(token uint64) (Decision, *slot) {
	_, s := w.find(token)
	if s == nil || s.State == Cooling {
		return Decision{}, nil
	}
	d := Admit(s.Permit, w.facts(s.Semaphore, s.Identity, nil))
	if d.Outcome == Refreshed {
		w.extend(token)
	}
	return d, s
}

func (w *model) extend(token uint64) {
	_, s := w.find(token)
	s.deadline = max(s.deadline, w.now+s.Duration+Grace(s.Duration))
}

func (w *model) find(token uint64) (*gate, *slot) {
	for _, g := range w.gates {
		for _, s := range g.slots {
			if s.Token == token {
				return g, s
			}
		}
	}
	return nil, nil
}

// end ends a permit. Its slot cools for the given time, or is freed immediately if cooling is 0.
func (w *model) end(token uint64, how End, job JobEnd, cooling time.Duration) *slot {
	g, s := w.find(token)
	at := slices.Index(g.slots, s)
	g.settle(s.Permit, how, job, cooling)
	if cooling == 0 {
		g.slots = slices.Delete(g.slots, at, at+1)
		return nil
	}
	cool := *s.Permit
	cool.State, cool.Duration, cool.Ended = Cooling, cooling, how
	g.slots[at] = &slot{&cool, s.granted, w.now + cooling}
	return g.slots[at]
}

// settle updates the claim of an ended permit, unless a newer claim has replaced it.
func (g *gate) settle(p *Permit, how End, job JobEnd, cooling time.Duration) {
	claim := g.claimOf(p)
	if claim == nil {
		return
	}
	run := Run{End: how, Job: job, Stop: p.Stop, Attempts: claim.Attempts}
	state := run.Claim(g.def)
	if state == ClaimOpen && run.CutShort() && cooling > 0 {
		return // the claim opens when the slot becomes free
	}
	claim.State = state
	if !run.Began() {
		claim.Attempts--
	}
	if claim.Attempts == 0 {
		delete(g.claims, p.Firing.text())
	}
}

// claimOf returns the claim of a permit, or nil if the permit has none or a newer claim has replaced it. It first
// replaces the stored claim with a copy, because decisions keep a pointer to the old one. The caller may modify the
// copy.
func (g *gate) claimOf(p *Permit) *Claim {
	if p.Firing == nil {
		return nil
	}
	claim := g.claims[p.Firing.text()]
	if claim == nil || claim.Token != p.Token {
		return nil
	}
	own := *claim
	g.claims[p.Firing.text()] = &own
	return &own
}

// overdue returns all slots, in any semaphore, whose deadlines have passed, sorted by token.
func (w *model) overdue() []*slot {
	var late []*slot
	for _, g := range w.gates {
		for _, s := range g.slots {
			if s.State != Held && w.now >= s.deadline {
				late = append(late, s)
			}
		}
	}
	slices.SortFunc(late, func(a, b *slot) int { return int(a.Token) - int(b.Token) })
	return late
}

// expire applies the change that the leader's timer would propose for an overdue slot. It returns the remaining slot,
// or nil if the slot is free.
func (w *model) expire(s *slot) *slot {
	g := w.gate(s.Semaphore)
	if s.State == Cooling {
		if c := g.claimOf(s.Permit); c != nil && c.State == ClaimHeld {
			c.State = ClaimOpen
		}
		g.slots = slices.DeleteFunc(g.slots, func(o *slot) bool { return o == s })
		return nil
	}
	if g.def != nil && g.def.OnExpiry == OnExpiryHold {
		held := *s.Permit
		held.State = Held
		s.Permit = &held
		return s
	}
	return w.end(s.Token, EndExpired, JobDone, LossCooling(g.def, w.now-s.granted))
}

// stopped returns the live permits whose holders must stop, sorted by token, and Admit's decision on each.
func (w *model) stopped() (slots []*slot, why []Decision) {
	for _, g := range w.gates {
		for _, s := range g.slots {
			if d := Admit(s.Permit, w.facts(s.Semaphore, s.Identity, nil)); s.State == Live && d.Outcome == Denied {
				slots = append(slots, s)
			}
		}
	}
	slices.SortFunc(slots, func(a, b *slot) int { return int(a.Token) - int(b.Token) })
	for _, s := range slots {
		why = append(why, Admit(s.Permit, w.facts(s.Semaphore, s.Identity, nil)))
	}
	return slots, why
}

// defaultDefinition returns a definition with all defaults filled in, as the API does.
func defaultDefinition(name string) *Definition {
	return &Definition{
		Name: name, GroupPattern: DefaultPattern, AcquirerPattern: DefaultPattern,
		Permits: DefaultPermits, Duration: DefaultDuration,
		OnExpiry: OnExpiryFree, FiringOnLoss: FiringSpent,
		FiringRetention: DefaultFiringRetention, FiringLimit: DefaultFiringLimit,
	}
}

// holds reports whether the permit with the given token occupies a slot.
func (w *model) holds(token uint64) bool {
	_, s := w.find(token)
	return s != nil
}
