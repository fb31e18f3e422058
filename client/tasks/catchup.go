package tasks

import (
	"errors"

	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
)

// errGoexit is the error of a run that called runtime.Goexit.
var errGoexit = errors.New("the task called runtime.Goexit")

// startCatchUp starts making up for missed runs if there may be any. The caller holds the mutex, and the task is in
// use.
func (e *entry) startCatchUp() {
	if e.behind && !e.catchingUp && !e.removed && e.job != nil {
		e.catchingUp = true
		e.active.Add(1)
		go e.catchUp()
	}
}

// catchUp makes up for missed runs, according to the definition's misfire policy, until none are left.
func (e *entry) catchUp() {
	m := e.manager
	defer e.active.Done()
	done := false
	defer func() {
		if !done { // a run called runtime.Goexit
			m.mu.Lock()
			defer m.mu.Unlock()
			e.catchingUp, e.behind = false, true
			e.startCatchUp()
		}
	}()
	for e.stillBehind() {
		missed, err := m.locker.Missed(e.acquireCtx, e.job)
		if err != nil && e.acquireCtx.Err() == nil {
			m.settings.logger.Warn("gatekeeper: not making up for the task's missed runs", "task", e.name, "error", err)
		}
		for _, due := range missed {
			if e.acquireCtx.Err() == nil {
				e.runMissed(due)
			}
		}
	}
	done = true
}

// stillBehind reports whether catchUp should look up the due times missed so far. It returns false during a run for the
// current due time, because the end of that run restarts catchUp.
func (e *entry) stillBehind() bool {
	m := e.manager
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.removed || !e.behind || e.current != nil && e.current.granted {
		e.catchingUp = false
		return false
	}
	e.behind = false
	return true
}

// runMissed runs the task for a missed due time.
func (e *entry) runMissed(due gkgocron.DueRun) {
	m := e.manager
	m.settings.logger.Info("gatekeeper: the task missed a run: running it now, unless another host runs it first", "task", e.name, "due", due.Due)
	run, err := e.begin(due, true)
	if err != nil {
		m.settings.logger.Debug("gatekeeper: not making up for a missed run of the task", "task", e.name, "due", due.Due, "error", err)
		return
	}
	err = errGoexit
	defer func() { _ = run.End(err) }() // finished records the error
	err = run.Do(m.run)
}
