package sim

import (
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// path is a rare event that a run should exercise.
type path string

// The paths that must occur in a run of `make sim`. A run without them proves too little.
const (
	expired             path = "a permit expired"
	expiredLater        path = "a permit granted in an earlier term expired"
	refreshMetExpiry    path = "a refresh arrived while an expiry was being proposed"
	expiryMetEnd        path = "an expiry was applied after the permit had ended"
	unknownOutcome      path = "the outcome of an acquire was unknown"
	markedAtPromotion   path = "a leader was promoted while an expiry was uncommitted"
	abandoned           path = "a grant was abandoned"
	gaveBack            path = "a grant was returned by a cancellation"
	cancelledFirst      path = "a cancellation arrived before the grant"
	replayed            path = "a retried acquire was answered with its existing permit"
	drained             path = "a drain ended"
	drainedLater        path = "a drain ended in a later term"
	lengthened          path = "a duration was lengthened while its permit was held"
	shortened           path = "a duration was shortened while its permit was held"
	overwritten         path = "entries of a deposed leader were overwritten"
	lateCommand         path = "a server's own command was appended in a later term"
	refusedAtApply      path = "a grant was refused when it was applied"
	cooled              path = "a slot cooled"
	cooledLater         path = "a slot finished cooling in a later term"
	heldForOperator     path = "a permit was held for an operator"
	cleared             path = "an operator cleared a permit"
	revoked             path = "a permit was revoked"
	reverted            path = "a temporary edit ended on time"
	resumed             path = "a temporary pause ended on time"
	uncordoned          path = "a temporary cordon ended on time"
	moved               path = "a task was moved"
	overheld            path = "a holder kept a permit for longer than max_hold"
	unconfirmed         path = "a leader could not confirm its leadership"
	forwarded           path = "a call was forwarded to the leader"
	batched             path = "a call was answered in a batch"
	leftOpen            path = "a batch left a call open"
	refusedRefresh      path = "a refresh was refused"
	lostRefresh         path = "a refresh response reported that the permit was lost"
	reacquired          path = "an identity that held a permit acquired again"
	cooledForOld        path = "a slot cooled for a superseded token"
	supersededLater     path = "a superseding token ended in a later term"
	endedAfterwards     path = "a release or a cancellation named a superseded token"
	failedRun           path = "a run failed"
	cutShortRun         path = "a run was cut short and will not be retried"
	lateEnd             path = "a holder reported the outcome of its job after losing its permit"
	handedOver          path = "a firing was handed over"
	handedOverTaken     path = "a firing was handed over only because of a takeover"
	lastAttempt         path = "the last attempt of a firing was lost"
	takenOver           path = "a permit was taken over from its holder"
	takeOverForbidden   path = "a takeover was refused because takeovers are not allowed"
	takeOverMetRelease  path = "a takeover raced with the release of its permit"
	takeOverMetExpiry   path = "a takeover raced with the expiry of its permit"
	takeOverEnded       path = "a takeover named a token that had long since ended"
	awaitedLater        path = "a caller waited for the end of a firing across a leader change"
	taskDone            path = "a task finished"
	taskFailed          path = "a task failed"
	taskFailedAttempt   path = "an attempt of a task failed"
	taskReturned        path = "a task went back to waiting"
	taskLostAgain       path = "a lost worker's task was handed out again"
	taskAgain           path = "a task was handed out again"
	taskAgainLater      path = "a task was handed out again in a later term"
	taskLostForGood     path = "the last attempt of a task was lost"
	heavyTask           path = "a task took more than one permit"
	waiterRefused       path = "a waiter was refused because too little was free"
	staleDelete         path = "a deletion named a submission that no longer existed"
	repeatedChange      path = "a change to tasks was retried with the same revision"
	jobFollowed         path = "an open job followed its submitter to another token"
	submissionFollowed  path = "an unfinished submission followed its submitter to another token"
	workerToCaller      path = "a task's permit was handed over to a waiting caller"
	callerToWorker      path = "a caller's permit was handed over to a worker"
	asWorker            path = "a caller was granted a permit under a worker's identity"
	taskCooled          path = "a slot cooled after its task"
	lostTaskCooled      path = "a lost task remained held while its slot was cooling"
	taskHeldForOperator path = "a lost task's permit was held for an operator"
	taskOverheld        path = "a worker kept a permit for longer than max_hold"
	taskRetried         path = "a failed task was retried"
	taskDropped         path = "a failed task was dropped"
	oldResult           path = "a result was refused because another worker had since been given the task"
	lateResult          path = "a worker's result arrived after its permit had ended"
	workerKilled        path = "a worker was killed"
	workerDrained       path = "a worker drained, and returned or ended its tasks"
	workerHung          path = "a worker did not refresh for some time"
	jobCancelled        path = "a job was cancelled"
	jobTimedOut         path = "a job timed out"
	jobTimedOutLater    path = "a job timed out in a later term"
	jobDeleted          path = "a job was deleted"
	jobDiffers          path = "a job was submitted with different content"
	jobRepeated         path = "an existing job was submitted"
	submitterGone       path = "a job was cancelled because its submitter was gone"
	submissionCut       path = "a submission was cut short"
	submissionDropped   path = "an unfinished submission was dropped"
	storageFull         path = "a submission reached the storage limit"
	submittedInParts    path = "a job was submitted in more than one entry"
	submittedAgain      path = "a submission was retried after an unknown outcome"
	followedToEnd       path = "a job was followed until it ended"
	ownFiring           path = "a holder requested the firing that it had already claimed"
	leftByItself        path = "a server stopped because its disk hung"
	quarantined         path = "no permit was granted for some time after a recovery"
	snapshotTaken       path = "a snapshot was taken and the log was trimmed"
	snapshotInstalled   path = "a member was sent a snapshot"
)

// required returns the paths that a run must take.
func required() []path {
	all := []path{
		expired, expiredLater, refreshMetExpiry, expiryMetEnd, unknownOutcome, markedAtPromotion, abandoned, gaveBack, cancelledFirst, replayed,
		drained, drainedLater, lengthened, shortened, overwritten, refusedAtApply, cooled, cooledLater, heldForOperator, cleared, revoked,
		reverted, resumed, uncordoned, moved, overheld, unconfirmed, forwarded, batched, leftOpen, refusedRefresh, lostRefresh, reacquired, cooledForOld, supersededLater, endedAfterwards, ownFiring, leftByItself, snapshotTaken, snapshotInstalled,
		failedRun, cutShortRun, lateEnd, handedOver, handedOverTaken, lastAttempt, takenOver, takeOverForbidden, takeOverMetRelease, takeOverMetExpiry, takeOverEnded, awaitedLater,
		taskDone, taskFailed, taskFailedAttempt, taskReturned, taskLostAgain, taskAgain, taskAgainLater, taskLostForGood, taskRetried, taskDropped, oldResult, lateResult,
		workerKilled, workerDrained, workerHung, staleDelete, repeatedChange, jobFollowed, submissionFollowed, heavyTask, workerToCaller, callerToWorker, asWorker, taskCooled, lostTaskCooled, taskHeldForOperator, taskOverheld, jobCancelled, jobTimedOut, jobTimedOutLater, jobDeleted, jobDiffers, jobRepeated, submitterGone,
		submissionCut, submissionDropped, storageFull, submittedInParts, submittedAgain, followedToEnd,
	}
	for _, k := range faultKinds() {
		all = append(all, "fault: "+path(k))
	}
	return slices.Compact(all)
}

// paths counts how often each path was taken.
type paths struct {
	mu    sync.Mutex // guards times
	times map[path]int
}

func newPaths() *paths { return &paths{times: make(map[path]int)} }

func (p *paths) met(what path) { p.add(what, 1) }

func (p *paths) add(what path, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > 0 {
		p.times[what] += n
	}
}

// all returns the counts so far.
func (p *paths) all() map[path]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.times)
}

