package work_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// collectReports returns a channel that receives the worker's reports.
func collectReports(w *work.Worker) <-chan work.Report {
	reports := make(chan work.Report, 100)
	w.Ended = func(_ context.Context, r work.Report) { reports <- r }
	return reports
}

// If the stream that delivered a task breaks, the worker reports the task's outcome in a separate call and receives its
// next task on a new stream.
func TestRun_StreamBreaksBeforeTaskEnds_OutcomeIsStillRecorded(t *testing.T) {
	t.Parallel()
	for name, disrupt := range map[string]func(s *fixture, c *client.Client){
		"connection lost": func(s *fixture, c *client.Client) { s.srv.Disconnect(s.T, c) },
		"server restarted": func(s *fixture, _ *client.Client) {
			s.srv.Stop(s.T)
			s.srv.Advance(s.T, time.Second)
			s.srv.Restart(s.T)
		},
		"server down when the task ends": func(s *fixture, _ *client.Client) {
			s.srv.Stop(s.T)
			s.srv.Advance(s.T, 4*time.Second)
			s.srv.Restart(s.T)
		},
		"network partition": func(s *fixture, c *client.Client) {
			s.srv.Partition(s.T, c)
			s.srv.Advance(s.T, 4*time.Second)
			s.srv.Heal(s.T, c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withFixture(t, func(s *fixture) {
				var executed atomic.Int64
				w := work.Worker{Handle: func(ctx context.Context, t *work.Task) ([]byte, error) {
					executed.Add(1)
					select {
					case <-time.After(3 * time.Second):
						return square(ctx, t)
					case <-ctx.Done():
						return nil, context.Cause(ctx)
					}
				}}
				reports := collectReports(&w)
				c, _ := s.worker("w", w)
				id := s.submit(work.Job{}, 2).ID
				s.srv.Advance(s.T, time.Second)
				disrupt(s, c)
				if got := s.results(id); got[0] != "0" || got[1] != "1" {
					s.Errorf("results = %v, want [0 1]", got)
				}
				for range 2 {
					if r := <-reports; r.Unrecorded != nil || r.Err != nil {
						s.Errorf("report = %+v, want a recorded outcome and no error", r)
					}
				}
				if executed.Load() != 2 {
					s.Errorf("got %d executions, want 2", executed.Load())
				}
			})
		})
	}
}

func TestRun_TaskFailsWithRetryFailed_IsRetriedUpToMaxAttempts(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		w := work.Worker{Handle: func(_ context.Context, t *work.Task) ([]byte, error) {
			if t.Index() == 0 && t.Attempt() == 2 {
				return []byte(t.LastFailure()), nil
			}
			return []byte("partial"), errors.New("broken on attempt " + strconv.Itoa(t.Attempt()))
		}}
		reports := collectReports(&w)
		s.worker("w", w)
		id := s.submit(work.Job{RetryFailed: true, MaxAttempts: 3}, 2).ID
		got := s.results(id)
		if want := "task 1 of job " + id + ": the task failed on attempt 3: broken on attempt 3"; got[0] != "broken on attempt 1" || got[1] != want {
			s.Errorf("results = %q, want [\"broken on attempt 1\" %q]", got, want)
		}
		for range 5 {
			if r := <-reports; r.Unrecorded != nil {
				s.Errorf("report = %+v, want a recorded outcome", r)
			}
		}
		if task := s.srv.Tasks(s.T, id)[1]; string(task.GetResult()) != "partial" || task.GetAttempts() != 3 {
			s.Errorf("task = %v, want a partial result and 3 attempts", task)
		}
	})
}

func TestRun_HandlePanicsOrExits_TaskFailsAndWorkerContinues(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		w := work.Worker{Handle: func(ctx context.Context, t *work.Task) ([]byte, error) {
			switch t.Index() {
			case 0:
				panic("oh")
			case 1:
				runtime.Goexit()
			}
			return square(ctx, t)
		}}
		reports := collectReports(&w)
		_, stop := s.worker("w", w)
		id := s.submit(work.Job{}, 3).ID
		got := s.results(id)
		for i, want := range []string{
			"task 0 of job " + id + ": the task failed on attempt 1: the task panicked: oh",
			"task 1 of job " + id + ": the task failed on attempt 1: the task called runtime.Goexit",
			"4",
		} {
			if got[i] != want {
				s.Errorf("result = %q, want %q", got[i], want)
			}
		}
		for range 3 {
			if r := <-reports; r.Unrecorded != nil {
				s.Errorf("report = %+v, want a recorded outcome", r)
			}
		}
		stop() // Run must return even after a handler has called Goexit
	})
}

