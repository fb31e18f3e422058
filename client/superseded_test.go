package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// supersededResult returns a refresh result for a token that the same identity has superseded.
func supersededResult(token, by uint64) *gatekeeperv1.TokenResult {
	r := result(token, gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST, 0, "its identity acquired it again")
	r.SupersededBy = by
	return r
}

func TestPermit_Superseded_IsLostWithErrSuperseded(t *testing.T) {
	for name, send := range map[string]func(*harness){
		"notice": func(s *harness) { s.a.notify(supersededResult(7, 9)) },
		"refresh response": func(s *harness) {
			s.a.respondWith(supersededResult(7, 9))
		},
	} {
		t.Run(name, func(t *testing.T) {
			withHarness(t, func(t *testing.T, s *harness) {
				p := acquire(t, s.client.Semaphore("export", WithHolderID("worker")))
				pass(5 * time.Second)
				send(s)
				<-p.Done()
				if cause := endCause(p); !errors.Is(cause, ErrSuperseded) || !errors.Is(cause, ErrLost) || errors.Is(cause, ErrStopped) {
					t.Errorf("cause = %v, want ErrSuperseded and ErrLost", cause)
				}
				if err := p.Ensure(t.Context(), time.Millisecond); !errors.Is(err, ErrSuperseded) {
					t.Errorf("Ensure() = %v, want ErrSuperseded", err)
				}
				synctest.Wait()
				for _, want := range []string{"level=WARN", "two processes are using the same holder id", "semaphore=export", "group=prod", "acquirer=app1", "holder_id=worker", "token=7", "superseded_by=9"} {
					if !strings.Contains(s.log.String(), want) {
						t.Errorf("the log does not contain %q:\n%s", want, s.log.String())
					}
				}
			})
		})
	}
}

// supersedeHarness is a harness in which another process with the same identity supersedes a Runner's permit.
type supersedeHarness struct {
	*harness
	requestTimes []time.Time
	stolenAt     time.Time
	// otherHolds is set while the other process holds the permit.
	otherHolds bool
}

func newSupersedeHarness(t *testing.T) *supersedeHarness {
	d := &supersedeHarness{harness: newHarness(t)}
	token := uint64(0)
	d.a.tryAcquire = func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
		d.requestTimes = append(d.requestTimes, time.Now())
		token += 2
		return granted(q.GetSemaphore(), token, 10*time.Second), nil
	}
	d.a.verify = func(_ context.Context, q *gatekeeperv1.VerifyRequest) (*gatekeeperv1.VerifyResponse, error) {
		if q.GetToken()%2 == 0 {
			t.Errorf("Verify was called with this process's own token %d", q.GetToken())
		}
		return &gatekeeperv1.VerifyResponse{Valid: get(d.a, func(*server) bool { return d.otherHolds })}, nil
	}
	return d
}

// steal makes the other process supersede the given token.
func (d *supersedeHarness) steal(token uint64) {
	d.stolenAt = time.Now()
	d.a.set(func(*server) { d.otherHolds = true })
	d.a.notify(supersededResult(token, token+1))
}

func untilEnded(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestLoop_Superseded_BacksOffWhileOtherProcessHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSupersedeHarness(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- NewRunner(d.client.Semaphore("export", WithHolderID("worker")), untilEnded).Loop(ctx)
		}()
		pass(5 * time.Second)
		d.steal(2)
		pass(10*time.Second - time.Millisecond)
		if n := len(d.requestTimes); n != 1 {
			t.Fatalf("sent %d requests within the permit's duration, want 1", n)
		}
		pass(10 * time.Minute)
		if n := len(d.requestTimes); n != 1 {
			t.Fatalf("sent %d requests while the other process held the permit, want 1", n)
		}
		d.a.set(func(*server) { d.otherHolds = false })
		pass(11 * time.Second)
		if n := len(d.requestTimes); n != 2 {
			t.Errorf("sent %d requests after the other process released its permit, want 2", n)
		}
		if n := strings.Count(d.log.String(), "two processes are using the same holder id"); n != 1 {
			t.Errorf("got %d warnings, want 1:\n%s", n, d.log.String())
		}
		cancel()
		<-ended
	})
}

