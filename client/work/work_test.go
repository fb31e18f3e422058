package work_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/work"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture holds a server on virtual time with the semaphore "resize", and a client that submits jobs.
type fixture struct {
	*testing.T
	srv *gktest.Server
	c   *client.Client
}

func withFixture(t *testing.T, test func(s *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		permits := uint32(100)
		srv.Define(t, &gatekeeperv1.Definition{Name: "resize", Permits: &permits, Duration: durationpb.New(10 * time.Second)})
		test(&fixture{t, srv, srv.Dial(t, "submitter")})
	})
}

// worker starts a worker. It returns the worker's client and a function that stops the worker and waits for it to exit.
func (s *fixture) worker(name string, w work.Worker, opts ...client.Option) (c *client.Client, stop func()) {
	s.Helper()
	c = s.srv.Dial(s.T, name, opts...)
	w.Semaphore, w.Logger = c.Semaphore("resize"), slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan error, 1)
	go func() { done <- work.Run(ctx, w) }()
	stopped := false
	stop = func() {
		cancel()
		if !stopped {
			if err := <-done; !errors.Is(err, context.Canceled) && !errors.Is(err, client.ErrClosed) {
				s.Errorf("Run = %v", err)
			}
			stopped = true
		}
	}
	s.Cleanup(stop)
	return c, stop
}

func (s *fixture) submit(job work.Job, n int) *work.Submitted {
	s.Helper()
	job.Semaphore = "resize"
	submitted, err := work.Submit(s.Context(), s.c, job, payloads(n))
	if err != nil {
		s.Fatal(err)
	}
	return submitted
}

func payloads(n int) (all [][]byte) {
	for i := range n {
		all = append(all, []byte(strconv.Itoa(i)))
	}
	return all
}

// results returns the results of a job's tasks in order. For a task without a result, it returns the error text.
func (s *fixture) results(id string) (all []string) {
	s.Helper()
	for t, err := range work.Results(s.Context(), s.c, id) {
		if err != nil {
			s.Fatal(err)
		}
		result, err := work.Result(id, t)
		if err != nil {
			result = []byte(err.Error())
		}
		all = append(all, string(result))
	}
	return all
}

func square(_ context.Context, t *work.Task) ([]byte, error) {
	n, err := strconv.Atoi(string(t.Payload()))
	return []byte(strconv.Itoa(n * n)), err
}

func TestRun_TwoWorkers_ExecuteEachTaskOnceWithResultsInOrder(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		var executed atomic.Int64
		handle := func(ctx context.Context, t *work.Task) ([]byte, error) {
			executed.Add(1)
			return square(ctx, t)
		}
		s.worker("w1", work.Worker{Handle: handle, Parallel: 4})
		s.worker("w2", work.Worker{Handle: handle, Parallel: 4})
		got := s.results(s.submit(work.Job{}, 200).ID)
		if len(got) != 200 || executed.Load() != 200 {
			s.Fatalf("got %d results and %d executions, want 200 of each", len(got), executed.Load())
		}
		for i, r := range got {
			if r != strconv.Itoa(i*i) {
				s.Fatalf("result of task %d = %s, want %d", i, r, i*i)
			}
		}
	})
}

func TestSubmit_Repeated_ReturnsSameJob(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		first := s.submit(work.Job{ID: "j"}, 3)
		if again := s.submit(work.Job{ID: "j"}, 3); first.Repeated || !again.Repeated {
			s.Errorf("Repeated = %v, then %v, want false, then true", first.Repeated, again.Repeated)
		}
		_, err := work.Submit(s.Context(), s.c, work.Job{ID: "j", Semaphore: "resize"}, payloads(4))
		if differs, ok := errors.AsType[*client.JobDiffersError](err); !ok || differs.ID != "j" {
			s.Errorf("Submit with different content = %v, want a JobDiffersError", err)
		}
	})
}