// measure reads a server's metrics before the server stops.
func (p *paths) measure(gauges *prometheus.Registry) {
	families, err := gauges.Gather()
	if err != nil {
		return
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			label := ""
			if len(m.GetLabel()) > 0 {
				label = m.GetLabel()[0].GetValue()
			}
			what := map[string]path{
				"gatekeeper_refreshes_total retry":        refreshMetExpiry,
				"gatekeeper_refreshes_total stopping":     refusedRefresh,
				"gatekeeper_refreshes_total lost":         lostRefresh,
				"gatekeeper_consensus_unconfirmed_total ": unconfirmed,
			}[f.GetName()+" "+label]
			if f.GetName() == "gatekeeper_rpc_forwarded_total" {
				what = forwarded
			}
			if f.GetName() == "gatekeeper_decisions_total" && len(m.GetLabel()) > 0 {
				for _, l := range m.GetLabel() {
					if l.GetName() == "outcome" && l.GetValue() == "refreshed" {
						what = replayed
					}
				}
			}
			if what != "" {
				p.add(what, int(m.GetCounter().GetValue()))
			}
		}
	}
}

// entry counts the paths taken by one entry, given its neighbors in the log.
func (p *paths) entry(entries []raft.Log, i int, w *world) {
	l := entries[i]
	if l.Type != raft.LogCommand || i+1 >= len(entries) || entries[i+1].Term == l.Term {
		return
	}
	// This is the last entry in its term. It was uncommitted at the next promotion if at most half of the members had
	// written it by then.
	commands, err := fsm.Decode(l.Data)
	if err != nil || !expires(commands) {
		return
	}
	copies, next := 0, w.writtenAt(entries[i+1])
	for _, m := range w.members {
		if at, ok := m.disk.written[entryID{l.Index, l.Term}]; ok && at.Sub(w.start) < next {
			copies++
		}
	}
	if 2*copies <= len(w.members) {
		p.met(markedAtPromotion)
	}
}

