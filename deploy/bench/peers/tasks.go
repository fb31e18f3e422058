package main

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
)

const (
	// workers is how many tasks are worked at once.
	workers = 16
	// inJob is how many tasks a submission of the work jobs brings, and jobSubmitters how many callers submit so many
	// at once.
	inJob         = 1000
	jobSubmitters = 1
)

// taskWays are the two kinds of work of a system of workers. submit must bring that many empty tasks, and the workers
// report each recorded result to the ledger under the id of its submission.
func taskWays(system string, servers int, how string, l *ledger, submit submission) []way {
	return []way{
		{Work: tasks, System: system, Servers: servers, How: how, open: ready(l.call(1, submit))},
		{Work: jobs, System: system, Servers: servers, How: how, open: ready(l.call(inJob, submit)), most: jobSubmitters},
	}
}

// submission submits that many tasks under an id.
type submission func(ctx context.Context, id string, tasks int) error

// ledger knows which submissions wait for results. The zero ledger waits for none.
type ledger struct {
	ids    atomic.Uint64
	failed atomic.Pointer[error]

	mu   sync.Mutex // guards open
	open map[string]*waited
}

// waited is a submission whose results are not all recorded.
type waited struct {
	left int
	done chan struct{}
}

// call submits tasks, and returns when the results of all of them are recorded.
func (l *ledger) call(count int, submit submission) load.Call {
	return func(ctx context.Context, _ int) (int, error) {
		id := strconv.FormatUint(l.ids.Add(1), 10)
		w := &waited{left: count, done: make(chan struct{})}
		l.mu.Lock()
		if l.open == nil {
			l.open = make(map[string]*waited)
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

// recorded notes that one more result of a submission is recorded.
func (l *ledger) recorded(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.open[id]
	if w == nil {
		return // its caller has gone
	}
	if w.left--; w.left == 0 {
		delete(l.open, id)
		close(w.done)
	}
}

// fail ends all submissions with an error.
func (l *ledger) fail(err error) {
	l.failed.CompareAndSwap(nil, &err)
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, w := range l.open {
		delete(l.open, id)
		close(w.done)
	}
}
