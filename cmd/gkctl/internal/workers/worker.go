package workers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/child"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/held"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// returnDelay is how long a task is held before it is returned without counting the attempt. A returned task is
	// handed out again immediately.
	returnDelay = time.Second
	// signalGap is the maximum time between a signal to a command and the same signal to gkctl when both must exit.
	signalGap = time.Second
)

// worker holds the state of a running gkctl work command.
type worker struct {
	*workOptions
	command      held.Command
	draining     context.Context //nolint:containedctx // cancelled by the first signal: no more tasks are taken
	stopping     context.Context //nolint:containedctx // cancelled by the second signal: commands stop
	secondSignal os.Signal       // valid once stopping is cancelled
}

// listen handles signals until end is called, so that they do not kill gkctl. After the second signal, signals have
// their default effect again.
func (w *worker) listen() (end func()) {
	var drain, stop context.CancelFunc
	w.draining, drain = context.WithCancel(context.Background())
	w.stopping, stop = context.WithCancel(context.Background())
	signals, ended := make(chan os.Signal, 8), make(chan struct{})
	signal.Notify(signals, slices.DeleteFunc([]os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}, signal.Ignored)...)
	var listening sync.WaitGroup
	listening.Go(func() {
		for w.stopping.Err() == nil {
			select {
			case s := <-signals:
				switch {
				case w.draining.Err() == nil:
					running := "will finish"
					if w.grace != work.GraceUnlimited {
						running = "will be stopped after " + w.grace.String()
					}
					w.f.Logf("gkctl: %s: not taking any more tasks; running tasks %s", signalName(s), running)
					drain()
				case s != syscall.SIGHUP: // a closing terminal sends several
					w.f.Logf("gkctl: %s: stopping commands and returning their tasks", signalName(s))
					w.secondSignal = s
					signal.Stop(signals)
					stop()
				}
			case <-ended:
				return
			}
		}
	})
	return func() {
		signal.Stop(signals)
		close(ended)
		listening.Wait()
		drain()
		stop()
	}
}

func signalName(s os.Signal) string {
	if n, ok := s.(syscall.Signal); ok {
		return child.SignalName(n)
	}
	return s.String()
}

// preflight checks for errors that waiting would not resolve.
func (w *worker) preflight(c *client.Client) error {
	ctx, cancel := w.f.Bounded(w.draining)
	defer cancel()
	r, err := c.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: w.semaphore})
	if w.draining.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	if d := r.GetRecord().GetDefinition().GetDuration().AsDuration(); held.StopTime(w.killAfter) > d/2 {
		return held.TooShort(w.semaphore, d, w.killAfter)
	}
	return nil
}

// work takes tasks until a signal stops it.
func (w *worker) work(c *client.Client) error {
	err := work.Run(w.draining, work.Worker{
		Semaphore: c.Semaphore(w.semaphore, client.WithWeight(w.weight), client.WithStopTime(held.StopTime(w.killAfter)),
			client.WithMetadata(map[string]string{"command": w.command.Name(), "pid": strconv.Itoa(os.Getpid())})),
		Parallel: w.parallel,
		Grace:    w.grace,
		Handle:   w.handle,
		Denied:   w.denied,
		Ended:    w.ended,
		Logger:   slog.New(slog.DiscardHandler), // ended prints the same events
	})
	switch {
	case w.stopping.Err() != nil:
		return &ui.CodeError{Code: held.ExitCode(w.secondSignal)}
	case w.draining.Err() != nil:
		return nil
	}
	return err
}

func (w *worker) denied(_ context.Context, d *client.DeniedError) {
	w.f.Logf("gkctl: waiting: %s\n`%s` shows how this was decided.", d, d.ExplainCommand())
}

// ended reports a task's outcome.
func (w *worker) ended(_ context.Context, r work.Report) {
	label := taskName(r.Task)
	switch r.Outcome {
	case gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED:
		w.f.Logf("gkctl: %s failed: %s", label, words.Cell(r.Err.Error()))
	case gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT:
		w.f.Logf("gkctl: %s was returned: %s", label, words.Cell(r.Err.Error()))
	default:
		w.verbosef("%s finished in %s", label, words.Elapsed(r.Took))
	}
	if r.Unrecorded != nil {
		w.f.Logf("gkctl: the outcome of %s was not recorded: %s", label, words.Cell(r.Unrecorded.Error()))
	}
}

