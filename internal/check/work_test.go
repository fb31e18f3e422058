package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// newWorkScenario returns a scenario with a two-task job that is stored at revision 5.
func newWorkScenario(t *testing.T) *scenario {
	s := newScenario(t, history.Definition{GroupPattern: ".*", AcquirerPattern: ".*", Permits: 4, Duration: time.Second})
	s.submit(job(), history.Response{Result: history.Submitted, Revision: 5})
	return s
}

func job(tasks ...string) *history.Job {
	if len(tasks) == 0 {
		tasks = []string{"a", "b"}
	}
	return &history.Job{ID: "j", Tasks: tasks, MaxAttempts: 2}
}

func (s *scenario) submit(j *history.Job, answer history.Response) {
	s.begin(history.Request{Kind: history.Submit, Job: j})(answer)
}

func (s *scenario) handOut(worker string, index uint32, token uint64) {
	s.handOutAttempt(worker, index, token, 0)
}

// handOutAttempt records that a task was handed out with the given attempt number, or 0 if the number is unknown.
func (s *scenario) handOutAttempt(worker string, index uint32, token uint64, attempt uint32) {
	s.at += 10 * time.Millisecond
	history.NewRecorder(worker, s.now, func(e history.Entry) { s.entries = append(s.entries, e) }).HandedTask(
		history.HandedTask{Semaphore: "s", Identity: workerSlot(worker, token), Token: token, Job: "j", Index: index, Content: []string{"a", "b"}[index], Attempt: attempt})
}

// workerSlot returns the identity under which a worker holds a task.
func workerSlot(worker string, token uint64) history.Identity {
	return history.Identity{Group: "g", Acquirer: worker, HolderID: fmt.Sprint(token)}
}

func (s *scenario) endTask(token uint64, outcome, content string, result history.Result) {
	s.begin(history.NewEndTask("s", "j", token, outcome, content))(history.Response{Result: result})
}

func (s *scenario) changeJob(kind history.Kind, indexes ...uint32) {
	s.begin(history.Request{Kind: kind, Job: &history.Job{ID: "j", Indexes: indexes}})(history.Response{Result: history.Done})
}

func done(index uint32, token uint64, content string) history.TaskState {
	return history.TaskState{Index: index, State: "DONE", Token: token, Content: content, Attempts: 1}
}

func (s *scenario) read(tasks ...history.TaskState) {
	state := &history.JobState{State: "ENDED", Over: true, Count: 2, Tasks: tasks}
	for _, t := range tasks {
		switch t.State {
		case "DONE":
			state.Done++
		case "FAILED":
			state.Failed++
		case "DROPPED":
			state.Dropped++
		case "CANCELLED":
			state.Cancelled++
		}
	}
	s.readAs(state)
}

func (s *scenario) readAs(state *history.JobState) {
	s.begin(history.Request{Kind: history.JobEnd, Job: &history.Job{ID: "j"}})(history.Response{Result: history.JobRead, Revision: 5, State: state})
}

// runBoth executes both tasks, with tokens 1 and 2.
func (s *scenario) runBoth() {
	s.handOut("w", 0, 1)
	s.handOut("w", 1, 2)
	s.endTask(1, "DONE", "A", history.Recorded)
	s.endTask(2, "DONE", "B", history.Recorded)
}

func TestWork_InOrder_IsAllowed(t *testing.T) {
	s := newWorkScenario(t)
	s.runBoth()
	s.read(done(0, 1, "A"), done(1, 2, "B"))
	s.read(done(0, 1, "A"), done(1, 2, "B"))
	s.submit(job(), history.Response{Result: history.Submitted, Revision: 5, Repeated: true})
	s.submit(job("other"), history.Response{Result: history.Differs})
	s.wantNoViolations()
}

func TestWork_WorkerLost_TaskMayBeExecutedAgain(t *testing.T) {
	s := newWorkScenario(t)
	s.handOut("killed", 0, 1)
	s.handOut("w", 0, 2)
	s.endTask(1, "DONE", "late", history.Unrecorded)
	s.endTask(2, "DONE", "A", history.Recorded)
	s.handOut("stops", 1, 3)
	s.endTask(3, "CUT_SHORT", "", history.Returned)
	s.handOut("killed", 1, 4)
	s.handOut("killed", 1, 5)
	s.read(done(0, 2, "A"), history.TaskState{Index: 1, State: "FAILED", Token: 5, Attempts: 2, Failure: "its worker's permit was lost on attempt 2 of 2"})
	s.wantNoViolations()
}

