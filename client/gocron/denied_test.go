package gocron_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// The job is due every minute and is denied until the definition is edited. Each reason is logged once, not every
// minute.
func TestLocker_DeniedUntilAnEdit_LogsOncePerReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		var log bytes.Buffer
		locker := gkgocron.NewLocker(srv.Dial(t, "app1", client.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))))
		s, _ := schedule(t, "export", locker.Task(func(context.Context) error { t.Error("ran"); return nil }), gocron.WithDistributedLocker(locker))
		locker.Follow(s)
		s.Start()
		defer func() { _ = s.Shutdown() }()
		for want, text := range []string{"There is no semaphore", `group pattern \"dr-site\"`} {
			if want == 1 {
				srv.Define(t, &gatekeeperv1.Definition{Name: "export", GroupPattern: new("dr-site")})
			}
			srv.Advance(t, 5*time.Minute)
			if n := strings.Count(log.String(), "the job will not run"); n != want+1 || !strings.Contains(log.String(), text) {
				t.Errorf("logged %d denials, want %d, including the text %q:\n%s", n, want+1, text, log.String())
			}
		}
		if !strings.Contains(log.String(), "gkctl explain export --group default --acquirer app1") {
			t.Errorf("the log does not contain the gkctl command:\n%s", log.String())
		}
	})
}

func TestElector_DeniedUntilAnEdit_LogsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		var log bytes.Buffer
		e := gkgocron.NewElector(srv.Dial(t, "app1", client.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))).Semaphore("leader"))
		srv.Advance(t, time.Hour)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 1 {
			t.Errorf("got %d warnings, want 1:\n%s", n, log.String())
		}
	})
}
