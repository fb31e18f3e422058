package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// taskTracker tracks the tasks in the log, and compares them with the results that callers saw. Violations that are
// visible in those results alone are left to package check.
type taskTracker struct {
	*replayedLog
	holder         map[work.Ref]uint64
	taskByToken    map[uint64]work.Ref
	recorded       map[work.Ref]taskOutcome
	allRecorded    map[uint64]taskOutcome  // by token, every outcome ever recorded
	jobs           map[uint64]loggedJob    // by revision of the submission
	lastState      map[work.Ref]*work.Task // the last state of each task, including tasks of deleted jobs
	terms          map[work.Ref]uint64
	failedAttempts map[uint64]string // by token, why an attempt failed if its task then returned to waiting

	deleted          map[uint64]bool       // by revision of the submission
	requestedDeletes map[string][]uint64   // by job id, the submissions named by deletions
	contents         map[string][][]string // by job id, the task lists of complete submissions
	reported         map[taskOutcome]bool  // the outcomes that workers reported
	stopped          map[uint64]bool       // tokens whose workers reported that they had stopped
}

// loggedJob is a job in the log.
type loggedJob struct {
	id    string
	tasks []string
}

// taskOutcome is a task's outcome, with the token of the permit that carried it.
type taskOutcome struct {
	token  uint64
	failed bool
	result string
}

func newTaskTracker(tr *replayedLog, h *history.History) *taskTracker {
	s := &taskTracker{
		replayedLog: tr, holder: make(map[work.Ref]uint64), taskByToken: make(map[uint64]work.Ref), recorded: make(map[work.Ref]taskOutcome), allRecorded: make(map[uint64]taskOutcome),
		jobs: make(map[uint64]loggedJob), lastState: make(map[work.Ref]*work.Task), terms: make(map[work.Ref]uint64), failedAttempts: make(map[uint64]string),
		contents: make(map[string][][]string), reported: make(map[taskOutcome]bool), stopped: make(map[uint64]bool),
		deleted: make(map[uint64]bool), requestedDeletes: make(map[string][]uint64),
	}
	for i := range h.Operations {
		r := h.Operations[i].Request
		switch r.Kind {
		case history.EndTask:
			s.stopped[r.Token] = true
		case history.DeleteJob:
			s.requestedDeletes[r.Job.ID] = append(s.requestedDeletes[r.Job.ID], r.Job.Submission)
		}
		switch {
		case r.Kind == history.Submit && !r.Job.Cut:
			s.contents[r.Job.ID] = append(s.contents[r.Job.ID], r.Job.Tasks)
		case r.Kind == history.EndTask && !r.NotRun && !r.CutShort:
			s.reported[reportedOutcome(r)] = true
		}
	}
	return s
}

// reportedOutcome returns the outcome that a worker reported.
func reportedOutcome(r history.Request) taskOutcome { return taskOutcome{r.Token, r.Failed, r.Content} }

// event applies an event from the log, and reports tasks that are handed out or ended when they must not be.
func (s *taskTracker) event(e *fsm.Event, l raft.Log, state *fsm.State) {
	switch e.Kind {
	case fsm.JobSubmitted:
		if e.Job.State == work.Open {
			s.addJob(e.Job, l, state)
		}
	case fsm.Granted:
		if e.Task != nil {
			s.handOut(e.Job, e.Task, l, state)
		}
	case fsm.HeldEvent:
		if _, ok := s.taskByToken[e.Permit.Token]; ok {
			s.world.paths.inc(taskHeldForOperator)
		}
	case fsm.CoolingEvent:
		if _, ok := s.taskByToken[e.Permit.Token]; ok {
			s.countCooling(e.Permit, state)
		}
	case fsm.TaskSettled:
		s.settleTask(e.Job, e.Task, l, state)
	case fsm.TasksChanged:
		for t := range state.Tasks(e.Job.Number, 0) {
			before := s.lastState[t.Ref]
			if before == nil || before.State != work.Failed || t.State == work.Failed {
				continue
			}
			delete(s.recorded, t.Ref)
			if t.State == work.Dropped {
				s.world.paths.inc(taskDropped)
				s.lastState[t.Ref] = t
				continue
			}
			s.world.paths.inc(taskRetried)
			s.lastState[t.Ref] = &work.Task{Ref: t.Ref, State: work.Waiting} // not t, because the same entry may already have handed the task out again
		}
	case fsm.JobCancelled:
		switch e.Job.Cancel.Cause {
		case work.CancelSubmitterGone:
			s.world.paths.inc(submitterGone)
		case work.CancelTimeout:
			s.world.paths.inc(jobTimedOut)
			if s.replayedLog.terms[e.Job.Submitted] != l.Term {
				s.world.paths.inc(jobTimedOutInLaterTerm)
			}
		case work.CancelRequested:
			s.world.paths.inc(jobCancelled)
		}
	case fsm.JobDeleted:
		if e.Job.State == work.Receiving {
			s.world.paths.inc(submissionDropped)
			return
		}
		s.deleted[e.Job.Submitted] = true
		if named := s.requestedDeletes[e.Job.ID]; !slices.Contains(named, 0) && !slices.Contains(named, e.Job.Submitted) {
			s.fail("entry %d deletes job %q submitted at revision %d, but deletions named %v", l.Index, e.Job.ID, e.Job.Submitted, named)
		}
	case fsm.SupersededEvent:
		s.countFollowed(e.Permit, state)
	}
}