func TestRun_PermitRevoked_TaskIsReturnedAndAttemptIsNotCounted(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		tokens, causes := make(chan uint64, 2), make(chan error, 2)
		s.worker("w", work.Worker{Handle: func(ctx context.Context, t *work.Task) ([]byte, error) {
			tokens <- t.Token()
			select {
			case <-ctx.Done():
				causes <- context.Cause(ctx)
				return nil, ctx.Err()
			case <-time.After(time.Minute):
				return []byte(strconv.Itoa(t.Attempt())), nil
			}
		}})
		id := s.submit(work.Job{}, 1).ID
		first := <-tokens
		s.srv.Revoke(s.T, first, "a test")
		if got := s.results(id); got[0] != "1" {
			s.Errorf("results = %v, want the result of attempt 1", got)
		}
		if cause := <-causes; !errors.Is(cause, client.ErrRevoked) {
			s.Errorf("cause = %v, want ErrRevoked", cause)
		}
		if second := <-tokens; second <= first {
			s.Errorf("second token = %d, want more than %d", second, first)
		}
	})
}

// A partitioned worker must stop its task before its permit expires. Another worker then executes the task, and a late
// result from the first worker is discarded. The first worker continues when the partition heals.
func TestRun_Partitioned_TaskStopsInTimeAndLateResultIsDiscarded(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		var running, peak atomic.Int64
		var firstStarted atomic.Bool
		returned := make(chan struct{})
		handle := func(ctx context.Context, t *work.Task) ([]byte, error) {
			peak.Store(max(peak.Load(), running.Add(1)))
			if firstStarted.Swap(true) { // not the first execution
				defer running.Add(-1)
				return square(ctx, t)
			}
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, client.ErrExpiring) || !t.Permit().Held() {
				s.Errorf("cause = %v, Held() = %v; want ErrExpiring and true", cause, t.Permit().Held())
			}
			running.Add(-1)
			<-returned
			return []byte("late"), nil // after the permit has expired
		}
		w := work.Worker{Handle: handle}
		reports := collectReports(&w)
		c, _ := s.worker("w1", w)
		id := s.submit(work.Job{}, 1).ID
		s.srv.Advance(s.T, time.Second)
		s.srv.Partition(s.T, c)
		_, stop := s.worker("w2", work.Worker{Handle: handle})
		if got := s.results(id); got[0] != "0" {
			s.Errorf("results = %v, want [0]", got)
		}
		stop()
		s.srv.Heal(s.T, c)
		close(returned)
		if r := <-reports; !errors.As(r.Unrecorded, new(*client.EndedError)) {
			s.Errorf("report = %+v, want an unrecorded outcome with an EndedError", r)
		}
		if task := s.srv.Tasks(s.T, id)[0]; string(task.GetResult()) != "0" || task.GetAttempts() != 2 {
			s.Errorf("task = %v, want the result of attempt 2", task)
		}
		nextID := s.submit(work.Job{}, 1).ID
		if r := <-reports; r.Task.Job() != nextID || r.Unrecorded != nil || r.Err != nil {
			s.Errorf("report = %+v, want a recorded outcome for the second job", r)
		}
		if peak.Load() != 1 {
			s.Errorf("%d executions ran at the same time, want 1", peak.Load())
		}
	})
}

