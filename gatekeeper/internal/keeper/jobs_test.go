package keeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// submit submits a job for the semaphore "job", with one task for each payload.
func (w *world) submit(id string, change func(*fsm.SubmitJob), payloads ...string) *work.Job {
	w.t.Helper()
	cmd := fsm.SubmitJob{Spec: &work.Spec{ID: id, Semaphore: "job", MaxResult: 8, MaxAttempts: 2}, Digest: strings.Repeat("d", 32)}
	for _, p := range payloads {
		cmd.Tasks = append(cmd.Tasks, []byte(p))
	}
	if change != nil {
		change(&cmd)
	}
	r, err := w.SubmitJob(context.Background(), cmd)
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return r.Job
}

// workerCall returns the call that a stream makes for a worker.
func workerCall(host string) *AcquireCall {
	call := newCall(host, "")
	call.Worker, call.UntilAnswered = true, true
	return call
}

func (tw *testWaiter) wantTask(t *testing.T, payload string) Answer {
	t.Helper()
	a := tw.wantAnswer(t)
	if a.Outcome != semaphore.Granted || a.Task == nil || string(a.Task.Payload) != payload {
		t.Fatalf("Acquire() by the worker = %+v, want task %q", a, payload)
	}
	return a
}

func TestAcquire_IdleWorker_DoesNotBlockCallers(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 1 })
		first, second := w.startAcquire(workerCall("w1")), w.startAcquire(workerCall("w2"))
		time.Sleep(3 * DefaultMaxWait) // virtual: a worker's call has no time limit
		p := w.mustAcquire(newCall("a", "1"))
		caller := w.startAcquire(newCall("b", "2"))
		w.submit("j", nil, "x", "y")
		if !first.isWaiting() || !caller.isWaiting() {
			t.Fatal("a waiter was granted the permit that another caller holds")
		}
		w.wantDenied(newCall("c", "3"), semaphore.NoFreePermit)
		w.release(p.Token)
		a := first.wantTask(t, "x")
		if !second.isWaiting() || !caller.isWaiting() {
			t.Fatal("more than one waiter was granted")
		}
		w.release(a.Permit.Token)
		b := second.wantTask(t, "y") // it joined the queue before the caller
		w.release(b.Permit.Token)
		caller.wantGranted(t)
	})
}

// A worker requests every task under a new holder id, so the permit that it already holds does not block the next one.
func TestExplain_WorkerWithTasks_ExplainsItsNextTask(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 3 })
		w.submit("j", nil, "x", "y")
		slot := workerCall("w1")
		w.startAcquire(slot).wantTask(t, "x")
		wantReason := func(want semaphore.Reason) {
			t.Helper()
			req := slot.Request
			req.Worker = false // an API caller does not set it
			steps, d, _, _, err := w.Explain(context.Background(), &req)
			if err != nil || d.Reason != want || !steps[4].Passed {
				t.Errorf("Explain() = %v, %+v, %v, want %v", d.Reason, steps, err, want)
			}
		}
		wantReason(semaphore.NoReason)
		w.startAcquire(workerCall("w2")).wantTask(t, "y")
		wantReason(semaphore.NoTask)
	})
}

func TestRelease_ByWorker_HandsOverNextTaskInSameEntry(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.submit("j", nil, "x", "y")
		a := w.startAcquire(workerCall("w1")).wantTask(t, "x")
		next := w.startAcquire(workerCall("w2"))
		before := w.machine.State().Index()
		w.release(a.Permit.Token)
		next.wantTask(t, "y")
		if got := w.machine.State().Index(); got != before+1 {
			t.Fatalf("the release and the grant took %d entries, want 1", got-before)
		}
		if j := w.machine.State().Job("j"); j.Done != 1 || j.Held != 1 {
			t.Fatalf("job = %+v, want one task done and one held", j)
		}
	})
}

