package fsm_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// newWorkLog returns the log of a cluster that supports jobs. It has a semaphore s with nine permits.
func newWorkLog(tb tester) *log {
	l := newLog(tb)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", permits(9))
	return l
}

func digest() string { return strings.Repeat("d", 32) }

func tasks(payloads ...string) [][]byte {
	var all [][]byte
	for _, p := range payloads {
		all = append(all, []byte(p))
	}
	return all
}

// submit submits a complete job for semaphore s.
func (l *log) submit(id string, payloads [][]byte, change ...func(*fsm.SubmitJob)) *work.Job {
	l.tb.Helper()
	c := fsm.SubmitJob{Spec: &work.Spec{ID: id, Semaphore: "s", MaxResult: 10}, Tasks: payloads, Digest: digest(), At: at(5)}
	for _, ch := range change {
		ch(&c)
	}
	r := applyOne[fsm.SubmitResult](l, c)
	if r.Outcome != fsm.SubmitAccepted {
		l.tb.Fatalf("submit %s: %+v", id, r)
	}
	return r.Job
}

func worker(g *fsm.Grant) { g.Worker = true }

// takeTask grants a permit to a worker and returns the permit's token and task.
func (l *log) takeTask(holder string) (uint64, *work.Task) {
	l.tb.Helper()
	p := l.grant("s", holder, worker)
	return p.Token, l.state().TaskOf(p.Token)
}

func (l *log) job(id string) *work.Job { return l.state().Job(id) }

func TestGrant_Worker_ReceivesTasksInOrder(t *testing.T) {
	l := newWorkLog(t)
	l.submit("late", tasks("a", "b"))
	l.submit("urgent", tasks("c"), func(c *fsm.SubmitJob) { c.Spec.Priority = 1 })
	l.submit("idle", tasks("d"), func(c *fsm.SubmitJob) { c.Spec.Priority = -1 })
	var got []string
	for i := range 4 {
		_, task := l.takeTask(string(rune('k' + i)))
		got = append(got, string(task.Payload))
	}
	equal(t, "order", got, []string{"c", "a", "b", "d"})
	r := applyOne[fsm.GrantResult](l, l.request("s", "z", worker))
	if r.Outcome != fsm.GrantDenied || r.Decision.Reason != semaphore.NoTask {
		t.Fatalf("worker grant without a task: got %+v", r)
	}
	l.grant("s", "y") // other callers do not need a task
}

func TestRelease_Worker_SettlesTask(t *testing.T) {
	for name, tc := range map[string]struct {
		end      fsm.Command
		state    work.TaskState
		attempts uint32
		returns  uint32
		failure  string
	}{
		"done":            {fsm.Release{Result: []byte("r")}, work.Done, 1, 0, ""},
		"failed":          {fsm.Release{Job: semaphore.JobFailed, Failure: "f", Result: []byte("r")}, work.Failed, 1, 0, "f"},
		"not run":         {fsm.Release{Job: semaphore.JobNotRun}, work.Waiting, 0, 1, ""},
		"cut short":       {fsm.Release{Job: semaphore.JobCutShort, Failure: "b"}, work.Waiting, 0, 1, "b"},
		"expired":         {fsm.Expire{}, work.Waiting, 1, 0, ""},
		"abandoned":       {fsm.Abandon{}, work.Waiting, 0, 1, ""},
		"revoked":         {fsm.Revoke{UnsafeNow: true}, work.Waiting, 1, 0, ""},
		"cools, lost":     {fsm.Expire{Cooling: time.Minute}, work.Held, 1, 0, ""},
		"cools, done":     {fsm.Release{Cooling: time.Minute}, work.Done, 1, 0, ""},
		"cools, returned": {fsm.Release{Job: semaphore.JobCutShort, Cooling: time.Minute}, work.Waiting, 0, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newWorkLog(t)
			l.submit("j", tasks("a"))
			token, _ := l.takeTask("w")
			switch c := tc.end.(type) {
			case fsm.Release:
				c.Token, c.At = token, at(9)
				l.apply(c)
			case fsm.Expire:
				c.Token, c.Term, c.At = token, l.term, at(9)
				l.apply(c)
			case fsm.Abandon:
				c.Token, c.Term = token, l.term
				l.apply(c)
			case fsm.Revoke:
				c.Token, c.At = token, at(9)
				l.apply(c)
			}
			task := l.state().Task(work.Ref{Job: l.job("j").Number})
			if task.State != tc.state || task.Attempts != tc.attempts || task.Returns != tc.returns || task.Failure != tc.failure {
				t.Fatalf("task after its permit ended = %+v, want %+v", task, tc)
			}
			if ended := l.job("j").State == work.Ended; ended != task.Finished() {
				t.Fatalf("job ended = %v, want %v", ended, task.Finished())
			}
			restored(t, l.state())
			l.apply(fsm.EndCooling{Token: token, Term: l.term})
			if p := l.state().Permit(token); p == nil && task.State == work.Held && l.state().Task(task.Ref).State != work.Waiting {
				t.Fatalf("task after cooling = %+v, want it waiting", l.state().Task(task.Ref))
			}
		})
	}
}