func (s *taskTracker) addJob(j *work.Job, l raft.Log, state *fsm.State) {
	var tasks []string
	for t := range state.Tasks(j.Number, 0) {
		if t.Payload != nil || t.State == work.Waiting {
			tasks = append(tasks, history.Content(t.Payload))
		}
	}
	s.jobs[j.Submitted] = loggedJob{j.ID, tasks}
	if j.Number != j.Submitted {
		s.world.paths.inc(submittedInParts)
	}
	if !slices.ContainsFunc(s.contents[j.ID], func(c []string) bool { return slices.Equal(c, tasks) }) {
		s.fail("entry %d creates job %q with %d tasks, which match no complete submission", l.Index, j.ID, len(tasks))
	}
}

func (s *taskTracker) handOut(j *work.Job, t *work.Task, l raft.Log, state *fsm.State) {
	if token := s.holder[t.Ref]; token != 0 {
		s.fail("entry %d hands task %v to token %d, while token %d holds it", l.Index, t.Ref, t.Token, token)
	}
	if end, over := s.recorded[t.Ref]; over {
		s.fail("entry %d hands task %v to token %d, although its outcome is recorded: %+v", l.Index, t.Ref, t.Token, end)
	}
	if j.State != work.Open || !j.MayAttempt(t.Attempts-1) {
		s.fail("entry %d hands task %v to token %d on attempt %d of %d, while its job is in state %d", l.Index, t.Ref, t.Token, t.Attempts, j.MaxAttempts, j.State)
	}
	if before := s.lastState[t.Ref]; before != nil {
		if why := s.stillRunningReason(state, before.Token); why != "" {
			s.fail("entry %d hands task %v to token %d, while token %d %s", l.Index, t.Ref, t.Token, before.Token, why)
		}
		s.world.paths.inc(taskHandedOutAgain)
		if s.ended[before.Token].kind == fsm.Expired {
			s.world.paths.inc(lostTaskHandedOutAgain)
		}
		if s.terms[t.Ref] != l.Term {
			s.world.paths.inc(taskHandedOutInLaterTerm)
		}
	}
	s.holder[t.Ref], s.taskByToken[t.Token], s.lastState[t.Ref], s.terms[t.Ref] = t.Token, t.Ref, t, l.Term
}

func (s *taskTracker) settleTask(j *work.Job, t *work.Task, l raft.Log, state *fsm.State) {
	if s.taskByToken[t.Token] != t.Ref {
		s.fail("entry %d ends task %v with token %d, which never held it", l.Index, t.Ref, t.Token)
	}
	held := s.holder[t.Ref] == t.Token
	delete(s.holder, t.Ref)
	s.lastState[t.Ref] = t
	end := taskOutcome{t.Token, t.State == work.Failed, string(t.Result)}
	switch {
	case t.State == work.Waiting:
		if why := s.stillRunningReason(state, t.Token); why != "" {
			s.fail("entry %d returns task %v to waiting, while token %d %s", l.Index, t.Ref, t.Token, why)
		}
		if t.Failure == "" {
			s.world.paths.inc(taskReturned)
		} else {
			s.world.paths.inc(taskFailedAttempt)
			s.failedAttempts[t.Token] = t.Failure
		}
		return
	case t.State == work.Failed && strings.HasPrefix(t.Failure, "its worker's permit was lost"):
		if j.MayAttempt(t.Attempts) {
			s.fail("entry %d fails task %v on attempt %d of %d", l.Index, t.Ref, t.Attempts, j.MaxAttempts)
		}
		s.world.paths.inc(lastTaskAttemptLost)
	case !s.reported[end]:
		s.fail("entry %d records %+v for task %v, which its worker never reported", l.Index, end, t.Ref)
	case end.failed:
		s.world.paths.inc(taskFailed)
	default:
		s.world.paths.inc(taskDone)
	}
	if before, over := s.recorded[t.Ref]; over {
		s.fail("entry %d records %+v for task %v after %+v", l.Index, end, t.Ref, before)
	}
	if !held {
		s.world.paths.inc(lateResult)
	}
	s.recorded[t.Ref], s.allRecorded[t.Token] = end, end
}

