package gocron

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/client"
)

var (
	// ErrRunning: the job runs here already. One scheduler runs a job once at a time, whatever the semaphore has free.
	ErrRunning = errors.New("the job is still running in this scheduler")
	// ErrNotLocked: a task of Locker.Task was run without its Locker.
	ErrNotLocked = errors.New("the job holds no lock: give the Locker to its scheduler, or to the job")
	// ErrNotFollowing: the Locker knows no scheduler to read due times from.
	ErrNotFollowing = errors.New("the Locker follows no scheduler: call Follow")
	// ErrUnscheduled: the run is not on the timetable; see WithUnscheduled.
	ErrUnscheduled = errors.New("the run is not on the timetable")
)

// Locker is a gocron.Locker: a lock is a permit of the semaphore that has the job's name, and claims the firing that is
// due. Give it to one scheduler, or to some of its jobs, and have it follow that scheduler.
type Locker struct {
	client      *client.Client
	semaphore   func(job string) *client.Semaphore
	options     []client.JobOption
	begin       func(context.Context, DueRun) (*client.Run, error)
	now         func() time.Time
	base        time.Time // when the Locker was made, by now
	unscheduled bool

	mu        sync.Mutex // guards everything below
	scheduler gocron.Scheduler
	// runs are what runs, by the job's context: all that gocron hands to both its Locker and its task.
	runs map[context.Context]*lock
	// timetables are those of the jobs, by their contexts too.
	timetables map[context.Context]*timetable
}

var _ gocron.Locker = (*Locker)(nil)

// Option is an option of NewLocker.
type Option func(*Locker)

// WithSemaphore says which semaphore a job takes its permits from. Default: the client's of the job's name.
func WithSemaphore(f func(job string) *client.Semaphore) Option {
	return func(l *Locker) { l.semaphore = f }
}

// WithJobOptions are options of all runs. gocron reschedules a job only when Lock has returned: waiting for a permit,
// or for a server, holds up the job's own timetable. Firings are named by the job.
//
// Give a OneTimeJob a single time if its runs may wait. If an earlier run of several still waits when the last time is
// over, gocron (v2.21.2) loops forever looking for the next time, and no job of that scheduler runs again.
func WithJobOptions(opts ...client.JobOption) Option {
	return func(l *Locker) { l.options = append(l.options, opts...) }
}

// WithBegin replaces how a run begins: f returns what DueRun.Begin returned, whatever it does before. It may call Begin
// several times, after a denial for example, and with another context: the run's context is then derived from that one.
// The contract of Lock is f's too.
func WithBegin(f func(context.Context, DueRun) (*client.Run, error)) Option {
	return func(l *Locker) { l.begin = f }
}

// WithUnscheduled lets runs that are not on the timetable, as by Job.RunNow or gocron.WithStartImmediately, run under a
// permit alone, without a firing. Do not use it with gocron.LimitModeWait: runs that have queued up behind a slow one
// count as unscheduled.
func WithUnscheduled() Option { return func(l *Locker) { l.unscheduled = true } }

// WithNow replaces the clock, for a scheduler that has its own.
func WithNow(now func() time.Time) Option { return func(l *Locker) { l.now = now } }

// DueRun is a run of a job that has come due and holds no permit yet.
type DueRun struct {
	// Job is the job's name.
	Job string
	// Due names the firing, in UTC; zero for a run that is not on the timetable.
	Due time.Time
	// AfterGap: due times before Due went by without a run here, for example because the host was suspended.
	// Locker.Missed says which of them to make up for.
	AfterGap bool
	locker   *Locker
}

// Begin acquires the permit and claims the firing, by the Locker's options and then opts. It is client.Runner.Begin.
func (d DueRun) Begin(ctx context.Context, opts ...client.JobOption) (*client.Run, error) {
	l := d.locker
	all := slices.Concat([]client.JobOption{client.WithFiringName(d.Job), client.WithOneWaiter()}, l.options, opts)
	return client.NewRunner(l.semaphore(d.Job), nil, all...).Begin(ctx, d.Due)
}

// NewLocker returns a Locker that follows no scheduler yet.
func NewLocker(c *client.Client, opts ...Option) *Locker {
	l := &Locker{client: c, now: time.Now, runs: make(map[context.Context]*lock), timetables: make(map[context.Context]*timetable)}
	l.semaphore = func(job string) *client.Semaphore { return c.Semaphore(job) }
	l.begin = func(ctx context.Context, d DueRun) (*client.Run, error) { return d.Begin(ctx) }
	for _, o := range opts {
		o(l)
	}
	l.base = l.now()
	return l
}

// Follow gives the Locker the scheduler whose jobs it locks. Before that nothing runs.
func (l *Locker) Follow(s gocron.Scheduler) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scheduler = s
}

// Lock acquires the permit for the run of a job that is due. The error is that of client.Runner.Run when the job does
// not run, also when its firing has run elsewhere; or one of this package's. gocron hands it to the job's
// AfterLockError listener.
func (l *Locker) Lock(ctx context.Context, job string) (gocron.Lock, error) {
	k := &lock{locker: l, ctx: ctx}
	if !l.enter(k) {
		now := l.now()
		l.timetable(ctx).pass(now, drift(l.base, now))
		return nil, fmt.Errorf("job %q: %w", job, ErrRunning)
	}
	due, err := l.due(ctx, job)
	if err != nil {
		l.leave(k)
		return nil, fmt.Errorf("job %q: %w", job, err)
	}
	if k.run, err = l.begin(ctx, DueRun{Job: job, Due: due, AfterGap: l.timetable(ctx).takeGap(), locker: l}); err == nil {
		if err = k.run.Start(); err != nil {
			err = k.run.End(err)
		}
	}
	if err != nil {
		l.leave(k)
		return nil, err
	}
	return k, nil
}

func (l *Locker) enter(k *lock) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs[k.ctx] != nil {
		return false
	}
	l.runs[k.ctx] = k
	return true
}

func (l *Locker) leave(k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.runs, k.ctx)
}

// lock is one run.
type lock struct {
	locker *Locker
	ctx    context.Context //nolint:containedctx // it names the job
	run    *client.Run
	err    error // the task's; written before Unlock, on the same goroutine
}

// Unlock releases the permit; gocron calls it when the job has returned. The context may have ended.
func (k *lock) Unlock(context.Context) error {
	k.locker.leave(k)
	return k.run.End(k.err)
}

// Task is a task under the Locker whose context ends when the permit is to be given up, with its cause, and when gocron
// stops the job. A task of gocron's own kind runs under the Locker too, but is not notified of a loss, only reported
// when it continues after one.
func (l *Locker) Task(job func(context.Context) error) gocron.Task {
	return gocron.NewTask(func(ctx context.Context) error {
		l.mu.Lock()
		k := l.runs[ctx]
		l.mu.Unlock()
		if k == nil {
			return ErrNotLocked
		}
		k.err = job(k.run.Context())
		return k.err
	})
}