func TestRelease_LostWorker_RecordsResultUntilTaskIsHandedOut(t *testing.T) {
	l := newWorkLog(t)
	l.submit("j", tasks("a", "b"))
	first, _ := l.takeTask("w")
	second, _ := l.takeTask("x")
	l.apply(fsm.Expire{Token: first, Term: l.term}, fsm.Expire{Token: second, Term: l.term})
	third, task := l.takeTask("y")
	if task.Index != 0 || task.Attempts != 2 {
		t.Fatalf("task handed out again = %+v, want task 0 on its second attempt", task)
	}
	if r := unchanged[fsm.ReleaseResult](l, fsm.Release{Token: first, Result: []byte("old")}); r.Recorded || r.Task != nil {
		t.Fatalf("release with an old token: got %+v, want nothing recorded", r)
	}
	if r := applyOne[fsm.ReleaseResult](l, fsm.Release{Token: second, Result: []byte("late")}); !r.Recorded || r.Task.State != work.Done {
		t.Fatalf("late release before the task is handed out again: got %+v, want the result recorded", r)
	}
	if r := unchanged[fsm.ReleaseResult](l, fsm.Release{Token: second, Result: []byte("again")}); !r.Recorded || string(r.Task.Result) != "late" {
		t.Fatalf("repeated release: got %+v, want the first result", r)
	}
	if r := applyOne[fsm.ReleaseResult](l, fsm.Release{Token: third, Result: []byte("new"), At: at(7)}); !r.Recorded {
		t.Fatalf("release by the current holder: got %+v, want the result recorded", r)
	}
	if j := l.job("j"); j.State != work.Ended || j.Done != 2 || j.EndedAt != at(7) {
		t.Fatalf("job = %+v, want it ended with 2 done tasks", j)
	}
}

func TestGrant_LostWorkersTasks_AreHandedOutFirst(t *testing.T) {
	l := newWorkLog(t)
	l.submit("j", tasks("a", "b", "c"))
	first, _ := l.takeTask("v")
	second, _ := l.takeTask("w")
	l.apply(fsm.Expire{Token: second, Term: l.term}, fsm.Expire{Token: first, Term: l.term})
	var got []string
	for _, holder := range []string{"x", "y", "z"} {
		_, task := l.takeTask(holder)
		got = append(got, string(task.Payload))
	}
	equal(t, "order", got, []string{"a", "b", "c"})
	restored(t, l.state())
}