// compare compares the log with the responses that callers received, and reports jobs that have not ended.
func (s *taskTracker) compare(h *history.History, state *fsm.State) {
	for i := range h.Operations {
		op := &h.Operations[i]
		answer, ok := op.Response()
		switch r := op.Request; {
		case !ok:
		case answer.Result == history.Submitted:
			if loggedJob, ok := s.jobs[answer.Revision]; !ok || loggedJob.id != r.Job.ID || !slices.Equal(loggedJob.tasks, r.Job.Tasks) {
				s.fail("job %q with %d tasks was acknowledged at revision %d, but the log has %q with %d tasks", r.Job.ID, len(r.Job.Tasks), answer.Revision, loggedJob.id, len(loggedJob.tasks))
			}
		case r.Kind == history.DeleteJob && r.Job.Submission != 0 && !s.deleted[r.Job.Submission]:
			s.fail("the deletion of job %q submitted at revision %d was acknowledged, but is not in the log", r.Job.ID, r.Job.Submission)
		case answer.Result == history.Recorded:
			if got := s.allRecorded[r.Token]; got != reportedOutcome(r) && (!r.Failed || s.failedAttempts[r.Token] != r.Failure) {
				s.fail("a worker was notified that %+v was recorded, but the log has %+v", reportedOutcome(r), got)
			}
		case answer.Result == history.Unrecorded:
			if ref, ok := s.taskByToken[r.Token]; ok && s.lastState[ref].Token > r.Token {
				s.world.paths.inc(outdatedResult)
			}
		case answer.Result == history.JobRead:
			s.checkJobRead(r.Job.ID, answer.State)
		}
	}
	for ref, end := range s.recorded {
		j, t := state.JobByNumber(ref.Job), state.Task(ref)
		if j == nil || t != nil && t.State == work.Dropped {
			continue
		}
		if t == nil || t.Token != end.token || string(t.Result) != end.result || (t.State == work.Failed) != end.failed {
			s.fail("%+v was recorded for task %v, but the state has %+v", end, ref, t)
		}
	}
	for j := range state.Jobs(0) {
		if j.State == work.Open || j.State == work.Receiving || !j.Finished() {
			s.fail("job %q never ended: state %d, %d waiting, %d held", j.ID, j.State, j.Waiting(), j.Held)
		}
	}
}

// checkJobRead reports results that callers read but that are not in the log.
func (s *taskTracker) checkJobRead(id string, j *history.JobState) {
	for _, t := range j.Tasks {
		if end, ok := s.allRecorded[t.Token]; t.State == "DONE" && (!ok || history.Content([]byte(end.result)) != t.Content) {
			s.fail("a caller read task %d of job %q with result %q, but the log has %+v", t.Index, id, t.Content, end)
		}
	}
}

// countFollowed counts the jobs and submissions that followed a submitter to its new token.
func (s *taskTracker) countFollowed(p *semaphore.Permit, state *fsm.State) {
	for j := range state.Jobs(0) {
		switch {
		case j.Submitter != p.Token:
		case j.State == work.Open:
			s.world.paths.inc(jobFollowed)
		case j.State == work.Receiving:
			s.world.paths.inc(submissionFollowed)
		}
	}
}

// countCooling counts a slot that cools after its task.
func (s *taskTracker) countCooling(p *semaphore.Permit, state *fsm.State) {
	switch t := state.TaskOf(p.Token); {
	case p.Ended == semaphore.EndReleased:
		s.world.paths.inc(taskCooled)
	case t != nil && t.State == work.Held:
		s.world.paths.inc(lostTaskCooled)
	}
}

// stillRunningReason explains why a worker may still be running a task: its permit is live, or the permit was lost and
// its slot is kept. It returns "" if the worker cannot be running the task.
func (s *taskTracker) stillRunningReason(state *fsm.State, token uint64) string {
	switch p := state.Permit(token); {
	case p == nil:
	case p.State == semaphore.Live:
		return "is live"
	case p.Ended != semaphore.EndReleased && !s.stopped[token]:
		return "is lost and its slot is " + p.State.String()
	}
	return ""
}

func resultOf(token uint64, n int) string { return fmt.Sprintf("%d by %d", n, token) }
