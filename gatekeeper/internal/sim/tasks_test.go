package sim

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// seenWork is what submitters, workers and followers of jobs did and heard.
type seenWork struct {
	mu       sync.Mutex            // guards all below
	contents map[string][][]string // by job id: the task lists whose submissions came to their last message
	accepted []accepted
	ends     map[uint64][]taskEnd // by token, what a worker said
	recorded []taskEnd            // of which a server said that it is recorded
	followed []followed
}

// accepted is a submission that was answered.
type accepted struct {
	id        string
	submitted uint64 // revision
	tasks     []string
}

// taskEnd is how a worker said that its task ended.
type taskEnd struct {
	token  uint64
	failed bool
	result string
}

// followed is what a stream of a job had brought when it ended.
type followed struct {
	job   *gatekeeperv1.Job
	tasks map[uint32]*gatekeeperv1.Task
}

func (s *seenWork) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// shared is the tasks that the log makes, held beside what was seen of them.
type shared struct {
	*truth
	holder   map[work.Ref]uint64
	handed   map[uint64]work.Ref
	recorded map[work.Ref]taskEnd
	all      map[uint64]taskEnd      // every end that was ever recorded, by token
	jobs     map[uint64]accepted     // by the revision of the submission
	last     map[work.Ref]*work.Task // with its last state, also of jobs that were deleted
	terms    map[work.Ref]uint64
}

func newShared(tr *truth) *shared {
	return &shared{
		truth: tr, holder: make(map[work.Ref]uint64), handed: make(map[uint64]work.Ref), recorded: make(map[work.Ref]taskEnd), all: make(map[uint64]taskEnd),
		jobs: make(map[uint64]accepted), last: make(map[work.Ref]*work.Task), terms: make(map[work.Ref]uint64),
	}
}

// event takes in an event of the log, and finds a task that is handed out or ends when it may not.
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
	case fsm.TaskSettled:
		s.settled(e.Job, e.Task, l, state)
	case fsm.TasksChanged:
		for t := range state.Tasks(e.Job.Number, 0) {
			if before := s.last[t.Ref]; before != nil && before.State == work.Failed && t.State != work.Failed {
				if t.State == work.Waiting {
					s.world.paths.met(taskRetried)
				} else {
					s.world.paths.met(taskDropped)
				}
				delete(s.recorded, t.Ref)
				s.last[t.Ref] = t
			}
		}
	case fsm.JobCancelled:
		switch e.Job.Cancel.Cause {
		case work.CancelSubmitterGone:
			s.world.paths.met(submitterGone)
		case work.CancelTimeout:
			s.world.paths.met(jobTimedOut)
		case work.CancelAsked:
			s.world.paths.met(jobCancelled)
		}
	case fsm.JobDeleted:
		if e.Job.State == work.Receiving {
			s.world.paths.met(submissionDropped)
		}
	}
}

func (s *shared) submitted(j *work.Job, l raft.Log, state *fsm.State) {
	var tasks []string
	for t := range state.Tasks(j.Number, 0) {
		if t.Payload != nil || t.State == work.Waiting {
			tasks = append(tasks, string(t.Payload))
		}
	}
	s.jobs[j.Submitted] = accepted{j.ID, j.Submitted, tasks}
	if j.Number != j.Submitted {
		s.world.paths.met(submittedInParts)
	}
	if !slices.ContainsFunc(s.world.work.contents[j.ID], func(c []string) bool { return slices.Equal(c, tasks) }) {
		s.breaks("entry %d makes job %q of %d tasks, which nobody has submitted to its end", l.Index, j.ID, len(tasks))
	}
}

