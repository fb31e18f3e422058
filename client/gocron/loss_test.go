package gocron_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// loss is a way to end a permit while a job is running. recover makes the next run possible.
type loss struct {
	trigger func(t *testing.T, srv *gktest.Server, token uint64)
	recover func(t *testing.T, srv *gktest.Server)
	cause   error
}

func losses(name string) map[string]loss {
	group := func(pattern string) func(*testing.T, *gktest.Server) {
		return func(t *testing.T, srv *gktest.Server) {
			t.Helper()
			srv.Edit(t, name, func(d *gatekeeperv1.Definition) { d.GroupPattern = &pattern })
		}
	}
	noop := func(*testing.T, *gktest.Server) {}
	return map[string]loss{
		"revoked": {
			func(t *testing.T, srv *gktest.Server, token uint64) { srv.Revoke(t, token, "a test") }, noop, client.ErrRevoked,
		},
		"moved": {
			func(t *testing.T, srv *gktest.Server, _ uint64) { group("elsewhere")(t, srv) }, group(".*"), client.ErrMoved,
		},
		"partitioned": {
			func(t *testing.T, srv *gktest.Server, _ uint64) { srv.Partition(t) },
			func(t *testing.T, srv *gktest.Server) { srv.Heal(t) }, client.ErrExpiring,
		},
		"server-stopped": {
			func(t *testing.T, srv *gktest.Server, _ uint64) { srv.Stop(t) },
			func(t *testing.T, srv *gktest.Server) { srv.Restart(t) }, client.ErrExpiring,
		},
	}
}

// schedule returns a scheduler with one job that is due every minute, and a channel that receives the errors of skipped
// runs.
func schedule(t *testing.T, name string, task gocron.Task, opts ...gocron.SchedulerOption) (s gocron.Scheduler, skipped <-chan error) {
	t.Helper()
	s, err := gocron.NewScheduler(append(opts, gocron.WithLocation(time.UTC))...)
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 100)
	_, err = s.NewJob(gocron.CronJob("* * * * *", false), task, gocron.WithName(name),
		gocron.WithEventListeners(gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) { errs <- err })))
	if err != nil {
		t.Fatal(err)
	}
	return s, errs
}

func TestLocker_PermitLost_CancelsTheTaskInTimeAndLaterRunsSucceed(t *testing.T) {
	const name = "export"
	for scenario, l := range losses(name) {
		t.Run(scenario, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := gktest.Start(t, name)
				reports := make(chan client.Report, 100)
				locker := gkgocron.NewLocker(srv.Dial(t, "app1"), gkgocron.WithJobOptions(client.WithHooks(client.Hooks{
					Finished: func(_ context.Context, r client.Report) { reports <- r },
				})))
				permits, causes := make(chan *client.Permit, 100), make(chan error, 1)
				runs := 0
				s, _ := schedule(t, name, locker.Task(func(ctx context.Context) error {
					p := client.PermitOf(ctx)
					permits <- p
					if runs++; runs > 1 {
						return nil
					}
					<-ctx.Done()
					if !p.Held() {
						t.Error("the task's context was cancelled after the permit had ended")
					}
					causes <- context.Cause(ctx)
					return ctx.Err()
				}), gocron.WithDistributedLocker(locker))
				locker.Follow(s)
				s.Start()
				defer func() { _ = s.Shutdown() }()

				first := <-permits
				l.trigger(t, srv, first.Token())
				report := <-reports
				if cause := <-causes; !errors.Is(cause, l.cause) || !errors.Is(report.Stopped, l.cause) {
					t.Errorf("cause = %v, Report.Stopped = %v, want %v", cause, report.Stopped, l.cause)
				}
				l.recover(t, srv)
				second := <-permits
				if later := <-reports; second.Token() <= first.Token() || later.Err != nil || !later.Due.After(report.Due) {
					t.Errorf("later run has token %d after %d and report %+v, want a larger token, no error and a later due time", second.Token(), first.Token(), later)
				}
			})
		})
	}
}

// A plain gocron task cannot be stopped. If it is still running when its permit ends, an overrun is reported.
func TestLocker_PlainTaskOutlivesItsPermit_ReportsAnOverrun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = "plain"
		srv := gktest.Start(t, name)
		overruns := make(chan client.Overrun, 100)
		app1 := srv.Dial(t, "app1")
		locker := gkgocron.NewLocker(app1, gkgocron.WithJobOptions(client.WithHooks(client.Hooks{
			Overrun: func(_ context.Context, o client.Overrun) { overruns <- o },
		})))
		runs, end := make(chan struct{}, 100), make(chan struct{})
		s, skipped := schedule(t, name, gocron.NewTask(func() {
			runs <- struct{}{}
			<-end
		}), gocron.WithDistributedLocker(locker))
		locker.Follow(s)
		s.Start()
		defer func() { _ = s.Shutdown() }()

		<-runs
		srv.Partition(t, app1)
		for o := range overruns {
			if o.Gone {
				break
			}
		}
		p, err := srv.Dial(t, "app2").Semaphore(name).TryAcquireFor(t.Context(), 10*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		// This scheduler does not start the job again while it is running.
		if err := <-skipped; !errors.Is(err, gkgocron.ErrRunning) {
			t.Errorf("the run was skipped with error %v, want ErrRunning", err)
		}
		if err := p.Release(t.Context()); err != nil {
			t.Error(err)
		}
		srv.Heal(t, app1)
		close(end)
		<-runs
	})
}

func TestElector_PermitLost_StepsDownInTimeAndIsReelected(t *testing.T) {
	const name = "leader"
	for scenario, l := range losses(name) {
		t.Run(scenario, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := gktest.Start(t, name)
				e := gkgocron.NewElector(srv.Dial(t, "app1").Semaphore(name), client.WithLoopDelay(time.Second))
				permits, causes := make(chan *client.Permit, 100), make(chan error, 100)
				s, _ := schedule(t, name, e.Task(func(ctx context.Context) error {
					permits <- client.PermitOf(ctx)
					<-ctx.Done()
					cause := context.Cause(ctx)
					if err := e.IsLeader(ctx); !errors.Is(cause, context.Canceled) && !errors.Is(err, gkgocron.ErrNotLeader) {
						t.Errorf("IsLeader() after the task's context ended = %v, want ErrNotLeader", err)
					}
					causes <- cause
					return ctx.Err()
				}), gocron.WithDistributedElector(e))
				s.Start()
				defer func() {
					_ = s.Shutdown()
					if err := e.Close(); err != nil {
						t.Error(err)
					}
				}()

				first := <-permits
				l.trigger(t, srv, first.Token())
				if cause := <-causes; !errors.Is(cause, l.cause) {
					t.Errorf("cause = %v, want %v", cause, l.cause)
				}
				l.recover(t, srv)
				if second := <-permits; second.Token() <= first.Token() {
					t.Errorf("second token = %d, want more than %d", second.Token(), first.Token())
				}
			})
		})
	}
}
