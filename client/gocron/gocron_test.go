package gocron_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/jonboulle/clockwork"
	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testTimeout = 20 * time.Second

// node is one of an application's schedulers, with its own clock.
type node struct {
	t         *testing.T
	clock     *clockwork.FakeClock
	scheduler gocron.Scheduler
	locker    *gkgocron.Locker
	ran       chan string // receives a run's semaphore after its permit is released
	skipped   chan error
}

func newNode(t *testing.T, c *client.Client, now time.Time, opts ...gkgocron.Option) *node {
	t.Helper()
	n := &node{t: t, clock: clockwork.NewFakeClockAt(now), ran: make(chan string, 10), skipped: make(chan error, 10)}
	finished := client.WithHooks(client.Hooks{Finished: func(_ context.Context, r client.Report) { n.ran <- r.Semaphore }})
	n.locker = gkgocron.NewLocker(c, append([]gkgocron.Option{gkgocron.WithNow(n.clock.Now), gkgocron.WithJobOptions(finished)}, opts...)...)
	s, err := gocron.NewScheduler(gocron.WithClock(n.clock), gocron.WithLocation(now.Location()), gocron.WithDistributedLocker(n.locker))
	if err != nil {
		t.Fatal(err)
	}
	n.scheduler = s
	n.locker.Follow(s)
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// job adds a job that checks that it has a permit, and returns.
func (n *node) job(name string, d gocron.JobDefinition, opts ...gocron.JobOption) gocron.Job {
	n.t.Helper()
	return n.add(name, d, n.locker.Task(func(ctx context.Context) error {
		if client.PermitOf(ctx) == nil {
			n.t.Error("the job ran without a permit")
		}
		return nil
	}), opts...)
}

func (n *node) add(name string, d gocron.JobDefinition, task gocron.Task, opts ...gocron.JobOption) gocron.Job {
	n.t.Helper()
	listener := gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) { n.skipped <- err })
	j, err := n.scheduler.NewJob(d, task, append(opts, gocron.WithName(name), gocron.WithEventListeners(listener))...)
	if err != nil {
		n.t.Fatal(err)
	}
	return j
}

// startDelay is the delay between a run's due time and its start. gocron drops due times that have passed, and in
// singleton mode it may do so before it reschedules the run. If the clock still showed the due time then, gocron would
// schedule the same run again, and the Locker would refuse it as unscheduled. A real clock has moved on by then.
const startDelay = time.Millisecond

// start starts the scheduler and waits until its first run is scheduled.
func (n *node) start() {
	n.scheduler.Start()
	n.settle()
	n.clock.Advance(startDelay)
}

