package tasks_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/tasks"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// shortDuration is the duration of permits that the tests let expire.
const shortDuration = 3 * time.Second

// freeOnLoss lets a firing be claimed again after a loss, so that a test does not depend on whether the takeover or the
// expiry happens first.
func freeOnLoss(d *gatekeeperv1.Definition) {
	d.FiringOnLoss = gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE
}

func wantDenied(t *testing.T, err error, reason client.Reason) {
	t.Helper()
	if d, ok := errors.AsType[*client.DeniedError](err); !ok || d.Reason != reason {
		t.Errorf("error = %v, want a denial with reason %s", err, reason)
	}
}

func TestTask_OnTwoHosts_RunsOncePerDueTime(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	busy := new(atomic.Int32)
	var hosts []*host
	var jobs []*job
	for _, acquirer := range []string{"app1", "app2"} {
		h, j := newHost(t, srv, dialTCP(t, srv, acquirer)), newJob(t, busy)
		h.register(j)
		hosts, jobs = append(hosts, h), append(jobs, j)
	}
	hosts[0].advanceToDue()
	r := receive(t, jobs[0].runs, "the run")
	hosts[1].advanceToDue()
	wantDenied(t, hosts[1].awaitSkip(), client.ReasonFiringClaimed) // the holder refreshes its permit, so it is alive
	r.end <- nil
	hosts[0].awaitIdle(1)
	// The second host is one minute late and finds the firing done.
	hosts[0].advanceToDue()
	receive(t, jobs[0].runs, "the next run").end <- nil
	hosts[0].awaitIdle(2)
	hosts[1].advanceToDue()
	srv.Await(t, "the second skip", func() bool {
		d, ok := errors.AsType[*client.DeniedError](hosts[1].info().Skipped)
		return ok && d.Reason == client.ReasonFiringDone
	})
	if len(jobs[1].runs) != 0 || jobs[0].resets.Load() != 0 {
		t.Error("the second host ran the task, or the task was reset")
	}
}

// The holder is suspended, which looks like a partition to the servers.
func TestRestartable_HolderIsDead_TakesOverAndResets(t *testing.T) {
	t.Parallel()
	srv := start(t, shortDuration, freeOnLoss)
	busy := new(atomic.Int32)
	c1 := srv.Dial(t, "app1")
	h1, j1 := newHost(t, srv, c1), newJob(t, busy)
	evidence := make(chan tasks.Evidence, 100)
	h2, j2 := newHost(t, srv, dialTCP(t, srv, "app2"), tasks.WithStrategy(tasks.StrategyFunc(func(ctx context.Context, e tasks.Evidence) tasks.Verdict {
		select {
		case evidence <- e:
		default:
		}
		if e.Err == nil && e.Answer {
			return tasks.Retry
		}
		return tasks.ByAnswer(ctx, e)
	})), tasks.WithRetries(1_000_000, 10*time.Millisecond)), newJob(t, busy)
	h1.register(j1)
	h2.register(j2)
	h1.advanceToDue()
	r1 := receive(t, j1.runs, "the run")
	srv.Partition(t, c1)
	h2.advanceToDue()
	// The second host probes the holder until it no longer refreshes its permit.
	e := receive(t, evidence, "a judgement")
	if e.Holder.GetToken() != r1.token || e.Holder.GetIdentity().GetAcquirer() != "app1" || e.Task.Name != name || e.Attempt != 1 || e.Err != nil {
		t.Errorf("evidence = %+v, want the permit of app1 at attempt 1", e)
	}
	r2 := receive(t, j2.runs, "the run of the second host")
	if r2.token <= r1.token {
		t.Errorf("second token = %d, want more than %d", r2.token, r1.token)
	}
	receive(t, r1.ctx.Done(), "the first run's context to end") // by its own clock, before the servers freed the slot
	if j2.resets.Load() != 1 || j1.resets.Load() != 0 {
		t.Errorf("reset %d and %d times, want 1 and 0", j2.resets.Load(), j1.resets.Load())
	}
	srv.Heal(t, c1) // the first host resumes
	if i := h1.awaitIdle(1); !errors.Is(i.Err, client.ErrExpiring) && !errors.Is(i.Err, client.ErrLost) && !errors.Is(i.Err, client.ErrTakenOver) {
		t.Errorf("error of the first host's run = %v, want ErrExpiring, ErrLost or ErrTakenOver", i.Err)
	}
	r2.end <- nil
	if i := h2.awaitIdle(1); i.Err != nil || i.Skipped != nil {
		t.Errorf("info of the second host = %+v, want no error", i)
	}
	// The firing is done. At the next due time the first host resets, because its last run was cut short.
	h1.advanceToDue()
	receive(t, j1.runs, "the next run").end <- nil
	h1.awaitIdle(2)
	if j1.resets.Load() != 1 {
		t.Errorf("the first host was reset %d times, want 1", j1.resets.Load())
	}
}