// The entry that completes a submission grants its first tasks to idle workers, but to no more workers than there are
// tasks.
func TestSubmit_IdleWorkers_GetFirstTasksInCompletingEntry(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 3 })
		p := w.mustAcquire(newCall("a", "1"))
		var workers []*testWaiter
		for i := range 5 {
			workers = append(workers, w.startAcquire(workerCall(fmt.Sprint("w", i))))
		}
		j := w.submit("j", func(cmd *fsm.SubmitJob) { cmd.Digest = "" }, "x")
		if !workers[0].isWaiting() {
			t.Fatal("a worker was given a task from an incomplete job")
		}
		before := w.machine.State().Index()
		r, err := w.SubmitTasks(context.Background(), "j", fsm.SubmitTasks{Job: j.Number, Offset: 1, Digest: strings.Repeat("d", 32)})
		if err != nil || r.Outcome != fsm.SubmitAccepted {
			t.Fatal(r, err)
		}
		synctest.Wait()
		workers[0].wantTask(t, "x")
		w.submit("k", nil, "y", "z")
		workers[1].wantTask(t, "y")
		if got := w.machine.State().Index(); got != before+2 || !workers[2].isWaiting() {
			t.Fatalf("two submissions and two grants took %d entries, want 2; the third worker is waiting: %t, want true", got-before, workers[2].isWaiting())
		}
		w.release(p.Token)
		workers[2].wantTask(t, "z")
		if w.submit("k", nil, "y", "z"); !workers[3].isWaiting() { // a repeated submission adds no tasks
			t.Fatal("a worker was given a task from a repeated submission")
		}
	})
}

func TestAcquire_WorkerLost_TaskIsReassigned(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits, d.Duration = 2, 10*time.Second })
		w.submit("j", nil, "x")
		w.startAcquire(workerCall("w1")).wantTask(t, "x")
		other := w.startAcquire(workerCall("w2"))
		time.Sleep(9 * time.Second)
		if !other.isWaiting() {
			t.Fatal("the task was handed out twice")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if a := other.wantTask(t, "x"); a.Task.Attempts != 2 {
			t.Fatalf("task = %+v, want 2 attempts", a.Task)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if j := w.machine.State().Job("j"); j.State != work.Ended || j.Failed != 1 {
			t.Fatalf("after the last attempt: job = %+v, want ended with one failed task", j)
		}
	})
}

func TestAcquire_WorkerNotAdmitted_IsDenied(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "dr" })
		w.submit("j", nil, "x")
		a, err := w.Acquire(context.Background(), workerCall("w1"), func(Place) error { return nil })
		if err != nil || a.Denial == nil || a.Denial.Decision.Reason != semaphore.GroupMismatch {
			t.Fatalf("Acquire() = %+v, %v; want denied for its group", a, err)
		}
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "prod" })
		w.pause(false, "")
		worker := w.startAcquire(workerCall("w1"))
		if !worker.isWaiting() {
			t.Fatal("a task was handed out while the semaphore was paused")
		}
		w.resume()
		worker.wantTask(t, "x")
	})
}

func TestAcquire_WorkerCordoned_IsDenied(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		waiting := w.startAcquire(workerCall("w1"))
		if _, err := w.Cordon(context.Background(), fsm.SetCordon{ID: "c", GroupPattern: "prod"}, Ending{}); err != nil {
			t.Fatal(err)
		}
		w.submit("j", nil, "x")
		for what, worker := range map[string]*testWaiter{"before the cordon": waiting, "after the cordon": w.startAcquire(workerCall("w2"))} {
			if a := worker.wantAnswer(t); a.Denial == nil || a.Denial.Decision.Reason != semaphore.Cordoned {
				t.Fatalf("Acquire() by the worker that called %s = %+v, want denied as cordoned", what, a)
			}
		}
		if j := w.machine.State().Job("j"); j.Fresh != 0 {
			t.Fatalf("job = %+v, want no tasks handed out", j)
		}
	})
}

func TestAcquire_WorkerCallEnds_LeavesTheQueue(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		gone := w.startAcquire(workerCall("w1"))
		gone.leave(t)
		w.submit("j", nil, "x")
		if n, _ := w.InQueue("job"); n != 0 {
			t.Fatalf("%d calls are in the queue, want 0", n)
		}
		w.mustAcquire(newCall("a", "1"))
	})
}

