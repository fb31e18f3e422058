package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// deniesWith returns a TryAcquire handler that denies with *d, read at the time of the call.
func deniesWith(d **gatekeeperv1.Denial) func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
	return func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
		return &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Denial{Denial: *d}}, nil
	}
}

func TestRunner_PersistentDenial_IsLoggedOncePerCause(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		var d *gatekeeperv1.Denial
		s.a.tryAcquire = deniesWith(&d)
		logged := 0
		// wantLogged runs the job three times, each with a new Runner as in gocron's Locker, and checks how often the
		// denial was logged.
		wantLogged := func(reason gatekeeperv1.Reason, message string, want int) {
			t.Helper()
			d = &gatekeeperv1.Denial{Reason: reason, Message: message}
			for range 3 {
				_ = NewRunner(s.client.Semaphore("export"), untilEnded).Run(t.Context())
			}
			n := strings.Count(s.log.String(), "the job will not run")
			if n-logged != want {
				t.Errorf("%s, %s: the denial was logged %d times, want %d:\n%s", reason, message, n-logged, want, s.log.String())
			}
			logged = n
		}
		wantLogged(gatekeeperv1.Reason_REASON_NO_SUCH_SEMAPHORE, `There is no semaphore "export".`, 1)
		for _, want := range []string{`There is no semaphore \"export\".`, "reason=NO_SUCH_SEMAPHORE", `explain="gkctl explain export --group prod --acquirer app1"`} {
			if !strings.Contains(s.log.String(), want) {
				t.Errorf("the log does not contain %s:\n%s", want, s.log.String())
			}
		}
		wantLogged(gatekeeperv1.Reason_REASON_GROUP_MISMATCH, "it wants a", 1)
		wantLogged(gatekeeperv1.Reason_REASON_GROUP_MISMATCH, "it wants b", 1) // edited, but still denied
		wantLogged(gatekeeperv1.Reason_REASON_ACQUIRER_MISMATCH, "m", 1)
		wantLogged(gatekeeperv1.Reason_REASON_WEIGHT_EXCEEDS_PERMITS, "m", 1)
		wantLogged(gatekeeperv1.Reason_REASON_CORDONED, "m", 1)
		wantLogged(gatekeeperv1.Reason_REASON_HELD_FOR_OPERATOR, "m", 1)
		wantLogged(gatekeeperv1.Reason_REASON_FIRING_TOO_FAR_AHEAD, "it is noon", 1)
		wantLogged(gatekeeperv1.Reason_REASON_FIRING_TOO_FAR_AHEAD, "it is one", 0)
		wantLogged(gatekeeperv1.Reason_REASON_FIRING_FORGOTTEN, "the noon run", 1)
		wantLogged(gatekeeperv1.Reason_REASON_FIRING_FORGOTTEN, "the one o'clock run", 0)
		wantLogged(gatekeeperv1.Reason_REASON_NO_FREE_PERMIT, "m", 0) // temporary
		wantLogged(gatekeeperv1.Reason_REASON_PAUSED, "m", 0)         // intentional
		wantLogged(gatekeeperv1.Reason_REASON_FIRING_DONE, "m", 0)
		wantLogged(gatekeeperv1.Reason_REASON_HELD_FOR_OPERATOR, "m", 1) // the cause changed in between

		s.a.set(func(a *server) { a.tryAcquire = grants(7, 10*time.Second) })
		if err := Wrap(s.client.Semaphore("export"), func(context.Context) error { return nil })(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.a.set(func(a *server) { a.tryAcquire = deniesWith(&d) })
		wantLogged(gatekeeperv1.Reason_REASON_HELD_FOR_OPERATOR, "m", 1) // a run was granted a permit in between
	})
}

func TestRunner_AllPermitsHeldForOperator_LogsDenial(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		d := &gatekeeperv1.Denial{Reason: gatekeeperv1.Reason_REASON_NO_FREE_PERMIT, Holders: []*gatekeeperv1.Permit{{State: gatekeeperv1.PermitState_PERMIT_STATE_HELD}}}
		s.a.tryAcquire = deniesWith(&d)
		_ = NewRunner(s.client.Semaphore("export"), untilEnded).Run(t.Context())
		if !strings.Contains(s.log.String(), "the job will not run") {
			t.Error("the denial was not logged")
		}
	})
}

// A run queued behind a permit held for an operator may wait forever, so this must be logged.
func TestRunner_WaitsForPermitHeldForOperator_LogsOnce(t *testing.T) {
	for name, policy := range map[string]DenialPolicy{"wait": DenialWait, "run late": DenialRunLate} {
		t.Run(name, func(t *testing.T) {
			withHarness(t, func(t *testing.T, s *harness) {
				d := &gatekeeperv1.Denial{
					Reason: gatekeeperv1.Reason_REASON_NO_FREE_PERMIT, Message: `The only permit of semaphore "export" is taken.`,
					Holders: []*gatekeeperv1.Permit{{Token: 7, State: gatekeeperv1.PermitState_PERMIT_STATE_HELD}},
				}
				s.a.tryAcquire = deniesWith(&d)
				s.a.acquire = func(_ *gatekeeperv1.AcquireRequest, stream gatekeeperv1.PermitService_AcquireServer) error {
					<-stream.Context().Done()
					return stream.Context().Err()
				}
				for range 2 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					_ = NewRunner(s.client.Semaphore("export"), untilEnded, WithDenialPolicy(policy)).Run(ctx)
					cancel()
					d.Message = "reworded"
				}
				log := s.log.String()
				if n := strings.Count(log, "the job will not run"); n != 1 {
					t.Errorf("the denial was logged %d times, want once:\n%s", n, log)
				}
				for _, want := range []string{"gkctl clear 7", `explain="gkctl explain export --group prod --acquirer app1"`} {
					if !strings.Contains(log, want) {
						t.Errorf("the log does not contain %s:\n%s", want, log)
					}
				}
			})
		})
	}
}

