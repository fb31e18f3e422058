package gocron

import (
	"context"
	"errors"
	"sync"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/client"
)

// ErrNotLeader is returned while this scheduler is not the leader. Another scheduler may be the leader, or there may be
// no leader.
var ErrNotLeader = errors.New("this scheduler is not the leader")

// Elector is a gocron.Elector. Schedulers whose Electors share a semaphore have one leader for each of its permits,
// normally just one. An Elector holds a permit while its scheduler is the leader.
type Elector struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // why the loop ended; read it only after ended is closed

	mu   sync.Mutex // guards term
	term *term      // nil while this scheduler is not the leader
}

var _ gocron.Elector = (*Elector)(nil)

// term is one period of leadership.
type term struct {
	ctx    context.Context //nolint:containedctx // it ends with the term
	permit *client.Permit
	tasks  sync.WaitGroup // Add is called with the Elector's mutex held, during the term
}

// NewElector returns an Elector that tries to become the leader until it is closed.
func NewElector(sem *client.Semaphore, opts ...client.JobOption) *Elector {
	ctx, cancel := context.WithCancel(context.Background())
	e := &Elector{cancel: cancel, ended: make(chan struct{})}
	runner := client.NewRunner(sem, e.lead, opts...)
	go func() {
		defer close(e.ended)
		e.err = runner.Loop(ctx)
	}()
	return e
}

// lead runs one term, from the grant of the permit to the end of the last task.
func (e *Elector) lead(ctx context.Context) error {
	t := &term{ctx: ctx, permit: client.PermitOf(ctx)}
	e.mu.Lock()
	e.term = t
	e.mu.Unlock()
	<-ctx.Done()
	e.mu.Lock()
	e.term = nil
	e.mu.Unlock()
	t.tasks.Wait() // so that no task overlaps with the next leader's
	return context.Cause(ctx)
}

// active reports whether the term is still in force. It checks the permit's deadline as well as the context.
func (t *term) active() bool {
	return t != nil && t.ctx.Err() == nil && (t.permit == nil || t.permit.Held())
}

// IsLeader returns nil if this scheduler is the leader, and ErrNotLeader otherwise. It does not call a server.
func (e *Elector) IsLeader(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.term.active() {
		return ErrNotLeader
	}
	return nil
}

// Task returns a task that runs only while this scheduler is the leader. Its context is cancelled, with the cause, when
// leadership is lost or when gocron stops the job. The next leader starts only after the task has returned. Plain
// gocron tasks are neither cancelled nor waited for.
func (e *Elector) Task(job func(context.Context) error) gocron.Task {
	return gocron.NewTask(func(gocronCtx context.Context) error {
		e.mu.Lock()
		t := e.term
		if !t.active() {
			e.mu.Unlock()
			return ErrNotLeader
		}
		t.tasks.Add(1)
		e.mu.Unlock()
		defer t.tasks.Done()
		ctx, cancel := context.WithCancelCause(t.ctx)
		defer cancel(nil)
		defer context.AfterFunc(gocronCtx, func() { cancel(context.Cause(gocronCtx)) })()
		return job(ctx)
	})
}

// Close gives up leadership: it cancels the tasks, waits for them, and releases the permit. Shut down the scheduler
// first. If the Elector had already stopped, Close returns the reason.
func (e *Elector) Close() error {
	e.cancel()
	<-e.ended
	if errors.Is(e.err, context.Canceled) {
		return nil
	}
	return e.err
}