func TestSubmit_BadInput_ReturnsTypedError(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		submit := func(job work.Job, payloads ...[]byte) error {
			_, err := work.Submit(s.Context(), s.c, job, payloads)
			return err
		}
		if _, ok := errors.AsType[*client.NoSuchDefinitionError](submit(work.Job{Semaphore: "nothing"}, nil)); !ok {
			s.Error("Submit for an unknown semaphore did not return a NoSuchDefinitionError")
		}
		for _, size := range []int{64<<10 + 1, 513 << 10} {
			limit, ok := errors.AsType[*client.WorkLimitError](submit(work.Job{Semaphore: "resize"}, make([]byte, size)))
			if !ok || limit.Limit != "max_task_bytes" || limit.Needed != uint64(size) {
				s.Errorf("Submit with a payload of %d bytes = %+v, want a WorkLimitError", size, limit)
			}
		}
		if _, ok := errors.AsType[*client.InvalidFieldError](submit(work.Job{Semaphore: "resize"})); !ok {
			s.Error("Submit without tasks did not return an InvalidFieldError")
		}
		broken := errors.New("read error")
		_, err := work.SubmitSeq(s.Context(), s.c, work.Job{ID: "cut", Semaphore: "resize"}, func(yield func([]byte, error) bool) {
			_ = yield(make([]byte, 60<<10), nil) && yield(nil, broken)
		})
		if !errors.Is(err, broken) {
			s.Errorf("SubmitSeq = %v, want %v", err, broken)
		}
		if _, err := work.Get(s.Context(), s.c, "cut"); err == nil {
			synctest.Wait()
			if _, err := work.Get(s.Context(), s.c, "cut"); !errors.As(err, new(*client.NoSuchJobError)) {
				s.Errorf("Get after an aborted submission = %v, want a NoSuchJobError", err)
			}
		}
	})
}

func TestSubmit_LargeJob_IsSentInChunks(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		big := make([][]byte, 100)
		for i := range big {
			big[i] = make([]byte, 60<<10)
		}
		submitted, err := work.Submit(s.Context(), s.c, work.Job{Semaphore: "resize"}, big)
		if err != nil {
			s.Fatal(err)
		}
		s.worker("w", work.Worker{Parallel: 10, Handle: func(_ context.Context, t *work.Task) ([]byte, error) {
			return []byte(strconv.Itoa(len(t.Payload()))), nil
		}})
		for i, r := range s.results(submitted.ID) {
			if r != strconv.Itoa(60<<10) {
				s.Fatalf("result of task %d = %s, want %d", i, r, 60<<10)
			}
		}
	})
}

func TestSubmitAndWait_ReturnsResultOrTaskError(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		s.worker("w", work.Worker{Parallel: 2, Handle: func(ctx context.Context, t *work.Task) ([]byte, error) {
			switch string(t.Payload()) {
			case "panic":
				panic("oh")
			case "large":
				return make([]byte, 2000), nil
			}
			return square(ctx, t)
		}})
		job := work.Job{Semaphore: "resize"}
		if r, err := work.SubmitAndWait(s.Context(), s.c, job, []byte("12")); err != nil || string(r) != "144" {
			s.Errorf("SubmitAndWait = %s, %v, want 144", r, err)
		}
		for payload, failure := range map[string]string{
			"x":     `strconv.Atoi: parsing "x": invalid syntax`,
			"panic": "the task panicked: oh",
			"large": "the result is 2000 bytes, but the job's max_result is 1024",
		} {
			_, err := work.SubmitAndWait(s.Context(), s.c, job, []byte(payload))
			failed, ok := errors.AsType[*work.TaskError](err)
			if !ok || !errors.Is(err, work.ErrFailed) || failed.Failure != failure || failed.Attempts != 1 {
				s.Errorf("SubmitAndWait with payload %s = %v, want a *TaskError with the failure", payload, err)
			}
		}
	})
}

func TestSubmitAndWait_ContextDone_CancelsJob(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		ctx, cancel := context.WithTimeout(s.Context(), time.Second)
		defer cancel()
		_, err := work.SubmitAndWait(ctx, s.c, work.Job{Semaphore: "resize"}, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			s.Error(err)
		}
		for j, err := range work.List(s.Context(), s.c, &gatekeeperv1.ListJobsRequest{}) {
			if err != nil || j.GetState() != gatekeeperv1.JobState_JOB_STATE_CANCELLED {
				s.Errorf("job = %v, %v, want a cancelled job", j, err)
			}
		}
	})
}

func TestRun_WorkerCrashes_AnotherWorkerExecutesTaskWithHigherToken(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		tokens := make(chan uint64, 2)
		handle := func(ctx context.Context, t *work.Task) ([]byte, error) {
			tokens <- t.Token()
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(15 * time.Second):
				return []byte(strconv.Itoa(t.Attempt())), nil
			}
		}
		first, _ := s.worker("w1", work.Worker{Handle: handle})
		id := s.submit(work.Job{}, 1).ID
		one := <-tokens
		s.worker("w2", work.Worker{Handle: handle})
		s.srv.Crash(s.T, first)
		if got := s.results(id); len(got) != 1 || got[0] != "2" {
			s.Errorf("results = %v, want [2]", got)
		}
		if two := <-tokens; two <= one {
			s.Errorf("tokens = %d, %d, want increasing tokens", one, two)
		}
	})
}

