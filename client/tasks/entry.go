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
	// life ends when the task is removed at once, and wanted when it is removed at all.
	life, wanted     context.Context //nolint:containedctx // they are the task's
	endLife, endWant context.CancelCauseFunc
	// active counts what uses the task: Register, and attempts. Add is called under the Manager's mutex, while the task
	// is not removed.
	active sync.WaitGroup
	cancel sync.Once
	gone   chan struct{} // closed when the Manager does not use the task any more

	// The Manager's mutex guards everything below.
	initialized bool
	removed     bool
	job         gocron.Job // nil until it is scheduled
	current     *attempt   // nil: the task is not due, or has not been since
	missed      *attempt   // of a due time that is made up for; nil: there is none
	behind      bool       // due times may have been missed since they were last asked for
	catching    bool       // catchUp runs
	token       uint64     // of the run that goes on
	abnormal    bool       // the last run here did not end well
	started     time.Time
	runs        int
	err         error
	skipped     error
}

func newEntry(m *Manager, name string, t Task) *entry {
	e := &entry{manager: m, name: name, task: t, gone: make(chan struct{}), behind: true}
	e.life, e.endLife = context.WithCancelCause(context.Background())
	e.wanted, e.endWant = context.WithCancelCause(e.life)
	return e
}

// initialize initializes the task and schedules it.
func (e *entry) initialize(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.life, func() { cancel(context.Cause(e.life)) })()
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
	e.catchUpSoon()
	return nil
}

// remove lets no further run begin. With now it also stops the present one.
func (e *entry) remove(now bool) {
	m := e.manager
	m.mu.Lock()
	first := !e.removed
	e.removed = true
	if now {
		e.endLife(ErrRemoved)
	}
	e.endWant(ErrRemoved)
	runs := e.state() == Running
	m.mu.Unlock()
	if now && runs {
		go e.cancelTask()
	}
	if first {
		go e.retire()
	}
}

// retire ends the registration when nothing uses the task any more.
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
		if err := m.scheduler.RemoveJob(job.ID()); err != nil && !errors.Is(err, gocron.ErrJobNotFound) { // a job that is never due again is gone
			m.settings.logger.Error("gatekeeper: the task's job cannot be removed", "task", e.name, "error", err)
		}
	}
	e.endLife(ErrRemoved)
	m.mu.Lock()
	delete(m.entries, e.name)
	m.mu.Unlock()
	close(e.gone)
}

// cancelTask calls Cancel, once. It returns when Cancel has returned.
func (e *entry) cancelTask() {
	e.cancel.Do(func() {
		defer func() {
			if r := recover(); r != nil {
				e.manager.settings.logger.Error("gatekeeper: the task's Cancel panicked", "task", e.name, "panic", r, "stack", string(debug.Stack()))
			}
		}()
		e.task.Cancel()
	})
}

// skip notes why the task was due and did not run here.
func (e *entry) skip(err error) {
	e.manager.mu.Lock()
	defer e.manager.mu.Unlock()
	e.skipped = err
}

// look is what is known of the task.
func (e *entry) look() Info {
	m := e.manager
	m.mu.Lock()
	info, job := e.info(), e.job
	m.mu.Unlock()
	if job != nil && info.State != Removing {
		info.Next, _ = job.NextRun() // there is none if it is never due again
	}
	return info
}

// info is look without the next due time. The caller holds the mutex.
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

// state is that of the attempts; the one that runs counts first. The caller holds the mutex.
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
