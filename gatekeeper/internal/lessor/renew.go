package lessor

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Status is what Renew and Check found.
type Status uint8

const (
	// NotLeading: the epoch is not current; nothing is known.
	NotLeading Status = iota
	// Renewed: the permit is live and not marked, the rule admits it, and by Renew its deadline was moved out.
	Renewed
	// Refused: the permit is live and the rule no longer admits it; see Decision. Its deadline was not moved.
	Refused
	// Ended: there is no such live permit. That is only what this server knows; confirm it before answering so.
	Ended
	// Marked: its end is proposed and not yet resolved.
	Marked
	// Foreign: the permit is live, and is not of the identity that the frame named.
	Foreign
)

// Refresh asks to keep one permit alive.
type Refresh struct {
	Token uint64
	// States is the duration that the client says it counts by, from this frame on; 0 when it does not say.
	States time.Duration
}

// Frame is where a refresh came from.
type Frame struct {
	Received time.Time
	// Stream numbers the stream that brought it, in the order in which streams were opened; 0 for a unary call.
	Stream uint64
	// Owner is whose permits it refreshes.
	Owner semaphore.Owner
}

// Verdict is what Renew and Check found for one token.
type Verdict struct {
	Status   Status
	Permit   *semaphore.Permit // nil when Ended or NotLeading
	Decision semaphore.Decision
	// Answer is the duration that an answer may name now.
	Answer time.Duration
	// Lengthen, when not 0, is the definition's longer duration: it may be answered instead once it has been committed.
	Lengthen time.Duration
	// Shorten, when not 0, is a shorter duration that this renewal has claimed to commit: see Shortened.
	Shorten time.Duration
	// Resolved is closed when the mark is resolved; only when Marked.
	Resolved <-chan struct{}

	duration time.Duration // the definition's, or the permit's own without one
}

// Admit applies steps 1 to 5 of the decision to a live permit of the caller. overheld says that it has been held
// for longer than max_hold. It is called under the lessor's lock: it must not block, nor call the lessor.
type Admit func(state *fsm.State, p *semaphore.Permit, overheld bool) semaphore.Decision

// Receive opens the intake for a frame that was just received. The caller calls processed once the frame's deadlines
// have been moved by Renew, before it waits for anything: an expiry waits for it.
func (l *Lessor) Receive() (processed func()) {
	return l.intake.enter()
}

// Seen is the state of things in which Renew judged.
type Seen struct{ term, index, marks uint64 }

