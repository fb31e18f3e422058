package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/gatekeeperd/gatekeeper/client"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
)

var (
	// ErrRegistered means that the Manager already has a task with that name. This includes a task that was removed but
	// whose run has not yet ended.
	ErrRegistered = errors.New("a task with that name is already registered")
	// ErrNotRegistered means that the Manager has no task with that name.
	ErrNotRegistered = errors.New("no task with that name is registered")
	// ErrRemoved means that the task was removed. It is the cancellation cause of Run's context after RemoveNow and
	// Close.
	ErrRemoved = errors.New("the task was removed")
	// ErrClosed means that the Manager was closed.
	ErrClosed = errors.New("the task manager is closed")
)

// Manager schedules tasks and runs them under permits. It is safe for concurrent use. A task's Run must not wait for
// the task to be removed or for its Manager to close.
type Manager struct {
	client    *client.Client
	settings  *settings
	scheduler gocron.Scheduler
	locker    *gkgocron.Locker
	// instance distinguishes this Manager from one in an earlier process on the same host.
	instance string

	mu      sync.Mutex // guards everything below, and fields of the entries
	entries map[string]*entry
	running map[uint64]struct{} // the tokens of runs, until their permits are released
	closed  bool
	ended   chan struct{} // closed when the Manager has stopped completely; nil until close is called
	endErr  error         // the scheduler's error; read it only after ended is closed
}

// NewManager returns a Manager without tasks. Close it before you close the client.
func NewManager(c *client.Client, opts ...Option) (*Manager, error) {
	s, err := newSettings(opts)
	if err != nil {
		return nil, err
	}
	m := &Manager{client: c, settings: s, instance: client.NewRequestID(), entries: make(map[string]*entry), running: make(map[uint64]struct{})}
	m.locker = gkgocron.NewLocker(c,
		gkgocron.WithSemaphore(m.semaphore),
		gkgocron.WithJobOptions(s.job...),
		gkgocron.WithJobOptions(client.WithHooks(client.Hooks{Finished: finished})),
		gkgocron.WithBegin(m.begin),
		gkgocron.WithNow(s.now),
	)
	m.scheduler, err = gocron.NewScheduler(slices.Concat(s.scheduler, []gocron.SchedulerOption{gocron.WithDistributedLocker(m.locker)})...)
	if err != nil {
		return nil, err
	}
	m.locker.Follow(m.scheduler)
	m.scheduler.Start()
	return m, nil
}

// semaphore returns a task's semaphore. The metadata of its permits contains this Manager's probe URL.
func (m *Manager) semaphore(task string) *client.Semaphore {
	opts := m.settings.acquire
	if m.settings.probeURL != "" {
		metadata := map[string]string{metadataURL: m.settings.probeURL, metadataInstance: m.instance}
		opts = append(slices.Clip(opts), client.WithMetadata(metadata))
	}
	return m.client.Semaphore(m.settings.semaphore(task), opts...)
}

// Register initializes a task and schedules it. It returns after Initialize has returned. The error is ErrRegistered,
// ErrClosed, ErrRemoved if the task was removed during the call, the error from Initialize, or gocron's error about the
// schedule. If Register returns an error, the task is not registered.
func (m *Manager) Register(ctx context.Context, t Task) error {
	name := t.Name()
	if name == "" {
		return errors.New("the task has no name")
	}
	e := newEntry(m, name, t)
	m.mu.Lock()
	err := error(nil)
	switch {
	case m.closed:
		err = ErrClosed
	case m.entries[name] != nil:
		err = ErrRegistered
	default:
		m.entries[name] = e
		e.active.Add(1)
	}
	m.mu.Unlock()
	if err != nil {
		return fmt.Errorf("task %q: %w", name, err)
	}
	err = errors.New("its initialization panicked")
	defer func() { // runs even after a panic
		if err != nil {
			e.remove(false)
		}
		e.active.Done()
		if err != nil {
			<-e.gone
		}
	}()
	if err = e.initialize(ctx); err != nil {
		return fmt.Errorf("task %q: %w", name, err)
	}
	return nil
}

// Remove removes a task: it prevents further runs, and stops waiting for a permit. It does not interrupt a run in
// progress. Remove returns when that run has ended and Cancel has been called, or when ctx ends, in which case the
// removal continues in the background. The error is ErrNotRegistered or ctx's error.
func (m *Manager) Remove(ctx context.Context, name string) error { return m.remove(ctx, name, false) }

// RemoveNow is like Remove, but cancels the context of a run in progress with the cause ErrRemoved, and calls Cancel
// immediately. It may be called after a Remove that is taking too long. A run that ignores both keeps its permit and
// its name until it returns, so that no other host runs the task at the same time.
func (m *Manager) RemoveNow(ctx context.Context, name string) error {
	return m.remove(ctx, name, true)
}

func (m *Manager) remove(ctx context.Context, name string, now bool) error {
	m.mu.Lock()
	e := m.entries[name]
	m.mu.Unlock()
	if e == nil {
		return fmt.Errorf("task %q: %w", name, ErrNotRegistered)
	}
	e.remove(now)
	select {
	case <-e.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("task %q is being removed, but its run has not ended: %w", name, context.Cause(ctx))
	}
}

// Get returns a task and its state. ok is false if no such task is registered.
func (m *Manager) Get(name string) (t Task, info Info, ok bool) {
	m.mu.Lock()
	e := m.entries[name]
	m.mu.Unlock()
	if e == nil {
		return nil, Info{}, false
	}
	return e.task, e.snapshot(), true
}

// List returns the state of all tasks, sorted by name.
func (m *Manager) List() []Info {
	m.mu.Lock()
	entries := make([]*entry, 0, len(m.entries))
	for _, e := range m.entries {
		entries = append(entries, e)
	}
	m.mu.Unlock()
	all := make([]Info, len(entries))
	for i, e := range entries {
		all[i] = e.snapshot()
	}
	slices.SortFunc(all, func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Close removes all tasks as RemoveNow does, and stops the scheduler. It returns when the Manager has stopped
// completely, or when ctx ends, in which case it can be called again. The error is ctx's error or the scheduler's.
func (m *Manager) Close(ctx context.Context) error { return m.close(ctx, true) }

// Shutdown is like Close, but lets runs finish, as Remove does. A program typically calls it with a ctx that has a
// deadline, and then calls Close.
func (m *Manager) Shutdown(ctx context.Context) error { return m.close(ctx, false) }

func (m *Manager) close(ctx context.Context, now bool) error {
	m.mu.Lock()
	m.closed = true
	entries := make([]*entry, 0, len(m.entries))
	for _, e := range m.entries {
		entries = append(entries, e)
	}
	if m.ended == nil {
		m.ended = make(chan struct{})
		go m.end(entries)
	}
	ended := m.ended
	m.mu.Unlock()
	for _, e := range entries {
		e.remove(now)
	}
	select {
	case <-ended:
		return m.endErr
	case <-ctx.Done():
		return fmt.Errorf("the task manager is closing, but some runs have not ended: %w", context.Cause(ctx))
	}
}

// end waits until the remaining tasks have been removed, and then stops the scheduler.
func (m *Manager) end(entries []*entry) {
	for _, e := range entries {
		<-e.gone
	}
	m.endErr = m.scheduler.Shutdown()
	close(m.ended)
}

// schedule adds a task to the scheduler as a job.
func (m *Manager) schedule(e *entry) (gocron.Job, error) {
	skipped := gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) { e.skip(err) })
	return m.scheduler.NewJob(e.task.Schedule(), m.locker.Task(m.run), gocron.WithName(e.name), gocron.WithEventListeners(skipped))
}
