package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	doneOutcome   = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE
	failedOutcome = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED
	notRunOutcome = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN
	cutOutcome    = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT
)

// harness is a fake server and a client that logs to a buffer. It records which hooks are called.
type harness struct {
	t        *testing.T
	a        *server
	client   *Client
	log      bytes.Buffer
	called   []string
	report   Report
	overruns []Overrun
}

func newHarness(t *testing.T) *harness {
	w := newCluster(t, "a")
	s := &harness{t: t, a: w.servers["a"]}
	s.client = w.dial([]string{"a"}, WithLogger(slog.New(slog.NewTextHandler(&s.log, nil))))
	s.a.tryAcquire, s.a.release = grants(7, 10*time.Second), releases
	return s
}

func withHarness(t *testing.T, test func(t *testing.T, s *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newHarness(t)) })
}

// runner returns a Runner whose hooks record their calls.
func (s *harness) runner(job func(context.Context) error, opts ...JobOption) *Runner {
	record := func(hook string) { s.called = append(s.called, hook) }
	hooks := Hooks{
		Granted: func(context.Context, *Permit) { record("granted") },
		Waiting: func(_ context.Context, d *DeniedError) { record("waiting " + string(d.Reason)) },
		Denied:  func(_ context.Context, d *DeniedError) { record("denied " + string(d.Reason)) },
		Unavailable: func(_ context.Context, o Outage) {
			record(map[bool]string{true: "unguarded", false: "unavailable"}[o.Unguarded])
		},
		Lost:     func(context.Context, Loss) { record("lost") },
		Overrun:  func(_ context.Context, o Overrun) { record("overrun"); s.overruns = append(s.overruns, o) },
		Finished: func(_ context.Context, r Report) { record("finished"); s.report = r },
	}
	return NewRunner(s.client.Semaphore("export"), job, append([]JobOption{WithHooks(hooks)}, opts...)...)
}

func (s *harness) wantHooks(hooks ...string) {
	s.t.Helper()
	if got, want := strings.Join(s.called, ", "), strings.Join(hooks, ", "); got != want {
		s.t.Errorf("hooks called: %s\nwant: %s", got, want)
	}
}

func (s *harness) wantReleased(outcomes ...gatekeeperv1.ReleaseOutcome) {
	s.t.Helper()
	got := get(s.a, func(s *server) []gatekeeperv1.ReleaseOutcome { return s.outcomes })
	if len(got) != len(outcomes) {
		s.t.Fatalf("release outcomes = %v, want %v", got, outcomes)
	}
	for i := range got {
		if got[i] != outcomes[i] {
			s.t.Errorf("release outcomes = %v, want %v", got, outcomes)
		}
	}
}

// notifyStopping notifies the holder of token 7 that it must stop.
func (s *harness) notifyStopping(cause gatekeeperv1.StopCause) {
	s.a.notify(result(7, gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING, cause, "because"))
}

func denial(reason gatekeeperv1.Reason, retry time.Duration) *gatekeeperv1.TryAcquireResponse {
	d := &gatekeeperv1.Denial{Reason: reason, Message: "no: " + reason.String()}
	if retry > 0 {
		d.RetryAfter = durationpb.New(retry)
	}
	return &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Denial{Denial: d}}
}

func denies(reason gatekeeperv1.Reason) func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
	return func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
		return denial(reason, 0), nil
	}
}

func TestWrap_Granted_RunsUnderThePermitAndReleases(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		type key struct{}
		failed := errors.New("the job failed")
		run := Wrap(s.client.Semaphore("export"), func(ctx context.Context) error {
			if p := PermitOf(ctx); TokenOf(ctx) != 7 || p.Token() != 7 || !p.Held() || ctx.Value(key{}) != "value" {
				t.Errorf("PermitOf() = %v, context value = %v; want a live permit with token 7 and \"value\"", p, ctx.Value(key{}))
			}
			pass(time.Minute)
			return failed
		})
		if err := run(context.WithValue(t.Context(), key{}, "value")); !errors.Is(err, failed) {
			t.Errorf("run() = %v, want the job's error", err)
		}
		s.wantReleased(failedOutcome)
	})
}