// A scheduler may use a new Runner for each due time. The backoff applies to all of them.
func TestRun_Superseded_SkipsRunsForPermitDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSupersedeHarness(t)
		sem := d.client.Semaphore("export", WithHolderID("worker"))
		ended := make(chan error, 1)
		go func() { ended <- Wrap(sem, untilEnded)(t.Context()) }()
		pass(2 * time.Second) // the permit is registered on the client's stream
		d.steal(2)
		if err := <-ended; !errors.Is(err, ErrSuperseded) || !errors.Is(err, ErrLost) {
			t.Errorf("the run returned %v, want ErrSuperseded and ErrLost", err)
		}
		d.a.set(func(*server) { d.otherHolds = false })
		for time.Since(d.stolenAt) < 9*time.Second {
			pass(time.Second)
			err := NewRunner(sem, untilEnded).RunDue(t.Context(), time.Now())
			if !errors.Is(err, ErrSuperseded) || errors.Is(err, ErrLost) || !strings.Contains(err.Error(), `holder id "worker"`) {
				t.Fatalf("RunDue() = %v, want ErrSuperseded without ErrLost", err)
			}
			NewRunner(sem, untilEnded).Fire(t.Context(), time.Now())
		}
		if n := len(d.requestTimes); n != 1 {
			t.Errorf("sent %d requests, want 1", n)
		}
		if n := strings.Count(d.log.String(), "the job will not run"); n != 1 || strings.Contains(d.log.String(), "level=ERROR") {
			t.Errorf("the denial was logged %d times, want once and not at level ERROR:\n%s", n, d.log.String())
		}
		pass(2 * time.Second)
		ran := false
		if err := Wrap(sem, func(context.Context) error { ran = true; return nil })(t.Context()); err != nil || !ran {
			t.Errorf("after the wait: ran = %v, error = %v, want true and nil", ran, err)
		}
	})
}

func TestRun_SupersededWithWaitPolicy_HonorsWaitLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSupersedeHarness(t)
		sem := d.client.Semaphore("export", WithHolderID("worker"))
		go func() { _ = Wrap(sem, untilEnded)(t.Context()) }()
		pass(2 * time.Second) // the permit is registered on the client's stream
		d.steal(2)
		synctest.Wait()
		start := time.Now()
		err := Wrap(sem, untilEnded, WithDenialPolicy(DenialWait), WithWaitLimit(3*time.Second))(t.Context())
		if !errors.Is(err, ErrSuperseded) || time.Since(start) != 3*time.Second {
			t.Errorf("the run returned %v after %s, want ErrSuperseded after 3s", err, time.Since(start))
		}
		d.a.set(func(*server) { d.otherHolds = false })
		if err := Wrap(sem, func(context.Context) error { return nil }, WithDenialPolicy(DenialWait))(t.Context()); err != nil || time.Since(start) < 10*time.Second {
			t.Errorf("the run returned %v after %s, want nil after 10s or more", err, time.Since(start))
		}
	})
}

// With a fixed holder ID, a run fails while the same identity holds a permit.
func TestRun_HolderIDInUse_IsLoggedOnce(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		sem := s.client.Semaphore("export", WithHolderID("worker"))
		p := acquire(t, sem)
		for range 3 {
			if _, ok := errors.AsType[*InUseError](NewRunner(sem, untilEnded).Run(t.Context())); !ok {
				t.Error("Run() did not return an *InUseError")
			}
			NewRunner(sem, untilEnded).Fire(t.Context(), time.Now())
		}
		if n := strings.Count(s.log.String(), "will not run"); n != 1 || strings.Contains(s.log.String(), "level=ERROR") {
			t.Errorf("the denial was logged %d times, want once and not at level ERROR:\n%s", n, s.log.String())
		}
		release(t, p)
	})
}
