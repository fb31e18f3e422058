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

func TestExport_BadNetwork_KeepsItsPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "nightly-export")
		app1 := srv.Dial(t, "app1")
		p, err := app1.Semaphore("nightly-export").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		srv.SlowDown(t, 200*time.Millisecond, app1)
		srv.Advance(t, time.Minute)
		srv.SlowDown(t, 0, app1)
		srv.Disconnect(t, app1) // breaks the client's connections; it can reconnect
		srv.Partition(t, app1)
		srv.Advance(t, 5*time.Second) // shorter than the permit's duration
		srv.Heal(t, app1)
		srv.Advance(t, time.Minute)
		if err := p.Context().Err(); err != nil || !p.Held() {
			t.Errorf("Held() = %v, context error = %v; want the permit to be kept", p.Held(), err)
		}
	})
}

func TestExport_ServerRestarts_KeepsItsPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "nightly-export")
		p, err := srv.Dial(t, "app1").Semaphore("nightly-export").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		srv.Stop(t)
		srv.Advance(t, 5*time.Second)
		srv.Restart(t)
		srv.Advance(t, time.Hour)
		if !p.Held() {
			t.Error("the permit was lost when the server restarted")
		}
	})
}

func TestExport_PermitExpires_IsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "nightly-export")
		s := srv.Dial(t, "app1").Semaphore("nightly-export")
		for _, expire := range []func(*client.Permit){
			func(p *client.Permit) { srv.Expire(t, p.Token()) },
			func(*client.Permit) { srv.ExpireAll(t, "nightly-export") },
		} {
			p, err := s.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			expire(p)
			<-p.Done()
		}
	})
}

func TestExport_Paused_IsDeniedUntilResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "nightly-export")
		s := srv.Dial(t, "app1").Semaphore("nightly-export")
		srv.Pause(t, "nightly-export", "disk is full")
		_, err := s.TryAcquire(t.Context())
		if d, ok := errors.AsType[*client.DeniedError](err); !ok || d.Reason != client.ReasonPaused {
			t.Errorf("TryAcquire on a paused semaphore = %v, want ReasonPaused", err)
		}
		srv.Resume(t, "nightly-export")
		p, err := s.TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		srv.PauseAndStop(t, "nightly-export", "disk is full", time.Minute)
		<-p.Context().Done()
		if !errors.Is(context.Cause(p.Context()), client.ErrPaused) || p.DrainUntil().IsZero() {
			t.Errorf("cause = %v, DrainUntil() = %s; want ErrPaused and a drain", context.Cause(p.Context()), p.DrainUntil())
		}
	})
}

func TestExport_DefinitionEditedAndDeleted_AppliesChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "nightly-export")
		first, second := srv.Dial(t, "app1").Semaphore("nightly-export"), srv.Dial(t, "app2").Semaphore("nightly-export")
		if _, err := first.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		granted := make(chan error, 1)
		go func() {
			_, err := second.Acquire(t.Context())
			granted <- err
		}()
		srv.Await(t, "app2 to wait", func() bool { return len(srv.Waiters(t, "nightly-export")) == 1 })
		srv.Edit(t, "nightly-export", func(d *gatekeeperv1.Definition) { d.Permits = new(uint32(2)) })
		if err := <-granted; err != nil {
			t.Fatal(err)
		}
		srv.Delete(t, "nightly-export")
		if _, err := first.TryAcquire(t.Context()); err == nil {
			t.Error("TryAcquire was granted without a definition")
		}
	})
}