func TestRunner_SuccessfulRun_CallsHooks(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		due := time.Date(2026, 3, 29, 2, 30, 0, 0, time.FixedZone("CEST", 7200))
		r := s.runner(func(context.Context) error { pass(3 * time.Second); return nil }, WithFiringName("nightly"))
		if err := r.RunDue(t.Context(), due); err != nil {
			t.Fatal(err)
		}
		s.wantHooks("granted", "finished")
		if r := s.report; !r.Ran || r.Token != 7 || r.Took != 3*time.Second || r.Err != nil || r.Stopped != nil || r.Release != nil || !r.Due.Equal(due) || r.Semaphore != "export" {
			t.Errorf("got report %+v", r)
		}
		firing := get(s.a, func(s *server) *gatekeeperv1.Firing { return s.acquired[0].GetFiring() })
		if firing.GetName() != "nightly" || firing.GetDue().AsTime().Format(time.RFC3339) != "2026-03-29T00:30:00Z" {
			t.Errorf("claimed firing %v, want nightly at 2026-03-29T00:30:00Z", firing)
		}
	})
}

func TestRunner_DeniedUnderDenialSkip_DoesNotRun(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		s.a.tryAcquire = denies(gatekeeperv1.Reason_REASON_PAUSED)
		err := s.runner(func(context.Context) error { t.Error("the job ran"); return nil }).Run(t.Context())
		if d, ok := errors.AsType[*DeniedError](err); !ok || d.Reason != ReasonPaused {
			t.Errorf("Run() = %v, want a denial with ReasonPaused", err)
		}
		s.wantHooks("denied PAUSED")
		s.wantReleased()
	})
}

func TestRunner_FiringClaimedElsewhere_ReturnsNil(t *testing.T) {
	for _, reason := range []gatekeeperv1.Reason{gatekeeperv1.Reason_REASON_FIRING_CLAIMED, gatekeeperv1.Reason_REASON_FIRING_DONE} {
		withHarness(t, func(t *testing.T, s *harness) {
			s.a.tryAcquire = denies(reason)
			if err := s.runner(func(context.Context) error { t.Error("the job ran"); return nil }).RunDue(t.Context(), time.Now()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A forgotten firing may not have run, and a firing too far ahead has not run, so neither counts as having run
// elsewhere.
func TestRunner_FiringForgottenOrTooFarAhead_ReturnsError(t *testing.T) {
	for _, reason := range []gatekeeperv1.Reason{gatekeeperv1.Reason_REASON_FIRING_FORGOTTEN, gatekeeperv1.Reason_REASON_FIRING_TOO_FAR_AHEAD} {
		withHarness(t, func(t *testing.T, s *harness) {
			leader := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			d := &gatekeeperv1.Denial{Reason: reason, Message: "m", LeaderClock: timestamppb.New(leader), CallerClock: timestamppb.New(leader.Add(time.Hour))}
			s.a.tryAcquire = deniesWith(&d)
			err := s.runner(func(context.Context) error { t.Error("the job ran"); return nil }).RunDue(t.Context(), time.Now())
			denied, ok := errors.AsType[*DeniedError](err)
			if !ok || "REASON_"+string(denied.Reason) != reason.String() || !denied.LeaderClock.Equal(leader) || !denied.CallerClock.Equal(leader.Add(time.Hour)) {
				t.Errorf("%v: RunDue() = %v, want a denial with both clocks", reason, err)
			}
			if !strings.Contains(s.log.String(), "the job will not run") {
				t.Errorf("%v: the denial was not logged: %s", reason, s.log.String())
			}
		})
	}
}

func TestRunner_DenialWait_QueuesForTakenPermitAndSkipsOtherDenials(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		s.a.tryAcquire = denies(gatekeeperv1.Reason_REASON_NO_FREE_PERMIT)
		s.a.acquire = func(_ *gatekeeperv1.AcquireRequest, stream gatekeeperv1.PermitService_AcquireServer) error {
			pass(20 * time.Second)
			return stream.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Grant{Grant: grant("export", 7, time.Minute, 20*time.Second)}})
		}
		ran := 0
		r := s.runner(func(context.Context) error { ran++; return nil }, WithDenialPolicy(DenialWait))
		if err := r.Run(t.Context()); err != nil || ran != 1 {
			t.Errorf("Run() = %v, job ran %d times, want once", err, ran)
		}
		s.wantHooks("waiting NO_FREE_PERMIT", "granted", "finished")

		s.called = nil
		s.a.set(func(s *server) { s.tryAcquire = denies(gatekeeperv1.Reason_REASON_CORDONED) })
		if _, ok := errors.AsType[*DeniedError](r.Run(t.Context())); !ok || ran != 1 {
			t.Errorf("job ran %d times, want once and a denial", ran)
		}
		s.wantHooks("denied CORDONED")
	})
}

func TestRunner_WaitLimitExpires_ReturnsDenial(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		s.a.tryAcquire = denies(gatekeeperv1.Reason_REASON_NO_FREE_PERMIT)
		s.a.acquire = func(_ *gatekeeperv1.AcquireRequest, stream gatekeeperv1.PermitService_AcquireServer) error {
			_ = stream.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Place{Place: &gatekeeperv1.Place{Place: 1, QueueLength: 1}}})
			<-stream.Context().Done()
			return stream.Context().Err()
		}
		start := time.Now()
		err := s.runner(func(context.Context) error { t.Error("the job ran"); return nil }, WithDenialPolicy(DenialWait), WithWaitLimit(7*time.Second)).Run(t.Context())
		if d, ok := errors.AsType[*DeniedError](err); !ok || d.Reason != ReasonNoFreePermit || time.Since(start) != 7*time.Second {
			t.Errorf("Run() = %v after %s, want a denial after 7s", err, time.Since(start))
		}
		s.wantHooks("waiting NO_FREE_PERMIT", "denied NO_FREE_PERMIT")
	})
}

