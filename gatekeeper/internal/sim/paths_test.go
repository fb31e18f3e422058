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

// The known paths. A run of `make sim` must take all paths that required returns.
const (
	expired                     path = "a permit expired"
	expiredInLaterTerm          path = "a permit granted in an earlier term expired"
	refreshDuringExpiry         path = "a refresh arrived while an expiry was being proposed"
	expiryAfterEnd              path = "an expiry was applied after the permit had ended"
	unknownOutcome              path = "the outcome of an acquire was unknown"
	markedAtPromotion           path = "a leader was promoted while an expiry was uncommitted"
	abandoned                   path = "a grant was abandoned"
	returnedByCancel            path = "a cancellation returned a granted permit"
	cancelledFirst              path = "a cancellation arrived before the grant"
	replayed                    path = "a retried acquire returned its existing permit"
	drained                     path = "a drain ended"
	drainedInLaterTerm          path = "a drain ended in a later term"
	lengthened                  path = "a duration was lengthened while its permit was held"
	shortened                   path = "a duration was shortened while its permit was held"
	overwritten                 path = "a deposed leader's entries were overwritten"
	lateCommand                 path = "a server's own command was appended in a later term"
	refusedAtApply              path = "a grant was refused when it was applied"
	cooled                      path = "a slot cooled"
	cooledInLaterTerm           path = "a slot finished cooling in a later term"
	heldForOperator             path = "a permit was held for an operator"
	cleared                     path = "an operator cleared a permit"
	revoked                     path = "a permit was revoked"
	reverted                    path = "a temporary edit ended on time"
	resumed                     path = "a temporary pause ended on time"
	uncordoned                  path = "a temporary cordon ended on time"
	moved                       path = "a semaphore was moved to another group"
	heldTooLong                 path = "a holder kept a permit for longer than max_hold"
	unconfirmed                 path = "a leader could not confirm its leadership"
	forwarded                   path = "a call was forwarded to the leader"
	batched                     path = "a call was answered in a batch"
	leftOpen                    path = "a batch response left a call unanswered"
	refusedRefresh              path = "a refresh was refused"
	lostRefresh                 path = "a refresh response reported that the permit was lost"
	reacquired                  path = "an identity that held a permit acquired again"
	cooledForSuperseded         path = "a slot cooled for a superseded token"
	supersedingEndedInLaterTerm path = "a superseding token ended in a later term"
	supersededTokenEnded        path = "a release or a cancellation named a superseded token"
	failedRun                   path = "a run failed"
	cutShortRun                 path = "a run was cut short and will not be retried"
	lateOutcome                 path = "a holder reported the outcome of its job after losing its permit"
	handedOver                  path = "a firing was handed over"
	handedOverByTakeover        path = "a firing was handed over only because of a takeover"
	lastAttemptLost             path = "a firing's last attempt was lost"
	takenOver                   path = "a permit was taken over from its holder"
	takeoverNotAllowed          path = "a takeover was refused because takeovers are not allowed"
	takeoverDuringRelease       path = "a takeover raced with the release of its permit"
	takeoverDuringExpiry        path = "a takeover raced with the expiry of its permit"
	takeoverAfterEnd            path = "a takeover named a token whose permit had ended long before"
	awaitedAcrossFailover       path = "a caller waited for the end of a firing across a leader change"
	taskDone                    path = "a task finished"
	taskFailed                  path = "a task failed"
	taskFailedAttempt           path = "a task attempt failed"
	taskReturned                path = "a task was returned without an outcome"
	lostTaskHandedOutAgain      path = "a lost worker's task was handed out again"
	taskHandedOutAgain          path = "a task was handed out again"
	taskHandedOutInLaterTerm    path = "a task was handed out again in a later term"
	lastTaskAttemptLost         path = "a task's last attempt was lost"
	heavyTask                   path = "a task took more than one permit"
	waiterRefused               path = "a waiter was refused because too few permits were free"
	staleDelete                 path = "a deletion named a submission that no longer existed"
	repeatedChange              path = "a change to tasks was retried with the same revision"
	jobFollowed                 path = "an open job followed its submitter to a new token"
	submissionFollowed          path = "an unfinished submission followed its submitter to a new token"
	workerToCaller              path = "a task's permit was handed over to a waiting caller"
	callerToWorker              path = "a caller's permit was handed over to a worker"
	grantedAsWorker             path = "a caller was granted a permit under a worker's identity"
	taskCooled                  path = "a slot cooled after its task"
	lostTaskCooled              path = "a lost task remained held while its slot was cooling"
	taskHeldForOperator         path = "a lost task's permit was held for an operator"
	taskHeldTooLong             path = "a worker kept a permit for longer than max_hold"
	taskRetried                 path = "a failed task was retried"
	taskDropped                 path = "a failed task was dropped"
	outdatedResult              path = "a result was refused because another worker had since been given the task"
	lateResult                  path = "a worker's result arrived after its permit had ended"
	workerKilled                path = "a worker was killed"
	workerDrained               path = "a worker drained, and returned or ended its tasks"
	workerHung                  path = "a worker did not refresh for some time"
	jobCancelled                path = "a job was cancelled"
	jobTimedOut                 path = "a job timed out"
	jobTimedOutInLaterTerm      path = "a job timed out in a later term"
	jobDeleted                  path = "a job was deleted"
	jobDiffers                  path = "a job was submitted with different content"
	jobRepeated                 path = "an existing job was submitted again"
	submitterGone               path = "a job was cancelled because its submitter was gone"
	submissionCut               path = "a submission was cut short"
	submissionDropped           path = "an unfinished submission was dropped"
	storageFull                 path = "a submission reached the storage limit"
	submittedInParts            path = "a job was submitted in more than one entry"
	submittedAgain              path = "a submission was retried after an unknown outcome"
	followedUntilEnd            path = "a job was followed until it ended"
	ownFiring                   path = "a holder requested a firing that it had already claimed"
	stoppedItself               path = "a server stopped because its disk hung"
	quarantined                 path = "no permit was granted for some time after a recovery"
	snapshotTaken               path = "a snapshot was taken and the log was trimmed"
	snapshotInstalled           path = "a member installed a snapshot"
)

