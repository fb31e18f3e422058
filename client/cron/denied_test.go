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

// A job that runs every minute, and is denied for a reason that only an edit changes, is not reported every minute.
func TestAdd_DeniedUntilSomebodyActs_IsToldOncePerCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		var log bytes.Buffer
		c := srv.Dial(t, "app1", client.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		ran := 0
		table := cron.New()
		runner := client.NewRunner(c.Semaphore("export"), func(context.Context) error { ran++; return nil })
		if _, err := gkcron.Add(t.Context(), table, "* * * * *", runner); err != nil {
			t.Fatal(err)
		}
		start(t, table)
		group := func(pattern string) *gatekeeperv1.Definition {
			return &gatekeeperv1.Definition{Name: "export", GroupPattern: &pattern}
		}
		told := func(want int, says string) {
			t.Helper()
			srv.Advance(t, 5*time.Minute)
			if n := strings.Count(log.String(), "the job does not run"); n != want || !strings.Contains(log.String(), says) {
				t.Errorf("logged %d times, want %d, the last time of %s:\n%s", n, want, says, log.String())
			}
		}
		told(1, "There is no semaphore")
		srv.Define(t, group("dr-site"))
		told(2, `group pattern \"dr-site\"`)
		srv.Define(t, group("prod"))
		told(3, `group pattern \"prod\"`)
		if ran != 0 {
			t.Errorf("ran %d times", ran)
		}
		srv.Define(t, group("default"))
		told(3, "")
		if ran == 0 {
			t.Error("did not run")
		}
		srv.Define(t, group("prod"))
		told(4, "gkctl explain export --group default --acquirer app1")
	})
}

// A chain's jobs are denied on the same terms, and the warning is the same.
func TestJobWrapper_DeniedUntilSomebodyActs_IsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		var log bytes.Buffer
		c := srv.Dial(t, "app1", client.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		table := cron.New(cron.WithChain(gkcron.JobWrapper(t.Context(), c.Semaphore("export"), nil)))
		if _, err := table.AddJob("* * * * *", gkcron.Func(func(context.Context) error { t.Error("ran"); return nil })); err != nil {
			t.Fatal(err)
		}
		start(t, table)
		srv.Advance(t, 5*time.Minute)
		if n := strings.Count(log.String(), "the job does not run"); n != 1 ||
			!strings.Contains(log.String(), "gkctl explain export --group default --acquirer app1") {
			t.Errorf("logged %d times, want once, with the command:\n%s", n, log.String())
		}
	})
}
