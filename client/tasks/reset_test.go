package tasks_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/tasks"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// The next host has not run the task before, so it must ask the servers how the last run ended.
func TestReset_LastRunOnAnotherHostEndedAbnormally_IsCalled(t *testing.T) {
	t.Parallel()
	for how, c := range map[string]struct {
		end    func(t *testing.T, h *host, r run)
		define func(*gatekeeperv1.Definition)
		resets int32
	}{
		"done":      {end: func(_ *testing.T, _ *host, r run) { r.end <- nil }},
		"failed":    {end: func(_ *testing.T, _ *host, r run) { r.end <- errors.New("no paper") }, resets: 1},
		"cut short": {end: func(_ *testing.T, _ *host, r run) { r.end <- client.ErrCutShort }, resets: 1},
		"cut short, with firing_on_loss free": {
			end: func(_ *testing.T, _ *host, r run) { r.end <- client.ErrCutShort }, define: freeOnLoss, resets: 1,
		},
		"revoked": {end: func(t *testing.T, h *host, r run) {
			t.Helper()
			h.srv.Revoke(t, r.token, "a test")
		}, resets: 1},
		"expired": {end: func(t *testing.T, h *host, r run) {
			t.Helper()
			h.srv.Expire(t, r.token)
		}, resets: 1},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			srv := start(t, time.Minute, func(d *gatekeeperv1.Definition) {
				if c.define != nil {
					c.define(d)
				}
			})
			busy := new(atomic.Int32)
			h1, j1 := newHost(t, srv, dialTCP(t, srv, "app1")), newJob(t, busy)
			h1.register(j1)
			h1.advanceToDue()
			c.end(t, h1, receive(t, j1.runs, "the run"))
			h1.awaitIdle(1)
			// A permit released without a run does not count.
			p, err := h1.c.Semaphore(name).Acquire(testContext(t), client.WithFiring(name, noon.Add(time.Second)))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.ReleaseNotRun(testContext(t)); err != nil {
				t.Fatal(err)
			}
			h2, j2 := newHost(t, srv, dialTCP(t, srv, "app2")), newJob(t, busy)
			h2.clock.Advance(30 * time.Second)
			h2.register(j2)
			for n := 1; n <= 2; n++ { // the second run follows one that ended normally
				h2.advanceToDue()
				receive(t, j2.runs, "the next run").end <- nil
				if h2.awaitIdle(n); j2.resets.Load() != c.resets {
					t.Errorf("run %d: reset %d times, want %d", n, j2.resets.Load(), c.resets)
				}
			}
		})
	}
}

// A failed run of one task does not affect another task on the same semaphore.
func TestReset_AnotherTaskOnSemaphoreFailed_IsNotCalled(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	shared := tasks.WithSemaphore(func(string) string { return name })
	h1 := newHost(t, srv, dialTCP(t, srv, "app1"), shared)
	failed := make(chan struct{})
	h1.register(tasks.Func("other", everyMinute(), func(context.Context) error { close(failed); return errors.New("no paper") }))
	h1.advanceToDue()
	receive(t, failed, "the run of the other task")
	srv.Await(t, "the other task's permit to be released", func() bool { return len(srv.Holders(t, name)) == 0 })
	h2, j := newHost(t, srv, dialTCP(t, srv, "app2"), shared), newJob(t, new(atomic.Int32))
	h2.register(j)
	h2.advanceToDue()
	receive(t, j.runs, "the run").end <- nil
	if h2.awaitIdle(1); j.resets.Load() != 0 {
		t.Errorf("reset %d times, want 0", j.resets.Load())
	}
}

func TestReset_LastRunOnThisHostEndedAbnormally_IsCalled(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	h := newHost(t, srv, dialTCP(t, srv, "app1"))
	j := newJob(t, new(atomic.Int32))
	h.register(j)

	h.advanceToDue()
	receive(t, j.runs, "the first run").end <- nil
	h.awaitIdle(1)
	j.runFunc = func() error { panic("no paper") }
	h.advanceToDue()
	receive(t, j.runs, "the run that panics")
	if i := h.awaitIdle(2); j.resets.Load() != 0 || !errors.As(i.Err, new(*tasks.PanicError)) {
		t.Errorf("after a panic: reset %d times, want 0; error = %v, want a PanicError", j.resets.Load(), i.Err)
	}
	broken := errors.New("cannot clean up")
	j.runFunc, j.reset = nil, func() error { return broken }
	h.advanceToDue()
	if i := h.awaitIdle(3); j.resets.Load() != 1 || !errors.Is(i.Err, broken) || len(j.runs) != 0 {
		t.Errorf("after a failed Reset: reset %d times, want 1; error = %v, want the error from Reset", j.resets.Load(), i.Err)
	}
	j.reset = nil
	h.advanceToDue()
	receive(t, j.runs, "the run after the reset").end <- errors.New("no paper")
	if h.awaitIdle(4); j.resets.Load() != 2 {
		t.Errorf("reset %d times, want 2", j.resets.Load())
	}
	h.advanceToDue()
	receive(t, j.runs, "the run after the failure").end <- nil
	if h.awaitIdle(5); j.resets.Load() != 3 {
		t.Errorf("reset %d times, want 3", j.resets.Load())
	}
	h.advanceToDue()
	receive(t, j.runs, "the last run").end <- nil
	if i := h.awaitIdle(6); j.resets.Load() != 3 || i.Err != nil {
		t.Errorf("reset %d times, want 3; error = %v, want nil", j.resets.Load(), i.Err)
	}
}
