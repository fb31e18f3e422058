package gktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// finishing is a job that takes 30 s to finish after its context is cancelled.
func finishing(ctx context.Context) error {
	<-ctx.Done()
	<-time.After(30 * time.Second)
	return nil
}

func TestExport_MovedWithDrain_FinishesBeforeOtherZoneStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		srv.Define(t, &gatekeeperv1.Definition{Name: "nightly-export", GroupPattern: new("east")})
		east, west := srv.Dial(t, "app1", client.WithGroup("east")), srv.Dial(t, "app2", client.WithGroup("west"))
		ended := start(t, client.Wrap(east.Semaphore("nightly-export"), finishing))
		srv.Advance(t, time.Minute)

		moved := time.Now()
		srv.Move(t, "east", "west", 2*time.Minute)
		if _, err := west.Semaphore("nightly-export").TryAcquireFor(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil || time.Since(moved) != 30*time.Second {
			t.Errorf("the export returned %v, and the other zone was granted the permit after %s, want nil and 30 s", err, time.Since(moved))
		}
	})
}

func TestExport_HostIsCordoned_FinishesAndIsDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "nightly-export")
		app1 := srv.Dial(t, "app1")
		ended := start(t, client.Wrap(app1.Semaphore("nightly-export"), finishing))
		srv.Advance(t, time.Minute)

		cordon := srv.Cordon(t, client.CordonRequest{AcquirerPattern: "app1", Reason: "patching", Drain: time.Minute})
		if err := <-ended; err != nil {
			t.Errorf("the export returned %v, want nil", err)
		}
		again := client.Wrap(app1.Semaphore("nightly-export"), finishing)
		if denied, ok := errors.AsType[*client.DeniedError](again(t.Context())); !ok || denied.Reason != client.ReasonCordoned {
			t.Errorf("run during the cordon = %v, want ReasonCordoned", denied)
		}

		srv.Uncordon(t, cordon)
		ended = start(t, again)
		srv.Advance(t, time.Minute)
		srv.Drain(t, srv.Holders(t, "nightly-export")[0].GetToken(), "maintenance", time.Minute)
		if err := <-ended; err != nil {
			t.Errorf("after a revocation with a drain, the export returned %v, want nil", err)
		}
	})
}
