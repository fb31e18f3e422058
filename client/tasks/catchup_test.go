package tasks_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/tasks"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// hourlyFixture is a server on virtual time with a semaphore that has a misfire policy. It records the due times for
// which an hourly task ran.
type hourlyFixture struct {
	*testing.T
	srv *gktest.Server

	mu  sync.Mutex
	ran []string
}

func newHourlyFixture(t *testing.T, misfire gatekeeperv1.Misfire, permits uint32) *hourlyFixture {
	t.Helper()
	h := &hourlyFixture{T: t, srv: gktest.Start(t)}
	def := &gatekeeperv1.Definition{Name: name, Misfire: misfire, Permits: &permits}
	if misfire != gatekeeperv1.Misfire_MISFIRE_SKIP {
		def.MisfireWindow = durationpb.New(12 * time.Hour)
	}
	h.srv.Define(t, def)
	return h
}

// advanceTo advances the time to the given time of day. A synctest bubble starts at midnight.
func (h *hourlyFixture) advanceTo(at time.Duration) {
	h.Helper()
	h.srv.Advance(h.T, time.Until(time.Now().Truncate(24*time.Hour).Add(at)))
}

// manager starts a host's Manager.
func (h *hourlyFixture) manager(acquirer string, opts ...tasks.Option) *tasks.Manager {
	h.Helper()
	m, err := tasks.NewManager(h.srv.Dial(h.T, acquirer), append([]tasks.Option{
		tasks.WithScheduler(gocron.WithLocation(time.UTC)), tasks.WithLogger(slog.New(slog.DiscardHandler)),
	}, opts...)...)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			h.Error(err)
		}
	})
	return m
}

// register registers an hourly task whose runs take the given time.
func (h *hourlyFixture) register(m *tasks.Manager, takes time.Duration) {
	h.Helper()
	h.registerFunc(m, gocron.CronJob("0 * * * *", false), func(ctx context.Context, _ string) error {
		select {
		case <-time.After(takes):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

func (h *hourlyFixture) registerFunc(m *tasks.Manager, schedule gocron.JobDefinition, run func(ctx context.Context, due string) error) {
	h.Helper()
	err := m.Register(h.Context(), tasks.Func(name, schedule, func(ctx context.Context) error {
		_, due := client.PermitOf(ctx).Firing()
		h.mu.Lock()
		h.ran = append(h.ran, due.Format("15:04"))
		h.mu.Unlock()
		return run(ctx, due.Format("15:04"))
	}))
	if err != nil {
		h.Fatal(err)
	}
}

func (h *hourlyFixture) wantRan(ran ...string) {
	h.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.ran, ran) {
		h.Errorf("ran for the due times %v, want %v", h.ran, ran)
	}
}

const (
	skip = gatekeeperv1.Misfire_MISFIRE_SKIP
	once = gatekeeperv1.Misfire_MISFIRE_ONCE
	each = gatekeeperv1.Misfire_MISFIRE_EACH
)

// No host is up for the first three hours after the definition is created. Then two hosts start, and one of them
// restarts.
func TestRegister_HostsWereDown_RunsMissedDueTimes(t *testing.T) {
	t.Parallel()
	for policy, c := range map[string]struct {
		misfire gatekeeperv1.Misfire
		want    []string
	}{
		"skip": {skip, nil},
		"once": {once, []string{"03:00"}},
		"each": {each, []string{"01:00", "02:00", "03:00"}},
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHourlyFixture(t, c.misfire, 1)
				h.advanceTo(3*time.Hour + 30*time.Minute)
				first, second := h.manager("app1"), h.manager("app2")
				h.register(first, time.Minute)
				h.register(second, time.Minute)
				h.advanceTo(3*time.Hour + 40*time.Minute)
				h.wantRan(c.want...)
				if err := first.Close(t.Context()); err != nil {
					t.Error(err)
				}
				h.register(h.manager("app1"), time.Minute)
				h.advanceTo(4*time.Hour + 10*time.Minute)
				h.wantRan(append(c.want, "04:00")...)
			})
		})
	}
}

// The host that is catching up shuts down while the other is waiting for the permit.
func TestRegister_HostClosedWhileCatchingUp_OtherHostContinues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHourlyFixture(t, each, 1)
		h.advanceTo(3*time.Hour + 30*time.Minute)
		first, second := h.manager("app1"), h.manager("app2")
		h.register(first, 5*time.Minute)
		h.srv.Advance(t, time.Minute)
		h.register(second, 5*time.Minute)
		h.srv.Advance(t, time.Minute)
		h.wantRan("01:00")
		if err := first.Close(t.Context()); err != nil {
			t.Error(err)
		}
		h.advanceTo(3*time.Hour + 59*time.Minute)
		h.wantRan("01:00", "02:00", "03:00")
	})
}

