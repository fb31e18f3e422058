package tasks

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// entry is a registered task.
type entry struct {
	manager *Manager
	name    string
	task    Task
	// RemoveNow cancels both contexts. Remove cancels only the second until the run has ended.
	runCtx, acquireCtx       context.Context //nolint:containedctx // they last as long as the task
	cancelRun, cancelAcquire context.CancelCauseFunc
	// active counts the users of the task: Register and attempts. Add is called with the Manager's mutex held, before
	// the task is removed.
	active     sync.WaitGroup
	cancelOnce sync.Once
	gone       chan struct{} // closed when the Manager no longer uses the task

	// The Manager's mutex guards everything below.
	initialized bool
	removed     bool
	job         gocron.Job // nil until the task is scheduled
	current     *attempt   // nil if the task is not due
	missed      *attempt   // the attempt that makes up for a missed run, or nil
	behind      bool       // due times may have been missed since catchUp last asked for them
	catchingUp  bool       // catchUp is running
	token       uint64     // of the current run
	abnormal    bool       // the last run on this host ended abnormally
	started     time.Time
	runs        int
	err         error
	skipped     error
}

func newEntry(m *Manager, name string, t Task) *entry {
	e := &entry{manager: m, name: name, task: t, gone: make(chan struct{}), behind: true}
	e.runCtx, e.cancelRun = context.WithCancelCause(context.Background())
	e.acquireCtx, e.cancelAcquire = context.WithCancelCause(e.runCtx)
	return e
}

// initialize initializes the task and schedules it.
func (e *entry) initialize(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.runCtx, func() { cancel(context.Cause(e.runCtx)) })()
	if err := e.task.Initialize(ctx); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	m := e.manager
	m.mu.Lock()
	e.initialized = true
	removed := e.removed
	m.mu.Unlock()
	if removed {
		return ErrRemoved
	}
	job, err := m.schedule(e)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e.job = job
	e.startCatchUp()
	return nil
}

// remove prevents further runs. If now is true, it also stops the current one.
func (e *entry) remove(now bool) {
	m := e.manager
	m.mu.Lock()
	first := !e.removed
	e.removed = true
	if now {
		e.cancelRun(ErrRemoved)
	}
	e.cancelAcquire(ErrRemoved)
	runs := e.state() == Running
	m.mu.Unlock()
	if now && runs {
		go e.cancelTask()
	}
	if first {
		go e.retire()
	}
}

// retire ends the registration when the task is no longer in use.
func (e *entry) retire() {
	e.active.Wait()
	m := e.manager
	m.mu.Lock()
	initialized, job := e.initialized, e.job
	m.mu.Unlock()
	if initialized {
		e.cancelTask()
	}
	if job != nil {
		if err := m.scheduler.RemoveJob(job.ID()); err != nil && !errors.Is(err, gocron.ErrJobNotFound) { // gocron may have dropped the job already
			m.settings.logger.Error("gatekeeper: cannot remove the task from the scheduler", "task", e.name, "error", err)
		}
	}
	e.cancelRun(ErrRemoved)
	m.mu.Lock()
	delete(m.entries, e.name)
	m.mu.Unlock()
	close(e.gone)
}

// cancelTask calls Cancel exactly once. It returns after Cancel has returned.
func (e *entry) cancelTask() {
	e.cancelOnce.Do(func() {
		defer func() {
			if r := recover(); r != nil {
				e.manager.settings.logger.Error("gatekeeper: the task's Cancel panicked", "task", e.name, "panic", r, "stack", string(debug.Stack()))
			}
		}()
		e.task.Cancel()
	})
}

// skip records why the task did not run here even though it was due.
func (e *entry) skip(err error) {
	e.manager.mu.Lock()
	defer e.manager.mu.Unlock()
	e.skipped = err
}

// snapshot returns the task's state.
func (e *entry) snapshot() Info {
	m := e.manager
	m.mu.Lock()
	info, job := e.info(), e.job
	m.mu.Unlock()
	if job != nil && info.State != Removing {
		info.Next, _ = job.NextRun() // an error means that the job is never due again
	}
	return info
}

// info is like snapshot, but without the next due time. The caller holds the mutex.
func (e *entry) info() Info {
	i := Info{
		Name: e.name, Semaphore: e.manager.settings.semaphore(e.name), Restartable: e.restartable(),
		Token: e.token, Started: e.started, Runs: e.runs, Err: e.err, Skipped: e.skipped,
	}
	switch {
	case e.removed:
		i.State = Removing
	case e.job == nil:
		i.State = Initializing
	default:
		i.State = e.state()
	}
	return i
}

// state returns the state of the attempts. A running attempt takes precedence. The caller holds the mutex.
func (e *entry) state() State {
	switch {
	case e.current != nil && (e.current.granted || e.missed == nil):
		return e.current.state
	case e.missed != nil && (e.missed.granted || e.current == nil):
		return e.missed.state
	case e.current != nil:
		return e.current.state
	}
	return Idle
}

func (e *entry) restartable() bool {
	_, ok := e.task.(Restartable)
	return ok
}