func TestExpire_LastAttempt_FailsTask(t *testing.T) {
	l := newWorkLog(t)
	l.submit("j", tasks("a"), func(c *fsm.SubmitJob) { c.Spec.MaxAttempts = 2 })
	for range 2 {
		token, _ := l.takeTask("w")
		l.apply(fsm.Expire{Token: token, Term: l.term, At: at(9)})
	}
	j := l.job("j")
	if j.State != work.Ended || j.Failed != 1 || j.EndedAt != at(9) {
		t.Fatalf("job after the last attempt = %+v, want it ended with 1 failed task", j)
	}
	r := applyOne[fsm.JobResult](l, fsm.ChangeTasks{Job: j.Number})
	if !r.Applied || r.Tasks != 1 || r.Job.State != work.Open {
		t.Fatalf("retry: got %+v, want 1 changed task in an open job", r)
	}
	token, task := l.takeTask("w")
	if task.Attempts != 1 || string(task.Payload) != "a" {
		t.Fatalf("task after the retry = %+v, want it on its first attempt", task)
	}
	l.apply(fsm.Release{Token: token, Job: semaphore.JobFailed, Failure: "f"})
	if r := applyOne[fsm.JobResult](l, fsm.ChangeTasks{Job: j.Number, Indexes: []uint32{0, 0, 7}, Drop: true}); r.Tasks != 1 || r.Job.Dropped != 1 || r.Job.State != work.Ended {
		t.Fatalf("drop: got %+v, want 1 dropped task in an ended job", r)
	}
	l.apply(fsm.DeleteJob{Job: j.Number})
	if w := l.state().Work("s"); w != (fsm.Work{}) || l.state().WorkBytes() != 0 || l.state().JobCount() != 0 {
		t.Fatalf("Work() after the deletion = %+v, want nothing stored", w)
	}
}

func TestRelease_RetriableFailure_HandsTaskOutAgain(t *testing.T) {
	l := newWorkLog(t)
	l.submit("j", tasks("a"), func(c *fsm.SubmitJob) { c.Spec.RetryFailed, c.Spec.MaxAttempts = true, 2 })
	failed := fsm.Release{Job: semaphore.JobFailed, Failure: "f"}
	failed.Token, _ = l.takeTask("w")
	returned := fsm.Release{Token: failed.Token, Job: semaphore.JobCutShort}
	for range 2 { // the second release is a repeat
		if r := l.apply(failed)[0].(fsm.ReleaseResult); !r.Recorded {
			t.Errorf("release with a failure: got %+v, want it recorded", r)
		}
	}
	second, _ := l.takeTask("w")
	if r := unchanged[fsm.ReleaseResult](l, failed); !r.Recorded {
		t.Errorf("repeated release during the next attempt: got %+v, want it recorded", r)
	}
	if r := unchanged[fsm.ReleaseResult](l, returned); r.Recorded {
		t.Errorf("release that returns the task: got %+v, want nothing recorded", r)
	}
	failed.Token = second
	l.apply(failed)
	if j := l.job("j"); j.Failed != 1 || j.State != work.Ended {
		t.Fatalf("job after two failures = %+v, want it ended with 1 failed task", j)
	}
}

// A lost worker may report a failure while its slot is cooling. The task keeps the failure and waits for its next
// attempt.
func TestRelease_LateRetriableFailure_IsRecorded(t *testing.T) {
	l := newWorkLog(t)
	l.submit("j", tasks("a"), func(c *fsm.SubmitJob) { c.Spec.RetryFailed = true })
	failed := fsm.Release{Job: semaphore.JobFailed, Failure: "f", At: at(9)}
	failed.Token, _ = l.takeTask("w")
	l.apply(fsm.Expire{Token: failed.Token, Term: l.term, Cooling: time.Minute, At: at(8)})
	if r := applyOne[fsm.ReleaseResult](l, failed); !r.Recorded || r.Task.State != work.Waiting || r.Task.Failure != "f" {
		t.Errorf("late release with a failure: got %+v, task %+v, want a waiting task with failure f", r, r.Task)
	}
	if r := unchanged[fsm.ReleaseResult](l, failed); !r.Recorded {
		t.Errorf("repeated release: got %+v, want it recorded", r)
	}
}

func TestRelease_RepeatAfterDrop_IsRecorded(t *testing.T) {
	l := newWorkLog(t)
	j := l.submit("j", tasks("a"))
	failed := fsm.Release{Job: semaphore.JobFailed, Failure: "f", At: at(9)}
	failed.Token, _ = l.takeTask("w")
	l.apply(failed, fsm.ChangeTasks{Job: j.Number, Drop: true, At: at(10)})
	if r := unchanged[fsm.ReleaseResult](l, failed); !r.Recorded {
		t.Errorf("repeated release: got %+v, want it recorded", r)
	}
	failed.Failure = "another"
	if r := unchanged[fsm.ReleaseResult](l, failed); r.Recorded {
		t.Errorf("release with another failure: got %+v, want nothing recorded", r)
	}
}

