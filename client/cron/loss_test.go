package cron_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestAdd_PermitLost_CancelsJobInTimeAndLaterRunsSucceed(t *testing.T) {
	const name = "export"
	group := func(t *testing.T, srv *gktest.Server, pattern string) {
		t.Helper()
		srv.Edit(t, name, func(d *gatekeeperv1.Definition) { d.GroupPattern = &pattern })
	}
	for scenario, c := range map[string]struct {
		trigger func(t *testing.T, srv *gktest.Server, token uint64)
		recover func(t *testing.T, srv *gktest.Server)
		cause   error
	}{
		"revoked": {
			func(t *testing.T, srv *gktest.Server, token uint64) { srv.Revoke(t, token, "a test") },
			func(*testing.T, *gktest.Server) {}, client.ErrRevoked,
		},
		"moved": {
			func(t *testing.T, srv *gktest.Server, _ uint64) { group(t, srv, "elsewhere") },
			func(t *testing.T, srv *gktest.Server) { group(t, srv, ".*") }, client.ErrMoved,
		},
		"partitioned": {
			func(t *testing.T, srv *gktest.Server, _ uint64) { srv.Partition(t) },
			func(t *testing.T, srv *gktest.Server) { srv.Heal(t) }, client.ErrExpiring,
		},
		"server-stopped": {
			func(t *testing.T, srv *gktest.Server, _ uint64) { srv.Stop(t) },
			func(t *testing.T, srv *gktest.Server) { srv.Restart(t) }, client.ErrExpiring,
		},
	} {
		t.Run(scenario, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := gktest.Start(t, name)
				permits, causes, reports := make(chan *client.Permit, 100), make(chan error, 1), make(chan client.Report, 100)
				runs := 0
				runner := client.NewRunner(srv.Dial(t, "app1").Semaphore(name), func(ctx context.Context) error {
					p := client.PermitOf(ctx)
					permits <- p
					if runs++; runs > 1 {
						return nil
					}
					<-ctx.Done()
					if !p.Held() {
						t.Error("the job's context was cancelled after the permit had ended")
					}
					causes <- context.Cause(ctx)
					return ctx.Err()
				}, client.WithHooks(client.Hooks{Finished: func(_ context.Context, r client.Report) { reports <- r }}))
				scheduler := cron.New()
				if _, err := gkcron.Add(t.Context(), scheduler, "* * * * *", runner); err != nil {
					t.Fatal(err)
				}
				start(t, scheduler)

				first := <-permits
				c.trigger(t, srv, first.Token())
				report := <-reports
				if cause := <-causes; !errors.Is(cause, c.cause) || !errors.Is(report.Stopped, c.cause) {
					t.Errorf("cause = %v, Report.Stopped = %v, want %v", cause, report.Stopped, c.cause)
				}
				c.recover(t, srv)
				second := <-permits
				if later := <-reports; second.Token() <= first.Token() || later.Err != nil || !later.Due.After(report.Due) {
					t.Errorf("later run: token = %d, want more than %d; report = %+v, want no error and a later due time", second.Token(), first.Token(), later)
				}
			})
		})
	}
}

// A plain cron.Job cannot be stopped. If it is still running when its permit ends, an overrun is reported.
func TestJobWrapper_PlainJobOutlivesItsPermit_ReportsAnOverrun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "plain")
		c := srv.Dial(t, "app1")
		gone, began, end := make(chan struct{}), make(chan struct{}), make(chan struct{})
		wrap := gkcron.JobWrapper(t.Context(), c.Semaphore("plain"), nil, client.WithHooks(client.Hooks{Overrun: func(_ context.Context, o client.Overrun) {
			if o.Gone {
				close(gone)
			}
		}}))
		done := make(chan struct{})
		go func() {
			defer close(done)
			wrap(cron.FuncJob(func() { close(began); <-end })).Run()
		}()
		<-began
		srv.Partition(t, c)
		<-gone
		if _, err := srv.Dial(t, "app2").Semaphore("plain").Acquire(t.Context()); err != nil {
			t.Error(err)
		}
		close(end)
		<-done
		srv.Heal(t, c)
	})
}