// A run waits in the queue until a pause ends. WithOneWaiter limits this to one run per acquirer.
func TestRunner_DenialWait_WaitsUntilThePauseEnds(t *testing.T) {
	for _, opts := range [][]JobOption{{WithDenialPolicy(DenialWait)}, {WithDenialPolicy(DenialWait), WithOneWaiter()}} {
		withHarness(t, func(t *testing.T, s *harness) {
			s.a.tryAcquire = denies(gatekeeperv1.Reason_REASON_PAUSED)
			s.a.acquire = func(q *gatekeeperv1.AcquireRequest, stream gatekeeperv1.PermitService_AcquireServer) error {
				if q.GetOnePerAcquirer() != (len(opts) == 2) {
					t.Errorf("OnePerAcquirer = %t, want %t", q.GetOnePerAcquirer(), len(opts) == 2)
				}
				pass(time.Minute)
				return stream.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Grant{
					Grant: granted("export", 7, 2*time.Hour).GetGrant(),
				}})
			}
			if err := s.runner(func(context.Context) error { return nil }, opts...).Run(t.Context()); err != nil {
				t.Error(err)
			}
			s.wantHooks("waiting PAUSED", "granted", "finished")
		})
	}
}

func TestRunner_RunLate_WaitsOutTemporaryDenials(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		start := time.Now()
		n := 0
		s.a.tryAcquire = func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			switch n++; n {
			case 1:
				return denial(gatekeeperv1.Reason_REASON_STOPPING, 0), nil
			case 2:
				return denial(gatekeeperv1.Reason_REASON_CORDONED, 8*time.Second), nil
			}
			return granted(q.GetSemaphore(), 7, time.Minute), nil
		}
		if err := s.runner(func(context.Context) error { return nil }, WithDenialPolicy(DenialRunLate)).RunDue(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		s.wantHooks("waiting STOPPING", "waiting CORDONED", "granted", "finished")
		if took := time.Since(start); took < 8*time.Second || took > 9*time.Second {
			t.Errorf("RunDue() took %s, want 8s to 9s", took)
		}

		s.called = nil
		s.a.set(func(s *server) { s.tryAcquire = denies(gatekeeperv1.Reason_REASON_FIRING_DONE) })
		if err := s.runner(func(context.Context) error { return nil }, WithDenialPolicy(DenialRunLate)).RunDue(t.Context(), start); err != nil {
			t.Error(err)
		}
		s.wantHooks("denied FIRING_DONE")
	})
}