// Space for a result or failure text is reserved at submission, so the stored bytes do not exceed the limit when tasks
// end.
func TestWorkBytes_TaskEnd_DoesNotIncreaseTotal(t *testing.T) {
	text := strings.Repeat("f", work.MaxFailure)
	for name, tc := range map[string]struct {
		maxResult int
		end       fsm.Release
		result    int // size of the stored result
	}{
		"done":                       {300, fsm.Release{Result: make([]byte, 300)}, 300},
		"failed without a result":    {0, fsm.Release{Job: semaphore.JobFailed, Failure: text}, 0},
		"failed with a result":       {300, fsm.Release{Job: semaphore.JobFailed, Failure: "f", Result: make([]byte, 299)}, 299},
		"failed with a large result": {300, fsm.Release{Job: semaphore.JobFailed, Failure: "f", Result: make([]byte, 300)}, 0},
		"failed with a large result and a long text": {300, fsm.Release{Job: semaphore.JobFailed, Failure: text, Result: make([]byte, 300)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, retry := range []bool{false, true} {
				l := newWorkLog(t)
				j := l.submit("j", tasks("a"), func(c *fsm.SubmitJob) {
					c.Spec.MaxResult, c.Spec.RetryFailed, c.Spec.MaxAttempts = uint32(tc.maxResult), retry, 2
				})
				limit := l.state().WorkBytes()
				for range 2 {
					if l.job("j").State == work.Ended {
						break
					}
					token, _ := l.takeTask("w")
					tc.end.Token = token
					l.apply(tc.end)
					if got := l.state().WorkBytes(); got > limit {
						t.Fatalf("WorkBytes() = %d, want at most %d", got, limit)
					}
				}
				got := l.state().Task(work.Ref{Job: j.Number})
				if !got.Finished() || len(got.Result) != tc.result || got.Failure != tc.end.Failure {
					t.Fatalf("task = %+v, want it finished, with a result of %d bytes", got, tc.result)
				}
			}
		})
	}
}

func TestCancelJob_HeldTasks_StopsWorkers(t *testing.T) {
	l := newWorkLog(t)
	j := l.submit("j", tasks("a", "b", "c"))
	token, task := l.takeTask("w")
	other, _ := l.takeTask("x")
	unchanged[fsm.JobResult](l, fsm.CancelJob{Job: j.Number, Term: l.term - 1, Cause: work.CancelTimeout})
	r := applyOne[fsm.JobResult](l, fsm.CancelJob{Job: j.Number, Cause: work.CancelRequested, Author: "ann", Reason: "wrong", At: at(9)})
	if !r.Applied || r.Job.State != work.Cancelled || r.Job.Finished() || l.state().Work("s").Waiting != 0 {
		t.Fatalf("CancelJob: got %+v, want a cancelled job with held tasks", r)
	}
	if p := l.state().Permit(token); p.Stop != semaphore.StopTaskCancelled || p.StopOrder().Reason != "wrong" {
		t.Fatalf("permit of the worker = %+v, want it stopped", p)
	}
	restored(t, l.state())
	unchanged[fsm.JobResult](l, fsm.CancelJob{Job: j.Number, Cause: work.CancelRequested})
	unchanged[fsm.JobResult](l, fsm.DeleteJob{Job: j.Number})
	unchanged[fsm.JobResult](l, fsm.DeleteJob{Job: j.Number, Term: l.term})
	l.apply(fsm.Release{Token: token, Job: semaphore.JobCutShort})
	if got := l.job("j").StateOf(l.state().Task(task.Ref)); got != work.TaskCancelled {
		t.Fatalf("state of the returned task = %d, want cancelled", got)
	}
	if r := applyOne[fsm.ReleaseResult](l, fsm.Release{Token: other, Result: []byte("r")}); !r.Recorded {
		t.Fatalf("release of a finished task in the cancelled job: got %+v, want the result recorded", r)
	}
	if j := l.job("j"); !j.Finished() || j.Done != 1 || j.Waiting() != 2 {
		t.Fatalf("job after its last release = %+v, want it finished, with 1 completed task", j)
	}
	l.apply(fsm.DeleteJob{Job: j.Number})
	if l.job("j") != nil || l.state().WorkBytes() != 0 {
		t.Fatal("DeleteJob: the job or its data still exists")
	}
}