func TestRun_Stopped_ReturnsUnfinishedTasksWithoutCountingAttempts(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		taskStarted := make(chan struct{}, 1)
		causes := make(chan error, 1)
		_, stop := s.worker("w1", work.Worker{Handle: func(ctx context.Context, _ *work.Task) ([]byte, error) {
			taskStarted <- struct{}{}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil, ctx.Err()
		}})
		id := s.submit(work.Job{}, 1).ID
		<-taskStarted
		at := time.Now()
		stop()
		if cause := <-causes; !errors.Is(cause, work.ErrWorkerStops) {
			s.Errorf("cause = %v, want ErrWorkerStops", cause)
		}
		s.worker("w2", work.Worker{Handle: func(_ context.Context, t *work.Task) ([]byte, error) {
			return []byte(strconv.Itoa(t.Attempt())), nil
		}})
		if got := s.results(id); got[0] != "1" {
			s.Errorf("the task ended on attempt %s, want 1", got[0])
		}
		if took := time.Since(at); took > 5*time.Second {
			s.Errorf("the second worker finished the task after %s, want at most 5 s", took)
		}
	})
}

// min_hold keeps a stopping worker's slot occupied, but another worker can run its task immediately.
func TestRun_StoppedBeforeMinHold_AnotherWorkerExecutesTask(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		s.srv.Edit(s.T, "resize", func(d *gatekeeperv1.Definition) { d.MinHold = durationpb.New(10 * time.Minute) })
		taskStarted := make(chan struct{}, 1)
		_, stop := s.worker("w1", work.Worker{Handle: func(ctx context.Context, _ *work.Task) ([]byte, error) {
			taskStarted <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		id := s.submit(work.Job{}, 1).ID
		<-taskStarted
		s.worker("w2", work.Worker{Handle: square})
		at := time.Now()
		stop()
		if got := s.results(id); got[0] != "0" {
			s.Errorf("results = %v, want [0]", got)
		}
		if took := time.Since(at); took > 5*time.Second {
			s.Errorf("the second worker finished the task after %s, want at most 5 s", took)
		}
		if held := s.srv.Holders(s.T, "resize"); len(held) != 2 || held[0].GetState() != gatekeeperv1.PermitState_PERMIT_STATE_COOLING {
			s.Errorf("holders = %v, want 2 cooling permits", held)
		}
	})
}

func TestRun_StoppedWithGrace_FinishesRunningTasks(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		taskStarted := make(chan struct{}, 1)
		_, stop := s.worker("w1", work.Worker{Grace: work.GraceUnlimited, Handle: func(ctx context.Context, t *work.Task) ([]byte, error) {
			taskStarted <- struct{}{}
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Minute):
				return []byte("finished"), nil
			}
		}})
		id := s.submit(work.Job{}, 1).ID
		<-taskStarted
		stop()
		if got := s.results(id); got[0] != "finished" {
			s.Errorf("results = %v, want [finished]", got)
		}
	})
}

func TestRun_StreamBreaks_TasksContinueAndNeverExceedParallel(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		var running, peak, executed atomic.Int64
		c, _ := s.worker("w", work.Worker{Parallel: 3, Handle: func(ctx context.Context, t *work.Task) ([]byte, error) {
			executed.Add(1)
			peak.Store(max(peak.Load(), running.Add(1)))
			defer running.Add(-1)
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(20 * time.Second):
				return square(ctx, t)
			}
		}})
		id := s.submit(work.Job{}, 30).ID
		go func() {
			for range 20 {
				time.Sleep(7 * time.Second) //nolint:forbidigo // virtual time
				s.srv.Disconnect(s.T, c)
			}
		}()
		got := s.results(id)
		if len(got) != 30 || got[29] != "841" {
			s.Errorf("results = %v, want the squares of 0 to 29", got)
		}
		if executed.Load() != 30 || peak.Load() > 3 {
			s.Errorf("got %d executions with up to %d in parallel, want 30 with at most 3", executed.Load(), peak.Load())
		}
		s.srv.Advance(s.T, 5*time.Minute)
	})
}