// required returns the paths that a run must take.
func required() []path {
	all := []path{
		expired, expiredInLaterTerm, refreshDuringExpiry, expiryAfterEnd, unknownOutcome, markedAtPromotion, abandoned, returnedByCancel, cancelledFirst, replayed,
		drained, drainedInLaterTerm, lengthened, shortened, overwritten, refusedAtApply, cooled, cooledInLaterTerm, heldForOperator, cleared, revoked,
		reverted, resumed, uncordoned, moved, heldTooLong, unconfirmed, forwarded, batched, leftOpen, refusedRefresh, lostRefresh, reacquired, cooledForSuperseded, supersedingEndedInLaterTerm, supersededTokenEnded, ownFiring, stoppedItself, snapshotTaken, snapshotInstalled,
		failedRun, cutShortRun, lateOutcome, handedOver, handedOverByTakeover, lastAttemptLost, takenOver, takeoverNotAllowed, takeoverDuringRelease, takeoverDuringExpiry, takeoverAfterEnd, awaitedAcrossFailover,
		taskDone, taskFailed, taskFailedAttempt, taskReturned, lostTaskHandedOutAgain, taskHandedOutAgain, taskHandedOutInLaterTerm, lastTaskAttemptLost, taskRetried, taskDropped, outdatedResult, lateResult,
		workerKilled, workerDrained, workerHung, staleDelete, repeatedChange, jobFollowed, submissionFollowed, heavyTask, workerToCaller, callerToWorker, grantedAsWorker, taskCooled, lostTaskCooled, taskHeldForOperator, taskHeldTooLong, jobCancelled, jobTimedOut, jobTimedOutInLaterTerm, jobDeleted, jobDiffers, jobRepeated, submitterGone,
		submissionCut, submissionDropped, storageFull, submittedInParts, submittedAgain, followedUntilEnd,
	}
	for _, k := range faultKinds() {
		all = append(all, "fault: "+path(k))
	}
	return slices.Compact(all)
}

// paths counts how often each path was taken.
type paths struct {
	mu     sync.Mutex // guards counts
	counts map[path]int
}

func newPaths() *paths { return &paths{counts: make(map[path]int)} }

func (p *paths) inc(what path) { p.add(what, 1) }

func (p *paths) add(what path, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > 0 {
		p.counts[what] += n
	}
}

// all returns a copy of the counts.
func (p *paths) all() map[path]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts)
}

