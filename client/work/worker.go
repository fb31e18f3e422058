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
	// GraceUnlimited is the Grace of a worker that finishes its tasks.
	GraceUnlimited = -1
	// endsWithin bounds how long a worker that stops tries to report how its tasks have ended.
	endsWithin = 5 * time.Second
)

// ErrWorkerStops is the cause with which the context of a task ends when its worker stops, after Worker.Grace.
var ErrWorkerStops = errors.New("the worker stops")

// Worker executes tasks of one semaphore.
type Worker struct {
	// Semaphore is whose tasks are executed. Its options say who works: group, acquirer, weight, metadata, stop time
	// and stall limit.
	Semaphore *client.Semaphore
	// Parallel is how many tasks are executed at a time, at most 1 000. Default, and 0: 1.
	Parallel int
	// Handle executes a task and returns its result, on a separate goroutine. ctx ends when the task must stop: because
	// its permit must not be counted on any more, its job was cancelled, or the worker stops; context.Cause says which.
	// It has the values of Run's context, and client.TokenOf and client.PermitOf work on it.
	//
	// The task is done if the error is nil. It goes back, uncounted, if Handle returns an error after ctx has ended, or
	// one that is client.ErrCutShort. Otherwise it has failed, with the text of the error; a result that is returned
	// with the error is kept if both fit into MaxResult, or into 256 bytes if that is more. A task that ran for longer
	// than max_hold, or made no progress for its stall limit, has failed as well, and so has one that panicked, that
	// called runtime.Goexit, or whose result is larger than the job allows.
	Handle func(ctx context.Context, t *Task) (result []byte, err error)
	// Grace is for how long tasks may go on after the context of Run has ended. Then their contexts end too. Default,
	// and 0: they end at once. GraceUnlimited lets all of them finish.
	Grace time.Duration
	// Denied is called when the semaphore does not let the worker in, or is paused, once for each reason and each
	// pause. The worker keeps waiting. It may be nil: then the Client logs the denial as a warning, and a pause as
	// information, with the gkctl command that explains it.
	Denied func(context.Context, *client.DeniedError)
	// Ended is called when a task has ended and its end was sent. It may be nil.
	Ended func(context.Context, Report)
	// Logger gets failed tasks, and what nobody would otherwise hear of. Default: slog.Default().
	Logger *slog.Logger
}

// Report says how a task has ended.
type Report struct {
	Task *Task
	// Outcome is DONE, FAILED or CUT_SHORT.
	Outcome gatekeeperv1.ReleaseOutcome
	// Err is the error of a task that is not done.
	Err  error
	Took time.Duration
	// Unrecorded is why the end is not recorded: a *client.EndedError, for example, if the permit was lost and another
	// worker has the task. nil: it is recorded, or the task has gone back.
	Unrecorded error
}

// Run executes tasks until ctx ends, and then returns its cause; or until the servers refuse the worker for good, such
// as for a weight that is too large, and returns why. A semaphore that is missing, paused or full is waited for.
//
// At its end it takes no more tasks, lets those that it has go on for Grace, ends their contexts, waits until all have
// returned, and reports their ends. Tasks that are unfinished go to other workers at once. While no server answers, the
// tasks that it has go on for as long as their permits can be counted on, and it takes up its work when one answers.
func Run(ctx context.Context, w Worker) error {
	if w.Semaphore == nil || w.Handle == nil {
		return errors.New("a worker needs a Semaphore and Handle")
	}
	if w.Logger == nil {
		w.Logger = slog.Default()
	}
	r := &run{Worker: w}
	r.Parallel = max(r.Parallel, 1)
	r.Logger = w.Logger.With("semaphore", w.Semaphore.Name())
	r.cut, r.cutNow = context.WithCancel(context.Background())
	defer r.cutNow()
	var giveUp context.CancelFunc
	r.ends, giveUp = context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	offering, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	offered := make(chan struct{})
	var err error // of the offer, once that is over
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
	last := r.drain()
	r.handling.Wait()
	timer := time.AfterFunc(endsWithin, giveUp)
	defer timer.Stop()
	r.working.Wait()
	r.close(last, offered, stop)
	if !refused {
		err = context.Cause(ctx)
	}
	r.working.Wait() // tasks that came last
	return err
}

// run is a worker that runs.
type run struct {
	Worker
	ends   context.Context //nolint:containedctx // for the ends of tasks
	cut    context.Context //nolint:containedctx // ends when running tasks must stop
	cutNow context.CancelFunc

	mu       sync.Mutex // guards everything below
	stream   *client.WorkStream
	running  int // tasks whose Handle has not returned
	draining bool

	handling sync.WaitGroup // Handle of each task
	working  sync.WaitGroup // each task, with its end
}

// open begins with a new stream. It offers what is free: tasks of earlier streams go on.
func (r *run) open(s *client.WorkStream) (slots int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining {
		return 0, false
	}
	r.stream = s
	return r.Parallel - r.running, true
}

// accept begins a task.
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
			_ = r.end(held, client.WorkEnd{Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN}) // it is logged
		}()
		return
	}
	go func() {
		defer r.working.Done()
		r.execute(held)
	}()
}

