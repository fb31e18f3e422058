package tasks_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/tasks"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testTimeout = 30 * time.Second
	name        = "report"
)

// noon is a due time of everyMinute.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// everyMinute returns a new schedule. gocron keeps state in schedules, so tasks cannot share them.
func everyMinute() gocron.JobDefinition { return gocron.CronJob("* * * * *", false) }

// start starts a server with a semaphore that allows takeovers and has the given duration.
func start(t *testing.T, duration time.Duration, more ...func(*gatekeeperv1.Definition)) *gktest.Server {
	t.Helper()
	srv := gktest.Start(t)
	d := &gatekeeperv1.Definition{Name: name, Takeover: true, Duration: durationpb.New(duration)}
	for _, f := range more {
		f(d)
	}
	srv.Define(t, d)
	return srv
}

// host is one process of an application. The test controls its clock.
type host struct {
	t     *testing.T
	srv   *gktest.Server
	c     *client.Client
	clock *clockwork.FakeClock
	m     *tasks.Manager
}

func newHost(t *testing.T, srv *gktest.Server, c *client.Client, opts ...tasks.Option) *host {
	t.Helper()
	h := &host{t: t, srv: srv, c: c, clock: clockwork.NewFakeClockAt(noon.Add(-time.Second))}
	m, err := tasks.NewManager(c, append([]tasks.Option{
		tasks.WithScheduler(gocron.WithClock(h.clock), gocron.WithLocation(time.UTC)),
		tasks.WithNow(h.clock.Now),
		tasks.WithRetries(3, time.Millisecond),
		tasks.WithProbeTimeout(testTimeout),
		tasks.WithLogger(slog.New(slog.DiscardHandler)),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	h.m = m
	t.Cleanup(func() {
		if err := m.Close(testContext(t)); err != nil {
			t.Error(err)
		}
	})
	return h
}

// dialTCP returns a client that dials the server over TCP, as any program would.
func dialTCP(t *testing.T, srv *gktest.Server, acquirer string) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), []string{srv.Endpoint()}, client.WithAcquirer(acquirer), client.WithGroup("default"), client.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// testContext returns a context for one step of a test or of its cleanup.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

func (h *host) register(task tasks.Task) {
	h.t.Helper()
	if err := h.m.Register(testContext(h.t), task); err != nil {
		h.t.Fatal(err)
	}
}

// advanceToDue advances the clock to the next due time once the scheduler is waiting for it.
func (h *host) advanceToDue() {
	h.t.Helper()
	if err := h.clock.BlockUntilContext(testContext(h.t), 1); err != nil {
		h.t.Fatal("no run is scheduled")
	}
	h.clock.Advance(h.clock.Now().Add(time.Minute).Truncate(time.Minute).Sub(h.clock.Now()))
}

func (h *host) info() tasks.Info {
	h.t.Helper()
	_, info, ok := h.m.Get(name)
	if !ok {
		h.t.Fatal("the task is not registered")
	}
	return info
}

// awaitIdle waits until the given number of runs have ended on this host, and returns the state of the task.
func (h *host) awaitIdle(runs int) (info tasks.Info) {
	h.t.Helper()
	h.srv.Await(h.t, "the run to end", func() bool {
		info = h.info()
		return info.State == tasks.Idle && info.Runs == runs
	})
	return info
}

// awaitSkip waits until a run is skipped on this host and returns the reason.
func (h *host) awaitSkip() (err error) {
	h.t.Helper()
	h.srv.Await(h.t, "a skipped run", func() bool { err = h.info().Skipped; return err != nil })
	return err
}

func receive[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(testTimeout):
		t.Fatalf("timed out waiting for %s", what)
		panic("unreachable")
	}
}

// run is a run in progress.
type run struct {
	ctx   context.Context //nolint:containedctx // examined by tests
	token uint64
	end   chan error // the result of Run
}

// job is a Restartable whose runs are ended by the test.
type job struct {
	t    *testing.T
	runs chan run

	busy                               *atomic.Int32 // counts runs on all hosts
	initialized, cancelled, resets     atomic.Int32
	initialize, reset, runFunc, cancel func() error
}

func newJob(t *testing.T, busy *atomic.Int32) *job {
	t.Helper()
	return &job{t: t, busy: busy, runs: make(chan run, 10)}
}

func (j *job) Name() string                   { return name }
func (j *job) Schedule() gocron.JobDefinition { return everyMinute() }

func (j *job) Initialize(context.Context) error {
	j.initialized.Add(1)
	return call(j.initialize)
}

func (j *job) Reset(ctx context.Context) error {
	j.enterExclusive(ctx)
	defer j.busy.Add(-1)
	j.resets.Add(1)
	return call(j.reset)
}

// Run blocks until the test ends the run or ctx is done.
func (j *job) Run(ctx context.Context) error {
	j.enterExclusive(ctx)
	defer j.busy.Add(-1)
	r := run{ctx, client.TokenOf(ctx), make(chan error, 1)}
	j.runs <- r
	if j.runFunc != nil {
		return j.runFunc()
	}
	select {
	case err := <-r.end:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (j *job) enterExclusive(ctx context.Context) {
	if j.busy.Add(1) != 1 {
		j.t.Error("two runs overlapped")
	}
	if client.PermitOf(ctx) == nil {
		j.t.Error("the task ran without a permit")
	}
}

func (j *job) Cancel() {
	j.cancelled.Add(1)
	_ = call(j.cancel)
}

func call(f func() error) error {
	if f == nil {
		return nil
	}
	return f()
}

// plain is a task that is not a Restartable.
type plain struct{ tasks.Task }

func always(v tasks.Verdict) tasks.Option {
	return tasks.WithStrategy(tasks.StrategyFunc(func(context.Context, tasks.Evidence) tasks.Verdict { return v }))
}
