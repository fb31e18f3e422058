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
	// ErrRunning is returned if the job is already running in this scheduler. A scheduler never runs a job twice at the
	// same time, even if the semaphore has free permits.
	ErrRunning = errors.New("the job is still running in this scheduler")
	// ErrNotLocked is returned by a task from Locker.Task that runs without its Locker.
	ErrNotLocked = errors.New("the job holds no lock: pass the Locker to its scheduler or to the job")
	// ErrNotFollowing is returned if the Locker has no scheduler from which to read due times.
	ErrNotFollowing = errors.New("the Locker is not following a scheduler: call Follow")
	// ErrUnscheduled is returned for a run without a scheduled due time; see WithUnscheduled.
	ErrUnscheduled = errors.New("the run has no scheduled due time")
)

// Locker is a gocron.Locker whose locks are permits. By default, a job's permits come from the semaphore with the job's
// name. Each lock also claims the firing that is due. Pass a Locker to one scheduler, or to some of its jobs, and call
// Follow with that scheduler.
type Locker struct {
	client      *client.Client
	semaphore   func(job string) *client.Semaphore
	options     []client.JobOption
	begin       func(context.Context, DueRun) (*client.Run, error)
	now         func() time.Time
	base        time.Time // when the Locker was created, according to now
	unscheduled bool

	mu        sync.Mutex // guards everything below
	scheduler gocron.Scheduler
	// runs holds the running jobs by context, because the context is all that gocron passes to both the Locker and a
	// job's task.
	runs map[context.Context]*lock
	// dueTimes holds the jobs' due times, also by context.
	dueTimes map[context.Context]*dueTimes
}

var _ gocron.Locker = (*Locker)(nil)

// Option is an option for NewLocker.
type Option func(*Locker)

// WithSemaphore sets the function that returns a job's semaphore. By default, that is the semaphore with the job's
// name.
func WithSemaphore(f func(job string) *client.Semaphore) Option {
	return func(l *Locker) { l.semaphore = f }
}

// WithJobOptions adds options to all runs. gocron reschedules a job only after Lock has returned, so waiting for a
// permit or for a server delays the job's own schedule. Firings are named after the job.
//
// If runs may wait, give a OneTimeJob only one start time. If an earlier run is still waiting when the last of several
// times has passed, gocron (v2.21.2) loops forever looking for the next time, and that scheduler runs no more jobs.
func WithJobOptions(opts ...client.JobOption) Option {
	return func(l *Locker) { l.options = append(l.options, opts...) }
}

// WithBegin sets the function that starts a run. f must return the result of DueRun.Begin, but it can do other work
// first. It can call Begin several times, for example after a denial, and with a different context: the run's context
// is derived from the one passed to the last call. f must also meet the contract of gocron.Locker.
func WithBegin(f func(context.Context, DueRun) (*client.Run, error)) Option {
	return func(l *Locker) { l.begin = f }
}

// WithUnscheduled lets runs without a scheduled due time, such as those started by Job.RunNow or
// gocron.WithStartImmediately, run with a permit but without a firing. Do not combine it with gocron.LimitModeWait,
// because runs that were queued after a slow run count as unscheduled.
func WithUnscheduled() Option { return func(l *Locker) { l.unscheduled = true } }

// WithNow replaces the clock. Use it if the scheduler has its own clock.
func WithNow(now func() time.Time) Option { return func(l *Locker) { l.now = now } }

// DueRun is a run that is due but does not hold a permit yet.
type DueRun struct {
	// Job is the name of the job.
	Job string
	// Due is the due time, in UTC, which identifies the firing. It is zero for an unscheduled run.
	Due time.Time
	// AfterGap is set if due times before Due passed without a run here, for example because the host was suspended.
	// Locker.Missed returns the firings that should still run.
	AfterGap bool
	locker   *Locker
}

// Begin acquires the permit and claims the firing, with the Locker's options followed by opts; see client.Runner.Begin.
func (d DueRun) Begin(ctx context.Context, opts ...client.JobOption) (*client.Run, error) {
	l := d.locker
	all := slices.Concat([]client.JobOption{client.WithFiringName(d.Job), client.WithOneWaiter()}, l.options, opts)
	return client.NewRunner(l.semaphore(d.Job), nil, all...).Begin(ctx, d.Due)
}

// NewLocker returns a Locker. Call Follow before the first job is due.
func NewLocker(c *client.Client, opts ...Option) *Locker {
	l := &Locker{client: c, now: time.Now, runs: make(map[context.Context]*lock), dueTimes: make(map[context.Context]*dueTimes)}
	l.semaphore = func(job string) *client.Semaphore { return c.Semaphore(job) }
	l.begin = func(ctx context.Context, d DueRun) (*client.Run, error) { return d.Begin(ctx) }
	for _, o := range opts {
		o(l)
	}
	l.base = l.now()
	return l
}

// Follow sets the scheduler whose jobs the Locker locks. No jobs run until it is called.
func (l *Locker) Follow(s gocron.Scheduler) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scheduler = s
}

// Lock acquires the permit for a run that is due. If the job does not run, for example because the firing has already
// run elsewhere, Lock returns one of this package's errors or an error from client.Runner.Run. gocron passes it to the
// job's AfterLockError listener.
func (l *Locker) Lock(ctx context.Context, job string) (gocron.Lock, error) {
	k := &lock{locker: l, ctx: ctx}
	if !l.enter(k) {
		now := l.now()
		l.dueTimesOf(ctx).skipPassed(now, drift(l.base, now))
		return nil, fmt.Errorf("job %q: %w", job, ErrRunning)
	}
	due, err := l.due(ctx, job)
	if err != nil {
		l.leave(k)
		return nil, fmt.Errorf("job %q: %w", job, err)
	}
	if k.run, err = l.begin(ctx, DueRun{Job: job, Due: due, AfterGap: l.dueTimesOf(ctx).takeGap(), locker: l}); err == nil {
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

// lock is one run of a job.
type lock struct {
	locker *Locker
	ctx    context.Context //nolint:containedctx // it identifies the job
	run    *client.Run
	err    error // the task's error; written before Unlock, on the same goroutine
}

// Unlock releases the permit. gocron calls it after the job has returned. The context may have ended.
func (k *lock) Unlock(context.Context) error {
	k.locker.leave(k)
	return k.run.End(k.err)
}

// Task returns a task for use with the Locker. Its context is cancelled, with the cause, when the permit must be given
// up or when gocron stops the job. A plain gocron task also runs under the Locker, but is not notified when the permit
// is lost. If it keeps running, an overrun is reported.
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