// A run may block its scheduler while it waits for a firing claimed by another holder, so it must not wait longer than
// necessary.
func TestRunner_RunLate_RetriesWhenClaimEndsAndEveryFewSeconds(t *testing.T) {
	for name, c := range map[string]struct{ left, late time.Duration }{
		"claim ends soon":        {1300 * time.Millisecond, 200 * time.Millisecond},
		"claim ends later":       {time.Minute, time.Second},
		"remaining time unknown": {0, maxClaimedRetry},
		"holder finishes early":  {time.Hour, maxClaimedRetry},
	} {
		t.Run(name, func(t *testing.T) {
			withHarness(t, func(t *testing.T, s *harness) {
				free := time.Now().Add(c.left)
				if c.left == 0 || c.left == time.Hour {
					free = time.Now().Add(10 * time.Minute)
				}
				s.a.tryAcquire = func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
					if !time.Now().Before(free) {
						return granted(q.GetSemaphore(), 7, time.Minute), nil
					}
					return denial(gatekeeperv1.Reason_REASON_FIRING_CLAIMED, min(c.left, time.Until(free))), nil
				}
				if err := s.runner(func(context.Context) error { return nil }, WithDenialPolicy(DenialRunLate)).RunDue(t.Context(), time.Now()); err != nil {
					t.Fatal(err)
				}
				if late := time.Since(free); late > c.late {
					t.Errorf("job ran %s after the firing became free, want at most %s", late, c.late)
				}
				if requests := get(s.a, func(s *server) int { return len(s.acquired) }); requests > 10*60*2/3 {
					t.Errorf("sent %d requests, want at most %d", requests, 10*60*2/3)
				}
			})
		})
	}
}

// A spent firing remains claimed forever. A run that kept retrying would never return, and would block the scheduler's
// next runs of the job.
func TestRunner_RunLate_GivesUpOnSpentFiring(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		answers := []gatekeeperv1.FiringState{gatekeeperv1.FiringState_FIRING_STATE_CLAIMED, gatekeeperv1.FiringState_FIRING_STATE_SPENT}
		s.a.tryAcquire = func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			r := denial(gatekeeperv1.Reason_REASON_FIRING_CLAIMED, 0)
			n := get(s.a, func(s *server) int { return len(s.acquired) })
			r.GetDenial().Firing = &gatekeeperv1.FiringClaim{Token: 3, State: answers[min(n, len(answers))-1]}
			return r, nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := s.runner(func(context.Context) error { t.Error("the job ran"); return nil }, WithDenialPolicy(DenialRunLate)).RunDue(ctx, time.Now()); err != nil {
			t.Error(err)
		}
		if requests := get(s.a, func(s *server) int { return len(s.acquired) }); requests != len(answers) {
			t.Errorf("sent %d requests, want %d", requests, len(answers))
		}
	})
}

func TestRunner_RunLate_GivesUpAtWaitLimitOrWhenContextEnds(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		s.a.tryAcquire = denies(gatekeeperv1.Reason_REASON_CORDONED)
		job := func(context.Context) error { t.Error("the job ran"); return nil }
		start := time.Now()
		if d, ok := errors.AsType[*DeniedError](s.runner(job, WithDenialPolicy(DenialRunLate), WithWaitLimit(time.Minute)).Run(t.Context())); !ok || d.Reason != ReasonCordoned || time.Since(start) != time.Minute {
			t.Errorf("Run() = %v after %s, want a denial after 1m", d, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.runner(job, WithDenialPolicy(DenialRunLate)).Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run() = %v, want DeadlineExceeded", err)
		}
	})
}

func TestRunner_NoServer_FollowsOutagePolicy(t *testing.T) {
	for name, c := range map[string]struct {
		policy OutagePolicy
		hooks  []string
		ran    bool
		token  uint64
		took   time.Duration
	}{
		"skip":      {OutageSkip, []string{"unavailable"}, false, 0, 10 * time.Second},
		"unguarded": {OutageRunUnguarded, []string{"unguarded", "finished"}, true, 0, 10 * time.Second},
		"wait":      {OutageWait, []string{"granted", "finished"}, true, 7, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			withHarness(t, func(t *testing.T, s *harness) {
				s.a.down()
				time.AfterFunc(time.Minute, s.a.up)
				start, ran := time.Now(), false
				err := s.runner(func(ctx context.Context) error {
					ran = true
					if (PermitOf(ctx) == nil) != (c.token == 0) {
						t.Errorf("PermitOf() = %v", PermitOf(ctx))
					}
					return nil
				}, WithOutagePolicy(c.policy)).Run(t.Context())
				if ran != c.ran || (err == nil) != c.ran || !c.ran && !errors.Is(err, ErrUnavailable) {
					t.Errorf("job ran = %t, Run() = %v; want ran = %t", ran, err, c.ran)
				}
				if took := time.Since(start); took < c.took || took > c.took+2*time.Second {
					t.Errorf("Run() took %s, want about %s", took, c.took)
				}
				s.wantHooks(c.hooks...)
				if loud := strings.Contains(s.log.String(), "WITHOUT A PERMIT"); loud != (name == "unguarded") || s.report.Token != c.token {
					t.Errorf("got report %+v, log:\n%s", s.report, s.log.String())
				}
				pass(time.Minute)
			})
		})
	}
}

