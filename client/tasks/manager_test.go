package tasks_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/client/tasks"
)

func TestManager_RegisteredTask_RunsWhenDue(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	h := newHost(t, srv, dialTCP(t, srv, "app1"))
	j := newJob(t, new(atomic.Int32))
	h.register(j)
	if i := h.info(); i.State != tasks.Idle || i.Semaphore != name || !i.Restartable || !i.Next.Equal(noon) {
		t.Errorf("info after Register = %+v, want Idle and due at noon", i)
	}
	for n := 1; n <= 2; n++ {
		h.advanceToDue()
		r := receive(t, j.runs, "a run")
		if i := h.info(); i.State != tasks.Running || i.Token != r.token {
			t.Errorf("info during a run = %+v, want Running with token %d", i, r.token)
		}
		r.end <- nil
		if i := h.awaitIdle(n); i.Err != nil || i.Token != 0 {
			t.Errorf("info after a run = %+v, want no error and no token", i)
		}
	}
	if all := h.m.List(); len(all) != 1 || all[0].Name != name || all[0].Runs != 2 {
		t.Errorf("List() = %+v, want one task with 2 runs", all)
	}
	if err := h.m.Remove(testContext(t), name); err != nil {
		t.Error(err)
	}
	if _, _, ok := h.m.Get(name); ok || len(h.m.List()) != 0 {
		t.Error("the task is still registered")
	}
	if j.initialized.Load() != 1 || j.cancelled.Load() != 1 || j.resets.Load() != 0 {
		t.Errorf("the task was initialized %d times, cancelled %d times and reset %d times, want 1, 1 and 0", j.initialized.Load(), j.cancelled.Load(), j.resets.Load())
	}
	if err := h.m.Remove(testContext(t), name); !errors.Is(err, tasks.ErrNotRegistered) {
		t.Errorf("second Remove = %v, want ErrNotRegistered", err)
	}
	h.register(j) // the name is free again
	if j.initialized.Load() != 2 {
		t.Error("the second registration did not initialize the task")
	}
}

func TestRegister_NameTaken_ReturnsErrRegistered(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	h := newHost(t, srv, dialTCP(t, srv, "app1"))
	first, second := newJob(t, new(atomic.Int32)), newJob(t, new(atomic.Int32))
	h.register(first)
	if err := h.m.Register(testContext(t), second); !errors.Is(err, tasks.ErrRegistered) {
		t.Errorf("Register with a taken name = %v, want ErrRegistered", err)
	}
	if second.initialized.Load() != 0 || second.cancelled.Load() != 0 || first.cancelled.Load() != 0 {
		t.Error("the rejected task was initialized or cancelled, or the first task was cancelled")
	}
	if err := h.m.Register(testContext(t), tasks.Func("", everyMinute(), nil)); err == nil {
		t.Error("Register accepted a task without a name")
	}
}

func TestRemove_TaskRunning_LetsItFinish(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	h := newHost(t, srv, dialTCP(t, srv, "app1"))
	j := newJob(t, new(atomic.Int32))
	h.register(j)
	h.advanceToDue()
	r := receive(t, j.runs, "the run")
	removed := make(chan error, 1)
	go func() { removed <- h.m.Remove(testContext(t), name) }()
	srv.Await(t, "the removal", func() bool { return h.info().State == tasks.Removing })
	if r.ctx.Err() != nil || j.cancelled.Load() != 0 {
		t.Error("the run was interrupted")
	}
	if err := h.m.Register(testContext(t), j); !errors.Is(err, tasks.ErrRegistered) {
		t.Errorf("Register during the removal = %v, want ErrRegistered", err)
	}
	r.end <- nil
	if err := receive(t, removed, "Remove to return"); err != nil || j.cancelled.Load() != 1 {
		t.Errorf("Remove = %v, want nil; cancelled %d times, want 1", err, j.cancelled.Load())
	}
	if len(srv.Holders(t, name)) != 0 {
		t.Error("the permit was not released")
	}
}

func TestRemoveNow_TaskRunning_CancelsItOnce(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	h := newHost(t, srv, dialTCP(t, srv, "app1"))
	j := newJob(t, new(atomic.Int32))
	h.register(j)
	h.advanceToDue()
	r := receive(t, j.runs, "the run")
	if err := h.m.RemoveNow(testContext(t), name); err != nil || j.cancelled.Load() != 1 {
		t.Errorf("RemoveNow = %v, want nil; cancelled %d times, want 1", err, j.cancelled.Load())
	}
	if cause := context.Cause(r.ctx); !errors.Is(cause, tasks.ErrRemoved) {
		t.Errorf("cause = %v, want ErrRemoved", cause)
	}
	if len(srv.Holders(t, name)) != 0 {
		t.Error("the permit was not released")
	}
}