// settle waits until the next run is scheduled.
func (n *node) settle() {
	ctx, cancel := context.WithTimeout(n.t.Context(), testTimeout)
	defer cancel()
	if err := n.clock.BlockUntilContext(ctx, 1); err != nil {
		n.t.Fatal("no run was scheduled")
	}
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

func wantDenied(t *testing.T, err error, reason client.Reason) {
	t.Helper()
	if d, ok := errors.AsType[*client.DeniedError](err); !ok || d.Reason != reason {
		t.Errorf("error = %v, want a denial with reason %s", err, reason)
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// This test reproduces gocron issue 841: by the time the job is due in the second scheduler, the first has already run
// and unlocked it.
func TestLocker_SkewedClocks_ShortJobRunsOncePerFiring(t *testing.T) {
	srv := gktest.Start(t, "tick", "every")
	fast := newNode(t, srv.Dial(t, "app1"), noon.Add(-5*time.Second))
	slow := newNode(t, srv.Dial(t, "app2"), noon.Add(-5*time.Second))
	for _, n := range []*node{fast, slow} {
		n.job("tick", gocron.CronJob("* * * * *", false))
		n.start()
	}
	for range 3 {
		fast.clock.Advance(5 * time.Second)
		receive(t, fast.ran, "the first scheduler's run")
		fast.settle()
		slow.clock.Advance(5 * time.Second)
		wantDenied(t, receive(t, slow.skipped, "the second scheduler to skip the run"), client.ReasonFiringDone)
		slow.settle()
		fast.clock.Advance(55 * time.Second)
		slow.clock.Advance(55 * time.Second)
	}
	if len(slow.ran) != 0 || len(fast.ran) != 0 {
		t.Error("a firing ran twice")
	}
}

// A DurationJob's due times count from the start of its scheduler, so two schedulers share only the interval.
func TestLocker_DurationJob_RunsOncePerInterval(t *testing.T) {
	srv := gktest.Start(t, "every")
	a := newNode(t, srv.Dial(t, "app1"), noon.Add(-4*time.Minute)) // due at 12:01, 12:06, ...
	b := newNode(t, srv.Dial(t, "app2"), noon.Add(-2*time.Minute)) // due at 12:03, 12:08, ...
	for _, n := range []*node{a, b} {
		n.job("every", gocron.DurationJob(5*time.Minute))
		n.start()
	}
	for range 2 {
		a.clock.Advance(5 * time.Minute)
		receive(t, a.ran, "the run")
		a.settle()
		b.clock.Advance(5 * time.Minute)
		wantDenied(t, receive(t, b.skipped, "the skip"), client.ReasonFiringDone)
		b.settle()
	}
}

func TestLocker_PermitRevoked_CancelsTheTaskAndFreesTheSlot(t *testing.T) {
	srv := gktest.Start(t, "long")
	c := srv.Dial(t, "app1")
	n := newNode(t, c, noon.Add(-time.Second))
	tokens, causes := make(chan uint64, 1), make(chan error, 1)
	n.add("long", gocron.CronJob("* * * * *", false), n.locker.Task(func(ctx context.Context) error {
		tokens <- client.PermitOf(ctx).Token()
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return ctx.Err()
	}))
	n.start()
	n.clock.Advance(time.Second)
	token := receive(t, tokens, "the task to start")
	// While the job is running, this scheduler does not start it again.
	n.settle()
	n.clock.Advance(time.Minute)
	if err := receive(t, n.skipped, "the skip"); !errors.Is(err, gkgocron.ErrRunning) {
		t.Errorf("the run was skipped with error %v, want ErrRunning", err)
	}
	srv.Revoke(t, token, "a test")
	if cause := receive(t, causes, "the task to return"); !errors.Is(cause, client.ErrRevoked) {
		t.Errorf("cause = %v, want ErrRevoked", cause)
	}
	if _, err := srv.Dial(t, "app2").Semaphore("long").TryAcquireFor(t.Context(), testTimeout); err != nil {
		t.Error(err)
	}
}

func TestLocker_PlainTask_RunsUnderThePermit(t *testing.T) {
	srv := gktest.Start(t, "plain")
	c := srv.Dial(t, "app1")
	n := newNode(t, c, noon.Add(-time.Second))
	errs := make(chan error, 1)
	n.add("plain", gocron.CronJob("* * * * *", false), gocron.NewTask(func() {
		_, err := c.Semaphore("plain").TryAcquire(t.Context())
		errs <- err
	}))
	n.start()
	n.clock.Advance(time.Second)
	wantDenied(t, receive(t, errs, "the task"), client.ReasonNoFreePermit)
	if _, err := c.Semaphore("plain").TryAcquireFor(t.Context(), testTimeout); err != nil {
		t.Error(err)
	}
}

func TestLocker_RunNow_RequiresWithUnscheduled(t *testing.T) {
	srv := gktest.Start(t, "manual")
	for _, allowed := range []bool{false, true} {
		var opts []gkgocron.Option
		if allowed {
			opts = append(opts, gkgocron.WithUnscheduled())
		}
		n := newNode(t, srv.Dial(t, "app1"), noon, opts...)
		j := n.job("manual", gocron.CronJob("30 * * * *", false))
		n.start()
		if err := j.RunNow(); err != nil {
			t.Fatal(err)
		}
		if allowed {
			receive(t, n.ran, "the run")
		} else if err := receive(t, n.skipped, "the skip"); !errors.Is(err, gkgocron.ErrUnscheduled) {
			t.Errorf("the run was skipped with error %v, want ErrUnscheduled", err)
		}
	}
}

func TestLocker_UnknownDueTime_DoesNotRun(t *testing.T) {
	srv := gktest.Start(t, "twice")
	n := newNode(t, srv.Dial(t, "app1"), noon.Add(-time.Second))
	for range 2 {
		n.job("twice", gocron.CronJob("* * * * *", false))
	}
	n.start()
	n.clock.Advance(time.Second)
	if err := receive(t, n.skipped, "the skip"); err == nil {
		t.Error("a job without a unique name ran")
	}
	if _, err := gkgocron.NewLocker(srv.Dial(t, "app1")).Lock(t.Context(), "twice"); !errors.Is(err, gkgocron.ErrNotFollowing) {
		t.Errorf("Lock = %v, want ErrNotFollowing", err)
	}
}

func TestTask_WithoutItsLocker_DoesNotRun(t *testing.T) {
	srv := gktest.Start(t)
	locker := gkgocron.NewLocker(srv.Dial(t, "app1"))
	s, err := gocron.NewScheduler()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Shutdown() }()
	failed := make(chan error, 1)
	_, err = s.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()),
		locker.Task(func(context.Context) error { t.Error("ran"); return nil }),
		gocron.WithEventListeners(gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { failed <- err })))
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if err := receive(t, failed, "the task to fail"); !errors.Is(err, gkgocron.ErrNotLocked) {
		t.Errorf("the task failed with %v, want ErrNotLocked", err)
	}
}

func TestElector_LeaderRevoked_NextLeaderStartsAfterItsTaskReturns(t *testing.T) {
	srv := gktest.Start(t, "leader")
	type leader struct {
		name  string
		token uint64
	}
	began := make(chan leader, 10)
	var running atomic.Int32
	causes := make(chan error, 10)
	electors := make(map[string]*gkgocron.Elector)
	for _, name := range []string{"app1", "app2"} {
		e := gkgocron.NewElector(srv.Dial(t, name).Semaphore("leader"), client.WithLoopDelay(time.Millisecond))
		electors[name] = e
		s, err := gocron.NewScheduler(gocron.WithDistributedElector(e))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.NewJob(gocron.DurationJob(10*time.Millisecond), e.Task(func(ctx context.Context) error {
			if running.Add(1) > 1 {
				t.Error("two leaders ran at the same time")
			}
			defer running.Add(-1)
			began <- leader{name, client.PermitOf(ctx).Token()}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil
		}), gocron.WithSingletonMode(gocron.LimitModeReschedule))
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() {
			_ = s.Shutdown()
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if err := e.IsLeader(context.Background()); !errors.Is(err, gkgocron.ErrNotLeader) {
				t.Error("the Elector is still the leader after Close")
			}
		})
	}
	first := receive(t, began, "the first leader")
	if err := electors[first.name].IsLeader(t.Context()); err != nil {
		t.Error(err)
	}
	srv.Revoke(t, first.token, "a test")
	if cause := receive(t, causes, "the first leader to stop"); !errors.Is(cause, client.ErrRevoked) {
		t.Errorf("cause = %v, want ErrRevoked", cause)
	}
	if second := receive(t, began, "the next leader"); second.token <= first.token {
		t.Errorf("second token = %d, want more than %d", second.token, first.token)
	}
}