// Renew moves deadlines out: it is the first half of a refresh, before Confirm. It appends one verdict a refresh, in
// order.
func (l *Lessor) Renew(term uint64, frame Frame, refreshes []Refresh, admit Admit, verdicts []Verdict) ([]Verdict, Seen) {
	l.Lock()
	defer l.Unlock()
	now, received := l.now(), l.moment(frame.Received)
	state := l.cfg.State()
	for _, r := range refreshes {
		v, le := l.judge(term, r.Token, state, admit, now)
		if v.Permit != nil && !frame.Owner.Owns(v.Permit.Semaphore, v.Permit.Identity) {
			v = Verdict{Status: Foreign}
		}
		if v.Status == Renewed {
			le.extend(now.add(lifetime(v.Permit)))
			le.renewed, le.abandoned = true, false
			le.durations(&v, frame.Stream, received, r.States, now, l.owed[le.token])
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, Seen{term: l.Term(), index: state.Index(), marks: l.marks}
}

// Unchanged reports whether Check would find what Renew found: no entry was applied and no end proposed since. That
// leaves what time alone does, a max_hold that runs out between the two; the refresh came before it.
func (l *Lessor) Unchanged(seen Seen) bool {
	l.Lock()
	defer l.Unlock()
	return l.Current() != nil && seen == Seen{term: l.Term(), index: l.cfg.State().Index(), marks: l.marks}
}

// Check is the second half of a refresh, after Confirm: it finds whether what Renew found still holds, and moves
// nothing.
func (l *Lessor) Check(term uint64, refreshes []Refresh, admit Admit, verdicts []Verdict) []Verdict {
	l.Lock()
	defer l.Unlock()
	now := l.now()
	state := l.cfg.State()
	for _, r := range refreshes {
		v, _ := l.judge(term, r.Token, state, admit, now)
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// judgement is what was found of a permit against which nothing spoke.
type judgement struct {
	permit *semaphore.Permit // as it was; nil: there is no judgement
	rules  uint64            // by which it was judged; see fsm.State.Rules
	// definition is that of its semaphore; nil: it was deleted.
	definition *semaphore.Definition
}

// duration is what a refresh gives: without a definition what the permit has.
func (j *judgement) duration() time.Duration {
	if j.definition == nil {
		return j.permit.Duration
	}
	return j.definition.Duration
}

// tooLong reports whether a permit which is held that long has been held for too long.
func (j *judgement) tooLong(held time.Duration) bool {
	return j.definition != nil && j.definition.MaxHold != 0 && held >= j.definition.MaxHold
}

// stands reports whether a permit would be judged so again.
func (j *judgement) stands(p *semaphore.Permit, rules uint64, held time.Duration) bool {
	return j.permit == p && j.rules == rules && !j.tooLong(held)
}

func (l *Lessor) judge(term, token uint64, state *fsm.State, admit Admit, now moment) (Verdict, *lease) {
	if term == 0 || l.Term() != term {
		return Verdict{Status: NotLeading}, nil
	}
	p := state.Permit(token)
	if p == nil || p.State != semaphore.Live {
		return Verdict{Status: Ended}, nil
	}
	le := l.lookup(p, state)
	if le.mark != nil {
		return Verdict{Status: Marked, Permit: p, Resolved: le.mark}, le
	}
	admitted := semaphore.Decision{Outcome: semaphore.Refreshed}
	held := now.sub(le.since)
	if le.plain.stands(p, state.Rules(), held) {
		return Verdict{Status: Renewed, Permit: p, Decision: admitted, duration: le.plain.duration()}, le
	}
	j := judgement{permit: p, rules: state.Rules()}
	if sd := state.Definition(p.Semaphore); sd != nil {
		j.definition = sd.Definition
	}
	v := Verdict{Status: Renewed, Permit: p, duration: j.duration()}
	v.Decision = admit(state, p, j.tooLong(held))
	if v.Decision.Outcome != semaphore.Refreshed {
		v.Status = Refused
	}
	le.plain = judgement{}
	if v.Decision == admitted {
		le.plain = j
	}
	return v, le
}

// durations decides which duration the answer to a renewal names, and whether the replicated one is to follow.
//
// The replicated duration is the largest one that the holder may still count on, because a new leader starts from it.
// So a longer one is committed before it is answered. A shorter one is answered at once, and committed only when the
// holder has said that it counts by it, and nothing longer can have been answered since: on the stream that refreshed
// this permit before, in no frame older than one that was answered already. From the claim until its outcome is known
// nothing longer is answered. Without a holder id several processes share a permit, and one of them says nothing for
// the others: so whatever else was answered, by a replay, on another stream, under the leader before or for a
// superseded token, must have run out as well.
//
// A client keeps its side by letting no answer to an earlier frame count for more than what a later frame of it stated.
func (le *lease) durations(v *Verdict, stream uint64, received moment, states time.Duration, now, owed moment) {
	replicated, want := v.Permit.Duration, v.duration
	sameStream := stream != 0 && stream == le.stream
	newest := received >= le.received
	alone := (le.others == 0 || now.sub(le.others) >= replicated) && owed <= now
	switch {
	case le.shortening != 0:
		v.Answer = min(want, le.shortening)
	case want > replicated:
		v.Answer, v.Lengthen = replicated, want
	case want < replicated && states > 0 && states <= want && sameStream && newest && alone:
		le.shortening = want
		v.Answer, v.Shorten = want, want
	default:
		v.Answer = want
	}
	if stream == 0 || le.stream != 0 && !sameStream {
		le.others = now
	}
	if stream == 0 || stream > le.stream {
		le.stream = stream
	}
	if newest {
		le.received = received
	}
}

// Shortened reports whether the outcome of a claimed shortening is known. While it is unknown the claim stays: the
// command may still be applied in this epoch.
func (l *Lessor) Shortened(term, token uint64) {
	l.Lock()
	defer l.Unlock()
	if le := l.leases[token]; l.Term() == term && le != nil {
		le.shortening = 0
	}
}

// Abandon ends a permit that no caller received, unless somebody has renewed it since or its end is proposed already.
// Somebody may have received a token that it superseded: then the slot cools.
func (l *Lessor) Abandon(term, token uint64) {
	l.Lock()
	le := l.leases[token]
	e := l.Current()
	if e == nil || e.Term != term || le == nil || le.mark != nil || le.renewed {
		l.Unlock()
		return
	}
	l.marked(le)
	le.abandoned = true
	cmd := fsm.Abandon{Token: token, Term: term, Cooling: l.owing(le)}
	l.Unlock()
	l.propose(e, []fsm.Command{cmd}, []uint64{token})
}

// Held is how long a permit has been held, as far as this epoch knows: since its grant, or since the promotion.
func (l *Lessor) Held(p *semaphore.Permit) time.Duration {
	l.Lock()
	defer l.Unlock()
	if l.Current() == nil {
		return 0
	}
	if le := l.leases[p.Token]; le != nil {
		return l.now().sub(le.since)
	}
	return l.now().sub(l.begun(p))
}

// Owed is how long the slot of a live permit that ends now has to cool, because holders of superseded tokens may still
// count on it.
func (l *Lessor) Owed(p *semaphore.Permit) time.Duration {
	if !p.Owes {
		return 0
	}
	l.Lock()
	defer l.Unlock()
	if l.Current() == nil {
		return p.Duration
	}
	if le := l.leases[p.Token]; le != nil {
		return l.owing(le)
	}
	return l.cooling(l.begun(p).add(lifetime(p)).sub(l.now()))
}

// owing is Owed for a lease.
func (l *Lessor) owing(le *lease) time.Duration {
	return l.cooling(l.owed[le.token].sub(l.now()))
}

// cooling is the duration of a cooling that ends no earlier than so far from now. Its deadline has its own grace, so it
// is long enough with the longest duration of any permit.
func (l *Lessor) cooling(left time.Duration) time.Duration {
	return max(0, min(left, l.cfg.State().LargestDuration()))
}

// Overheld reports whether a permit has been held for longer than max_hold.
func (l *Lessor) Overheld(p *semaphore.Permit) bool {
	sd := l.cfg.State().Definition(p.Semaphore)
	return sd != nil && sd.Definition.MaxHold > 0 && l.Held(p) >= sd.Definition.MaxHold
}

// Remaining is how long a live or cooling permit has until its end is proposed, unless it is refreshed; false while
// this server does not lead, and for permits that have no deadline.
func (l *Lessor) Remaining(p *semaphore.Permit) (time.Duration, bool) {
	l.Lock()
	defer l.Unlock()
	if l.Current() == nil || p.State == semaphore.Held {
		return 0, false
	}
	deadline := l.begun(p).add(lifetime(p))
	if le := l.leases[p.Token]; le != nil {
		deadline = le.deadline
	}
	return max(0, deadline.sub(l.now())), true
}

// Len is how many leases there are, for metrics.
func (l *Lessor) Len() int {
	l.Lock()
	defer l.Unlock()
	return len(l.leases)
}