func TestRun_ServerRestarts_NoTaskIsLostOrExecutedTwice(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		var executed atomic.Int64
		s.worker("w", work.Worker{Parallel: 3, Handle: func(ctx context.Context, t *work.Task) ([]byte, error) {
			executed.Add(1)
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(3 * time.Second):
				return square(ctx, t)
			}
		}})
		id := s.submit(work.Job{}, 9).ID
		s.srv.Advance(s.T, 4*time.Second)
		s.srv.Stop(s.T)
		s.srv.Advance(s.T, 2*time.Second)
		s.srv.Restart(s.T)
		if got := s.results(id); len(got) != 9 || got[8] != "64" {
			s.Errorf("results = %v, want the squares of 0 to 8", got)
		}
		if executed.Load() != 9 {
			s.Errorf("got %d executions, want 9", executed.Load())
		}
	})
}

func TestCancel_RunningTask_StopsWithCause(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		taskStarted, causes := make(chan struct{}, 1), make(chan error, 1)
		s.worker("w", work.Worker{Handle: func(ctx context.Context, _ *work.Task) ([]byte, error) {
			taskStarted <- struct{}{}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil, ctx.Err()
		}})
		id := s.submit(work.Job{}, 3).ID
		<-taskStarted
		if _, err := work.Cancel(s.Context(), s.c, id, "not needed"); err != nil {
			s.Fatal(err)
		}
		if cause := <-causes; !errors.Is(cause, client.ErrTaskCancelled) {
			s.Errorf("cause = %v, want ErrTaskCancelled", cause)
		}
		for i, r := range s.results(id) {
			if want := fmt.Sprintf("task %d of job %s: the task was cancelled by submitter: not needed", i, id); r != want {
				s.Errorf("result = %q, want %q", r, want)
			}
		}
	})
}

func TestSubmit_SubmitterCancel_SubmitterDies_CancelsAndCleansUp(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		doomed := s.srv.Dial(s.T, "doomed")
		submitted, err := work.Submit(s.Context(), doomed, work.Job{ID: "j", Semaphore: "resize", OnSubmitterLoss: work.SubmitterCancel}, payloads(2))
		if err != nil {
			s.Fatal(err)
		}
		s.srv.Advance(s.T, 5*time.Minute)
		if j, err := work.Get(s.Context(), s.c, "j"); err != nil || j.GetState() != gatekeeperv1.JobState_JOB_STATE_OPEN {
			s.Fatalf("Get = %v, %v, want an open job", j, err)
		}
		s.srv.Crash(s.T, doomed)
		j, err := work.Wait(s.Context(), s.c, "j")
		if err != nil || j.GetCancelCause() != gatekeeperv1.CancelCause_CANCEL_CAUSE_SUBMITTER_GONE {
			s.Fatalf("Wait = %v, %v, want cancel cause SUBMITTER_GONE", j, err)
		}
		name := submitted.Submitter.Semaphore()
		s.srv.Await(s.T, "the semaphore to be deleted", func() bool {
			_, err := s.c.Definitions().GetDefinition(s.Context(), &gatekeeperv1.GetDefinitionRequest{Name: name})
			return errors.As(err, new(*client.NoSuchDefinitionError))
		})
	})
}

// If the response to a submission is lost, the submitter is expected to retry the call, so its permit must not expire
// before the retry.
func TestSubmit_SubmitterCancel_ResponseLost_RetryContinuesJob(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		job := work.Job{ID: "j", Semaphore: "resize", OnSubmitterLoss: work.SubmitterCancel}
		ctx, cancel := context.WithTimeout(s.Context(), 3*time.Second)
		defer cancel()
		_, err := work.SubmitSeq(ctx, s.c, job, func(yield func([]byte, error) bool) {
			s.srv.SlowDown(s.T, time.Minute, s.c)
			yield([]byte("7"), nil)
		})
		if !errors.Is(err, client.ErrUnavailable) {
			s.Fatalf("SubmitSeq = %v, want ErrUnavailable", err)
		}
		s.srv.SlowDown(s.T, 0, s.c)
		s.srv.Advance(s.T, 2*time.Minute)
		again, err := work.Submit(s.Context(), s.c, job, [][]byte{[]byte("7")})
		if err != nil || again.Job.GetOver() {
			s.Fatalf("repeated Submit = %v, %v, want an unfinished job", again, err)
		}
		s.worker("w", work.Worker{Handle: square})
		if got := s.results("j"); got[0] != "49" {
			s.Errorf("results = %v, want [49]", got)
		}
		s.srv.Await(s.T, "the submitter's semaphore to be deleted and its permit to be released", func() bool {
			_, err := s.c.Definitions().GetDefinition(s.Context(), &gatekeeperv1.GetDefinitionRequest{Name: "submitter/j"})
			return err != nil && len(s.srv.Holders(s.T, "submitter/j")) == 0
		})
	})
}