func TestRunner_PermitStopped_ReleasesAfterTheJobReturns(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		stopped := false
		s.a.set(func(srv *server) {
			srv.release = func(context.Context, *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error) {
				if !stopped {
					t.Error("permit was released while the job was running")
				}
				return &gatekeeperv1.ReleaseResponse{Released: true}, nil
			}
		})
		time.AfterFunc(5*time.Second, func() { s.notifyStopping(gatekeeperv1.StopCause_STOP_CAUSE_DRAINED) })
		err := s.runner(func(ctx context.Context) error {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), ErrMoved) {
				t.Errorf("context cause = %v, want ErrMoved", context.Cause(ctx))
			}
			pass(time.Second) // cleans up
			stopped = true
			return ctx.Err()
		}).Run(t.Context())
		if !errors.Is(err, ErrMoved) || !errors.Is(err, context.Canceled) || errors.Is(err, ErrLost) {
			t.Errorf("Run() = %v, want ErrMoved and context.Canceled, without ErrLost", err)
		}
		s.wantHooks("granted", "lost", "finished")
		s.wantReleased(cutOutcome)
		if !s.report.CutShort || !errors.Is(s.report.Stopped, ErrMoved) {
			t.Errorf("got report %+v, want CutShort and Stopped = ErrMoved", s.report)
		}
	})
}

func TestRunner_FinishesInTimeAfterStopNotice_ReturnsNil(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		time.AfterFunc(5*time.Second, func() { s.notifyStopping(gatekeeperv1.StopCause_STOP_CAUSE_DRAINED) })
		if err := s.runner(func(ctx context.Context) error { <-ctx.Done(); return nil }).Run(t.Context()); err != nil {
			t.Error(err)
		}
		s.wantReleased(doneOutcome) // the job finished despite the notice
	})
}

func TestRunner_JobIgnoresContext_ReportsOverrunAndReleasesAfterReturn(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		start := time.Now()
		time.AfterFunc(time.Second, s.a.down)
		time.AfterFunc(time.Minute, s.a.up)
		err := s.runner(func(context.Context) error { pass(2 * time.Minute); return nil }).Run(t.Context())
		if !errors.Is(err, ErrLost) {
			t.Errorf("Run() = %v, want ErrLost", err)
		}
		s.wantHooks("granted", "lost", "overrun", "finished")
		if len(s.overruns) != 1 || !s.overruns[0].Gone || s.overruns[0].Permit.Token() != 7 || !errors.Is(s.overruns[0].Cause, ErrExpiring) {
			t.Errorf("got overruns %+v, want one with cause ErrExpiring after the permit ended", s.overruns)
		}
		if s.report.Took != time.Since(start) || s.report.Took < 2*time.Minute {
			t.Errorf("got report %+v, want Took to cover the whole run", s.report)
		}
		if !strings.Contains(s.log.String(), "level=ERROR") || !strings.Contains(s.log.String(), "PERMIT IS GONE") {
			t.Errorf("overrun was not logged as an error:\n%s", s.log.String())
		}
		s.wantReleased(doneOutcome)
	})
}

func TestRunner_JobIgnoresNotice_ReportsOverrunWhilePermitIsLive(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		time.AfterFunc(3*time.Second, func() { s.notifyStopping(gatekeeperv1.StopCause_STOP_CAUSE_REVOKED) })
		if err := s.runner(func(context.Context) error { pass(time.Minute); return nil }).Run(t.Context()); err != nil {
			t.Error(err) // the permit was kept alive
		}
		s.wantHooks("granted", "lost", "overrun", "finished")
		if s.overruns[0].Gone || !errors.Is(s.overruns[0].Cause, ErrRevoked) {
			t.Errorf("got overruns %+v, want one with cause ErrRevoked while the permit is live", s.overruns)
		}
	})
}