func TestJobs_SnapshotAndRestore_Unchanged(t *testing.T) {
	l := newWorkLog(t)
	l.submit("j", tasks("a", "b", "c", "d"), func(c *fsm.SubmitJob) { c.Spec.Labels = semaphore.LabelsOf(map[string]string{"k": "v"}) })
	token, _ := l.takeTask("w")
	l.takeTask("x")
	lost, _ := l.takeTask("y")
	l.apply(fsm.Release{Token: token, Result: []byte("r")}, fsm.Expire{Token: lost, Term: l.term})
	afterRestart := restored(t, l.state()).State()
	equal(t, "job", afterRestart.Job("j"), l.job("j"))
	equal(t, "tasks", slices.Collect(afterRestart.Tasks(l.job("j").Number, 0)), slices.Collect(l.state().Tasks(l.job("j").Number, 0)))
	equal(t, "totals", afterRestart.Work("s"), l.state().Work("s"))
	_, next := afterRestart.NextTask("s")
	if next.Index != 2 || afterRestart.WorkBytes() != l.state().WorkBytes() {
		t.Fatalf("NextTask() after a restart = %+v, want task 2 and the same totals", next)
	}
}

func TestRecovered_TasksOfLostWorkers_AreWaiting(t *testing.T) {
	l := newWorkLog(t)
	l.define("mine")
	submitter := l.grant("mine", "submitter")
	l.submit("j", tasks("a", "b"))
	l.submit("bound", tasks("c"), func(c *fsm.SubmitJob) { c.Submitter = submitter.Token })
	l.submit("last", tasks("d"), func(c *fsm.SubmitJob) { c.Spec.Priority, c.Spec.MaxAttempts = 1, 1 })
	l.takeTask("w")
	l.takeTask("x")
	s := recovered(t, l.state(), recovery())
	if j := s.Job("j"); j.Held != 0 || j.Waiting() != 2 {
		t.Fatalf("recovered job = %+v, want 2 waiting tasks", j)
	}
	if j := s.Job("last"); j.State != work.Ended || j.Failed != 1 || j.EndedAt.IsZero() {
		t.Fatalf("job that lost its last worker = %+v, want it ended with 1 failed task", j)
	}
	if j := s.Job("bound"); j.State != work.Cancelled {
		t.Fatalf("job that lost its submitter = %+v, want it cancelled", j)
	}
	restored(t, s)
}

// If the response to a release is lost, retrying it must not fail a task that an operator has since retried.
func TestChangeTasks_RepeatedFailureAfterRetry_IsIgnored(t *testing.T) {
	l := newWorkLog(t)
	j := l.submit("j", tasks("a"))
	token, _ := l.takeTask("w")
	failed := fsm.Release{Token: token, Job: semaphore.JobFailed, Failure: "f"}
	l.apply(failed)
	l.apply(fsm.ChangeTasks{Job: j.Number})
	restored(t, l.state())
	if r := unchanged[fsm.ReleaseResult](l, failed); !r.Recorded || l.job("j").State != work.Open {
		t.Fatalf("repeated release after the retry: got %+v, want it recorded and the job open", r)
	}
	if _, task := l.takeTask("x"); task.Attempts != 1 {
		t.Fatalf("task handed out after the retry = %+v, want it on its first attempt", task)
	}
}

