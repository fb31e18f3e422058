package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// runs tracks the firings in the log, using rules that are independent of the servers' implementation.
type runs struct {
	*truth
	last      map[string]*run // by semaphore and firing
	of        map[uint64]*run // by token
	takenOver map[uint64]bool
}

// run is one holder's claim on a firing.
type run struct {
	permit   *semaphore.Permit
	attempts uint32
	state    semaphore.ClaimState
	failure  string
	// were lists all states so far, including the current one.
	were []semaphore.ClaimState
}

func (r *run) turn(state semaphore.ClaimState) {
	r.state = state
	r.were = append(r.were, state)
}

// asIfNever reports whether the firing was returned without an attempt. Servers do not remember such a claim.
func (r *run) asIfNever() bool { return r.state == semaphore.ClaimOpen && r.attempts == 0 }

func newRuns(tr *truth) *runs {
	return &runs{truth: tr, last: make(map[string]*run), of: make(map[uint64]*run), takenOver: make(map[uint64]bool)}
}

func keyOf(name string, f *semaphore.Firing) string {
	return name + " " + f.Name + " " + f.Due.String()
}

// command applies a command from the log, and reports claims that are not allowed.
func (rs *runs) command(c fsm.Command, result fsm.Result, l raft.Log) {
	done, _ := result.(fsm.PermitResult)
	switch c := c.(type) {
	case fsm.Grant:
		if g, ok := result.(fsm.GrantResult); ok && g.Outcome == fsm.GrantGranted && g.Permit.Firing != nil {
			rs.claim(g.Permit, l)
		}
	case fsm.Release:
		r := rs.of[c.Token]
		released, ok := result.(fsm.ReleaseResult)
		if !ok || r == nil {
			return
		}
		if !released.Released {
			rs.late(r, c)
			return
		}
		r.failure = c.Failure
		switch c.Job {
		case semaphore.JobNotRun:
			rs.giveBack(r)
		case semaphore.JobCutShort:
			rs.cutShort(r, semaphore.ClaimCutShort)
		case semaphore.JobFailed:
			rs.world.paths.met(failedRun)
			r.turn(semaphore.ClaimFailed)
		case semaphore.JobDone:
			r.turn(semaphore.ClaimDone)
		}
	case fsm.Expire:
		if r := rs.of[c.Token]; r != nil && done.Applied {
			rs.cutShort(r, semaphore.ClaimSpent)
		}
	case fsm.Abandon:
		if r := rs.of[c.Token]; r != nil && done.Applied {
			rs.giveBack(r)
		}
	case fsm.Cancel:
		if cancelled, ok := result.(fsm.CancelResult); ok && cancelled.GaveBack != nil && rs.of[cancelled.GaveBack.Token] != nil {
			rs.giveBack(rs.of[cancelled.GaveBack.Token])
		}
	case fsm.TakeOver:
		rs.takeOver(c, done, l)
	}
}

func (rs *runs) claim(p *semaphore.Permit, l raft.Log) {
	key := keyOf(p.Semaphore, p.Firing)
	r := &run{permit: p, attempts: 1}
	r.turn(semaphore.ClaimHeld)
	if before := rs.last[key]; before != nil {
		if before.state != semaphore.ClaimOpen {
			rs.breaks("entry %d grants firing %s to token %d, although it is %s with token %d", l.Index, key, p.Token, before.state, before.permit.Token)
		}
		if r.attempts += before.attempts; before.attempts > 0 {
			rs.world.paths.met(handedOver)
			if rs.takenOver[before.permit.Token] && p.Semaphore == judged {
				rs.world.paths.met(handedOverTaken)
			}
		}
	}
	if most := rs.most(p.Semaphore); most > 0 && r.attempts > most {
		rs.breaks("entry %d grants firing %s to token %d on attempt %d of %d", l.Index, key, p.Token, r.attempts, most)
	}
	rs.last[key], rs.of[p.Token] = r, r
}

func (rs *runs) most(name string) uint32 { return definition(name).GetMaxAttempts() }

func (rs *runs) giveBack(r *run) {
	r.attempts--
	r.turn(semaphore.ClaimOpen)
}

