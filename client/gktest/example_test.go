package gktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
)

// These tests show how to test a job. Each takes milliseconds.

// export is the job under test.
func export(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// start starts a run and returns a channel that receives its error.
func start(t *testing.T, run func(context.Context) error) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- run(t.Context()) }()
	return ended
}

func TestExport_Revoked_StopsAndReleasesItsPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in virtual time
		srv := gktest.Start(t, "nightly-export")
		app1 := srv.Dial(t, "app1")
		ended := start(t, client.Wrap(app1.Semaphore("nightly-export"), export))

		srv.Advance(t, time.Hour) // the job runs and keeps its permit
		srv.Revoke(t, srv.Holders(t, "nightly-export")[0].GetToken(), "disk is full")

		if err := <-ended; !errors.Is(err, client.ErrRevoked) {
			t.Errorf("the export returned %v, want ErrRevoked", err)
		}
		if holders := srv.Holders(t, "nightly-export"); len(holders) > 0 {
			t.Errorf("holders = %v, want none", holders)
		}
	})
}

func TestExport_Partitioned_StopsBeforeOtherHostStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "nightly-export")
		app1, app2 := srv.Dial(t, "app1"), srv.Dial(t, "app2")
		stopped := make(chan error, 1) // the run returns only after its release, which cannot reach the server during the partition
		start(t, client.Wrap(app1.Semaphore("nightly-export"), func(ctx context.Context) error {
			err := export(ctx)
			stopped <- err
			return err
		}))
		srv.Advance(t, time.Minute)

		srv.Partition(t, app1)
		if _, err := app2.Semaphore("nightly-export").Acquire(t.Context()); err != nil { // waits until the permit is free
			t.Fatal(err)
		}
		select {
		case err := <-stopped:
			if !errors.Is(err, client.ErrExpiring) {
				t.Errorf("the export returned %v, want ErrExpiring", err)
			}
		default:
			t.Error("app2 was granted the permit while the export was still running")
		}
	})
}

func TestExport_ProcessDies_AnotherHostRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "nightly-export")
		app1, app2 := srv.Dial(t, "app1"), srv.Dial(t, "app2")
		died := start(t, client.NewRunner(app1.Semaphore("nightly-export"), export).Loop)
		srv.Advance(t, time.Second)
		started := make(chan time.Time, 1)
		next := client.NewRunner(app2.Semaphore("nightly-export"), func(context.Context) error {
			started <- time.Now()
			return nil
		}, client.WithDenialPolicy(client.DenialWait))

		crashed := time.Now()
		srv.Crash(t, app1) // a killed process does not release its permit
		<-died
		if err := next.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if waited := (<-started).Sub(crashed); waited > 2*time.Minute {
			t.Errorf("no host ran the export for %s, want at most 2 min", waited)
		}
	})
}

func TestExport_IgnoresContext_ReportsOverrun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "nightly-export")
		stubborn := func(context.Context) error { <-time.After(time.Hour); return nil }
		var overruns []client.Overrun
		hooks := client.Hooks{Overrun: func(_ context.Context, o client.Overrun) { overruns = append(overruns, o) }}
		app1 := srv.Dial(t, "app1")
		ended := start(t, client.Wrap(app1.Semaphore("nightly-export"), stubborn, client.WithHooks(hooks)))

		srv.Advance(t, time.Minute)
		srv.Partition(t, app1)
		if err := <-ended; !errors.Is(err, client.ErrLost) {
			t.Errorf("the run returned %v, want ErrLost", err)
		}
		if len(overruns) == 0 || !overruns[len(overruns)-1].Gone {
			t.Errorf("overruns reported = %+v, want the last one to have Gone set", overruns)
		}
	})
}