func TestChangeTasks_MixedStates_ChangesOnlyFailedTasks(t *testing.T) {
	l := newWorkLog(t)
	j := l.submit("j", tasks("done", "dropped", "failed", "held", "waiting"))
	var tokens []uint64
	for _, holder := range []string{"a", "b", "c", "d"} {
		token, _ := l.takeTask(holder)
		tokens = append(tokens, token)
	}
	l.apply(fsm.Release{Token: tokens[0], Result: []byte("r")}, fsm.Release{Token: tokens[1], Job: semaphore.JobFailed, Failure: "f"})
	l.apply(fsm.ChangeTasks{Job: j.Number, Drop: true})
	l.apply(fsm.Release{Token: tokens[2], Job: semaphore.JobFailed, Failure: "f"})
	for _, drop := range []bool{false, true} {
		unchanged[fsm.JobResult](l, fsm.ChangeTasks{Job: j.Number, Indexes: []uint32{0, 1, 3, 4}, Drop: drop})
	}
	if r := applyOne[fsm.JobResult](l, fsm.ChangeTasks{Job: j.Number}); r.Tasks != 1 || r.Job.Returned != 1 || r.Job.Done != 1 || r.Job.Dropped != 1 {
		t.Fatalf("retry of all failed tasks: got %+v, want 1 changed task", r)
	}
	if _, task := l.takeTask("e"); string(task.Payload) != "failed" {
		t.Fatalf("task handed out after the retry = %+v, want the failed one", task)
	}
}

// A failed task no longer reserves space for its result, so retrying it must reserve the space again.
func TestChangeTasks_RetryAboveLimit_ReportsLimit(t *testing.T) {
	l := newWorkLog(t)
	j := l.submit("j", tasks("a"), func(c *fsm.SubmitJob) { c.Spec.MaxResult = 1000 })
	token, _ := l.takeTask("w")
	l.apply(fsm.Release{Token: token, Job: semaphore.JobFailed, Failure: "f"})
	settings := l.state().Settings()
	settings.Work.SemaphoreBytes = l.state().WorkBytes() + 998
	l.apply(fsm.Configure{Settings: settings})
	if r := unchanged[fsm.JobResult](l, fsm.ChangeTasks{Job: j.Number}); r.Applied || r.Limit == nil || r.Limit.Limit != "max_semaphore_work_bytes" {
		t.Fatalf("retry above the limit: got %+v, want max_semaphore_work_bytes", r)
	}
	settings.Work.SemaphoreBytes++
	l.apply(fsm.Configure{Settings: settings})
	if r := applyOne[fsm.JobResult](l, fsm.ChangeTasks{Job: j.Number}); !r.Applied || l.state().WorkBytes() != settings.Work.SemaphoreBytes {
		t.Fatalf("retry at the limit: got %+v, want it applied", r)
	}
}

// If the response to a ChangeTasks is lost, retrying it must not retry or drop tasks that have failed since.
func TestChangeTasks_RepeatWithAsOf_ChangesNothing(t *testing.T) {
	for _, drop := range []bool{false, true} {
		l := newWorkLog(t)
		j := l.submit("j", tasks("a", "b"))
		fail := func() {
			token, _ := l.takeTask("w")
			l.apply(fsm.Release{Token: token, Job: semaphore.JobFailed, Failure: "f"})
		}
		fail()
		change := fsm.ChangeTasks{Job: j.Number, Drop: drop, AsOf: l.job("j").Revision}
		if r := applyOne[fsm.JobResult](l, change); r.Tasks != 1 {
			t.Fatalf("drop = %v: got %+v, want 1 changed task", drop, r)
		}
		fail()
		unchanged[fsm.JobResult](l, change)
		change.Indexes = []uint32{0, 1}
		unchanged[fsm.JobResult](l, change)
		if change.AsOf = 0; applyOne[fsm.JobResult](l, change).Tasks != 1 {
			t.Fatalf("drop = %v: ChangeTasks without AsOf did not change the second failed task", drop)
		}
	}
}