// cutShort ends a run whose job did not finish.
func (rs *runs) cutShort(r *run, end semaphore.ClaimState) {
	p, most := r.permit, rs.most(r.permit.Semaphore)
	mayAgain := noted(definition(p.Semaphore)).FreeOnLoss || rs.takenOver[p.Token]
	switch {
	case mayAgain && (most == 0 || r.attempts < most):
		r.turn(semaphore.ClaimOpen)
		return
	case mayAgain:
		rs.world.paths.met(lastAttempt)
	}
	if end == semaphore.ClaimCutShort {
		rs.world.paths.met(cutShortRun)
	}
	r.turn(end)
}

// late handles a release that arrives after its permit has ended.
func (rs *runs) late(r *run, c fsm.Release) {
	over := r.state == semaphore.ClaimDone || r.state == semaphore.ClaimFailed
	if over || rs.last[keyOf(r.permit.Semaphore, r.permit.Firing)] != r || c.Job != semaphore.JobDone && c.Job != semaphore.JobFailed {
		return
	}
	if r.asIfNever() {
		return
	}
	rs.world.paths.met(lateEnd)
	r.failure = c.Failure
	if r.turn(semaphore.ClaimDone); c.Job == semaphore.JobFailed {
		r.turn(semaphore.ClaimFailed)
	}
}

func (rs *runs) takeOver(c fsm.TakeOver, done fsm.PermitResult, l raft.Log) {
	end, ended := rs.ended[c.Token]
	switch p := done.Permit; {
	case done.Applied:
		rs.world.paths.met(takenOver)
		rs.takenOver[c.Token] = true
		if p.State != semaphore.Live {
			rs.breaks("entry %d takes over token %d, which is then %s", l.Index, c.Token, p.State)
		}
		if !takeover(p.Semaphore) {
			rs.breaks("entry %d takes over token %d of %s, which does not allow takeovers", l.Index, c.Token, p.Semaphore)
		}
	case p == nil && ended && rs.world.writtenAt(l)-end.at < 200*time.Millisecond:
		if end.kind == fsm.Expired {
			rs.world.paths.met(takeOverMetExpiry)
		} else {
			rs.world.paths.met(takeOverMetRelease)
		}
	case p == nil:
		rs.world.paths.met(takeOverEnded)
	}
}

// compare compares the runs with the claims in the state, and with the outcomes that callers were notified of.
func (rs *runs) compare(h *history.History, state *fsm.State) {
	for key, r := range rs.last {
		c := state.Claim(r.permit.Semaphore, *r.permit.Firing)
		asItIs := c != nil && c.Token == r.permit.Token && c.State == r.state && c.Attempts == r.attempts && c.Failure == r.failure
		if !asItIs && (c != nil || !r.asIfNever()) {
			rs.breaks("firing %s is %+v in the state, but %+v in the log", key, c, r)
		}
	}
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.Request.Kind != history.Await {
			continue
		}
		if answer, ok := op.Answer(); ok {
			rs.heard(op, answer)
		} else if rs.world.judge != nil && op.Client == rs.world.judge.record.Client() {
			rs.unheard(op)
		}
	}
}

// heard reports an outcome that a caller was notified of but that never happened.
func (rs *runs) heard(op *history.Operation, answer history.Response) {
	r := rs.of[answer.Token]
	is := func(s semaphore.ClaimState) bool {
		return strings.ReplaceAll(strings.ToUpper(s.String()), " ", "_") == answer.Firing
	}
	switch {
	case r == nil:
	case answer.Firing == "TAKEN_OVER" && answer.Token > op.Request.Token, slices.ContainsFunc(r.were, is):
		return
	}
	if op.Return.At < rs.world.settled {
		rs.breaks("%s was notified that firing %s of token %d ended as %+v, but the log has %+v", op.Client, op.Request.Firing, op.Request.Token, answer, r)
	}
}

// unheard reports an outcome that a caller waited for but was not notified of.
func (rs *runs) unheard(op *history.Operation) {
	for _, r := range rs.last {
		p := r.permit
		if p.Semaphore != op.Request.Semaphore || firingName(p.Semaphore, p.Firing.Due) != op.Request.Firing {
			continue
		}
		if r.asIfNever() {
			continue
		}
		over := r.state != semaphore.ClaimHeld && r.state != semaphore.ClaimOpen
		if over || op.Request.Token != 0 && p.Token > op.Request.Token {
			rs.breaks("%s was not notified about firing %s, for which it has been waiting with token %d since %v: it is %s with token %d",
				op.Client, op.Request.Firing, op.Request.Token, op.At, r.state, p.Token)
		}
	}
}
