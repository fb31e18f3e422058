package main

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
)

const (
	// workers is the number of tasks processed concurrently.
	workers = 16
	// tasksPerJob is the number of tasks per submission in the jobs workload. jobSubmitters is the number of callers
	// that submit such jobs concurrently.
	tasksPerJob   = 1000
	jobSubmitters = 1
)

// taskVariants returns the variants for the tasks and jobs workloads on a system that runs tasks. submit submits empty
// tasks. The workers must report each recorded result to the ledger, with the submission id.
func taskVariants(system string, servers int, how string, l *ledger, submit submitFunc) []variant {
	return []variant{
		{Work: tasks, System: system, Servers: servers, How: how, open: ready(l.call(1, submit))},
		{Work: jobs, System: system, Servers: servers, How: how, open: ready(l.call(tasksPerJob, submit)), maxCallers: jobSubmitters},
	}
}

// submitFunc is a function that submits the given number of tasks under an id.
type submitFunc func(ctx context.Context, id string, tasks int) error

// ledger tracks the submissions waiting for results. The zero value is ready to use.
type ledger struct {
	ids    atomic.Uint64
	failed atomic.Pointer[error]

	mu   sync.Mutex // guards open
	open map[string]*pending
}

// pending is a submission with outstanding results.
type pending struct {
	left int
	done chan struct{}
}

// call returns a call that submits tasks and waits until all their results are recorded.
func (l *ledger) call(count int, submit submitFunc) load.Call {
	return func(ctx context.Context, _ int) (int, error) {
		id := strconv.FormatUint(l.ids.Add(1), 10)
		w := &pending{left: count, done: make(chan struct{})}
		l.mu.Lock()
		if l.open == nil {
			l.open = make(map[string]*pending)
		}
		l.open[id] = w
		l.mu.Unlock()
		if err := submit(ctx, id, count); err != nil {
			return 0, err
		}
		select {
		case <-w.done:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		if err := l.failed.Load(); err != nil {
			return 0, *err
		}
		return count, nil
	}
}

// recorded counts a recorded result of a submission.
func (l *ledger) recorded(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.open[id]
	if w == nil {
		return // its caller gave up waiting
	}
	if w.left--; w.left == 0 {
		delete(l.open, id)
		close(w.done)
	}
}

// fail fails all submissions with an error.
func (l *ledger) fail(err error) {
	l.failed.CompareAndSwap(nil, &err)
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, w := range l.open {
		delete(l.open, id)
		close(w.done)
	}
}