func TestRunner_CallerContextEnds_ReleasesAfterJobReturns(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		err := s.runner(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }).Run(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run() = %v, want DeadlineExceeded", err)
		}
		s.wantHooks("granted", "finished")
		s.wantReleased(cutOutcome) // the program is shutting down, so firing_on_loss applies
	})
}

func TestRunner_CallerContextEnds_JobFinishes_FiringIsDone(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := s.runner(func(ctx context.Context) error { <-ctx.Done(); return nil }).Run(ctx); err != nil {
			t.Error(err)
		}
		s.wantReleased(doneOutcome)
	})
}

func TestRunner_JobReturnsErrCutShort_FiringIsNotDone(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		err := s.runner(func(context.Context) error { return fmt.Errorf("disk full: %w", ErrCutShort) }).Run(t.Context())
		if !errors.Is(err, ErrCutShort) || !s.report.CutShort {
			t.Errorf("Run() = %v, report %+v, want ErrCutShort", err, s.report)
		}
		s.wantReleased(cutOutcome)
	})
}

func TestRunner_StoppedBeforeStart_FreesTheFiring(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		ctx, cancel := context.WithCancelCause(t.Context())
		shutdown := errors.New("shutting down")
		r := s.runner(func(context.Context) error { t.Error("the job ran"); return nil }, WithHooks(Hooks{Granted: func(context.Context, *Permit) { cancel(shutdown) }}))
		if err := r.RunDue(ctx, time.Now()); !errors.Is(err, shutdown) {
			t.Errorf("RunDue() = %v, want its context's cause", err)
		}
		s.wantReleased(notRunOutcome)
		if s.report.Ran {
			t.Errorf("got report %+v, want Ran = false", s.report)
		}
	})
}

// The timer that ends the context may fire late, by up to a second if the machine was suspended.
func TestRunner_PermitEndsBeforeItsContext_DoesNotStart(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		r := s.runner(func(context.Context) error { t.Error("the job ran"); return nil }, WithHooks(Hooks{Granted: func(_ context.Context, p *Permit) {
			p.renewer.mu.Lock()
			p.belief.deadline = p.renewer.clock.Now()
			p.renewer.mu.Unlock()
		}}))
		if err := r.RunDue(t.Context(), time.Now()); !errors.Is(err, ErrLost) {
			t.Errorf("RunDue() = %v, want ErrLost", err)
		}
		s.wantReleased(notRunOutcome)
	})
}

func TestRunner_JobFails_ReleasesFiringAsFailed(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		failed := errors.New("the job failed")
		if err := s.runner(func(context.Context) error { return failed }).RunDue(t.Context(), time.Now()); !errors.Is(err, failed) {
			t.Errorf("RunDue() = %v, want the job's error", err)
		}
		s.wantReleased(failedOutcome)
	})
}

func TestRunner_JobPanicsAfterNotice_IsCutShort(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		time.AfterFunc(5*time.Second, func() { s.notifyStopping(gatekeeperv1.StopCause_STOP_CAUSE_DRAINED) })
		r := s.runner(func(ctx context.Context) error { <-ctx.Done(); panic("boom") })
		func() {
			defer func() { _ = recover() }()
			_ = r.Run(t.Context())
		}()
		s.wantReleased(cutOutcome)
	})
}

func TestRunner_JobPanics_ReleasesThePermitAndPanicContinues(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		r := s.runner(func(context.Context) error { panic("boom") })
		func() {
			defer func() {
				if v := recover(); v != "boom" {
					t.Errorf("recovered %v, want boom", v)
				}
			}()
			_ = r.Run(t.Context())
		}()
		s.wantHooks("granted", "finished")
		s.wantReleased(failedOutcome)
		if !s.report.Panicked {
			t.Errorf("got report %+v, want Panicked = true", s.report)
		}
	})
}

// The release must be retried past the deadline. Otherwise, the firing of a finished job would be spent or run again.
func TestRunner_FailoverOutlastsDeadline_FiringIsDone(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		time.AfterFunc(17*time.Second, s.a.up)
		err := s.runner(func(context.Context) error { s.a.down(); return nil }).RunDue(t.Context(), time.Now())
		if err != nil || s.report.Release != nil {
			t.Errorf("RunDue() = %v, report %+v, want a successful release", err, s.report)
		}
	})
}