func TestSubmit_SubmitterCancel_JobEnds_ReleasesSubmitterPermit(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		submitted := s.submit(work.Job{OnSubmitterLoss: work.SubmitterCancel}, 1)
		s.worker("w", work.Worker{Handle: square})
		if got := s.results(submitted.ID); got[0] != "0" {
			s.Errorf("results = %v, want [0]", got)
		}
		s.srv.Advance(s.T, 5*time.Second)
		if held := s.srv.Holders(s.T, submitted.Submitter.Semaphore()); len(held) > 0 {
			s.Errorf("holders of the submitter's semaphore = %v, want none", held)
		}
		if cause := context.Cause(submitted.Submitter.Context()); !errors.Is(cause, client.ErrStopped) {
			s.Errorf("cause = %v, want ErrStopped", cause)
		}
	})
}

func TestFollow_FromRevision_YieldsOnlyLaterChanges(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		id := s.submit(work.Job{}, 4).ID
		gate := make(chan struct{})
		s.worker("w", work.Worker{Handle: func(ctx context.Context, t *work.Task) ([]byte, error) {
			if t.Index() == 2 {
				<-gate
			}
			return square(ctx, t)
		}})
		seen := make(map[uint32]bool)
		var revision uint64
		for change, err := range work.Follow(s.Context(), s.c, id, 0) {
			if err != nil {
				s.Fatal(err)
			}
			for _, t := range change.Returned() {
				seen[t.GetIndex()] = true
			}
			if revision = change.Revision; len(seen) == 2 {
				break
			}
		}
		close(gate)
		ended := false
		for change, err := range work.Follow(s.Context(), s.c, id, revision) {
			if err != nil {
				s.Fatal(err)
			}
			for _, t := range change.Returned() {
				if seen[t.GetIndex()] {
					s.Errorf("task %d was yielded twice", t.GetIndex())
				}
				seen[t.GetIndex()] = true
			}
			ended = change.Ended()
		}
		if len(seen) != 4 || !ended {
			s.Errorf("tasks = %v, ended = %v; want 4 tasks and true", seen, ended)
		}
	})
}

func TestRetryAndDrop_FailedTasks_AreRetriedAndDropped(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		var healthy atomic.Bool
		s.worker("w", work.Worker{Handle: func(ctx context.Context, t *work.Task) ([]byte, error) {
			if !healthy.Load() {
				return nil, errors.New("broken")
			}
			return square(ctx, t)
		}})
		id := s.submit(work.Job{}, 3).ID
		_ = s.results(id)
		healthy.Store(true)
		if n, err := work.Drop(s.Context(), s.c, id, 0); n != 1 || err != nil {
			s.Errorf("Drop = %d, %v, want 1", n, err)
		}
		before, err := work.Get(s.Context(), s.c, id)
		if err != nil {
			s.Fatal(err)
		}
		if n, err := work.Retry(s.Context(), s.c, id); n != 2 || err != nil {
			s.Errorf("Retry = %d, %v, want 2", n, err)
		}
		if r, err := s.c.Work().DropTasks(s.Context(), &gatekeeperv1.DropTasksRequest{Id: id, AsOf: before.GetRevision()}); err != nil || r.GetTasks() != 0 {
			s.Errorf("DropTasks as of an earlier revision = %v, %v, want no tasks", r, err)
		}
		got := s.results(id)
		if want := fmt.Sprintf("task 0 of job %s: the task was dropped: broken", id); got[0] != want || got[1] != "1" || got[2] != "4" {
			s.Errorf("results = %q, want %q, 1 and 4", got, want)
		}
		other := &gatekeeperv1.Job{Spec: before.GetSpec(), SubmittedRevision: before.GetSubmittedRevision() + 1}
		if err := work.DeleteSubmitted(s.Context(), s.c, other); err != nil {
			s.Error(err)
		}
		if _, err := work.Get(s.Context(), s.c, id); err != nil {
			s.Errorf("Get after DeleteSubmitted for a different submission = %v, want nil", err)
		}
		if err := work.Delete(s.Context(), s.c, id); err != nil {
			s.Error(err)
		}
		if err := work.Delete(s.Context(), s.c, id); !errors.As(err, new(*client.NoSuchJobError)) {
			s.Error(err)
		}
	})
}

