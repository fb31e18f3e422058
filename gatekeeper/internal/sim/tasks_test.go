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

// shared tracks the tasks in the log, and compares them with the results that callers saw. Package check detects
// violations that are visible to callers alone.
type shared struct {
	*truth
	holder   map[work.Ref]uint64
	handed   map[uint64]work.Ref
	recorded map[work.Ref]taskEnd
	all      map[uint64]taskEnd      // by token, every outcome ever recorded
	jobs     map[uint64]made         // by revision of the submission
	last     map[work.Ref]*work.Task // the last state of each task, including tasks of deleted jobs
	terms    map[work.Ref]uint64
	attempts map[uint64]string // by token, failed attempts after which the task went back to waiting

	deleted  map[uint64]bool       // by revision of the submission
	deletes  map[string][]uint64   // by job id, the submissions named by deletions
	contents map[string][][]string // by job id, the task lists of complete submissions
	reported map[taskEnd]bool      // the outcomes that workers reported
	stopped  map[uint64]bool       // tokens whose workers reported that they had stopped
}

// made is a job in the log.
type made struct {
	id    string
	tasks []string
}

// taskEnd is the outcome of a task.
type taskEnd struct {
	token  uint64
	failed bool
	result string
}

func newShared(tr *truth, h *history.History) *shared {
	s := &shared{
		truth: tr, holder: make(map[work.Ref]uint64), handed: make(map[uint64]work.Ref), recorded: make(map[work.Ref]taskEnd), all: make(map[uint64]taskEnd),
		jobs: make(map[uint64]made), last: make(map[work.Ref]*work.Task), terms: make(map[work.Ref]uint64), attempts: make(map[uint64]string),
		contents: make(map[string][][]string), reported: make(map[taskEnd]bool), stopped: make(map[uint64]bool),
		deleted: make(map[uint64]bool), deletes: make(map[string][]uint64),
	}
	for i := range h.Operations {
		r := h.Operations[i].Request
		switch r.Kind {
		case history.EndTask:
			s.stopped[r.Token] = true
		case history.DeleteJob:
			s.deletes[r.Job.ID] = append(s.deletes[r.Job.ID], r.Job.Submission)
		}
		switch {
		case r.Kind == history.Submit && !r.Job.Cut:
			s.contents[r.Job.ID] = append(s.contents[r.Job.ID], r.Job.Tasks)
		case r.Kind == history.EndTask && !r.NotRun && !r.CutShort:
			s.reported[endIn(r)] = true
		}
	}
	return s
}

// endIn returns the outcome that a worker reported.
func endIn(r history.Request) taskEnd { return taskEnd{r.Token, r.Failed, r.Content} }

// event applies an event from the log, and reports tasks that are handed out or end when they must not.
func (s *shared) event(e *fsm.Event, l raft.Log, state *fsm.State) {
	switch e.Kind {
	case fsm.JobSubmitted:
		if e.Job.State == work.Open {
			s.submitted(e.Job, l, state)
		}
	case fsm.Granted:
		if e.Task != nil {
			s.handOut(e.Job, e.Task, l, state)
		}
	case fsm.HeldEvent:
		if _, ok := s.handed[e.Permit.Token]; ok {
			s.world.paths.met(taskHeldForOperator)
		}
	case fsm.CoolingEvent:
		if _, ok := s.handed[e.Permit.Token]; ok {
			s.cools(e.Permit, state)
		}
	case fsm.TaskSettled:
		s.settled(e.Job, e.Task, l, state)
	case fsm.TasksChanged:
		for t := range state.Tasks(e.Job.Number, 0) {
			before := s.last[t.Ref]
			if before == nil || before.State != work.Failed || t.State == work.Failed {
				continue
			}
			delete(s.recorded, t.Ref)
			if t.State == work.Dropped {
				s.world.paths.met(taskDropped)
				s.last[t.Ref] = t
				continue
			}
			s.world.paths.met(taskRetried)
			s.last[t.Ref] = &work.Task{Ref: t.Ref, State: work.Waiting} // in the state, the next worker may already have the task, because one entry can do both
		}
	case fsm.JobCancelled:
		switch e.Job.Cancel.Cause {
		case work.CancelSubmitterGone:
			s.world.paths.met(submitterGone)
		case work.CancelTimeout:
			s.world.paths.met(jobTimedOut)
			if s.truth.terms[e.Job.Submitted] != l.Term {
				s.world.paths.met(jobTimedOutLater)
			}
		case work.CancelAsked:
			s.world.paths.met(jobCancelled)
		}
	case fsm.JobDeleted:
		if e.Job.State == work.Receiving {
			s.world.paths.met(submissionDropped)
			return
		}
		s.deleted[e.Job.Submitted] = true
		if named := s.deletes[e.Job.ID]; !slices.Contains(named, 0) && !slices.Contains(named, e.Job.Submitted) {
			s.breaks("entry %d deletes job %q submitted at revision %d, but deletions named %v", l.Index, e.Job.ID, e.Job.Submitted, named)
		}
	case fsm.SupersededEvent:
		s.superseded(e.Permit, state)
	}
}