func TestChangeTasks_RetryAfterSubmitterEnded_KeepsJob(t *testing.T) {
	l := newWorkLog(t)
	l.define("mine")
	p := l.grant("mine", "submitter")
	j := l.submit("j", tasks("a"), func(c *fsm.SubmitJob) { c.Submitter = p.Token })
	token, _ := l.takeTask("w")
	l.apply(fsm.Release{Token: token, Job: semaphore.JobFailed, Failure: "f"}, fsm.Release{Token: p.Token})
	if r := applyOne[fsm.JobResult](l, fsm.ChangeTasks{Job: j.Number}); r.Job.State != work.Open || r.Job.Submitter != 0 {
		t.Fatalf("retry: job = %+v, want it open and without a submitter", r.Job)
	}
	restored(t, l.state())
}

func TestRecovered_WithoutPermits_SettlesTasksAndCancelsJobs(t *testing.T) {
	l := newWorkLog(t)
	l.define("mine")
	p := l.grant("mine", "submitter")
	l.submit("kept", tasks("a"))
	l.submit("bound", tasks("b"), func(c *fsm.SubmitJob) { c.Submitter = p.Token })
	l.takeTask("w")
	afterRecovery := recovered(t, l.state(), recovery())
	if _, next := afterRecovery.NextTask("s"); next == nil || next.Attempts != 1 || afterRecovery.Work("s").Held != 0 {
		t.Fatalf("task of a lost worker = %+v, want it waiting after 1 attempt", next)
	}
	if j := afterRecovery.Job("bound"); j.State != work.Cancelled || j.Cancel.Cause != work.CancelSubmitterGone {
		t.Fatalf("job of a lost submitter = %+v, want it cancelled", j)
	}
}

func TestRestore_InconsistentJobs_AreRefused(t *testing.T) {
	job := func(r []*logv1.Record, id string) *logv1.StoredJob {
		return r[slices.IndexFunc(r, func(r *logv1.Record) bool { return r.GetJob().GetSpec().GetId() == id })].GetJob()
	}
	task := func(r []*logv1.Record, state work.TaskState) *logv1.StoredTask {
		return r[slices.IndexFunc(r, func(r *logv1.Record) bool { return r.GetTask().GetState() == uint32(state) })].GetTask()
	}
	for _, tc := range []struct {
		why    string
		change func(r []*logv1.Record) []*logv1.Record
	}{
		{"a job has no spec", func(r []*logv1.Record) []*logv1.Record { job(r, "open").Spec = nil; return r }},
		{"must be 1 to 256 bytes", func(r []*logv1.Record) []*logv1.Record { job(r, "open").Spec.Id = ""; return r }},
		{"has the same id as another job", func(r []*logv1.Record) []*logv1.Record { job(r, "open").Spec.Id = "ended"; return r }},
		{"a job has revision", func(r []*logv1.Record) []*logv1.Record { job(r, "open").Revision = 1 << 40; return r }},
		{"a submitted job has revision", func(r []*logv1.Record) []*logv1.Record { job(r, "open").Submitted = 0; return r }},
		{"was submitted at revision", func(r []*logv1.Record) []*logv1.Record { job(r, "open").Digest = nil; return r }},
		{"is incomplete but was submitted", func(r []*logv1.Record) []*logv1.Record { job(r, "receiving").Submitted = 1; return r }},
		{"follows job", func(r []*logv1.Record) []*logv1.Record { job(r, "open").Number = 1; return r }},
		{"tasks, but the first", func(r []*logv1.Record) []*logv1.Record { job(r, "open").Fresh = 8; return r }},
		{"unknown job state", func(r []*logv1.Record) []*logv1.Record { job(r, "open").State = 5; return r }},
		{"is not cancelled", func(r []*logv1.Record) []*logv1.Record { job(r, "open").CancelCause = 1; return r }},
		{"unknown cancel cause", func(r []*logv1.Record) []*logv1.Record { job(r, "cancelled").CancelCause = 0; return r }},
		{"is in state 3, but has", func(r []*logv1.Record) []*logv1.Record { job(r, "open").State = uint32(work.Ended); return r }},
		{"is in state 2, but has", func(r []*logv1.Record) []*logv1.Record { job(r, "ended").State = uint32(work.Open); return r }},
		{"was submitted under permit", func(r []*logv1.Record) []*logv1.Record { job(r, "open").Submitter = 1 << 40; return r }},
		{"has the same position in the task order", func(r []*logv1.Record) []*logv1.Record {
			twin := job(r, "receiving")
			twin.State, twin.Digest, twin.Submitted = uint32(work.Open), job(r, "open").GetDigest(), twin.GetNumber()
			job(r, "open").Submitted, job(r, "open").Spec.Priority = twin.GetNumber(), 0
			return r
		}},
		{"but some are missing", func(r []*logv1.Record) []*logv1.Record { job(r, "open").Tasks++; return r }},
		{"unknown task state", func(r []*logv1.Record) []*logv1.Record { task(r, work.Held).State = 6; return r }},
		{"does not exist in job", func(r []*logv1.Record) []*logv1.Record { task(r, work.Held).Ref.Job = 1 << 40; return r }},
		{"is out of order", func(r []*logv1.Record) []*logv1.Record { task(r, work.Dropped).Ref.Index++; return r }},
		{"has a later revision than its job", func(r []*logv1.Record) []*logv1.Record { job(r, "open").Revision = job(r, "open").Number; return r }},
		{"after 0 attempts", func(r []*logv1.Record) []*logv1.Record { task(r, work.Held).Attempts = 0; return r }},
		{"but the job has handed out", func(r []*logv1.Record) []*logv1.Record { task(r, work.Failed).Token = 0; return r }},
		{"has token", func(r []*logv1.Record) []*logv1.Record {
			task(r, work.Failed).Token = task(r, work.Held).GetToken()
			return r
		}},
		{"which does not exist", func(r []*logv1.Record) []*logv1.Record { task(r, work.Done).State = uint32(work.Held); return r }},
		{"data that requires feature level 4", func(r []*logv1.Record) []*logv1.Record { r[0].GetHeader().FeatureLevel = 3; return r }},
	} {
		t.Run(tc.why, func(t *testing.T) {
			records := tc.change(readRecords(t, snapshot(t, workScenario(t).state())))
			err := fsm.New("").Restore(bytes.NewReader(writeRecords(t, records)))
			if !errors.Is(err, fsm.ErrSnapshot) || !strings.Contains(err.Error(), tc.why) {
				t.Fatalf("Restore() = %v, want an error that contains %s", err, tc.why)
			}
		})
	}
}