// The holder's process is healthy and its permit live, but the job hangs. A takeover stops it.
func TestRestartable_HolderHangs_IsStoppedByTakeover(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Hour)
	busy := new(atomic.Int32)
	h1, j1 := newHost(t, srv, dialTCP(t, srv, "app1")), newJob(t, busy)
	h2, j2 := newHost(t, srv, dialTCP(t, srv, "app2"), always(tasks.Dead)), newJob(t, busy)
	proceed := make(chan error)
	j1.runFunc = func() error { return <-proceed }
	h1.register(j1)
	h2.register(j2)
	h1.advanceToDue()
	r1 := receive(t, j1.runs, "the run")
	h2.advanceToDue()
	receive(t, r1.ctx.Done(), "the first run's context to end")
	if cause := context.Cause(r1.ctx); !errors.Is(cause, client.ErrTakenOver) {
		t.Errorf("cause = %v, want ErrTakenOver", cause)
	}
	srv.Await(t, "the second host to wait", func() bool { return h2.info().State == tasks.TakingOver })
	if len(j2.runs) != 0 || j2.resets.Load() != 0 {
		t.Error("the second host did not wait for the slot")
	}
	proceed <- context.Cause(r1.ctx)
	receive(t, j2.runs, "the run of the second host").end <- nil
	if h2.awaitIdle(1); j2.resets.Load() != 1 {
		t.Errorf("reset %d times, want 1", j2.resets.Load())
	}
}

// The holder was wrongly declared dead, and finishes its run even though it was told to stop.
func TestRestartable_HolderFinishesAfterTakeover_SuccessorDoesNotRun(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Hour)
	busy := new(atomic.Int32)
	h1, j1 := newHost(t, srv, dialTCP(t, srv, "app1")), newJob(t, busy)
	h2, j2 := newHost(t, srv, dialTCP(t, srv, "app2"), always(tasks.Dead)), newJob(t, busy)
	proceed := make(chan error)
	j1.runFunc = func() error { return <-proceed }
	h1.register(j1)
	h2.register(j2)
	h1.advanceToDue()
	r := receive(t, j1.runs, "the run")
	h2.advanceToDue()
	receive(t, r.ctx.Done(), "the run's context to end")
	proceed <- nil
	wantDenied(t, h2.awaitSkip(), client.ReasonFiringDone)
	if h1.awaitIdle(1); len(j2.runs) != 0 || j2.resets.Load() != 0 {
		t.Error("the task ran or was reset on the second host")
	}
}

// A dead holder from an earlier due time still occupies the slot, and the next run is queued behind it.
func TestRestartable_DeadHolderFromEarlierDueTime_PermitIsTakenOver(t *testing.T) {
	t.Parallel()
	srv := start(t, shortDuration, freeOnLoss)
	busy := new(atomic.Int32)
	c1 := srv.Dial(t, "app1")
	h1, j1 := newHost(t, srv, c1), newJob(t, busy)
	h2, j2 := newHost(t, srv, dialTCP(t, srv, "app2"), always(tasks.Dead)), newJob(t, busy)
	h1.register(j1)
	h1.advanceToDue()
	r1 := receive(t, j1.runs, "the run")
	h2.clock.Advance(30 * time.Second) // past the first due time
	h2.register(j2)
	srv.Partition(t, c1)
	h2.advanceToDue()
	r2 := receive(t, j2.runs, "the run of the second host")
	if p := client.PermitOf(r2.ctx); p.Token() <= r1.token {
		t.Errorf("second token = %d, want more than %d", p.Token(), r1.token)
	} else if _, due := p.Firing(); !due.Equal(noon.Add(time.Minute)) {
		t.Errorf("the second host ran for %s, want the second due time", due)
	}
	if j2.resets.Load() != 1 {
		t.Errorf("reset %d times, want 1", j2.resets.Load())
	}
	r2.end <- nil
	h2.awaitIdle(1)
	srv.Heal(t, c1)
}

func TestTask_NotRestartable_DoesNotTakeOver(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	busy := new(atomic.Int32)
	h1, j1 := newHost(t, srv, dialTCP(t, srv, "app1")), newJob(t, busy)
	h2, j2 := newHost(t, srv, dialTCP(t, srv, "app2"), always(tasks.Dead)), newJob(t, busy)
	h1.register(plain{j1})
	h2.register(plain{j2})
	h1.advanceToDue()
	r := receive(t, j1.runs, "the run")
	h2.advanceToDue()
	wantDenied(t, h2.awaitSkip(), client.ReasonFiringClaimed)
	if held := srv.Holders(t, name); len(held) != 1 || held[0].GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_UNSPECIFIED || r.ctx.Err() != nil {
		t.Errorf("the holder was stopped: %v", held)
	}
	// The holder's run fails. There is no reset before the next run, because a plain task has no Reset.
	r.end <- errors.New("no paper")
	h1.awaitIdle(1)
	h2.advanceToDue()
	receive(t, j2.runs, "the next run").end <- nil
	if h2.awaitIdle(1); j2.resets.Load() != 0 {
		t.Error("a plain task was reset")
	}
}