// A worker that receives no response to Release retries it. The retry returns the same response, even if the task has
// changed in the meantime.
func TestRelease_RepeatedAfterTaskChanged_ReturnsSameResponse(t *testing.T) {
	t.Parallel()
	const (
		done   = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE
		failed = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED
	)
	for name, c := range map[string]struct {
		outcome gatekeeperv1.ReleaseOutcome
		failure string
		change  func(s *fixture, id string)
	}{
		"done, then job deleted": {done, "", func(s *fixture, id string) {
			if err := work.Delete(s.Context(), s.c, id); err != nil {
				s.Error(err)
			}
		}},
		"failed, then retried manually": {failed, "f", func(s *fixture, id string) {
			if _, err := work.Retry(s.Context(), s.c, id); err != nil {
				s.Error(err)
			}
		}},
		"failed, then retried manually and held by another worker": {failed, "f", func(s *fixture, id string) {
			if _, err := work.Retry(s.Context(), s.c, id); err != nil {
				s.Error(err)
			}
			s.worker("w2", work.Worker{Handle: func(ctx context.Context, _ *work.Task) ([]byte, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}})
			s.srv.Advance(s.T, time.Second)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withFixture(t, func(s *fixture) {
				tokens := make(chan uint64, 1)
				_, stop := s.worker("w1", work.Worker{Handle: func(_ context.Context, t *work.Task) ([]byte, error) {
					tokens <- t.Token()
					if c.failure != "" {
						return nil, errors.New(c.failure)
					}
					return nil, nil
				}})
				id := s.submit(work.Job{}, 1).ID
				_ = s.results(id)
				stop()
				c.change(s, id)
				r, err := s.c.Permits().Release(s.Context(), &gatekeeperv1.ReleaseRequest{Token: <-tokens, Outcome: c.outcome, Failure: c.failure})
				if err != nil || !r.GetReleased() || !r.GetRecorded() {
					s.Errorf("repeated Release = %v, %v, want released and recorded", r, err)
				}
			})
		})
	}
}

// A lost worker's permit is held for an operator. The worker reports a failure late, the task is handed to another
// worker, and the first worker retries its report.
func TestRelease_PermitHeldForOperator_RepeatedReleaseReportsHowPermitEnded(t *testing.T) {
	t.Parallel()
	withFixture(t, func(s *fixture) {
		s.srv.Edit(s.T, "resize", func(d *gatekeeperv1.Definition) { d.OnExpiry = gatekeeperv1.OnExpiry_ON_EXPIRY_HOLD })
		tokens := make(chan uint64, 2)
		handle := func(ctx context.Context, t *work.Task) ([]byte, error) {
			tokens <- t.Token()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		lost, _ := s.worker("w1", work.Worker{Handle: handle})
		id := s.submit(work.Job{RetryFailed: true}, 1).ID
		first := <-tokens
		s.srv.Crash(s.T, lost)
		s.srv.Await(s.T, "the permit to be held for an operator", func() bool {
			held := s.srv.Holders(s.T, "resize")
			return len(held) == 1 && held[0].GetState() == gatekeeperv1.PermitState_PERMIT_STATE_HELD
		})
		release := func() *gatekeeperv1.ReleaseResponse {
			r, err := s.c.Permits().Release(s.Context(), &gatekeeperv1.ReleaseRequest{
				Token: first, Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED, Failure: "f",
			})
			if err != nil {
				s.Fatal(err)
			}
			r.Revision = 0
			return r
		}
		reported := release()
		if reported.GetReleased() || !reported.GetRecorded() || reported.GetEnded() != gatekeeperv1.PermitEnd_PERMIT_END_EXPIRED {
			s.Errorf("late Release = %v, want recorded and expired", reported)
		}
		if again := release(); !proto.Equal(again, reported) {
			s.Errorf("repeated Release = %v, want %v", again, reported)
		}
		s.worker("w2", work.Worker{Handle: handle})
		if second := <-tokens; second <= first {
			s.Errorf("second token = %d, want more than %d", second, first)
		}
		reported.Recorded = false // the late report is no longer stored
		if again := release(); !proto.Equal(again, reported) {
			s.Errorf("Release after the task was reassigned = %v, want %v", again, reported)
		}
		if _, err := s.c.Permits().Clear(s.Context(), &gatekeeperv1.ClearRequest{Token: first, Author: "op"}); err != nil {
			s.Error(err)
		}
		if again := release(); again.GetReleased() || again.GetRecorded() || again.GetEnded() != gatekeeperv1.PermitEnd_PERMIT_END_CLEARED {
			s.Errorf("Release after Clear = %v, want cleared and not recorded", again)
		}
		if j, err := work.Get(s.Context(), s.c, id); err != nil || j.GetHeld() != 1 {
			s.Errorf("Get = %v, %v, want one held task", j, err)
		}
	})
}