func TestQueueLength_IdleWorkers_DoNotCount(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.mustAcquire(newCall("a", "1"))
		w.startAcquire(workerCall("w1"))
		w.startAcquire(workerCall("w2"))
		want := func(when string, wants, denied int) {
			t.Helper()
			d := w.wantDenied(newCall("d", "4"), semaphore.NoFreePermit)
			if all, workers := w.InQueue("job"); w.QueueLength("job") != wants || w.WaiterCount() != wants || d.QueueLength != denied || all < 2 || workers != 2 {
				t.Fatalf("%s: QueueLength() = %d, WaiterCount() = %d, want %d; denial.QueueLength = %d, want %d; InQueue() = %d, %d, want at least 2, 2",
					when, w.QueueLength("job"), w.WaiterCount(), wants, d.QueueLength, denied, all, workers)
			}
		}
		want("two idle workers", 0, 0)
		b := w.startAcquire(newCall("b", "2"))
		if len(b.places) != 1 || b.places[0].Place != 1 || b.places[0].QueueLength != 1 {
			t.Fatalf("places behind idle workers = %+v, want only place 1 of 1", b.places)
		}
		want("idle workers and a caller", 1, 1)
		w.submit("j", nil, "x")
		want("one task for the workers", 2, 2)
	})
}

func TestCancelJob_HolderMustStop(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.submit("j", nil, "x", "y")
		a := w.startAcquire(workerCall("w1")).wantTask(t, "x")
		if _, err := w.CancelJob(context.Background(), "j", 0, "ann", "wrong input"); err != nil {
			t.Fatal(err)
		}
		if r := w.refreshOne(a.Permit.Token); r.Status != StatusStopping || r.Stop != semaphore.StopTaskCancelled || !strings.Contains(r.Message, "wrong input") {
			t.Fatalf("refresh = %+v, want stopping because the job was cancelled", r)
		}
		w.release(a.Permit.Token)
		if waiting := w.startAcquire(workerCall("w2")); !waiting.isWaiting() {
			t.Fatal("a task from a cancelled job was handed out")
		}
	})
}

func TestCancelAndDelete_EarlierSubmission_ChangeNothing(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		ctx := context.Background()
		w.define("job", nil)
		w.submit("j", nil, "x")
		seen := w.machine.State().Job("j").Submitted
		if _, err := w.CancelJob(ctx, "j", seen, "ann", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := w.DeleteJob(ctx, "j", seen); err != nil {
			t.Fatal(err)
		}
		w.submit("j", nil, "y")
		before := w.machine.State().Revision()
		_, cancelled := w.CancelJob(ctx, "j", seen, "ann", "")
		_, deleted := w.DeleteJob(ctx, "j", seen)
		for _, err := range []error{cancelled, deleted} {
			if _, none := errors.AsType[*NoSuchJobError](err); !none {
				t.Errorf("got %v, want a NoSuchJobError", err)
			}
		}
		if s := w.machine.State(); s.Job("j").State != work.Open || s.Revision() != before {
			t.Error("a call for the earlier submission changed the new job with the same id")
		}
	})
}

func TestTimers_LeaderChange_RestartsJobTimers(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.submit("late", func(c *fsm.SubmitJob) { c.Spec.Timeout = time.Minute }, "x")
		w.submit("cut", func(c *fsm.SubmitJob) { c.Digest = "" }, "x")
		w.submit("old", func(c *fsm.SubmitJob) { c.Spec.Retention = time.Hour }, "x")
		if _, err := w.CancelJob(context.Background(), "old", 0, "ann", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second)
		w.demote()
		w.promote(2) // restarts both timers
		time.Sleep(59 * time.Second)
		if s := w.machine.State(); s.Job("late").State != work.Open || s.Job("cut") == nil {
			t.Fatal("the leader change did not restart the timers")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		s := w.machine.State()
		if j := s.Job("late"); j.State != work.Cancelled || j.Cancel.Cause != work.CancelTimeout {
			t.Fatalf("job = %+v, want it cancelled by its timeout", j)
		}
		if s.Job("cut") != nil {
			t.Fatal("the incomplete submission was kept")
		}
		if s.Job("old") == nil {
			t.Fatal("the old job was removed too early")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if w.machine.State().Job("old") != nil {
			t.Fatal("the old job was not removed")
		}
	})
}