// After a task fails because its last worker was lost, that worker can no longer report an outcome.
func TestRelease_FailureAfterLastAttemptWasLost_IsNotRecorded(t *testing.T) {
	l := newWorkLog(t)
	l.submit("j", tasks("a"), func(c *fsm.SubmitJob) { c.Spec.MaxAttempts = 1 })
	token, _ := l.takeTask("w")
	l.apply(fsm.Expire{Token: token, Term: l.term})
	r := unchanged[fsm.ReleaseResult](l, fsm.Release{Token: token, Job: semaphore.JobFailed, Failure: "exit code 1", Result: []byte("late")})
	if r.Recorded || r.Task == nil || r.Task.State != work.Failed || len(r.Task.Result) > 0 {
		t.Fatalf("late release: recorded = %v, task = %+v, want nothing recorded and a failed task", r.Recorded, r.Task)
	}
}

func TestChangeTasks_RetryWhileSubmitterPermitCools_KeepsJob(t *testing.T) {
	l := newWorkLog(t)
	l.define("mine")
	p := l.grant("mine", "submitter")
	j := l.submit("j", tasks("a"), func(c *fsm.SubmitJob) { c.Submitter = p.Token })
	token, _ := l.takeTask("w")
	l.apply(fsm.Release{Token: token, Job: semaphore.JobFailed, Failure: "f"})
	l.apply(fsm.Expire{Token: p.Token, Term: l.term, Cooling: time.Minute})
	if r := applyOne[fsm.JobResult](l, fsm.ChangeTasks{Job: j.Number}); r.Job.State != work.Open || r.Job.Submitter != 0 {
		t.Fatalf("retry: job = %+v, want it open and without a submitter", r.Job)
	}
	restored(t, l.state())
}
