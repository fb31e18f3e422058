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

// taken is what the servers say of a token that the same identity superseded.
func taken(token, by uint64) *gatekeeperv1.TokenResult {
	r := result(token, gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST, 0, "its identity acquired it again")
	r.SupersededBy = by
	return r
}

func TestPermit_Superseded_IsLostAndSaysSo(t *testing.T) {
	for how, tell := range map[string]func(*stage){
		"by a notice": func(s *stage) { s.a.notify(taken(7, 9)) },
		"in the answer to a refresh": func(s *stage) {
			s.a.answers(taken(7, 9))
		},
	} {
		t.Run(how, func(t *testing.T) {
			onStage(t, func(t *testing.T, s *stage) {
				p := acquire(t, s.client.Semaphore("export", WithHolderID("worker")))
				pass(5 * time.Second)
				tell(s)
				<-p.Done()
				if cause := ended(p); !errors.Is(cause, ErrSuperseded) || !errors.Is(cause, ErrLost) || errors.Is(cause, ErrStopped) {
					t.Errorf("cause %v", cause)
				}
				if err := p.Ensure(t.Context(), time.Millisecond); !errors.Is(err, ErrSuperseded) {
					t.Errorf("ensure: %v", err)
				}
				synctest.Wait()
				for _, want := range []string{"level=WARN", "two processes use one holder id", "semaphore=export", "group=prod", "acquirer=app1", "holder_id=worker", "token=7", "superseded_by=9"} {
					if !strings.Contains(s.log.String(), want) {
						t.Errorf("the log lacks %q:\n%s", want, s.log.String())
					}
				}
			})
		})
	}
}

// duel is a Runner whose permit another process of the same identity takes.
type duel struct {
	*stage
	asked  []time.Time
	stolen time.Time
	// theirs: the other process holds the permit.
	theirs bool
}

func newDuel(t *testing.T) *duel {
	d := &duel{stage: newStage(t)}
	token := uint64(0)
	d.a.tryAcquire = func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
		d.asked = append(d.asked, time.Now())
		token += 2
		return granted(q.GetSemaphore(), token, 10*time.Second), nil
	}
	d.a.verify = func(_ context.Context, q *gatekeeperv1.VerifyRequest) (*gatekeeperv1.VerifyResponse, error) {
		if q.GetToken()%2 == 0 {
			t.Errorf("verifies token %d, which it lost", q.GetToken())
		}
		return &gatekeeperv1.VerifyResponse{Valid: get(d.a, func(*server) bool { return d.theirs })}, nil
	}
	return d
}

// steal lets the other process take the permit of that token.
func (d *duel) steal(token uint64) {
	d.stolen = time.Now()
	d.a.set(func(*server) { d.theirs = true })
	d.a.notify(taken(token, token+1))
}

func untilEnded(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestLoop_Superseded_StaysAwayForThePermitsDurationAndWhileTheOtherHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDuel(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- NewRunner(d.client.Semaphore("export", WithHolderID("worker")), untilEnded).Loop(ctx)
		}()
		pass(5 * time.Second)
		d.steal(2)
		pass(10*time.Second - time.Millisecond)
		if n := len(d.asked); n != 1 {
			t.Fatalf("asked %d times within the permit's duration", n)
		}
		pass(10 * time.Minute)
		if n := len(d.asked); n != 1 {
			t.Fatalf("asked %d times while the other process holds the permit", n)
		}
		d.a.set(func(*server) { d.theirs = false })
		pass(11 * time.Second)
		if n := len(d.asked); n != 2 {
			t.Errorf("asked %d times after the other process has ended", n)
		}
		if n := strings.Count(d.log.String(), "two processes use one holder id"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, d.log.String())
		}
		cancel()
		<-ended
	})
}

// A scheduler comes again at the next due time, with another Runner.
func TestRun_Superseded_SkipsWhatIsDueWithinThePermitsDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDuel(t)
		sem := d.client.Semaphore("export", WithHolderID("worker"))
		ended := make(chan error, 1)
		go func() { ended <- Wrap(sem, untilEnded)(t.Context()) }()
		pass(2 * time.Second) // its stream has named it
		d.steal(2)
		if err := <-ended; !errors.Is(err, ErrSuperseded) || !errors.Is(err, ErrLost) {
			t.Errorf("%v", err)
		}
		d.a.set(func(*server) { d.theirs = false })
		for time.Since(d.stolen) < 9*time.Second {
			pass(time.Second)
			err := NewRunner(sem, untilEnded).RunDue(t.Context(), time.Now())
			if !errors.Is(err, ErrSuperseded) || errors.Is(err, ErrLost) || !strings.Contains(err.Error(), `holder id "worker"`) {
				t.Fatalf("%v", err)
			}
			NewRunner(sem, untilEnded).Fire(t.Context(), time.Now())
		}
		if n := len(d.asked); n != 1 {
			t.Errorf("asked %d times", n)
		}
		if n := strings.Count(d.log.String(), "the job does not run"); n != 1 || strings.Contains(d.log.String(), "level=ERROR") {
			t.Errorf("logged %d times:\n%s", n, d.log.String())
		}
		pass(2 * time.Second)
		ran := false
		if err := Wrap(sem, func(context.Context) error { ran = true; return nil })(t.Context()); err != nil || !ran {
			t.Errorf("after the rest: ran %v, %v", ran, err)
		}
	})
}

func TestRun_SupersededAndPatient_WaitsOutTheRestWithinItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDuel(t)
		sem := d.client.Semaphore("export", WithHolderID("worker"))
		go func() { _ = Wrap(sem, untilEnded)(t.Context()) }()
		pass(2 * time.Second) // its stream has named it
		d.steal(2)
		synctest.Wait()
		start := time.Now()
		err := Wrap(sem, untilEnded, WithDenialPolicy(DenialWait), WithWaitLimit(3*time.Second))(t.Context())
		if !errors.Is(err, ErrSuperseded) || time.Since(start) != 3*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		d.a.set(func(*server) { d.theirs = false })
		if err := Wrap(sem, func(context.Context) error { return nil }, WithDenialPolicy(DenialWait))(t.Context()); err != nil || time.Since(start) < 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// A drawn holder id takes nothing from anybody.
func TestRun_HolderIDInUse_IsToldOnce(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		sem := s.client.Semaphore("export", WithHolderID("worker"))
		p := acquire(t, sem)
		for range 3 {
			if _, ok := errors.AsType[*InUseError](NewRunner(sem, untilEnded).Run(t.Context())); !ok {
				t.Error("it ran next to a permit of the same identity")
			}
			NewRunner(sem, untilEnded).Fire(t.Context(), time.Now())
		}
		if n := strings.Count(s.log.String(), "does not run"); n != 1 || strings.Contains(s.log.String(), "level=ERROR") {
			t.Errorf("logged %d times:\n%s", n, s.log.String())
		}
		release(t, p)
	})
}
