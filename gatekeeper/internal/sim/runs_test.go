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

// firingTracker tracks the firings in the log, using rules that are independent of the servers' implementation.
type firingTracker struct {
	*replayedLog
	lastRun   map[string]*run // by semaphore and firing
	byToken   map[uint64]*run
	takenOver map[uint64]bool
}

// run is one holder's claim on a firing.
type run struct {
	permit   *semaphore.Permit
	attempts uint32
	state    semaphore.ClaimState
	failure  string
	// states lists all states, ending with the current one.
	states []semaphore.ClaimState
}

func (r *run) setState(state semaphore.ClaimState) {
	r.state = state
	r.states = append(r.states, state)
}

// isUnrecorded reports whether the firing was returned without an attempt. Servers do not store that claim.
func (r *run) isUnrecorded() bool { return r.state == semaphore.ClaimOpen && r.attempts == 0 }

func newFiringTracker(tr *replayedLog) *firingTracker {
	return &firingTracker{replayedLog: tr, lastRun: make(map[string]*run), byToken: make(map[uint64]*run), takenOver: make(map[uint64]bool)}
}

func keyOf(name string, f *semaphore.Firing) string {
	return name + " " + f.Name + " " + f.Due.String()
}

// command applies a command from the log, and reports claims that are not allowed.
func (rs *firingTracker) command(c fsm.Command, result fsm.Result, l raft.Log) {
	done, _ := result.(fsm.PermitResult)
	switch c := c.(type) {
	case fsm.Grant:
		if g, ok := result.(fsm.GrantResult); ok && g.Outcome == fsm.GrantGranted && g.Permit.Firing != nil {
			rs.claim(g.Permit, l)
		}
	case fsm.Release:
		r := rs.byToken[c.Token]
		released, ok := result.(fsm.ReleaseResult)
		if !ok || r == nil {
			return
		}
		if !released.Released {
			rs.lateRelease(r, c)
			return
		}
		r.failure = c.Failure
		switch c.Job {
		case semaphore.JobNotRun:
			rs.returnClaim(r)
		case semaphore.JobCutShort:
			rs.cutShort(r, semaphore.ClaimCutShort)
		case semaphore.JobFailed:
			rs.world.paths.inc(failedRun)
			r.setState(semaphore.ClaimFailed)
		case semaphore.JobDone:
			r.setState(semaphore.ClaimDone)
		}
	case fsm.Expire:
		if r := rs.byToken[c.Token]; r != nil && done.Applied {
			rs.cutShort(r, semaphore.ClaimSpent)
		}
	case fsm.Abandon:
		if r := rs.byToken[c.Token]; r != nil && done.Applied {
			rs.returnClaim(r)
		}
	case fsm.Cancel:
		if cancelled, ok := result.(fsm.CancelResult); ok && cancelled.ReturnedPermit != nil && rs.byToken[cancelled.ReturnedPermit.Token] != nil {
			rs.returnClaim(rs.byToken[cancelled.ReturnedPermit.Token])
		}
	case fsm.TakeOver:
		rs.takeOver(c, done, l)
	}
}

func (rs *firingTracker) claim(p *semaphore.Permit, l raft.Log) {
	key := keyOf(p.Semaphore, p.Firing)
	r := &run{permit: p, attempts: 1}
	r.setState(semaphore.ClaimHeld)
	if before := rs.lastRun[key]; before != nil {
		if before.state != semaphore.ClaimOpen {
			rs.fail("entry %d grants firing %s to token %d, although it is %s with token %d", l.Index, key, p.Token, before.state, before.permit.Token)
		}
		if r.attempts += before.attempts; before.attempts > 0 {
			rs.world.paths.inc(handedOver)
			if rs.takenOver[before.permit.Token] && p.Semaphore == takeoverSem {
				rs.world.paths.inc(handedOverByTakeover)
			}
		}
	}
	if maxAttempts := rs.maxAttempts(p.Semaphore); maxAttempts > 0 && r.attempts > maxAttempts {
		rs.fail("entry %d grants firing %s to token %d on attempt %d of %d", l.Index, key, p.Token, r.attempts, maxAttempts)
	}
	rs.lastRun[key], rs.byToken[p.Token] = r, r
}

func (rs *firingTracker) maxAttempts(name string) uint32 { return definition(name).GetMaxAttempts() }

func (rs *firingTracker) returnClaim(r *run) {
	r.attempts--
	r.setState(semaphore.ClaimOpen)
}