// countMetrics counts the paths recorded in a server's metrics. It must be called before the server stops.
func (p *paths) countMetrics(registry *prometheus.Registry) {
	families, err := registry.Gather()
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
				"gatekeeper_refreshes_total retry":        refreshDuringExpiry,
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

// countEntry counts the paths taken by entries[i].
func (p *paths) countEntry(entries []raft.Log, i int, w *world) {
	l := entries[i]
	if l.Type != raft.LogCommand || i+1 >= len(entries) || entries[i+1].Term == l.Term {
		return
	}
	// This is the last entry in its term. It was uncommitted at the next promotion if at most half of the members had
	// written it by then.
	commands, err := fsm.Decode(l.Data)
	if err != nil || !containsExpire(commands) {
		return
	}
	copies, next := 0, w.writtenAt(entries[i+1])
	for _, m := range w.members {
		if at, ok := m.disk.written[entryID{l.Index, l.Term}]; ok && at.Sub(w.start) < next {
			copies++
		}
	}
	if 2*copies <= len(w.members) {
		p.inc(markedAtPromotion)
	}
}

func containsExpire(commands []fsm.Command) bool {
	return slices.ContainsFunc(commands, func(c fsm.Command) bool { _, ok := c.(fsm.Expire); return ok })
}

// countDisks counts the snapshots and the overwritten entries on the members' disks.
func (p *paths) countDisks(w *world) {
	for _, m := range w.members {
		p.add(snapshotInstalled, m.disk.installed)
		if len(m.disk.compacted) > 0 {
			p.inc(snapshotTaken)
		}
		for _, l := range m.disk.replaced {
			if l.Type != raft.LogCommand {
				continue
			}
			p.inc(overwritten)
			if commands, err := fsm.Decode(l.Data); err == nil && containsExpire(commands) {
				p.inc(markedAtPromotion)
			}
		}
	}
}

// countCommand counts the paths taken by a command in the log.
func (p *paths) countCommand(c fsm.Command, r fsm.Result, l raft.Log, before *fsm.State, tr *replayedLog) {
	permit, _ := r.(fsm.PermitResult)
	switch c := c.(type) {
	case fsm.Grant:
		if g, ok := r.(fsm.GrantResult); ok && g.Outcome != fsm.GrantGranted && g.Outcome != fsm.GrantReacquired {
			p.inc(refusedAtApply)
		}
	case fsm.Release:
		if p.countSuperseding(c.Token, l, before, tr); tr.ended[c.Token].by != 0 {
			p.inc(supersededTokenEnded)
		}
		if old := before.Permit(c.Token); old != nil && old.OldTokensInUse && c.Cooling > 0 {
			p.inc(cooledForSuperseded)
		}
	case fsm.Expire:
		p.countSuperseding(c.Token, l, before, tr)
		p.countLate(c.Term, l)
		switch granted := tr.granted[c.Token]; {
		case permit.Applied:
			p.inc(expired)
			if granted != nil && tr.terms[granted.GrantedRevision] != l.Term {
				p.inc(expiredInLaterTerm)
			}
		default:
			p.inc(expiryAfterEnd)
		}
	case fsm.Abandon:
		p.countLate(c.Term, l)
		if permit.Applied {
			p.inc(abandoned)
		}
	case fsm.EndCooling:
		p.countLate(c.Term, l)
		if permit.Applied {
			p.inc(cooled)
			if tr.ended[c.Token].term != l.Term {
				p.inc(cooledInLaterTerm)
			}
		}
	case fsm.Cancel:
		switch r, ok := r.(fsm.CancelResult); {
		case ok && r.ReturnedPermit != nil:
			p.inc(returnedByCancel)
		case ok && r.Ended == nil:
			p.inc(cancelledFirst)
		}
	case fsm.Extend:
		if old := before.Permit(c.Token); permit.Applied && old != nil {
			if c.Duration > old.Duration {
				p.inc(lengthened)
			} else {
				p.inc(shortened)
			}
		}
	case fsm.EndDrain:
		p.countLate(c.Term, l)
		p.inc(drained)
		if tr.terms[c.Change] != l.Term {
			p.inc(drainedInLaterTerm)
		}
	case fsm.Clear:
		if permit.Applied {
			p.inc(cleared)
		}
	case fsm.Revoke:
		if permit.Applied {
			p.inc(revoked)
		}
	case fsm.Revert:
		p.inc(reverted)
	case fsm.Resume:
		if c.Term != 0 {
			p.inc(resumed)
		}
	case fsm.Uncordon:
		if c.Term != 0 {
			p.inc(uncordoned)
		}
	}
}

// countSuperseding counts a permit that ends in a later term than the one in which it superseded another.
func (p *paths) countSuperseding(token uint64, l raft.Log, before *fsm.State, tr *replayedLog) {
	if old := before.Permit(token); old != nil && old.OldTokensInUse && tr.grantTerm[token] != l.Term {
		p.inc(supersedingEndedInLaterTerm)
	}
}

// countLate counts a server's own command that was appended in a later term than the one in which it was created.
func (p *paths) countLate(createdIn uint64, l raft.Log) {
	if createdIn != l.Term {
		p.inc(lateCommand)
	}
}