// Jobs in one program may share a semaphore. A grant to one of them must not cause another's denial to be logged again.
func TestRunner_OtherRequestGranted_LogsDenialOnce(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		grant := grants(7, 10*time.Second)
		s.a.tryAcquire = func(ctx context.Context, r *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			if r.GetWeight() < 3 {
				return grant(ctx, r)
			}
			d := &gatekeeperv1.Denial{Reason: gatekeeperv1.Reason_REASON_WEIGHT_EXCEEDS_PERMITS, Message: "m"}
			return &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Denial{Denial: d}}, nil
		}
		for range 3 {
			_ = NewRunner(s.client.Semaphore("export", WithWeight(3)), untilEnded).Run(t.Context())
			if err := NewRunner(s.client.Semaphore("export"), func(context.Context) error { return nil }).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(s.log.String(), "the job will not run"); n != 1 {
			t.Errorf("the denial was logged %d times, want once:\n%s", n, s.log.String())
		}
	})
}

// Loop and late runs return no error while they wait, so the denial must be logged.
func TestRunner_WaitsDuringPersistentDenial_LogsOnce(t *testing.T) {
	for name, wait := range map[string]func(context.Context, *Runner) error{
		"loop": func(ctx context.Context, r *Runner) error { return r.Loop(ctx) },
		"run late": func(ctx context.Context, r *Runner) error {
			WithDenialPolicy(DenialRunLate)(r)
			return r.RunDue(ctx, time.Now())
		},
	} {
		t.Run(name, func(t *testing.T) {
			withHarness(t, func(t *testing.T, s *harness) {
				s.a.tryAcquire = denies(gatekeeperv1.Reason_REASON_GROUP_MISMATCH)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				_ = wait(ctx, NewRunner(s.client.Semaphore("export"), untilEnded))
				if n := strings.Count(s.log.String(), "level=WARN"); n != 1 {
					t.Errorf("logged %d warnings, want 1:\n%s", n, s.log.String())
				}
			})
		})
	}
}

// A process that restarts during a firing with the same holder ID is denied because of its earlier permit, and no
// other process runs the firing.
func TestRunDue_FiringClaimedBySameIdentity_ReturnsError(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		due := time.Date(2026, 1, 31, 2, 0, 0, 0, time.UTC)
		claim := &gatekeeperv1.FiringClaim{
			Winner: &gatekeeperv1.Identity{Group: "prod", Acquirer: "app1", HolderId: "worker"}, Token: 3, State: gatekeeperv1.FiringState_FIRING_STATE_CLAIMED,
			Firing: &gatekeeperv1.Firing{Name: "export", Due: timestamppb.New(due)},
		}
		d := &gatekeeperv1.Denial{Reason: gatekeeperv1.Reason_REASON_FIRING_CLAIMED, Message: "m", Firing: claim}
		s.a.tryAcquire = deniesWith(&d)
		own := NewRunner(s.client.Semaphore("export", WithHolderID("worker")), untilEnded)
		if _, ok := errors.AsType[*DeniedError](own.RunDue(t.Context(), due)); !ok || !strings.Contains(s.log.String(), "the job will not run") {
			t.Errorf("RunDue() did not return and log a *DeniedError:\n%s", s.log.String())
		}
		if want := `gkctl explain export --group prod --acquirer app1 --holder-id worker --firing export@2026-01-31T02:00:00Z`; !strings.Contains(s.log.String(), want) {
			t.Errorf("the log does not contain %s:\n%s", want, s.log.String())
		}
		other := NewRunner(s.client.Semaphore("export", WithHolderID("other")), untilEnded)
		if err := other.RunDue(t.Context(), due); err != nil {
			t.Errorf("claimed by another identity: RunDue() = %v, want nil", err)
		}
		claim.State = gatekeeperv1.FiringState_FIRING_STATE_SPENT
		if err := own.RunDue(t.Context(), due); err != nil {
			t.Errorf("spent: RunDue() = %v, want nil", err)
		}
	})
}

func TestLoggedDenials_ManySemaphores_IsBounded(t *testing.T) {
	u := loggedDenials{}
	for i := range 3 * maxLoggedDenials {
		if !u.changed(denialKey{semaphore: fmt.Sprint(i)}, "cause") {
			t.Fatal("changed() = false, want true")
		}
	}
	if len(u.logged) > maxLoggedDenials {
		t.Errorf("len(logged) = %d, want at most %d", len(u.logged), maxLoggedDenials)
	}
}

func TestExplainCommand_QuotesShellArguments(t *testing.T) {
	for want, d := range map[string]*DeniedError{
		"gkctl explain export --group prod --acquirer app1":                        {Semaphore: "export", Group: "prod", Acquirer: "app1"},
		`gkctl explain 'it'\''s $HOME' --group 'a b' --acquirer 'ü'`:               {Semaphore: "it's $HOME", Group: "a b", Acquirer: "ü"},
		"gkctl explain --group prod --acquirer app1 -- -x":                         {Semaphore: "-x", Group: "prod", Acquirer: "app1"},
		"gkctl explain export --group prod --acquirer app1 --weight 3":             {Semaphore: "export", Group: "prod", Acquirer: "app1", request: &acquisition{weight: 3}},
		"gkctl explain export --group prod --acquirer app1 --firing 'nightly run'": {Semaphore: "export", Group: "prod", Acquirer: "app1", request: &acquisition{firing: &gatekeeperv1.Firing{Name: "nightly run"}}},
	} {
		if got := d.ExplainCommand(); got != want {
			t.Errorf("ExplainCommand() = %s, want %s", got, want)
		}
	}
}
