package lessor

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Status is the status of one permit, as determined by Renew or Check.
type Status uint8

const (
	// NotLeading means that the epoch is not current, so the status of the permit is unknown.
	NotLeading Status = iota
	// Renewed means that the permit is live and not marked, and the rules admit it. Renew has extended its deadline.
	Renewed
	// Refused means that the permit is live, but the rules no longer admit it; see Decision. Its deadline was not
	// extended.
	Refused
	// Ended means that this server's state contains no such live permit. The caller must call Confirm before it returns
	// this status.
	Ended
	// Marked means that a command that ends the permit has been proposed, but its outcome is not known yet.
	Marked
	// Foreign means that the permit is live, but its identity differs from the frame's.
	Foreign
)

// Refresh is a request to keep one permit alive.
type Refresh struct {
	Token uint64
	// ClientDuration is the duration that the client uses from this frame on, or 0 if the frame specifies none.
	ClientDuration time.Duration
}

// Frame describes the stream frame or unary call that carried refreshes.
type Frame struct {
	Received time.Time
	// Stream is the number of the stream that carried the frame. Streams are numbered in the order in which they were
	// opened. Stream is 0 for a unary call.
	Stream uint64
	// Owner is the owner of the permits that the frame refreshes.
	Owner semaphore.Owner
}

// Verdict is the result of Renew or Check for one token.
type Verdict struct {
	Status   Status
	Permit   *semaphore.Permit // nil if Ended or NotLeading
	Decision semaphore.Decision
	// ResponseDuration is the duration that may be sent in the response now.
	ResponseDuration time.Duration
	// Lengthen, if not 0, is the definition's longer duration. It may be sent instead once it has been committed.
	Lengthen time.Duration
	// Shorten, if not 0, is a shorter duration that the caller must now commit; see Shortened.
	Shorten time.Duration
	// Resolved is closed when the mark is resolved. It is set only if Marked.
	Resolved <-chan struct{}

	duration time.Duration // the definition's duration, or the permit's without a definition
}

// Admit applies steps 1 to 5 of the decision to one of the caller's live permits. overheld reports whether it has been
// held for longer than max_hold. Admit is called under the lessor's lock, so it must not block or call the lessor.
type Admit func(state *fsm.State, p *semaphore.Permit, overheld bool) semaphore.Decision

// Receive opens the intake for a frame that was just received. The caller must call processed once Renew has extended
// the frame's deadlines, and before it waits for anything, because an expiry waits for that call.
func (l *Lessor) Receive() (processed func()) {
	return l.intake.enter()
}

// Seen identifies the state on which Renew based its verdicts.
type Seen struct{ term, index, marks uint64 }

// Renew extends deadlines. It is the first half of a refresh, before Confirm. It appends one verdict per refresh, in
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
			le.durations(&v, frame.Stream, received, r.ClientDuration, now, l.owed[le.token])
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, Seen{term: l.Term(), index: state.Index(), marks: l.marks}
}

// Unchanged reports whether Check would return the same verdicts as Renew, because no entry has been applied and no end
// has been proposed in the meantime. It ignores a max_hold that elapsed after Renew, because the refresh came first.
func (l *Lessor) Unchanged(seen Seen) bool {
	l.Lock()
	defer l.Unlock()
	return l.Current() != nil && seen == Seen{term: l.Term(), index: l.cfg.State().Index(), marks: l.marks}
}

// Check is the second half of a refresh, after Confirm. It returns verdicts like Renew, so that the caller can check
// whether Renew's still hold, but extends nothing.
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

// judgement is the basis of a decision that raised no objection to a permit.
type judgement struct {
	permit *semaphore.Permit // as it was when judged; nil if there is no judgement
	rules  uint64            // the rules that were applied; see fsm.State.Rules
	// definition is the definition of the semaphore, or nil if it was deleted.
	definition *semaphore.Definition
}

// duration returns the duration that a refresh grants: the definition's, or the permit's own if there is no definition.
func (j *judgement) duration() time.Duration {
	if j.definition == nil {
		return j.permit.Duration
	}
	return j.definition.Duration
}

// exceedsMaxHold reports whether held exceeds the definition's max_hold.
func (j *judgement) exceedsMaxHold(held time.Duration) bool {
	return j.definition != nil && j.definition.MaxHold != 0 && held >= j.definition.MaxHold
}

// isValid reports whether the judgement is still valid for a permit.
func (j *judgement) isValid(p *semaphore.Permit, rules uint64, held time.Duration) bool {
	return j.permit == p && j.rules == rules && !j.exceedsMaxHold(held)
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
	if le.lastAdmitted.isValid(p, state.Rules(), held) {
		return Verdict{Status: Renewed, Permit: p, Decision: admitted, duration: le.lastAdmitted.duration()}, le
	}
	j := judgement{permit: p, rules: state.Rules()}
	if sd := state.Definition(p.Semaphore); sd != nil {
		j.definition = sd.Definition
	}
	v := Verdict{Status: Renewed, Permit: p, duration: j.duration()}
	v.Decision = admit(state, p, j.exceedsMaxHold(held))
	if v.Decision.Outcome != semaphore.Refreshed {
		v.Status = Refused
	}
	le.lastAdmitted = judgement{}
	if v.Decision == admitted {
		le.lastAdmitted = j
	}
	return v, le
}

