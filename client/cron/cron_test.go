package cron_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/client"
	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testTimeout = 20 * time.Second

func receive[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(testTimeout):
		t.Fatalf("timed out waiting for %s", what)
		panic("unreachable")
	}
}

// start starts c and registers a cleanup that stops it and waits for its jobs.
func start(t *testing.T, c *cron.Cron) {
	c.Start()
	t.Cleanup(func() { <-c.Stop().Done() })
}

var everySecond = cron.WithSeconds()

// The second process's clock is behind by more than the job's run time.
func TestAdd_SkewedClocks_EachActivationRunsOnce(t *testing.T) {
	srv := gktest.Start(t, "tick")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	finished := make(chan time.Time, 100) // due times of the first process's finished runs
	denied := make(chan time.Time, 100)   // due times denied to the second process
	first := client.NewRunner(srv.Dial(t, "app1").Semaphore("tick"), func(context.Context) error { return nil },
		client.WithHooks(client.Hooks{Finished: func(_ context.Context, r client.Report) { finished <- r.Due }}))
	second := client.NewRunner(srv.Dial(t, "app2").Semaphore("tick"), func(context.Context) error { t.Error("ran twice"); return nil },
		client.WithHooks(client.Hooks{Denied: func(_ context.Context, d *client.DeniedError) {
			if d.Reason != client.ReasonFiringDone {
				t.Errorf("denied with %v, want ReasonFiringDone", d)
			}
			denied <- d.Firing.GetFiring().GetDue().AsTime()
		}}))

	turns := make(chan struct{}) // the second process's activations wait for the first process's runs
	defer close(turns)
	skew := func(j cron.Job) cron.Job {
		return cron.FuncJob(func() {
			if _, ok := <-turns; ok {
				j.Run()
			}
		})
	}
	one, two := cron.New(everySecond), cron.New(everySecond, cron.WithChain(skew))
	for c, r := range map[*cron.Cron]*client.Runner{one: first, two: second} {
		if _, err := gkcron.Add(ctx, c, "* * * * * *", r); err != nil {
			t.Fatal(err)
		}
		start(t, c)
	}
	seen := make(map[time.Time]bool)
	for range 2 {
		due := receive(t, finished, "a run")
		if seen[due] || due.Nanosecond() != 0 || due.Location() != time.UTC {
			t.Errorf("due time = %s, want a new time in whole seconds and UTC", due)
		}
		seen[due] = true
		turns <- struct{}{}
		if got := receive(t, denied, "a denial"); !seen[got] {
			t.Errorf("the second process was denied %s, which the first did not run", got)
		}
	}
}

func TestAdd_BadSpec_ReturnsAnError(t *testing.T) {
	if _, err := gkcron.Add(t.Context(), cron.New(), "every other day", nil); err == nil {
		t.Error("Add accepted an invalid spec")
	}
}

// Removing the entry discards its due time. Without a due time, every process would run the activation.
func TestAdd_EntryRemovedBeforeAcquire_DoesNotRun(t *testing.T) {
	srv := gktest.Start(t, "gone")
	activated, removed, returned := make(chan struct{}), make(chan struct{}), make(chan struct{})
	scheduler := cron.New(everySecond, cron.WithChain(func(j cron.Job) cron.Job {
		return cron.FuncJob(func() {
			close(activated)
			<-removed
			j.Run()
			close(returned)
		})
	}))
	runner := client.NewRunner(srv.Dial(t, "app1").Semaphore("gone"), func(context.Context) error { t.Error("ran without a firing"); return nil })
	id, err := gkcron.Add(t.Context(), scheduler, "* * * * * *", runner)
	if err != nil {
		t.Fatal(err)
	}
	start(t, scheduler)
	receive(t, activated, "the activation")
	scheduler.Remove(id)
	close(removed)
	receive(t, returned, "the activation to return")
}

func TestAdd_PermitRevoked_CancelsJobWithCause(t *testing.T) {
	srv := gktest.Start(t, "long")
	c := srv.Dial(t, "app1")
	tokens, causes := make(chan uint64, 1), make(chan error, 1)
	scheduler := cron.New(everySecond)
	_, err := gkcron.Add(t.Context(), scheduler, "* * * * * *", client.NewRunner(c.Semaphore("long"), func(ctx context.Context) error {
		select {
		case tokens <- client.PermitOf(ctx).Token():
		default:
			return nil // a later activation
		}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return ctx.Err()
	}))
	if err != nil {
		t.Fatal(err)
	}
	start(t, scheduler)
	srv.Revoke(t, receive(t, tokens, "the job to start"), "a test")
	if cause := receive(t, causes, "the job to return"); !errors.Is(cause, client.ErrRevoked) {
		t.Errorf("cause = %v, want ErrRevoked", cause)
	}
}

func TestJobWrapper_InChain_RunsEachFiringOnceWithPermit(t *testing.T) {
	srv := gktest.Start(t, "chained")
	due := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ran := 0
	var job cron.Job
	for _, name := range []string{"app1", "app2"} {
		wrap := gkcron.JobWrapper(t.Context(), srv.Dial(t, name).Semaphore("chained"), func() time.Time { return due })
		job = cron.NewChain(cron.Recover(cron.DiscardLogger), wrap).Then(gkcron.Func(func(ctx context.Context) error {
			if ran++; client.PermitOf(ctx) == nil {
				t.Error("the job ran without a permit")
			}
			return nil
		}))
		job.Run()
	}
	if ran != 1 {
		t.Errorf("the firing ran %d times, want 1", ran)
	}
	plain := 0
	wrap := gkcron.JobWrapper(t.Context(), srv.Dial(t, "app3").Semaphore("chained"), nil)
	job = cron.NewChain(wrap).Then(cron.FuncJob(func() { plain++ }))
	job.Run()
	job.Run()
	if plain != 2 {
		t.Errorf("the job without due times ran %d times, want 2", plain)
	}
}