// A run that ignores its context and Cancel keeps its permit, and the task stays registered.
func TestRemoveNow_RunIgnoresCancel_KeepsItsPermitUntilItReturns(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	h := newHost(t, srv, dialTCP(t, srv, "app1"))
	j := newJob(t, new(atomic.Int32))
	proceed := make(chan error)
	cancelled := make(chan struct{})
	j.runFunc = func() error { return <-proceed }
	j.cancel = func() error { close(cancelled); return nil }
	h.register(j)
	h.advanceToDue()
	r := receive(t, j.runs, "the run")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.m.Remove(ctx, name); !errors.Is(err, context.Canceled) || r.ctx.Err() != nil {
		t.Errorf("Remove = %v, want Canceled; error of the run's context = %v, want nil", err, r.ctx.Err())
	}
	if err := h.m.RemoveNow(ctx, name); !errors.Is(err, context.Canceled) {
		t.Errorf("RemoveNow = %v, want Canceled", err)
	}
	receive(t, cancelled, "Cancel during the run")
	if err := h.m.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close = %v, want Canceled", err)
	}
	if i := h.info(); i.State != tasks.Removing || r.ctx.Err() == nil {
		t.Errorf("info = %+v, want Removing and the run's context cancelled", i)
	}
	if held := srv.Holders(t, name); len(held) != 1 || held[0].GetToken() != r.token {
		t.Errorf("holders = %v, want the run's permit", held)
	}
	proceed <- nil
	if err := h.m.Close(testContext(t)); err != nil || j.cancelled.Load() != 1 {
		t.Errorf("Close = %v, want nil; cancelled %d times, want 1", err, j.cancelled.Load())
	}
	if _, _, ok := h.m.Get(name); ok {
		t.Error("the task is still registered")
	}
}

func TestRegister_InitializeFails_TaskIsNotRegistered(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	h := newHost(t, srv, dialTCP(t, srv, "app1"))
	j := newJob(t, new(atomic.Int32))
	broken := errors.New("no disk")
	j.initialize = func() error { return broken }
	if err := h.m.Register(testContext(t), j); !errors.Is(err, broken) {
		t.Errorf("Register = %v, want the error from Initialize", err)
	}
	if _, _, ok := h.m.Get(name); ok || j.cancelled.Load() != 0 {
		t.Error("the task is registered or was cancelled")
	}
	j.initialize = func() error { panic("no disk") }
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = h.m.Register(testContext(t), j)
	}()
	j.initialize = nil
	h.register(j) // the name is free
	if err := h.m.Register(testContext(t), tasks.Func("never", gocron.CronJob("no schedule", false), nil)); err == nil {
		t.Error("Register accepted an invalid schedule")
	}
	if _, _, ok := h.m.Get("never"); ok {
		t.Error("the task with an invalid schedule is registered")
	}
}

func TestRemove_DuringInitialize_AbortsRegistration(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	for _, now := range []bool{false, true} {
		h := newHost(t, srv, dialTCP(t, srv, "app1"))
		began, proceed := make(chan struct{}), make(chan error, 1)
		j := newJob(t, new(atomic.Int32))
		task := initializing{j, func(ctx context.Context) error {
			close(began)
			if now {
				<-ctx.Done()
				return nil // initialized despite the removal
			}
			return <-proceed
		}}
		registered := make(chan error, 1)
		go func() { registered <- h.m.Register(testContext(t), task) }()
		receive(t, began, "Initialize to start")
		if i := h.info(); i.State != tasks.Initializing {
			t.Errorf("info = %+v, want Initializing", i)
		}
		removed := make(chan error, 1)
		go func() {
			remove := h.m.Remove
			if now {
				remove = h.m.RemoveNow
			}
			removed <- remove(testContext(t), name)
		}()
		srv.Await(t, "the removal", func() bool { _, i, ok := h.m.Get(name); return !ok || i.State == tasks.Removing })
		proceed <- nil
		if err := receive(t, registered, "Register to return"); !errors.Is(err, tasks.ErrRemoved) {
			t.Errorf("Register = %v, want ErrRemoved", err)
		}
		if err := receive(t, removed, "the removal to finish"); err != nil || j.cancelled.Load() != 1 {
			t.Errorf("removal = %v, want nil; cancelled %d times, want 1", err, j.cancelled.Load())
		}
	}
}

type initializing struct {
	*job
	initialize func(context.Context) error
}

func (i initializing) Initialize(ctx context.Context) error { return i.initialize(ctx) }

func TestShutdown_TaskRunning_WaitsForRun(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	h := newHost(t, srv, dialTCP(t, srv, "app1"))
	j := newJob(t, new(atomic.Int32))
	h.register(j)
	h.advanceToDue()
	r := receive(t, j.runs, "the run")
	done := make(chan error, 1)
	go func() { done <- h.m.Shutdown(testContext(t)) }()
	srv.Await(t, "the removal", func() bool { return h.info().State == tasks.Removing })
	if r.ctx.Err() != nil {
		t.Error("the run was interrupted")
	}
	if err := h.m.Register(testContext(t), tasks.Func("other", everyMinute(), nil)); !errors.Is(err, tasks.ErrClosed) {
		t.Errorf("Register after Shutdown = %v, want ErrClosed", err)
	}
	r.end <- nil
	if err := receive(t, done, "Shutdown to return"); err != nil {
		t.Error(err)
	}
}