func (s *shared) submitted(j *work.Job, l raft.Log, state *fsm.State) {
	var tasks []string
	for t := range state.Tasks(j.Number, 0) {
		if t.Payload != nil || t.State == work.Waiting {
			tasks = append(tasks, history.Content(t.Payload))
		}
	}
	s.jobs[j.Submitted] = made{j.ID, tasks}
	if j.Number != j.Submitted {
		s.world.paths.met(submittedInParts)
	}
	if !slices.ContainsFunc(s.contents[j.ID], func(c []string) bool { return slices.Equal(c, tasks) }) {
		s.breaks("entry %d creates job %q with %d tasks, for which no submission was completed", l.Index, j.ID, len(tasks))
	}
}

func (s *shared) handOut(j *work.Job, t *work.Task, l raft.Log, state *fsm.State) {
	if token := s.holder[t.Ref]; token != 0 {
		s.breaks("entry %d hands task %v to token %d, while token %d holds it", l.Index, t.Ref, t.Token, token)
	}
	if end, over := s.recorded[t.Ref]; over {
		s.breaks("entry %d hands task %v to token %d, although its outcome is recorded: %+v", l.Index, t.Ref, t.Token, end)
	}
	if j.State != work.Open || !j.MayAttempt(t.Attempts-1) {
		s.breaks("entry %d hands task %v to token %d on attempt %d of %d, while its job is in state %d", l.Index, t.Ref, t.Token, t.Attempts, j.MaxAttempts, j.State)
	}
	if before := s.last[t.Ref]; before != nil {
		if why := s.runs(state, before.Token); why != "" {
			s.breaks("entry %d hands task %v to token %d, while token %d %s", l.Index, t.Ref, t.Token, before.Token, why)
		}
		s.world.paths.met(taskAgain)
		if s.ended[before.Token].kind == fsm.Expired {
			s.world.paths.met(taskLostAgain)
		}
		if s.terms[t.Ref] != l.Term {
			s.world.paths.met(taskAgainLater)
		}
	}
	s.holder[t.Ref], s.handed[t.Token], s.last[t.Ref], s.terms[t.Ref] = t.Token, t.Ref, t, l.Term
}

func (s *shared) settled(j *work.Job, t *work.Task, l raft.Log, state *fsm.State) {
	if s.handed[t.Token] != t.Ref {
		s.breaks("entry %d ends task %v with token %d, which never held it", l.Index, t.Ref, t.Token)
	}
	held := s.holder[t.Ref] == t.Token
	delete(s.holder, t.Ref)
	s.last[t.Ref] = t
	end := taskEnd{t.Token, t.State == work.Failed, string(t.Result)}
	switch {
	case t.State == work.Waiting:
		if why := s.runs(state, t.Token); why != "" {
			s.breaks("entry %d returns task %v to waiting, while token %d %s", l.Index, t.Ref, t.Token, why)
		}
		if t.Failure == "" {
			s.world.paths.met(taskReturned)
		} else {
			s.world.paths.met(taskFailedAttempt)
			s.attempts[t.Token] = t.Failure
		}
		return
	case t.State == work.Failed && strings.HasPrefix(t.Failure, "the permit of its worker was lost"):
		if j.MayAttempt(t.Attempts) {
			s.breaks("entry %d fails task %v on attempt %d of %d", l.Index, t.Ref, t.Attempts, j.MaxAttempts)
		}
		s.world.paths.met(taskLostForGood)
	case !s.reported[end]:
		s.breaks("entry %d records %+v for task %v, which its worker never reported", l.Index, end, t.Ref)
	case end.failed:
		s.world.paths.met(taskFailed)
	default:
		s.world.paths.met(taskDone)
	}
	if before, over := s.recorded[t.Ref]; over {
		s.breaks("entry %d records %+v for task %v after %+v", l.Index, end, t.Ref, before)
	}
	if !held {
		s.world.paths.met(lateResult)
	}
	s.recorded[t.Ref], s.all[t.Token] = end, end
}