func (s *shared) handOut(j *work.Job, t *work.Task, l raft.Log, state *fsm.State) {
	if token := s.holder[t.Ref]; token != 0 {
		s.breaks("entry %d hands task %v to token %d, while token %d holds it", l.Index, t.Ref, t.Token, token)
	}
	if end, over := s.recorded[t.Ref]; over {
		s.breaks("entry %d hands task %v to token %d, although its end is recorded: %+v", l.Index, t.Ref, t.Token, end)
	}
	if j.State != work.Open || !j.MayAttempt(t.Attempts-1) {
		s.breaks("entry %d hands task %v to token %d in attempt %d of %d, and its job is in state %d", l.Index, t.Ref, t.Token, t.Attempts, j.MaxAttempts, j.State)
	}
	if before := s.last[t.Ref]; before != nil {
		if live(state, before.Token) {
			s.breaks("entry %d hands task %v to token %d, while token %d is live", l.Index, t.Ref, t.Token, before.Token)
		}
		s.world.paths.met(taskAgain)
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
	said := slices.Contains(s.world.work.ends[t.Token], end)
	switch {
	case t.State == work.Waiting:
		if live(state, t.Token) {
			s.breaks("entry %d has task %v wait again, while token %d is live", l.Index, t.Ref, t.Token)
		}
		if t.Failure == "" {
			s.world.paths.met(taskReturned)
		} else {
			s.world.paths.met(taskFailedAttempt)
		}
		return
	case t.State == work.Failed && strings.HasPrefix(t.Failure, "the permit of its worker was lost"):
		if j.MayAttempt(t.Attempts) {
			s.breaks("entry %d fails task %v in attempt %d of %d", l.Index, t.Ref, t.Attempts, j.MaxAttempts)
		}
		s.world.paths.met(taskLostForGood)
	case !said:
		s.breaks("entry %d records %+v of task %v, which its worker never said", l.Index, end, t.Ref)
	case end.failed:
		s.world.paths.met(taskFailed)
	default:
		s.world.paths.met(taskDone)
	}
	if before, over := s.recorded[t.Ref]; over {
		s.breaks("entry %d records %+v of task %v, after %+v", l.Index, end, t.Ref, before)
	}
	if !held {
		s.world.paths.met(lateResult)
	}
	s.recorded[t.Ref], s.all[t.Token] = end, end
}

// compare holds what callers heard beside the log, and finds tasks without an end.
func (s *shared) compare(state *fsm.State) {
	seen := &s.world.work
	for _, a := range seen.accepted {
		if made, ok := s.jobs[a.submitted]; !ok || made.id != a.id || !slices.Equal(made.tasks, a.tasks) {
			s.breaks("job %q of %d tasks was acknowledged at revision %d, where the log has %q of %d", a.id, len(a.tasks), a.submitted, made.id, len(made.tasks))
		}
	}
	for _, end := range seen.recorded {
		if got, ok := s.all[end.token]; !ok || got != end {
			s.breaks("a worker heard that %+v is recorded, and the log has %+v", end, got)
		}
	}
	for ref, end := range s.recorded {
		j, t := state.JobOf(ref.Job), state.Task(ref)
		if j == nil || t != nil && t.State == work.Dropped {
			continue
		}
		if t == nil || t.Token != end.token || string(t.Result) != end.result || (t.State == work.Failed) != end.failed {
			s.breaks("%+v of task %v was recorded, and the state has %+v", end, ref, t)
		}
	}
	for j := range state.Jobs(0) {
		if j.State == work.Open || j.State == work.Receiving || !j.Over() {
			s.breaks("job %q never ends: state %d, %d waiting, %d held", j.ID, j.State, j.Waiting(), j.Held)
		}
	}
	for _, f := range seen.followed {
		s.heardOf(f)
	}
}

// heardOf finds changes that a stream of a job never sent.
func (s *shared) heardOf(f followed) {
	counts := map[gatekeeperv1.TaskState]uint32{}
	for index, t := range f.tasks {
		counts[t.GetState()]++
		if end, ok := s.all[t.GetToken()]; t.GetState() == gatekeeperv1.TaskState_TASK_STATE_DONE && (!ok || end.result != string(t.GetResult())) {
			s.breaks("a follower of job %q heard that task %d ended with %q, and the log has %+v", f.job.GetSpec().GetId(), index, t.GetResult(), end)
		}
	}
	if counts[gatekeeperv1.TaskState_TASK_STATE_DONE] != f.job.GetDone() || counts[gatekeeperv1.TaskState_TASK_STATE_FAILED] != f.job.GetFailed() {
		s.breaks("a follower of job %q heard of %v, and at the end it has %d done and %d failed", f.job.GetSpec().GetId(), counts, f.job.GetDone(), f.job.GetFailed())
	}
	s.world.paths.met(followedToEnd)
}

func live(state *fsm.State, token uint64) bool {
	p := state.Permit(token)
	return p != nil && p.State == semaphore.Live
}

func resultOf(token uint64, luck int) string { return fmt.Sprintf("%d by %d", luck, token) }