// durations determines the duration in the response to a renewal, and whether the replicated one must be changed.
//
// The replicated duration is the longest one that the holder may still rely on, because a new leader starts from it. So
// a longer one is committed before it is sent. A shorter one is sent immediately, but committed only once the holder
// has reported using it and nothing longer can have been sent since then. That requires a frame from the stream that
// last refreshed this permit, no older than any frame already answered. Until the outcome of that commit is known,
// nothing longer is sent. Without a holder id, several processes share a permit, and one process cannot speak for the
// others. So all other responses (to a replay, on another stream, from the previous leader, or for a superseded token)
// must have expired as well.
//
// In return, once a client has sent a frame with a duration, it never relies on the response to an earlier frame for
// longer than that.
func (le *lease) durations(v *Verdict, stream uint64, received moment, clientDuration time.Duration, now, owed moment) {
	replicated, want := v.Permit.Duration, v.duration
	sameStream := stream != 0 && stream == le.stream
	newest := received >= le.received
	soleUser := (le.otherResponse == 0 || now.sub(le.otherResponse) >= replicated) && owed <= now
	switch {
	case le.shortening != 0:
		v.ResponseDuration = min(want, le.shortening)
	case want > replicated:
		v.ResponseDuration, v.Lengthen = replicated, want
	case want < replicated && clientDuration > 0 && clientDuration <= want && sameStream && newest && soleUser:
		le.shortening = want
		v.ResponseDuration, v.Shorten = want, want
	default:
		v.ResponseDuration = want
	}
	if stream == 0 || le.stream != 0 && !sameStream {
		le.otherResponse = now
	}
	if stream == 0 || stream > le.stream {
		le.stream = stream
	}
	if newest {
		le.received = received
	}
}

// Shortened records that the outcome of a shortening is known. While it is unknown, no response may exceed the shorter
// duration, because the command may still be applied in this epoch.
func (l *Lessor) Shortened(term, token uint64) {
	l.Lock()
	defer l.Unlock()
	if le := l.leases[token]; l.Term() == term && le != nil {
		le.shortening = 0
	}
}

// Abandon ends a permit that no caller received, unless it has been renewed or its end has already been proposed. If a
// caller may have received a token that the permit superseded, the slot cools.
func (l *Lessor) Abandon(term, token uint64) {
	l.Lock()
	le := l.leases[token]
	e := l.Current()
	if e == nil || e.Term != term || le == nil || le.mark != nil || le.renewed {
		l.Unlock()
		return
	}
	l.setMark(le)
	le.abandoned = true
	cmd := fsm.Abandon{Token: token, Term: term, Cooling: l.owedFor(le)}
	l.Unlock()
	l.propose(e, []fsm.Command{cmd}, []uint64{token})
}

// Held returns how long a permit has been held in this epoch: since its grant or since the promotion.
func (l *Lessor) Held(p *semaphore.Permit) time.Duration {
	l.Lock()
	defer l.Unlock()
	if l.Current() == nil {
		return 0
	}
	if le := l.leases[p.Token]; le != nil {
		return l.now().sub(le.since)
	}
	return l.now().sub(l.startTime(p))
}

// Owed returns how long the slot of a live permit must cool if the permit ends now, because holders of superseded
// tokens may still rely on it.
func (l *Lessor) Owed(p *semaphore.Permit) time.Duration {
	if !p.OldTokensInUse {
		return 0
	}
	l.Lock()
	defer l.Unlock()
	if l.Current() == nil {
		return p.Duration
	}
	if le := l.leases[p.Token]; le != nil {
		return l.owedFor(le)
	}
	return l.cooling(l.startTime(p).add(lifetime(p)).sub(l.now()))
}

// owedFor returns the Owed duration of a lease.
func (l *Lessor) owedFor(le *lease) time.Duration {
	return l.cooling(l.owed[le.token].sub(l.now()))
}

// cooling returns how long a slot must cool to cover the time left. It is capped at the longest duration of any permit,
// which suffices because the cooling deadline has its own grace period.
func (l *Lessor) cooling(left time.Duration) time.Duration {
	return max(0, min(left, l.cfg.State().LargestDuration()))
}

// Overheld reports whether a permit has been held for longer than max_hold.
func (l *Lessor) Overheld(p *semaphore.Permit) bool {
	sd := l.cfg.State().Definition(p.Semaphore)
	return sd != nil && sd.Definition.MaxHold > 0 && l.Held(p) >= sd.Definition.MaxHold
}

// Remaining returns the time until the end of a live or cooling permit is proposed, unless it is refreshed. It returns
// false while this server is not the leader, and for permits without a deadline.
func (l *Lessor) Remaining(p *semaphore.Permit) (time.Duration, bool) {
	l.Lock()
	defer l.Unlock()
	if l.Current() == nil || p.State == semaphore.Held {
		return 0, false
	}
	deadline := l.startTime(p).add(lifetime(p))
	if le := l.leases[p.Token]; le != nil {
		deadline = le.deadline
	}
	return max(0, deadline.sub(l.now())), true
}

// Len returns the number of leases, for metrics.
func (l *Lessor) Len() int {
	l.Lock()
	defer l.Unlock()
	return len(l.leases)
}