// cutShort ends a run whose job did not finish.
func (rs *firingTracker) cutShort(r *run, end semaphore.ClaimState) {
	p, maxAttempts := r.permit, rs.maxAttempts(r.permit.Semaphore)
	mayRetry := historyDefinition(definition(p.Semaphore)).FreeOnLoss || rs.takenOver[p.Token]
	switch {
	case mayRetry && (maxAttempts == 0 || r.attempts < maxAttempts):
		r.setState(semaphore.ClaimOpen)
		return
	case mayRetry:
		rs.world.paths.inc(lastAttemptLost)
	}
	if end == semaphore.ClaimCutShort {
		rs.world.paths.inc(cutShortRun)
	}
	r.setState(end)
}

// lateRelease handles a release that arrives after its permit has ended.
func (rs *firingTracker) lateRelease(r *run, c fsm.Release) {
	final := r.state == semaphore.ClaimDone || r.state == semaphore.ClaimFailed
	if final || rs.lastRun[keyOf(r.permit.Semaphore, r.permit.Firing)] != r || c.Job != semaphore.JobDone && c.Job != semaphore.JobFailed {
		return
	}
	if r.isUnrecorded() {
		return
	}
	rs.world.paths.inc(lateOutcome)
	r.failure = c.Failure
	if r.setState(semaphore.ClaimDone); c.Job == semaphore.JobFailed {
		r.setState(semaphore.ClaimFailed)
	}
}

func (rs *firingTracker) takeOver(c fsm.TakeOver, done fsm.PermitResult, l raft.Log) {
	end, ended := rs.ended[c.Token]
	switch p := done.Permit; {
	case done.Applied:
		rs.world.paths.inc(takenOver)
		rs.takenOver[c.Token] = true
		if p.State != semaphore.Live {
			rs.fail("entry %d takes over token %d, which is %s afterwards", l.Index, c.Token, p.State)
		}
		if !allowsTakeover(p.Semaphore) {
			rs.fail("entry %d takes over token %d of %s, which does not allow takeovers", l.Index, c.Token, p.Semaphore)
		}
	case p == nil && ended && rs.world.writtenAt(l)-end.at < 200*time.Millisecond:
		if end.kind == fsm.Expired {
			rs.world.paths.inc(takeoverDuringExpiry)
		} else {
			rs.world.paths.inc(takeoverDuringRelease)
		}
	case p == nil:
		rs.world.paths.inc(takeoverAfterEnd)
	}
}

// compare compares the runs with the claims in the state, and with the outcomes that callers were notified of.
func (rs *firingTracker) compare(h *history.History, state *fsm.State) {
	for key, r := range rs.lastRun {
		c := state.Claim(r.permit.Semaphore, *r.permit.Firing)
		matches := c != nil && c.Token == r.permit.Token && c.State == r.state && c.Attempts == r.attempts && c.Failure == r.failure
		if !matches && (c != nil || !r.isUnrecorded()) {
			rs.fail("firing %s is %+v in the state, but %+v in the log", key, c, r)
		}
	}
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.Request.Kind != history.Await {
			continue
		}
		if answer, ok := op.Response(); ok {
			rs.checkNotice(op, answer)
		} else if rs.world.judge != nil && op.Client == rs.world.judge.record.Client() {
			rs.checkMissedNotice(op)
		}
	}
}

// checkNotice reports an outcome that a caller was notified of but that never happened.
func (rs *firingTracker) checkNotice(op *history.Operation, answer history.Response) {
	r := rs.byToken[answer.Token]
	isReported := func(s semaphore.ClaimState) bool {
		return strings.ReplaceAll(strings.ToUpper(s.String()), " ", "_") == answer.Firing
	}
	switch {
	case r == nil:
	case answer.Firing == "TAKEN_OVER" && answer.Token > op.Request.Token, slices.ContainsFunc(r.states, isReported):
		return
	}
	if op.Return.At < rs.world.settled {
		rs.fail("%s was notified that firing %s of token %d ended as %+v, but the log has %+v", op.Client, op.Request.Firing, op.Request.Token, answer, r)
	}
}

// checkMissedNotice reports an outcome that a caller waited for but was not notified of.
func (rs *firingTracker) checkMissedNotice(op *history.Operation) {
	for _, r := range rs.lastRun {
		p := r.permit
		if p.Semaphore != op.Request.Semaphore || firingName(p.Semaphore, p.Firing.Due) != op.Request.Firing {
			continue
		}
		if r.isUnrecorded() {
			continue
		}
		final := r.state != semaphore.ClaimHeld && r.state != semaphore.ClaimOpen
		if final || op.Request.Token != 0 && p.Token > op.Request.Token {
			rs.fail("%s has awaited firing %s with token %d since %v, but was not notified that it is %s with token %d",
				op.Client, op.Request.Firing, op.Request.Token, op.At, r.state, p.Token)
		}
	}
}