// drain takes no more tasks, and ends the contexts of those that run after the grace. It returns the stream, if there
// is one.
func (r *run) drain() *client.WorkStream {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining = true
	if r.stream != nil {
		r.stream.Drain()
	}
	switch {
	case r.Grace == 0:
		r.cutNow()
	case r.Grace > 0:
		grace := time.AfterFunc(r.Grace, r.cutNow)
		context.AfterFunc(r.cut, func() { grace.Stop() })
	}
	return r.stream
}

// close ends the stream in order, so that a task which is on its way goes back.
func (r *run) close(s *client.WorkStream, offered <-chan struct{}, stop func()) {
	if s != nil {
		s.Close()
		timer := time.NewTimer(endsWithin)
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

// execute runs a task to its end.
func (r *run) execute(held *client.WorkTask) {
	ctx, cancel := context.WithCancelCause(held.Context())
	defer cancel(nil)
	t := &Task{held}
	started := time.Now()
	returned := make(chan struct{})
	defer context.AfterFunc(r.cut, func() { cancel(ErrWorkerStops) })()
	unwatch := context.AfterFunc(held.Permit.Context(), func() { r.watch(t, returned) })
	var result []byte
	err := errGoexit
	defer func() { // also after runtime.Goexit
		close(returned)
		unwatch()
		r.finish(ctx, held, started, result, err)
	}()
	result, err = r.handle(ctx, t)
}

// errGoexit is the error of a task that called runtime.Goexit.
var errGoexit = errors.New("the task ended its goroutine by runtime.Goexit")

// finish ends a task whose Handle has returned.
func (r *run) finish(ctx context.Context, held *client.WorkTask, started time.Time, result []byte, err error) {
	t := &Task{held}
	e, err := r.outcome(ctx, t, result, err)
	e.Next = r.free(held)
	unrecorded := r.end(held, e)
	report := Report{Task: t, Outcome: e.Outcome, Err: err, Took: time.Since(started), Unrecorded: unrecorded}
	if err != nil {
		r.Logger.Warn("gatekeeper: a task was not done", "job", t.Job(), "index", t.Index(), "attempt", t.Attempt(), "token", t.Token(),
			"outcome", e.Outcome, "error", err)
	}
	if r.Ended != nil {
		r.Ended(ctx, report)
	}
}

// handle calls Handle. A panic is an error of the task.
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

// outcome says how a task has ended.
func (r *run) outcome(ctx context.Context, t *Task, result []byte, err error) (client.WorkEnd, error) {
	const (
		done     = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE
		failed   = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED
		cutShort = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT
	)
	stopped := context.Cause(ctx)
	own := errors.Is(stopped, client.ErrHeldTooLong) || errors.Is(stopped, client.ErrStalled)
	if most := t.MaxResult(); len(result) > most {
		tooLarge := fmt.Errorf("the result has %d bytes, and max_result of the job is %d", len(result), most)
		result = nil
		if err == nil {
			return client.WorkEnd{Outcome: failed, Failure: tooLarge.Error()}, tooLarge
		}
	}
	panicked := errors.As(err, new(*panicError))
	switch {
	case err == nil:
		return client.WorkEnd{Outcome: done, Result: result}, nil
	case errors.Is(err, client.ErrCutShort), stopped != nil && !own && !panicked:
		return client.WorkEnd{Outcome: cutShort, Failure: whyBack(stopped, err)}, err
	case own:
		err = fmt.Errorf("%w: %w", stopped, err)
	}
	return client.WorkEnd{Outcome: failed, Result: result, Failure: err.Error()}, err
}

// whyBack says why a task goes back. The cause of its context says more than that the context has ended.
func whyBack(stopped, err error) string {
	switch {
	case stopped == nil:
		return err.Error()
	case errors.Is(err, context.Canceled):
		return stopped.Error()
	}
	return fmt.Sprintf("%v: %v", stopped, err)
}

// free gives the slot of a task back. next: the task's own stream is used, so the end of the task can ask for another
// one.
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

// end reports the end of a task.
func (r *run) end(held *client.WorkTask, e client.WorkEnd) error {
	err := held.End(r.ends, e)
	if _, tooMuch := errors.AsType[*client.WorkLimitError](err); tooMuch {
		e = client.WorkEnd{Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED, Failure: err.Error(), Next: e.Next}
		err = held.End(r.ends, e)
	}
	if err != nil {
		r.Logger.Warn("gatekeeper: the end of a task is not recorded", "job", held.Job.GetId(), "index", held.Task.GetIndex(),
			"token", held.Permit.Token(), "outcome", e.Outcome, "error", err)
	}
	return err
}

// watch reports a task that still runs when its permit is gone. It is called when the permit's context has ended.
func (r *run) watch(t *Task, returned <-chan struct{}) {
	select {
	case <-returned:
		return
	case <-t.Permit().Done():
	}
	timer := time.NewTimer(promptness) // a task that looks at its context returns a moment later
	defer timer.Stop()
	select {
	case <-returned:
	case <-timer.C:
		r.Logger.Error("gatekeeper: the task still runs although ITS PERMIT IS GONE, another worker may execute it at the same time",
			"job", t.Job(), "index", t.Index(), "token", t.Token(), "cause", context.Cause(t.Permit().Context()))
	}
}

// promptness is how long a task may take to return after its permit is gone before that is reported.
const promptness = time.Second
