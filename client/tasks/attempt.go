package tasks

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/gatekeeperd/gatekeeper/client"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
)

// attempt handles one due time of a task: it acquires the permit and, if it gets one, runs the task.
type attempt struct {
	entry *entry
	end   context.CancelCauseFunc // cancels the attempt's context
	// missed reports whether the due time was missed earlier and is now being made up for.
	missed bool

	// The Manager's mutex guards everything below.
	state    State // Acquiring, TakingOver or Running
	tookOver bool
	granted  bool // the attempt has a permit, and no other attempt is running the task
}

type attemptKey struct{}

// begin acquires the permit for a task that is due.
func (m *Manager) begin(_ context.Context, due gkgocron.DueRun) (*client.Run, error) {
	m.mu.Lock()
	e := m.entries[due.Job]
	if e != nil && due.AfterGap {
		e.behind = true
	}
	m.mu.Unlock()
	if e == nil { // the task is being removed from the scheduler
		return nil, fmt.Errorf("task %q: %w", due.Job, ErrNotRegistered)
	}
	return e.begin(due, false)
}

func (e *entry) begin(due gkgocron.DueRun, missed bool) (*client.Run, error) {
	a, err := e.enter(missed)
	if err != nil {
		return nil, err
	}
	// The attempt needs its own context: Remove cancels the acquisition but not the run, and the scheduler cancels
	// neither.
	ctx, end := context.WithCancelCause(context.WithValue(e.runCtx, attemptKey{}, a))
	a.end = end
	stop := context.AfterFunc(e.acquireCtx, func() { end(context.Cause(e.acquireCtx)) })
	run, err := a.acquire(ctx, due)
	stop()
	switch {
	case err != nil:
		a.leave()
		return nil, err
	case !a.takeTurn():
		return nil, run.End(gkgocron.ErrRunning) // End calls finished, which calls leave
	}
	return run, nil
}

// enter records that the task is due. The task is in use until leave is called.
func (e *entry) enter(missed bool) (*attempt, error) {
	m := e.manager
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.removed {
		return nil, fmt.Errorf("task %q: %w", e.name, ErrRemoved)
	}
	e.active.Add(1)
	a := &attempt{entry: e, missed: missed, state: Acquiring}
	if missed {
		e.missed = a
	} else {
		e.current = a
	}
	return a, nil
}

// takeTurn lets the attempt run the task. If another attempt is already running it, takeTurn returns false, and the due
// time counts as missed.
func (a *attempt) takeTurn() bool {
	e := a.entry
	e.manager.mu.Lock()
	defer e.manager.mu.Unlock()
	other := e.missed
	if a.missed {
		other = e.current
	}
	if other != nil && other.granted {
		e.behind = true
		return false
	}
	a.granted = true
	return true
}

func (a *attempt) leave() {
	e := a.entry
	m := e.manager
	a.end(nil)
	m.mu.Lock()
	switch a {
	case e.current: // the next attempt may start while this one's permit is being released
		e.current = nil
	case e.missed:
		e.missed = nil
	}
	e.startCatchUp()
	m.mu.Unlock()
	e.active.Done()
}

// PanicError is the error of a run that panicked.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("the task panicked: %v", e.Value) }

// run is the job that the scheduler runs. It runs the task under the permit in ctx, and calls Reset first if the last
// run ended abnormally.
func (m *Manager) run(ctx context.Context) (err error) {
	a, ok := ctx.Value(attemptKey{}).(*attempt)
	if !ok {
		return ErrNotRegistered // cannot happen: begin created the context
	}
	e, permit := a.entry, client.PermitOf(ctx)
	abnormal, err := a.start(permit)
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			p := &PanicError{Value: r, Stack: debug.Stack()}
			m.settings.logger.Error("gatekeeper: the task panicked", "task", e.name, "panic", r, "stack", string(p.Stack))
			err = p
		}
	}()
	if t, ok := e.task.(Restartable); ok && (abnormal || m.endedAbnormally(ctx, permit)) {
		m.settings.logger.Info("gatekeeper: resetting the task, because its last run ended abnormally", "task", e.name, "token", client.TokenOf(ctx))
		if err := t.Reset(ctx); err != nil {
			return fmt.Errorf("reset: %w", err)
		}
	}
	return e.task.Run(ctx)
}

// start records that the task is running. From then on, remove may call Cancel during the run.
func (a *attempt) start(permit *client.Permit) (abnormal bool, err error) {
	e := a.entry
	m := e.manager
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.runCtx.Err() != nil {
		return false, context.Cause(e.runCtx)
	}
	a.state = Running
	e.started, e.skipped = m.settings.now(), nil
	if permit != nil {
		e.token = permit.Token()
		m.running[e.token] = struct{}{}
	}
	return a.tookOver || e.abnormal, nil
}

// finished is a client hook. It is called after a run has ended and its permit has been released, and also if a run
// that got a permit never started.
func finished(ctx context.Context, r client.Report) {
	a, ok := ctx.Value(attemptKey{}).(*attempt)
	if !ok {
		return
	}
	e := a.entry
	m := e.manager
	m.mu.Lock()
	delete(m.running, r.Token)
	if r.Ran {
		e.runs++
		e.err, e.abnormal = r.Err, r.Err != nil
	}
	if e.token == r.Token {
		e.token = 0
	}
	m.mu.Unlock()
	if r.Ran && r.Err != nil {
		m.settings.logger.Warn("gatekeeper: the task run failed", "task", e.name, "token", r.Token, "cut_short", r.CutShort, "error", r.Err)
	}
	a.leave()
}
