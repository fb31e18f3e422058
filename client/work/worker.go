package work

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// GraceUnlimited is the Grace of a worker that finishes its running tasks before it stops.
	GraceUnlimited = -1
	// reportTimeout bounds how long a stopping worker tries to report the outcomes of its tasks.
	reportTimeout = 5 * time.Second
)

// ErrWorkerStops is the cancellation cause of a task's context if its worker is stopping and Worker.Grace has passed.
var ErrWorkerStops = errors.New("the worker is stopping")

// Worker executes tasks of one semaphore.
type Worker struct {
	// Semaphore is the semaphore whose tasks are executed. Its options set the worker's group, acquirer, weight,
	// metadata, stop time and stall limit.
	Semaphore *client.Semaphore
	// Parallel is the number of tasks to execute at a time, at most 1000. 0 means 1.
	Parallel int
	// Handle executes a task on a separate goroutine and returns its result. ctx is cancelled when the task must stop:
	// because its permit can no longer be relied on, its job was cancelled, or the worker is stopping. context.Cause
	// returns the reason. ctx carries the values of Run's context, and client.TokenOf and client.PermitOf work on it.
	//
	// If Handle returns a nil error, the task is done. If it returns an error after ctx was cancelled, or
	// client.ErrCutShort, the task is returned to the queue and the attempt does not count. On any other error, the
	// task fails with that error's message. A result returned with an error is kept if both fit into MaxResult, or into
	// 256 bytes if that is more. A task also fails if it runs longer than max_hold, makes no progress within its stall
	// limit, panics, calls runtime.Goexit, or returns a result larger than the job allows.
	Handle func(ctx context.Context, t *Task) (result []byte, err error)
	// Grace is how long tasks may continue after Run's context has ended. After that, their contexts are cancelled. 0
	// means that they are cancelled immediately. GraceUnlimited lets all tasks finish.
	Grace time.Duration
	// Denied is called when the semaphore does not admit the worker or is paused, once per reason and once per pause.
	// The worker keeps waiting. If Denied is nil, the Client logs a denial as a warning and a pause at level Info, with
	// the gkctl command that explains it.
	Denied func(context.Context, *client.DeniedError)
	// Ended is called when a task has ended and its outcome has been sent. Ended can be nil.
	Ended func(context.Context, Report)
	// Logger receives messages about failed tasks, and about problems that are not reported elsewhere. Default:
	// slog.Default().
	Logger *slog.Logger
}

// Report describes how a task ended.
type Report struct {
	Task *Task
	// Outcome is DONE, FAILED or CUT_SHORT.
	Outcome gatekeeperv1.ReleaseOutcome
	// Err is the error of a task that is not done.
	Err  error
	Took time.Duration
	// Unrecorded is the reason why the outcome was not recorded, for example a *client.EndedError if the permit was
	// lost and another worker has the task. It is nil if the outcome was recorded or the task was returned to the
	// queue.
	Unrecorded error
}

// Run executes tasks until ctx ends, and returns ctx's cause. If the servers refuse the worker permanently, for example
// because its weight is too large, it returns earlier with the reason. If the semaphore is missing, paused or full, Run
// waits.
//
// When ctx ends, Run takes no more tasks, lets running tasks continue for Grace, cancels their contexts, waits until
// all have returned, and reports their outcomes. Unfinished tasks are handed to other workers immediately. While no
// server is responding, running tasks continue until their permits can no longer be relied on. Run takes new tasks
// again once a server responds.
func Run(ctx context.Context, w Worker) error {
	if w.Semaphore == nil || w.Handle == nil {
		return errors.New("a worker requires a Semaphore and a Handle")
	}
	if w.Logger == nil {
		w.Logger = slog.Default()
	}
	r := &run{Worker: w}
	r.Parallel = max(r.Parallel, 1)
	r.Logger = w.Logger.With("semaphore", w.Semaphore.Name())
	r.stopCtx, r.stopRunning = context.WithCancel(context.Background())
	defer r.stopRunning()
	var giveUp context.CancelFunc
	r.reportCtx, giveUp = context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	offering, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	offered := make(chan struct{})
	var err error // the error of OfferWork; read it only after offered is closed
	go func() {
		defer close(offered)
		h := client.WorkHandler{Open: r.open, Task: r.accept}
		if w.Denied != nil {
			h.Denied = func(d *client.DeniedError) { w.Denied(ctx, d) }
		}
		err = w.Semaphore.OfferWork(offering, h)
	}()
	refused := false
	select {
	case <-offered:
		refused = true
	case <-ctx.Done():
	}
	lastStream := r.drain()
	r.handling.Wait()
	timer := time.AfterFunc(reportTimeout, giveUp)
	defer timer.Stop()
	r.working.Wait()
	r.close(lastStream, offered, stop)
	if !refused {
		err = context.Cause(ctx)
	}
	r.working.Wait() // for tasks that arrived late
	return err
}