func expires(commands []fsm.Command) bool {
	return slices.ContainsFunc(commands, func(c fsm.Command) bool { _, ok := c.(fsm.Expire); return ok })
}

// lost counts entries that were removed from logs, and the entries that replaced them.
func (p *paths) lost(w *world) {
	for _, m := range w.members {
		p.add(snapshotInstalled, m.disk.installed)
		if len(m.disk.compacted) > 0 {
			p.met(snapshotTaken)
		}
		for _, l := range m.disk.replaced {
			if l.Type != raft.LogCommand {
				continue
			}
			p.met(overwritten)
			if commands, err := fsm.Decode(l.Data); err == nil && expires(commands) {
				p.met(markedAtPromotion)
			}
		}
	}
}

// command counts the paths taken by a command in the log.
func (p *paths) command(c fsm.Command, r fsm.Result, l raft.Log, before *fsm.State, tr *truth) {
	permit, _ := r.(fsm.PermitResult)
	switch c := c.(type) {
	case fsm.Grant:
		if g, ok := r.(fsm.GrantResult); ok && g.Outcome != fsm.GrantGranted && g.Outcome != fsm.GrantReacquired {
			p.met(refusedAtApply)
		}
	case fsm.Release:
		if p.owing(c.Token, l, before, tr); tr.ended[c.Token].by != 0 {
			p.met(endedAfterwards)
		}
		if old := before.Permit(c.Token); old != nil && old.Owes && c.Cooling > 0 {
			p.met(cooledForOld)
		}
	case fsm.Expire:
		p.owing(c.Token, l, before, tr)
		p.late(c.Term, l)
		switch granted := tr.granted[c.Token]; {
		case permit.Applied:
			p.met(expired)
			if granted != nil && tr.terms[granted.GrantedRevision] != l.Term {
				p.met(expiredLater)
			}
		default:
			p.met(expiryMetEnd)
		}
	case fsm.Abandon:
		p.late(c.Term, l)
		if permit.Applied {
			p.met(abandoned)
		}
	case fsm.EndCooling:
		p.late(c.Term, l)
		if permit.Applied {
			p.met(cooled)
			if tr.ended[c.Token].term != l.Term {
				p.met(cooledLater)
			}
		}
	case fsm.Cancel:
		switch r, ok := r.(fsm.CancelResult); {
		case ok && r.GaveBack != nil:
			p.met(gaveBack)
		case ok && r.Ended == nil:
			p.met(cancelledFirst)
		}
	case fsm.Extend:
		if old := before.Permit(c.Token); permit.Applied && old != nil {
			if c.Duration > old.Duration {
				p.met(lengthened)
			} else {
				p.met(shortened)
			}
		}
	case fsm.EndDrain:
		p.late(c.Term, l)
		p.met(drained)
		if tr.terms[c.Change] != l.Term {
			p.met(drainedLater)
		}
	case fsm.Clear:
		if permit.Applied {
			p.met(cleared)
		}
	case fsm.Revoke:
		if permit.Applied {
			p.met(revoked)
		}
	case fsm.Revert:
		p.met(reverted)
	case fsm.Resume:
		if c.Term != 0 {
			p.met(resumed)
		}
	case fsm.Uncordon:
		if c.Term != 0 {
			p.met(uncordoned)
		}
	}
}

// owing counts permits that superseded a token in an earlier term and end now.
func (p *paths) owing(token uint64, l raft.Log, before *fsm.State, tr *truth) {
	if old := before.Permit(token); old != nil && old.Owes && tr.since[token] != l.Term {
		p.met(supersededLater)
	}
}

// late counts a server's own command that was appended in a later term than it was created in.
func (p *paths) late(made uint64, l raft.Log) {
	if made != l.Term {
		p.met(lateCommand)
	}
}
