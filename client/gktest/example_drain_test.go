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

// finishing takes 30 s to finish what it has begun when it is told to stop.
func finishing(ctx context.Context) error {
	<-ctx.Done()
	<-time.After(30 * time.Second)
	return nil
}

func TestExport_MovedWithADrain_FinishesAndTheOtherZoneGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		srv.Define(t, &gatekeeperv1.Definition{Name: "nightly-export", GroupPattern: new("east")})
		east, west := srv.Dial(t, "app1", client.WithGroup("east")), srv.Dial(t, "app2", client.WithGroup("west"))
		ended := start(t, client.Wrap(east.Semaphore("nightly-export"), finishing))
		srv.Advance(t, time.Minute)

		told := time.Now()
		srv.Move(t, "east", "west", 2*time.Minute)
		if _, err := west.Semaphore("nightly-export").TryAcquireFor(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil || time.Since(told) != 30*time.Second {
			t.Errorf("the export ended with %v, and the other zone began after %s", err, time.Since(told))
		}
	})
}

func TestExport_HostIsPatched_FinishesAndIsNotLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "nightly-export")
		app1 := srv.Dial(t, "app1")
		ended := start(t, client.Wrap(app1.Semaphore("nightly-export"), finishing))
		srv.Advance(t, time.Minute)

		cordon := srv.Cordon(t, client.CordonRequest{AcquirerPattern: "app1", Reason: "patching", Drain: time.Minute})
		if err := <-ended; err != nil {
			t.Errorf("the export ended with %v", err)
		}
		again := client.Wrap(app1.Semaphore("nightly-export"), finishing)
		if denied, ok := errors.AsType[*client.DeniedError](again(t.Context())); !ok || denied.Reason != client.ReasonCordoned {
			t.Errorf("during the cordon: %v", denied)
		}

		srv.Uncordon(t, cordon)
		ended = start(t, again)
		srv.Advance(t, time.Minute)
		srv.Drain(t, srv.Holders(t, "nightly-export")[0].GetToken(), "enough", time.Minute)
		if err := <-ended; err != nil {
			t.Errorf("revoked with a drain, the export ended with %v", err)
		}
	})
}