func TestWork_FinishedTask_MustNotBeExecutedAgain(t *testing.T) {
	s := newWorkScenario(t)
	s.runBoth()
	s.handOut("again", 0, 3)
	s.wantViolation(OneResult, "task 0", "again with token 3", "ended with token 1")
}

func TestWork_AfterRetry_TaskMayBeExecutedAgain(t *testing.T) {
	for _, retried := range []bool{true, false} {
		s := newWorkScenario(t)
		s.handOut("w", 0, 1)
		s.endTask(1, "FAILED", "", history.Recorded)
		if retried {
			s.changeJob(history.RetryTasks)
		}
		s.handOut("w", 0, 2)
		s.endTask(2, "DONE", "A", history.Recorded)
		if retried {
			s.wantNoViolations()
		} else {
			s.wantViolation(OneResult, "token 2", "ended with token 1")
		}
	}
}

func TestWork_RetryOfOtherTasks_HasNoEffect(t *testing.T) {
	s := newWorkScenario(t)
	s.handOut("w", 0, 1)
	s.endTask(1, "FAILED", "", history.Recorded)
	s.changeJob(history.RetryTasks, 1)
	s.handOut("w", 0, 2)
	s.wantViolation(OneResult, "token 2", "ended with token 1")

	s = newWorkScenario(t) // the retry precedes the failure
	s.handOut("w", 0, 1)
	s.changeJob(history.RetryTasks)
	s.endTask(1, "FAILED", "", history.Recorded)
	s.handOut("w", 0, 2)
	s.wantViolation(OneResult, "token 2", "ended with token 1")
}

func TestWork_Retry_ResetsAttempts(t *testing.T) {
	killed := func(s *scenario, tokens ...uint64) {
		for _, token := range tokens {
			s.handOut("killed", 0, token)
		}
	}
	for _, indexes := range [][]uint32{nil, {0}, {1, 0}} {
		s := newWorkScenario(t)
		killed(s, 1, 2)
		s.changeJob(history.RetryTasks, indexes...)
		killed(s, 3, 4)
		s.wantNoViolations()
		killed(s, 5)
		s.wantViolation(TaskAttempts, "started 5 times", "max_attempts is 2")
	}

	s := newWorkScenario(t)
	killed(s, 1, 2)
	s.changeJob(history.RetryTasks, 1)
	killed(s, 3)
	s.wantViolation(TaskAttempts, "started 3 times")

	s = newScenario(t, history.Definition{GroupPattern: ".*", AcquirerPattern: ".*", Permits: 4, Duration: time.Second})
	s.changeJob(history.RetryTasks) // the retry belongs to an earlier job, if any
	s.submit(job(), history.Response{Result: history.Submitted, Revision: 15})
	killed(s, 1, 2, 3)
	s.wantViolation(TaskAttempts, "started 3 times")

	s = newWorkScenario(t) // a retry before the task failed does not reset its attempts
	s.handOutAttempt("killed", 0, 1, 1)
	s.changeJob(history.RetryTasks)
	s.handOutAttempt("killed", 0, 2, 2)
	s.handOutAttempt("killed", 0, 3, 3)
	s.wantViolation(TaskAttempts, "attempt 3", "max_attempts is 2")
}

func TestWork_DeletedAndResubmitted_IsNewJob(t *testing.T) {
	s := newWorkScenario(t)
	s.runBoth()
	s.changeJob(history.DeleteJob)
	s.submit(job(), history.Response{Result: history.Submitted, Revision: 9})
	s.handOut("w", 0, 3)
	s.endTask(3, "DONE", "new", history.Recorded)
	s.wantNoViolations()
}

func TestWork_ChangedResults_AreFound(t *testing.T) {
	s := newWorkScenario(t)
	s.runBoth()
	s.read(done(0, 1, "A"), done(1, 2, "other"))
	s.wantViolation(OneResult, "task 1", "never reported")

	s = newWorkScenario(t)
	s.runBoth()
	s.read(done(0, 1, "A"), history.TaskState{Index: 1, State: "FAILED", Token: 2, Attempts: 2, Failure: "its worker's permit was lost on attempt 2 of 2"})
	s.wantViolation(OneResult, "task 1", "was recorded", "FAILED")

	s = newWorkScenario(t)
	s.runBoth()
	s.read(done(0, 1, "A"), done(1, 7, "B"))
	s.wantViolation(OneResult, "task 1", "token 7")

	s = newWorkScenario(t)
	s.runBoth()
	s.read(done(0, 1, "A"), done(1, 2, "B"))
	s.read(done(0, 1, "A"))
	s.wantViolation(OneResult, "was read as", "and later as")

	s = newWorkScenario(t) // a result with an older token is recorded
	s.handOut("suspended", 0, 1)
	s.handOut("w", 0, 2)
	s.endTask(1, "DONE", "late", history.Recorded)
	s.wantViolation(OneResult, "with token 2", "ended with token 1")
}

