package gocron

import (
	"context"
	"errors"
	"sync"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/client"
)

// ErrNotLeader: another scheduler leads, or none at the moment.
var ErrNotLeader = errors.New("this scheduler does not lead")

// Elector is a gocron.Elector: of all schedulers with an Elector of the same semaphore as many lead as it has permits,
// normally one. It holds a permit for as long as it leads.
type Elector struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // why the loop has ended; read after ended

	mu   sync.Mutex // guards term
	term *term      // nil: does not lead
}

var _ gocron.Elector = (*Elector)(nil)

// term is one time of leading.
type term struct {
	ctx    context.Context //nolint:containedctx // it is the term
	permit *client.Permit
	tasks  sync.WaitGroup // Add is called under the Elector's mutex, while it is the term
}

// NewElector begins to stand for election. Close it to end that.
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

// lead is a term, from the permit to the end of the last task.
func (e *Elector) lead(ctx context.Context) error {
	t := &term{ctx: ctx, permit: client.PermitOf(ctx)}
	e.mu.Lock()
	e.term = t
	e.mu.Unlock()
	<-ctx.Done()
	e.mu.Lock()
	e.term = nil
	e.mu.Unlock()
	t.tasks.Wait() // so that the next leader never meets them
	return context.Cause(ctx)
}

// leads says whether a term lasts, by the clock too.
func (t *term) leads() bool {
	return t != nil && t.ctx.Err() == nil && (t.permit == nil || t.permit.Held())
}

// IsLeader returns nil when this scheduler leads, and ErrNotLeader otherwise. It asks no server.
func (e *Elector) IsLeader(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.term.leads() {
		return ErrNotLeader
	}
	return nil
}

// Task is a task that runs while this scheduler leads: its context ends when it does no longer, with the cause, and
// when gocron stops the job. The next leader begins when it has returned. A task of gocron's own kind is neither
// notified nor waited for.
func (e *Elector) Task(job func(context.Context) error) gocron.Task {
	return gocron.NewTask(func(gocronCtx context.Context) error {
		e.mu.Lock()
		t := e.term
		if !t.leads() {
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

// Close stops leading: tasks are notified and waited for, and the permit is released. Shut the scheduler down first. It
// returns nil, or why the Elector had ended before.
func (e *Elector) Close() error {
	e.cancel()
	<-e.ended
	if errors.Is(e.err, context.Canceled) {
		return nil
	}
	return e.err
}