func taskName(t *work.Task) string {
	return fmt.Sprintf("task %d of job %s", t.Index(), words.Cell(t.Job()))
}

// returned wraps an error that causes the task to be returned.
type returned struct{ error }

// Is makes returned match client.ErrCutShort.
func (returned) Is(target error) bool { return target == client.ErrCutShort }

// handle runs the command for a task.
func (w *worker) handle(task context.Context, t *work.Task) ([]byte, error) {
	ctx, stop := context.WithCancelCause(task)
	defer stop(nil)
	defer context.AfterFunc(w.stopping, func() { stop(work.ErrWorkerStops) })()
	run, err := w.start(ctx, t)
	if err != nil { // the cause is this host, not the task
		w.delay(ctx)
		return nil, returned{err}
	}
	stopped := run.process.Wait()
	state := run.process.End()
	run.close()
	if state.Code == 0 {
		return run.result.bytes()
	}
	err = errors.New(exitText(state, run.errors.String()))
	switch {
	case stopped != nil && task.Err() == nil: // stopped for a reason other than the task's context
		_, text := held.StopReason(stopped)
		return nil, returned{fmt.Errorf("%s: %w", text, err)}
	case stopped != nil:
		return nil, err
	case state.Code == ui.ExitNotAcquired:
		w.delay(ctx)
		return nil, returned{err}
	case w.interrupted(state):
		return nil, returned{err}
	}
	result, _ := run.result.bytes() // the exit code is more useful than an error about the size
	return result, err
}

// exitText describes how a command exited, including the last line of its standard error.
func exitText(s child.State, last string) string {
	text := fmt.Sprintf("exit code %d", s.Code)
	if s.Signal != 0 {
		text = "killed by " + child.SignalName(s.Signal)
	}
	if last != "" {
		text += ": " + last
	}
	return text
}

// delay waits for returnDelay before a task is returned, unless the task or the worker must stop.
func (w *worker) delay(ctx context.Context) {
	timer := time.NewTimer(returnDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-w.draining.Done():
	}
}

// interrupted reports whether a command was killed by a signal because this worker must exit too. A service manager may
// signal all of a service's processes (systemd does unless KillMode=mixed is set), and a host that is shutting down
// signals every process. The command may receive the signal before gkctl does.
func (w *worker) interrupted(s child.State) bool {
	if !held.Terminates(syscall.Signal(s.Code - 128)) {
		return false
	}
	timer := time.NewTimer(signalGap)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.draining.Done():
	}
	return w.draining.Err() != nil
}

// running is a task's running command.
type running struct {
	process *held.Process
	file    *held.File
	pipes   *pipes
	result  *result
	errors  *tail
}

func (w *worker) start(ctx context.Context, t *work.Task) (r *running, err error) {
	r = &running{result: &result{limit: t.MaxResult()}, errors: &tail{to: w.f.Err}}
	if r.file, err = held.NewFile(); err != nil {
		return nil, err
	}
	if r.pipes, err = newPipes(); err != nil {
		r.file.Remove()
		return nil, err
	}
	label := taskName(t)
	r.process, err = held.Start(held.Spec{
		Command: w.command, Permit: t.Permit(), Context: ctx, KillAfter: w.killAfter, File: r.file, Weight: w.weight,
		Child:    child.Spec{Files: r.pipes.childEnds()},
		Env:      []string{"GK_JOB=" + t.Job(), "GK_TASK=" + strconv.Itoa(t.Index()), "GK_ATTEMPT=" + strconv.Itoa(t.Attempt())},
		Printf:   func(format string, args ...any) { w.f.Logf("gkctl: %s: %s", label, fmt.Sprintf(format, args...)) },
		Verbosef: func(format string, args ...any) { w.verbosef("%s: %s", label, fmt.Sprintf(format, args...)) },
	})
	r.pipes.begin(t.Payload(), r.result, r.errors)
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// close reads the rest of the command's output and removes the permit file. All of the command's processes must have
// exited.
func (r *running) close() {
	r.pipes.close()
	r.file.Remove()
}