// A retry restarts the job's timeout: the time since the job ended does not count.
func TestTimers_JobRetried_RestartsTimeout(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.submit("j", func(c *fsm.SubmitJob) { c.Spec.Timeout = time.Hour }, "x")
		end := fsm.Release{Token: w.startAcquire(workerCall("w")).wantAnswer(t).Permit.Token, Job: semaphore.JobFailed, Failure: "f"}
		if _, err := w.Release(context.Background(), end, semaphore.Owner{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Minute)
		if _, err := w.ChangeTasks(context.Background(), "j", fsm.ChangeTasks{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		if j := w.machine.State().Job("j"); j.State != work.Open {
			t.Fatalf("job = %+v, want it open", j)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if j := w.machine.State().Job("j"); j.State != work.Cancelled {
			t.Fatalf("job = %+v, want it cancelled", j)
		}
	})
}

// An incomplete submission is dropped even if its submitter has reacquired its permit.
func TestTimers_SubmitterSuperseded_DropsIncompleteSubmission(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.define("mine", nil)
		call := newCallFor("mine", "submitter", "1")
		p := w.mustAcquire(call)
		w.submit("j", func(c *fsm.SubmitJob) { c.Submitter, c.Digest = p.Token, "" }, "x")
		again := w.mustReacquire(newCallFor("mine", "submitter", "2"), p.Token)
		if j := w.machine.State().Job("j"); j.Submitter != again.Token {
			t.Fatalf("job = %+v, want Submitter = %d", j, again.Token)
		}
		for range 4 { // keep its permit alive
			time.Sleep(20 * time.Second)
			w.wantStatus(again.Token, StatusRefreshed)
		}
		if w.machine.State().Job("j") != nil {
			t.Fatal("the incomplete submission was kept")
		}
	})
}

func TestTimers_Retention_StartsWhenJobEnds(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.submit("j", func(c *fsm.SubmitJob) { c.Spec.Retention = time.Hour }, "x")
		time.Sleep(2 * time.Hour)
		w.release(w.startAcquire(workerCall("w1")).wantTask(t, "x").Permit.Token)
		time.Sleep(59 * time.Minute)
		w.demote()
		w.promote(2) // the retention does not restart
		synctest.Wait()
		if w.machine.State().Job("j") == nil {
			t.Fatal("the job was removed too early")
		}
		time.Sleep(time.Minute + 10*time.Second)
		synctest.Wait()
		if w.machine.State().Job("j") != nil {
			t.Fatal("the job was not removed")
		}
	})
}

func TestTimers_JobRemoved_RemovesItsSemaphore(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.define("mine", func(d *semaphore.Definition) { d.Labels = semaphore.LabelsOf(map[string]string{work.OwnLabel: "j"}) })
		call := newCall("submitter", "1")
		call.Semaphore = "mine"
		p := w.mustAcquire(call)
		w.submit("j", func(c *fsm.SubmitJob) { c.Submitter, c.Spec.Own = p.Token, "mine" }, "x")
		a := w.startAcquire(workerCall("w1")).wantTask(t, "x")
		w.release(a.Permit.Token)
		time.Sleep(time.Second)
		synctest.Wait()
		if w.machine.State().Definition("mine") != nil {
			t.Fatal("the semaphore still exists")
		}
	})
}

func TestTimers_JobCancelledWithoutTimestamp_IsKept(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.define("mine", nil)
		call := newCall("submitter", "1")
		call.Semaphore = "mine"
		p := w.mustAcquire(call)
		w.submit("j", func(c *fsm.SubmitJob) { c.Submitter, c.Spec.Retention = p.Token, time.Hour }, "x")
		if _, err := w.Cancel(context.Background(), "mine", p.Identity, "1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		if j := w.machine.State().Job("j"); j == nil || j.State != work.Cancelled {
			t.Fatalf("job = %+v, want it cancelled and kept", j)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if w.machine.State().Job("j") != nil {
			t.Fatal("the job was not removed")
		}
	})
}

