package tasks

import (
	"errors"

	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
)

// errGoexit is the error of a run that called runtime.Goexit.
var errGoexit = errors.New("the task ended its goroutine by runtime.Goexit")

// catchUpSoon begins to make up for due times that were missed, if there may be any. The caller holds the mutex, and
// the task is in use.
func (e *entry) catchUpSoon() {
	if e.behind && !e.catching && !e.removed && e.job != nil {
		e.catching = true
		e.active.Add(1)
		go e.catchUp()
	}
}

// catchUp makes up for due times that were missed, as the definition's misfire says, until there are none.
func (e *entry) catchUp() {
	m := e.manager
	defer e.active.Done()
	over := false
	defer func() {
		if !over { // a run has called runtime.Goexit
			m.mu.Lock()
			defer m.mu.Unlock()
			e.catching, e.behind = false, true
			e.catchUpSoon()
		}
	}()
	for e.stillBehind() {
		missed, err := m.locker.Missed(e.wanted, e.job)
		if err != nil && e.wanted.Err() == nil {
			m.settings.logger.Warn("gatekeeper: due times of the task that were missed do not run", "task", e.name, "error", err)
		}
		for _, due := range missed {
			if e.wanted.Err() == nil {
				e.makeUp(due)
			}
		}
	}
	over = true
}

// stillBehind takes note that due times that were missed up to now are asked for. While a run goes on here it leaves
// that to its end.
func (e *entry) stillBehind() bool {
	m := e.manager
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.removed || !e.behind || e.current != nil && e.current.granted {
		e.catching = false
		return false
	}
	e.behind = false
	return true
}

// makeUp runs the task for a due time that was missed.
func (e *entry) makeUp(due gkgocron.DueRun) {
	m := e.manager
	m.settings.logger.Info("gatekeeper: a due time of the task was missed, and it runs now unless another host runs it", "task", e.name, "due", due.Due)
	run, err := e.begin(due, true)
	if err != nil {
		m.settings.logger.Debug("gatekeeper: the task does not run for a due time that was missed", "task", e.name, "due", due.Due, "error", err)
		return
	}
	err = errGoexit
	defer func() { _ = run.End(err) }() // finished notes it
	err = run.Do(m.run)
}