// compare compares the log with the responses that callers received, and reports jobs that have not ended.
func (s *shared) compare(h *history.History, state *fsm.State) {
	for i := range h.Operations {
		op := &h.Operations[i]
		answer, ok := op.Answer()
		switch r := op.Request; {
		case !ok:
		case answer.Result == history.Submitted:
			if made, ok := s.jobs[answer.Revision]; !ok || made.id != r.Job.ID || !slices.Equal(made.tasks, r.Job.Tasks) {
				s.breaks("job %q with %d tasks was acknowledged at revision %d, where the log has %q with %d tasks", r.Job.ID, len(r.Job.Tasks), answer.Revision, made.id, len(made.tasks))
			}
		case r.Kind == history.DeleteJob && r.Job.Submission != 0 && !s.deleted[r.Job.Submission]:
			s.breaks("the deletion of job %q submitted at revision %d was acknowledged, but is not in the log", r.Job.ID, r.Job.Submission)
		case answer.Result == history.Recorded:
			if got := s.all[r.Token]; got != endIn(r) && (!r.Failed || s.attempts[r.Token] != r.Failure) {
				s.breaks("a worker was notified that %+v was recorded, but the log has %+v", endIn(r), got)
			}
		case answer.Result == history.Unrecorded:
			if ref, ok := s.handed[r.Token]; ok && s.last[ref].Token > r.Token {
				s.world.paths.met(oldResult)
			}
		case answer.Result == history.JobRead:
			s.heardOf(r.Job.ID, answer.State)
		}
	}
	for ref, end := range s.recorded {
		j, t := state.JobOf(ref.Job), state.Task(ref)
		if j == nil || t != nil && t.State == work.Dropped {
			continue
		}
		if t == nil || t.Token != end.token || string(t.Result) != end.result || (t.State == work.Failed) != end.failed {
			s.breaks("%+v was recorded for task %v, but the state has %+v", end, ref, t)
		}
	}
	for j := range state.Jobs(0) {
		if j.State == work.Open || j.State == work.Receiving || !j.Over() {
			s.breaks("job %q never ended: state %d, %d waiting, %d held", j.ID, j.State, j.Waiting(), j.Held)
		}
	}
}

// heardOf reports results that callers read but that are not in the log.
func (s *shared) heardOf(id string, j *history.JobState) {
	for _, t := range j.Tasks {
		if end, ok := s.all[t.Token]; t.State == "DONE" && (!ok || history.Content([]byte(end.result)) != t.Content) {
			s.breaks("a caller read that task %d of job %q ended with %q, but the log has %+v", t.Index, id, t.Content, end)
		}
	}
}

// superseded counts the jobs and submissions that followed a submitter to its new token.
func (s *shared) superseded(p *semaphore.Permit, state *fsm.State) {
	for j := range state.Jobs(0) {
		switch {
		case j.Submitter != p.Token:
		case j.State == work.Open:
			s.world.paths.met(jobFollowed)
		case j.State == work.Receiving:
			s.world.paths.met(submissionFollowed)
		}
	}
}

// cools counts a slot that cools after its task.
func (s *shared) cools(p *semaphore.Permit, state *fsm.State) {
	switch t := state.TaskOf(p.Token); {
	case p.Ended == semaphore.EndReleased:
		s.world.paths.met(taskCooled)
	case t != nil && t.State == work.Held:
		s.world.paths.met(lostTaskCooled)
	}
}

// runs explains why a worker may still be running a task: its permit is live, or the permit was lost and its slot is
// kept. It returns "" if the worker cannot be running the task.
func (s *shared) runs(state *fsm.State, token uint64) string {
	switch p := state.Permit(token); {
	case p == nil:
	case p.State == semaphore.Live:
		return "is live"
	case p.Ended != semaphore.EndReleased && !s.stopped[token]:
		return "is lost and its slot is " + p.State.String()
	}
	return ""
}

func resultOf(token uint64, luck int) string { return fmt.Sprintf("%d by %d", luck, token) }