func TestRun_Paused_CallsDeniedOncePerPauseAndWaits(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		denials := make(chan string, 10)
		s.worker("w", work.Worker{
			Handle: square, Parallel: 3,
			Denied: func(_ context.Context, d *client.DeniedError) { denials <- string(d.Reason) + ": " + d.Message },
		})
		for _, reason := range []string{"night", "noon"} {
			s.srv.Advance(s.T, time.Minute)
			s.srv.Pause(s.T, "resize", reason)
			s.srv.Advance(s.T, time.Minute)
			if got, want := <-denials, `PAUSED: The semaphore "resize" is paused (`+reason+`).`; got != want || len(denials) > 0 {
				s.Errorf("denial = %q, want %q; got %d more denials, want 0", got, want, len(denials))
			}
			id := s.submit(work.Job{}, 1).ID
			s.srv.Advance(s.T, time.Minute)
			s.srv.Resume(s.T, "resize")
			if got := s.results(id); got[0] != "0" || len(denials) > 0 {
				s.Errorf("results = %v, want [0]; got %d more denials, want 0", got, len(denials))
			}
		}
	})
}

func TestRun_Denied_LogsOnceWithExplainCommand(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		log := new(bytes.Buffer)
		s.worker("w", work.Worker{Handle: square, Parallel: 3}, client.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
		s.srv.Advance(s.T, time.Minute)
		check := func(level, reason, text string) {
			s.Helper()
			s.srv.Advance(s.T, time.Minute)
			got := log.String()
			log.Reset()
			explain := `explain="gkctl explain resize --group default --acquirer w"`
			if strings.Count(got, "\n") != 1 || !strings.Contains(got, "level="+level) || !strings.Contains(got, "reason="+reason) ||
				!strings.Contains(got, text) || !strings.Contains(got, explain) {
				s.Errorf("log output:\n%s\nwant one %s line with reason %s, %q and %s", got, level, reason, text, explain)
			}
		}
		s.srv.Pause(s.T, "resize", "night")
		check("INFO", "PAUSED", "is paused (night)")
		s.srv.Resume(s.T, "resize")
		prod := "prod"
		s.srv.Define(s.T, &gatekeeperv1.Definition{Name: "resize", GroupPattern: &prod})
		check("WARN", "GROUP_MISMATCH", "does not match the group pattern")
	})
}

func TestRun_HeldTooLong_TaskFails(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		s.srv.Define(s.T, &gatekeeperv1.Definition{Name: "resize", Duration: durationpb.New(10 * time.Second), MaxHold: durationpb.New(20 * time.Second)})
		s.worker("w", work.Worker{Handle: func(ctx context.Context, _ *work.Task) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		_, err := work.SubmitAndWait(s.Context(), s.c, work.Job{Semaphore: "resize"}, nil)
		if !errors.Is(err, work.ErrFailed) {
			s.Error(err)
		}
	})
}

func TestSubmit_ServerDown_WaitsInBoundedBuffer(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		c := s.srv.Dial(s.T, "eager", client.WithSubmitBuffer(2))
		s.srv.Stop(s.T)
		results := make(chan error, 3)
		submit := func() {
			_, err := work.Submit(s.Context(), c, work.Job{Semaphore: "resize"}, payloads(1))
			results <- err
		}
		go submit()
		go submit()
		s.srv.Advance(s.T, time.Minute)
		go submit()
		full, ok := errors.AsType[*client.SubmitBufferError](<-results)
		if !ok || full.Limit != 2 || !errors.Is(full, client.ErrUnavailable) {
			s.Errorf("third Submit = %v, want a SubmitBufferError", full)
		}
		s.srv.Restart(s.T)
		for range 2 {
			if err := <-results; err != nil {
				s.Error(err)
			}
		}
	})
}

func TestProgress_IsVisibleToOperators(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		gate := make(chan struct{})
		s.worker("w", work.Worker{Handle: func(_ context.Context, t *work.Task) ([]byte, error) {
			t.Progress(0.1, "begun")
			t.Progress(0.5, "half")
			<-gate
			return nil, nil
		}})
		id := s.submit(work.Job{}, 1).ID
		s.srv.Await(s.T, "progress", func() bool {
			workers, err := work.Workers(s.Context(), s.c, "resize")
			if err != nil || len(workers) != 1 || len(workers[0].GetTasks()) != 1 {
				return false
			}
			held := workers[0].GetTasks()[0]
			return held.GetJob() == id && held.GetProgress().GetText() == "half"
		})
		close(gate)
		_ = s.results(id)
	})
}