func TestWork_TwoWorkersHoldTask_IsFound(t *testing.T) {
	s := newWorkScenario(t)
	s.handOut("w1", 0, 1)
	s.handOut("w2", 0, 2)
	s.believe("w1", 1, s.at, s.at+time.Second)
	s.believe("w2", 2, s.at+900*time.Millisecond, s.at+2*time.Second)
	s.wantViolation(OneWorker, "task 0", "w1", "w2")
}

func TestWork_TwoTasksWithSameToken_AreFound(t *testing.T) {
	s := newWorkScenario(t)
	s.handOut("w1", 0, 1)
	s.handOut("w2", 1, 1)
	s.wantViolation(OneWorker, "token 1", "task 0", "task 1")
}

func TestWork_MoreAttemptsThanAllowed_AreFound(t *testing.T) {
	s := newWorkScenario(t)
	for token := range uint64(3) {
		s.handOut("killed", 0, token+1)
	}
	s.wantViolation(TaskAttempts, "started 3 times", "max_attempts is 2")

	s = newWorkScenario(t)
	s.handOut("killed", 0, 1)
	s.read(done(1, 2, "B"), history.TaskState{Index: 0, State: "FAILED", Token: 1, Attempts: 1, Failure: "its worker's permit was lost on attempt 1 of 1"})
	s.wantViolation(TaskAttempts, "abandoned after 1")
}

func TestWork_UnfinishedJob_IsFound(t *testing.T) {
	s := newWorkScenario(t)
	s.readAs(&history.JobState{State: "OPEN", Count: 2})
	s.wantViolation(JobNotLost, "never ended")

	s = newWorkScenario(t)
	s.begin(history.Request{Kind: history.JobEnd, Job: &history.Job{ID: "j"}})(history.Response{Result: history.NoJob})
	s.wantViolation(JobNotLost, "no longer exists")

	s = newWorkScenario(t)
	s.runBoth()
	s.read(done(0, 1, "A"))
	s.wantViolation(JobNotLost, "with 2 tasks: 1 done")

	for _, cause := range []string{"ASKED", "TIMEOUT", "SUBMITTER_GONE"} {
		s = newWorkScenario(t)
		s.readAs(&history.JobState{State: "CANCELLED", Cause: cause, Over: true, Count: 2, Cancelled: 2})
		s.wantViolation(JobNotLost, "was cancelled")
	}

	s = newWorkScenario(t)
	s.read(history.TaskState{Index: 0, State: "DROPPED"}, history.TaskState{Index: 1, State: "DROPPED"})
	s.wantViolation(JobNotLost, "no operator dropped")
}

func TestWork_DifferentContent_IsFound(t *testing.T) {
	s := newWorkScenario(t)
	s.submit(job("other"), history.Response{Result: history.Submitted, Revision: 9})
	s.wantViolation(SameJob, "revision 5", "revision 9")

	s = newWorkScenario(t)
	s.submit(job(), history.Response{Result: history.Differs})
	s.wantViolation(SameJob, "none was submitted")

	s = newScenario(t, history.Definition{GroupPattern: ".*", AcquirerPattern: ".*", Permits: 4, Duration: time.Second})
	cut := job()
	cut.Cut = true
	s.begin(history.Request{Kind: history.Submit, Job: cut}) // no response
	s.handOut("w", 0, 1)
	s.wantViolation(SameJob, "no complete submission")
}

func TestWorkTally_CountsOutcomes(t *testing.T) {
	s := newWorkScenario(t)
	s.handOut("killed", 0, 1)
	s.handOut("w", 0, 2)
	s.endTask(2, "DONE", "A", history.Recorded)
	h, err := history.Gather(s.entries)
	if err != nil {
		t.Fatal(err)
	}
	got := WorkTally(h)
	for name, want := range map[string]int{"jobs": 1, "tasks": 2, "executions": 2, "lost": 1, "handed-out-again": 1, "results": 1} {
		if got[name] != want {
			t.Errorf("WorkTally(): got %d %s, want %d", got[name], name, want)
		}
	}
}