func TestTimers_JobRetriedAfterTimeout_RestartsTimeout(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.submit("j", func(c *fsm.SubmitJob) { c.Spec.Timeout = time.Minute }, "x")
		w.demote()
		w.promote(2)
		a := w.startAcquire(workerCall("w1")).wantTask(t, "x")
		failed := fsm.Release{Token: a.Permit.Token, Job: semaphore.JobFailed, Failure: "f"}
		if _, err := w.Release(context.Background(), failed, semaphore.Owner{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := w.ChangeTasks(context.Background(), "j", fsm.ChangeTasks{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if j := w.machine.State().Job("j"); j.State != work.Open {
			t.Fatalf("job = %+v, want it open", j)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if j := w.machine.State().Job("j"); j.State != work.Cancelled {
			t.Fatalf("job = %+v, want it cancelled", j)
		}
	})
}

func TestAcquire_BehindWorkerWithoutTask_IsGranted(t *testing.T) {
	for name, gone := range map[string]func(w *world, lost uint64) error{
		"cancelled": func(w *world, _ uint64) error {
			_, err := w.CancelJob(context.Background(), "j", 0, "ann", "wrong input")
			return err
		},
		"finished by the lost worker": func(w *world, lost uint64) error {
			_, err := w.Release(context.Background(), fsm.Release{Token: lost, Result: []byte("late")}, semaphore.Owner{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			inUpgradedWorld(t, func(w *world) {
				w.define("job", func(d *semaphore.Definition) { d.Permits, d.Duration = 2, 10*time.Second })
				w.submit("j", nil, "x")
				lost := w.startAcquire(workerCall("w1")).wantTask(t, "x")
				time.Sleep(20 * time.Second)
				w.mustAcquire(newCall("a", "1"))
				heavy := workerCall("w2")
				heavy.Weight = 2
				worker := w.startAcquire(heavy)
				caller := w.startAcquire(newCall("b", "2"))
				if !worker.isWaiting() || !caller.isWaiting() {
					t.Fatal("a caller overtook the worker, which is waiting for two permits")
				}
				if err := gone(w, lost.Permit.Token); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				caller.wantGranted(t)
				if !worker.isWaiting() {
					t.Fatal("the worker is not waiting for the next task")
				}
			})
		})
	}
}

func TestChangeTasks_ManyTasks_IsSplit(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.submit("j", nil, "a", "b", "c", "d", "e", "f")
		for n := range 6 {
			end := fsm.Release{Token: w.startAcquire(workerCall("w")).wantAnswer(t).Permit.Token, Job: semaphore.JobFailed, Failure: "f"}
			if n == 2 {
				end.Job, end.Failure = semaphore.JobDone, ""
			}
			if _, err := w.Release(context.Background(), end, semaphore.Owner{}); err != nil {
				t.Fatal(err)
			}
		}
		s := w.machine.State()
		for _, tc := range []struct {
			limit   int
			indexes []uint32
			want    [][]uint32
		}{
			{5, nil, [][]uint32{nil}}, {4, nil, [][]uint32{{0, 1, 3, 4}, {5}}}, {2, nil, [][]uint32{{0, 1}, {3, 4}, {5}}},
			{2, []uint32{5, 1}, [][]uint32{{5, 1}}}, {1, []uint32{5, 1}, [][]uint32{{5}, {1}}},
		} {
			if diff := cmp.Diff(tc.want, taskBatches(s, s.Job("j"), tc.indexes, tc.limit)); diff != "" {
				t.Errorf("taskBatches(%v, %d) mismatch (-want +got):\n%s", tc.indexes, tc.limit, diff)
			}
		}
		r, err := w.ChangeTasks(context.Background(), "j", fsm.ChangeTasks{})
		if err != nil || !r.Applied || r.Tasks != 5 || r.Job.Returned != 5 {
			t.Errorf("ChangeTasks() = %+v, %v; want all 5 failed tasks retried", r, err)
		}
	})
}

// A waiter that is woken just as leadership ends may find that it has lost its place. A call that is never retried must
// then fail instead of being asked to retry. Which of the two events a waiter sees first is random, so the test uses
// many waiters.
func TestAcquire_UntilAnsweredAndLeadershipLost_ReturnsError(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		const rounds, workers = 20, 200
		others := 0
		for range rounds {
			failed := make(chan error, workers)
			for i := range workers {
				go func() {
					_, err := w.Acquire(context.Background(), workerCall(fmt.Sprint("w", i)), func(Place) error { return nil })
					failed <- err
				}()
			}
			synctest.Wait()
			w.notifyMoved(map[string]struct{}{"job": {}})
			w.demote()
			synctest.Wait()
			for range workers {
				if err := <-failed; !errors.As(err, new(*consensus.NotLeaderError)) {
					others++
				}
			}
			w.promote(w.term + 1)
		}
		if others > 0 {
			t.Errorf("%d of %d calls did not return NotLeaderError", others, rounds*workers)
		}
	})
}