func TestRestartable_TakeoverNotAllowed_WaitsForNextDueTime(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute, func(d *gatekeeperv1.Definition) { d.Takeover = false })
	busy := new(atomic.Int32)
	h1, j1 := newHost(t, srv, dialTCP(t, srv, "app1")), newJob(t, busy)
	h2, j2 := newHost(t, srv, dialTCP(t, srv, "app2"), always(tasks.Dead)), newJob(t, busy)
	h1.register(j1)
	h2.register(j2)
	h1.advanceToDue()
	r := receive(t, j1.runs, "the run")
	h2.advanceToDue()
	err := h2.awaitSkip()
	wantDenied(t, err, client.ReasonFiringClaimed)
	if !strings.Contains(err.Error(), "does not allow takeovers") {
		t.Errorf("skipped with %v, want an error saying that takeovers are not allowed", err)
	}
	r.end <- nil
	h1.awaitIdle(1)
}

func TestStrategy_AlwaysRetries_StopsAtRetryLimit(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	busy := new(atomic.Int32)
	h1, j1 := newHost(t, srv, dialTCP(t, srv, "app1")), newJob(t, busy)
	unknown := errors.New("no answer")
	attempts := make(chan tasks.Evidence, 100)
	h2, j2 := newHost(t, srv, dialTCP(t, srv, "app2"),
		tasks.WithRetries(2, 0),
		tasks.WithProbe(tasks.ProbeFunc(func(context.Context, *gatekeeperv1.Permit) (bool, error) { return true, unknown })),
		tasks.WithStrategy(tasks.StrategyFunc(func(ctx context.Context, e tasks.Evidence) tasks.Verdict {
			attempts <- e
			return tasks.ByAnswer(ctx, e)
		}))), newJob(t, busy)
	h1.register(j1)
	h2.register(j2)
	h1.advanceToDue()
	r := receive(t, j1.runs, "the run")
	h2.advanceToDue()
	wantDenied(t, h2.awaitSkip(), client.ReasonFiringClaimed)
	for n := 1; n <= 3; n++ {
		if e := receive(t, attempts, "a judgement"); e.Attempt != n || !errors.Is(e.Err, unknown) {
			t.Errorf("evidence = %+v, want attempt %d and the error from the probe", e, n)
		}
	}
	if len(attempts) != 0 {
		t.Error("the strategy was called more than 3 times")
	}
	r.end <- nil
	h1.awaitIdle(1)
}

// Both hosts declare the holder dead at the same time. One of them is granted the slot, and the other then finds a live
// holder.
func TestRestartable_TwoHostsTakeOver_OneRuns(t *testing.T) {
	t.Parallel()
	srv := start(t, shortDuration, freeOnLoss)
	busy := new(atomic.Int32)
	c1 := srv.Dial(t, "app1")
	h1, j1 := newHost(t, srv, c1), newJob(t, busy)
	h1.register(j1)
	h1.advanceToDue()
	dead := receive(t, j1.runs, "the run").token
	strategy := tasks.WithStrategy(tasks.StrategyFunc(func(_ context.Context, e tasks.Evidence) tasks.Verdict {
		if e.Holder.GetToken() == dead {
			return tasks.Dead
		}
		return tasks.Alive
	}))
	successors := []*host{newHost(t, srv, dialTCP(t, srv, "app2"), strategy), newHost(t, srv, dialTCP(t, srv, "app3"), strategy)}
	shared := newJob(t, busy)
	for _, h := range successors {
		h.register(shared)
	}
	srv.Partition(t, c1)
	for _, h := range successors {
		h.advanceToDue()
	}
	r := receive(t, shared.runs, "the run of a successor")
	loser := successors[0]
	if client.PermitOf(r.ctx).Acquirer() == "app2" {
		loser = successors[1]
	}
	wantDenied(t, loser.awaitSkip(), client.ReasonFiringClaimed)
	r.end <- nil
	srv.Await(t, "the run to end", func() bool { return successors[0].info().Runs+successors[1].info().Runs == 1 })
	if len(shared.runs) != 0 || shared.resets.Load() != 1 {
		t.Errorf("got %d more runs, want 0, and %d resets, want 1", len(shared.runs), shared.resets.Load())
	}
	srv.Heal(t, c1)
}

// Remove abandons a takeover that is waiting for the slot.
func TestRemove_TakingOver_AbandonsAcquisition(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Hour)
	busy := new(atomic.Int32)
	h1, j1 := newHost(t, srv, dialTCP(t, srv, "app1")), newJob(t, busy)
	h2, j2 := newHost(t, srv, dialTCP(t, srv, "app2"), always(tasks.Dead)), newJob(t, busy)
	proceed := make(chan error)
	j1.runFunc = func() error { return <-proceed }
	h1.register(j1)
	h2.register(j2)
	h1.advanceToDue()
	receive(t, j1.runs, "the run")
	h2.advanceToDue()
	srv.Await(t, "the takeover", func() bool { return h2.info().State == tasks.TakingOver })
	if err := h2.m.Remove(testContext(t), name); err != nil || j2.cancelled.Load() != 1 {
		t.Errorf("Remove = %v, want nil; cancelled %d times, want 1", err, j2.cancelled.Load())
	}
	proceed <- nil
	h1.awaitIdle(1)
	if len(j2.runs) != 0 {
		t.Error("the task ran after its removal")
	}
}