func TestRunner_ReleaseFails_IsBoundedAndReported(t *testing.T) {
	for name, c := range map[string]struct {
		opts []JobOption
		stop time.Duration // until the caller's context ends
		want time.Duration
	}{
		"by permit lifetime":             {nil, time.Hour, 25*time.Second + 200*time.Millisecond},
		"by release limit":               {[]JobOption{WithReleaseLimit(7 * time.Second)}, time.Hour, 7 * time.Second},
		"by outage limit if unguarded":   {[]JobOption{WithOutagePolicy(OutageRunUnguarded), WithOutageLimit(4 * time.Second)}, time.Hour, 4 * time.Second},
		"by release limit if unguarded":  {[]JobOption{WithOutagePolicy(OutageRunUnguarded), WithReleaseLimit(7 * time.Second)}, time.Hour, 7 * time.Second},
		"by caller's context":            {nil, 10 * time.Second, 15 * time.Second},
		"by caller's context that ended": {nil, 0, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			withHarness(t, func(t *testing.T, s *harness) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.stop > 0 {
					defer time.AfterFunc(c.stop, cancel).Stop()
				}
				var start time.Time
				err := s.runner(func(context.Context) error {
					if c.stop == 0 {
						cancel()
					}
					s.a.down()
					start = time.Now()
					return nil
				}, c.opts...).Run(ctx)
				if c.stop > 0 && err != nil || !errors.Is(s.report.Release, ErrUnavailable) || !strings.Contains(s.log.String(), "release") {
					t.Errorf("Run() = %v, report %+v, log:\n%s", err, s.report, s.log.String())
				}
				if took := time.Since(start); took != c.want {
					t.Errorf("release took %s, want %s", took, c.want)
				}
			})
		})
	}
}

func TestRunner_ClientClosedDuringTheRelease_ReturnsImmediately(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		var closed time.Time
		_ = s.runner(func(context.Context) error {
			s.a.down()
			time.AfterFunc(10*time.Second+time.Millisecond, func() { closed = time.Now(); _ = s.client.Close() })
			return nil
		}).Run(t.Context())
		if late := time.Since(closed); s.report.Release == nil || closed.IsZero() || late > 0 {
			t.Errorf("got report %+v %s after the client was closed, want a release error immediately", s.report, late)
		}
	})
}

func TestLoop_RunsRepeatedlyUntilItsContextEnds(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		s.a.acquire = func(_ *gatekeeperv1.AcquireRequest, stream gatekeeperv1.PermitService_AcquireServer) error {
			return stream.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Grant{Grant: grant("export", 9, time.Minute, 0)}})
		}
		runs := 0
		r := s.runner(func(ctx context.Context) error {
			switch runs++; runs {
			case 1:
				s.a.set(func(s *server) { s.tryAcquire = denies(gatekeeperv1.Reason_REASON_NO_FREE_PERMIT) })
				return errors.New("failed once")
			case 2:
				if PermitOf(ctx).Token() != 9 {
					t.Error("run does not hold the permit granted in the queue")
				}
				s.a.set(func(s *server) { s.tryAcquire = denies(gatekeeperv1.Reason_REASON_PAUSED) })
				time.AfterFunc(time.Minute, func() { s.a.set(func(s *server) { s.tryAcquire = grants(10, time.Minute) }) })
				return nil
			}
			cancel(enough)
			return nil
		})
		if err := r.Loop(ctx); !errors.Is(err, enough) || runs != 3 {
			t.Errorf("Loop() = %v after %d runs, want its context's cause after 3", err, runs)
		}
		if !strings.Contains(s.log.String(), "failed once") {
			t.Errorf("job error was not logged:\n%s", s.log.String())
		}
		requests := get(s.a, func(s *server) int { return len(s.acquired) })
		if requests > 20 {
			t.Errorf("sent %d requests, want at most 20", requests)
		}
	})
}

func TestLoop_ClientClosed_Returns(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		r := s.runner(func(ctx context.Context) error { <-ctx.Done(); return nil })
		time.AfterFunc(time.Minute, func() { _ = s.client.Close() })
		if err := r.Loop(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Loop() = %v, want ErrClosed", err)
		}
	})
}

func TestPermitOf_OutsideJob_ReturnsNil(t *testing.T) {
	if p := PermitOf(t.Context()); p != nil || TokenOf(t.Context()) != 0 {
		t.Errorf("PermitOf() = %v, TokenOf() = %d; want nil and 0", p, TokenOf(t.Context()))
	}
}