// run is a running worker.
type run struct {
	Worker
	reportCtx   context.Context //nolint:containedctx // for reporting the outcomes of tasks
	stopCtx     context.Context //nolint:containedctx // cancelled when running tasks must stop
	stopRunning context.CancelFunc

	mu       sync.Mutex // guards everything below
	stream   *client.WorkStream
	running  int // tasks whose Handle has not returned
	draining bool

	handling sync.WaitGroup // counts running Handles
	working  sync.WaitGroup // counts tasks whose outcome has not been reported yet
}

// open is called for each new stream. It offers only the free slots, because tasks from earlier streams continue.
func (r *run) open(s *client.WorkStream) (slots int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining {
		return 0, false
	}
	r.stream = s
	return r.Parallel - r.running, true
}

// accept starts a task.
func (r *run) accept(held *client.WorkTask) {
	r.mu.Lock()
	draining := r.draining
	r.working.Add(1)
	if !draining {
		r.running++
		r.handling.Add(1)
	}
	r.mu.Unlock()
	if draining {
		go func() {
			defer r.working.Done()
			_ = r.end(held, client.WorkEnd{Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN}) // end logs the error
		}()
		return
	}
	go func() {
		defer r.working.Done()
		r.execute(held)
	}()
}

// drain stops taking tasks, and cancels the contexts of running tasks after the grace period. It returns the current
// stream, or nil if there is none.
func (r *run) drain() *client.WorkStream {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining = true
	if r.stream != nil {
		r.stream.Drain()
	}
	switch {
	case r.Grace == 0:
		r.stopRunning()
	case r.Grace > 0:
		grace := time.AfterFunc(r.Grace, r.stopRunning)
		context.AfterFunc(r.stopCtx, func() { grace.Stop() })
	}
	return r.stream
}

// close closes the stream gracefully, so that a task in transit is returned.
func (r *run) close(s *client.WorkStream, offered <-chan struct{}, stop func()) {
	if s != nil {
		s.Close()
		timer := time.NewTimer(reportTimeout)
		defer timer.Stop()
		select {
		case <-offered:
			return
		case <-s.Done():
		case <-timer.C:
		}
	}
	stop()
	<-offered
}

// execute runs a task to completion.
func (r *run) execute(held *client.WorkTask) {
	ctx, cancel := context.WithCancelCause(held.Context())
	defer cancel(nil)
	t := &Task{held}
	started := time.Now()
	returned := make(chan struct{})
	defer context.AfterFunc(r.stopCtx, func() { cancel(ErrWorkerStops) })()
	unwatch := context.AfterFunc(held.Permit.Context(), func() { r.watch(t, returned) })
	var result []byte
	err := errGoexit
	defer func() { // runs even after runtime.Goexit
		close(returned)
		unwatch()
		r.finish(ctx, held, started, result, err)
	}()
	result, err = r.handle(ctx, t)
}

// errGoexit is the error of a task that called runtime.Goexit.
var errGoexit = errors.New("the task called runtime.Goexit")

// finish reports the outcome of a task whose Handle has returned.
func (r *run) finish(ctx context.Context, held *client.WorkTask, started time.Time, result []byte, err error) {
	t := &Task{held}
	e, err := r.outcome(ctx, t, result, err)
	e.Next = r.free(held)
	unrecorded := r.end(held, e)
	report := Report{Task: t, Outcome: e.Outcome, Err: err, Took: time.Since(started), Unrecorded: unrecorded}
	if err != nil {
		r.Logger.Warn("gatekeeper: a task was not completed", "job", t.Job(), "index", t.Index(), "attempt", t.Attempt(), "token", t.Token(),
			"outcome", e.Outcome, "error", err)
	}
	if r.Ended != nil {
		r.Ended(ctx, report)
	}
}