// Due times that pass during a catch-up run are missed too. A host never runs a task twice concurrently, even with two
// permits.
func TestCatchUp_DueTimesPassDuringCatchUp_RunsThemAfterwards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHourlyFixture(t, each, 2)
		h.advanceTo(2*time.Hour + 30*time.Minute)
		m := h.manager("app1")
		h.register(m, 40*time.Minute)
		h.srv.Advance(t, time.Minute)
		if _, info, _ := m.Get(name); info.State != tasks.Running || info.Token == 0 {
			t.Errorf("Get() = %+v, want the task running with a token", info)
		}
		h.advanceTo(3*time.Hour + 5*time.Minute)
		h.wantRan("01:00")
		h.advanceTo(3*time.Hour + 15*time.Minute)
		h.wantRan("01:00", "02:00")
		h.advanceTo(3*time.Hour + 55*time.Minute)
		h.wantRan("01:00", "02:00", "03:00")
	})
}

// The host is suspended until 04:30. Its clock and timers then resume.
func TestManager_HostWasSuspended_CatchesUpByPolicy(t *testing.T) {
	t.Parallel()
	for policy, c := range map[string]struct {
		misfire gatekeeperv1.Misfire
		want    []string
	}{
		"skip": {skip, []string{"04:00", "05:00"}},
		"once": {once, []string{"04:00", "05:00"}},
		"each": {each, []string{"04:00", "01:00", "02:00", "03:00", "05:00"}},
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHourlyFixture(t, c.misfire, 1)
				clock := clockwork.NewFakeClockAt(time.Now())
				m := h.manager("app1", tasks.WithScheduler(gocron.WithClock(clock)), tasks.WithNow(clock.Now))
				h.register(m, 0)
				synctest.Wait()
				h.advanceTo(4*time.Hour + 30*time.Minute)
				h.wantRan()
				clock.Advance(time.Since(clock.Now()))
				synctest.Wait()
				h.advanceTo(5 * time.Hour)
				clock.Advance(time.Since(clock.Now()))
				h.srv.Advance(t, time.Minute)
				h.wantRan(c.want...)
			})
		})
	}
}

// A run that fails, panics or calls runtime.Goexit does not prevent the remaining runs.
func TestCatchUp_RunFailsPanicsOrExits_ContinuesWithRemainingRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHourlyFixture(t, each, 1)
		h.advanceTo(4*time.Hour + 30*time.Minute)
		m := h.manager("app1")
		h.registerFunc(m, gocron.CronJob("0 * * * *", false), func(_ context.Context, due string) error {
			switch due {
			case "01:00":
				return errors.New("no disk")
			case "02:00":
				panic("no disk")
			case "03:00":
				runtime.Goexit()
			}
			return nil
		})
		h.srv.Advance(t, time.Minute)
		h.wantRan("01:00", "02:00", "03:00", "04:00")
		if _, info, _ := m.Get(name); info.Runs != 4 || info.State != tasks.Idle || info.Err != nil {
			t.Errorf("Get() = %+v, want 4 runs, Idle and no error", info)
		}
	})
}

// If the schedule's past due times are unknown, the task does not catch up. It runs when it is next due.
func TestRegister_PastDueTimesUnknown_RunsWhenNextDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHourlyFixture(t, each, 1)
		h.advanceTo(3*time.Hour + 30*time.Minute)
		daily := gocron.DailyJob(1, gocron.NewAtTimes(gocron.NewAtTime(4, 0, 0)))
		h.registerFunc(h.manager("app1"), daily, func(context.Context, string) error { return nil })
		h.advanceTo(4*time.Hour + time.Minute)
		h.wantRan("04:00")
	})
}

// Remove lets the current run finish and abandons the pending ones.
func TestRemove_WhileCatchingUp_AbandonsPendingRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHourlyFixture(t, each, 1)
		h.advanceTo(3*time.Hour + 30*time.Minute)
		m := h.manager("app1")
		h.register(m, 10*time.Minute)
		h.srv.Advance(t, time.Minute)
		if err := m.Remove(t.Context(), name); err != nil {
			t.Error(err)
		}
		h.wantRan("01:00")
		if got := time.Now().Format("15:04"); got != time.Now().Truncate(24*time.Hour).Add(3*time.Hour+40*time.Minute).Format("15:04") {
			t.Errorf("removed at %s, want 03:40, when the run ends", got)
		}
	})
}
