package cron_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// The job is due every minute and is denied until the definition is edited. Each reason is logged once, not every
// minute.
func TestAdd_DeniedUntilEdit_LogsOncePerReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		var log bytes.Buffer
		c := srv.Dial(t, "app1", client.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		ran := 0
		scheduler := cron.New()
		runner := client.NewRunner(c.Semaphore("export"), func(context.Context) error { ran++; return nil })
		if _, err := gkcron.Add(t.Context(), scheduler, "* * * * *", runner); err != nil {
			t.Fatal(err)
		}
		start(t, scheduler)
		group := func(pattern string) *gatekeeperv1.Definition {
			return &gatekeeperv1.Definition{Name: "export", GroupPattern: &pattern}
		}
		wantLogged := func(want int, text string) {
			t.Helper()
			srv.Advance(t, 5*time.Minute)
			if n := strings.Count(log.String(), "the job will not run"); n != want || !strings.Contains(log.String(), text) {
				t.Errorf("logged %d denials, want %d, including the text %q:\n%s", n, want, text, log.String())
			}
		}
		wantLogged(1, "There is no semaphore")
		srv.Define(t, group("dr-site"))
		wantLogged(2, `group pattern \"dr-site\"`)
		srv.Define(t, group("prod"))
		wantLogged(3, `group pattern \"prod\"`)
		if ran != 0 {
			t.Errorf("the job ran %d times while denied", ran)
		}
		srv.Define(t, group("default"))
		wantLogged(3, "")
		if ran == 0 {
			t.Error("the job did not run after the edit")
		}
		srv.Define(t, group("prod"))
		wantLogged(4, "gkctl explain export --group default --acquirer app1")
	})
}

// Jobs in a chain log the same warning.
func TestJobWrapper_DeniedUntilEdit_LogsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		var log bytes.Buffer
		c := srv.Dial(t, "app1", client.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		scheduler := cron.New(cron.WithChain(gkcron.JobWrapper(t.Context(), c.Semaphore("export"), nil)))
		if _, err := scheduler.AddJob("* * * * *", gkcron.Func(func(context.Context) error { t.Error("ran"); return nil })); err != nil {
			t.Fatal(err)
		}
		start(t, scheduler)
		srv.Advance(t, 5*time.Minute)
		if n := strings.Count(log.String(), "the job will not run"); n != 1 ||
			!strings.Contains(log.String(), "gkctl explain export --group default --acquirer app1") {
			t.Errorf("logged %d denials, want 1 with the gkctl command:\n%s", n, log.String())
		}
	})
}