// handle calls Handle and converts a panic to an error.
func (r *run) handle(ctx context.Context, t *Task) (result []byte, err error) {
	defer r.handling.Done()
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v}
			r.Logger.Error("gatekeeper: a task panicked", "job", t.Job(), "index", t.Index(), "panic", v, "stack", string(debug.Stack()))
		}
	}()
	return r.Handle(ctx, t)
}

type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("the task panicked: %v", e.value) }

// outcome determines the outcome of a task.
func (r *run) outcome(ctx context.Context, t *Task, result []byte, err error) (client.WorkEnd, error) {
	const (
		done     = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE
		failed   = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED
		cutShort = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT
	)
	stopped := context.Cause(ctx)
	taskFault := errors.Is(stopped, client.ErrHeldTooLong) || errors.Is(stopped, client.ErrStalled)
	if limit := t.MaxResult(); len(result) > limit {
		tooLarge := fmt.Errorf("the result is %d bytes, but the job's max_result is %d", len(result), limit)
		result = nil
		if err == nil {
			return client.WorkEnd{Outcome: failed, Failure: tooLarge.Error()}, tooLarge
		}
	}
	panicked := errors.As(err, new(*panicError))
	switch {
	case err == nil:
		return client.WorkEnd{Outcome: done, Result: result}, nil
	case errors.Is(err, client.ErrCutShort), stopped != nil && !taskFault && !panicked:
		return client.WorkEnd{Outcome: cutShort, Failure: returnReason(stopped, err)}, err
	case taskFault:
		err = fmt.Errorf("%w: %w", stopped, err)
	}
	return client.WorkEnd{Outcome: failed, Result: result, Failure: err.Error()}, err
}

// returnReason returns the reason why a task is returned. The cause of its context is more specific than
// context.Canceled.
func returnReason(stopped, err error) string {
	switch {
	case stopped == nil:
		return err.Error()
	case errors.Is(err, context.Canceled):
		return stopped.Error()
	}
	return fmt.Sprintf("%v: %v", stopped, err)
}

// free frees a task's slot. next reports whether the stream that delivered the task is still in use, so that the
// message with the task's outcome can also request another task.
func (r *run) free(held *client.WorkTask) (next bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	if r.draining {
		return false
	}
	if r.stream == held.Stream() {
		return true
	}
	r.stream.Take(1)
	return false
}

// end reports the outcome of a task.
func (r *run) end(held *client.WorkTask, e client.WorkEnd) error {
	err := held.End(r.reportCtx, e)
	if _, tooLarge := errors.AsType[*client.WorkLimitError](err); tooLarge {
		e = client.WorkEnd{Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED, Failure: err.Error(), Next: e.Next}
		err = held.End(r.reportCtx, e)
	}
	if err != nil {
		r.Logger.Warn("gatekeeper: the outcome of a task was not recorded", "job", held.Job.GetId(), "index", held.Task.GetIndex(),
			"token", held.Permit.Token(), "outcome", e.Outcome, "error", err)
	}
	return err
}

// watch logs a task that is still running after its permit has ended. It is called when the permit's context has ended.
func (r *run) watch(t *Task, returned <-chan struct{}) {
	select {
	case <-returned:
		return
	case <-t.Permit().Done():
	}
	timer := time.NewTimer(overrunGrace) // a task that watches its context returns a moment later
	defer timer.Stop()
	select {
	case <-returned:
	case <-timer.C:
		r.Logger.Error("gatekeeper: the task is still running although ITS PERMIT HAS ENDED, and another worker may execute it at the same time",
			"job", t.Job(), "index", t.Index(), "token", t.Token(), "cause", context.Cause(t.Permit().Context()))
	}
}

// overrunGrace is how long a task may keep running after its permit has ended before this is logged.
const overrunGrace = time.Second
