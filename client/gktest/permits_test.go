package gktest

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestExpire_NotifiesTheHolderAndGrantsToTheNextWaiter(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		p := acquire(t, srv.Dial(t, "app1"), "job")
		granted := make(chan *client.Permit, 1)
		go func() {
			next, err := srv.Dial(t, "app2").Semaphore("job").Acquire(t.Context())
			if err != nil {
				t.Error(err)
			}
			granted <- next
		}()
		srv.Advance(t, 2*time.Second) // until the permit is registered on the client's stream
		if w := srv.Waiters(t, "job"); len(w) != 1 || w[0].GetIdentity().GetAcquirer() != "app2" {
			t.Fatalf("waiters = %v, want only app2", w)
		}
		before := time.Now()
		srv.Expire(t, p.Token())
		if next := <-granted; next.Token() <= p.Token() {
			t.Errorf("next token = %d, want more than %d", next.Token(), p.Token())
		}
		srv.Advance(t, 0)
		wantCause(t, p.Context(), client.ErrLost)
		if p.Held() || time.Since(before) != 0 {
			t.Errorf("Held() = %t after %s, want false immediately", p.Held(), time.Since(before))
		}
		wantFatal(t, "no such permit", func(s testing.TB) { srv.Expire(s, p.Token()) })
	})
}

func TestExpire_HolderPartitioned_KeepsPermitUntilDeadline(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		c := srv.Dial(t, "app1")
		p := acquire(t, c, "job")
		srv.Advance(t, 2*time.Second)
		srv.Partition(t, c)
		srv.Expire(t, p.Token())
		srv.Advance(t, time.Second)
		if !p.Held() {
			t.Error("the permit was lost during the partition")
		}
		srv.Advance(t, time.Minute)
		if p.Held() {
			t.Error("the permit was held past its deadline")
		}
	})
}

func TestExpire_CoolingPermit_EndsTheCooldown(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		srv.Define(t, &gatekeeperv1.Definition{Name: "job", LossDelay: durationpb.New(time.Hour)})
		c := srv.Dial(t, "app1")
		srv.Expire(t, acquire(t, c, "job").Token())
		h := srv.Holders(t, "job")
		if len(h) != 1 || h[0].GetState() != gatekeeperv1.PermitState_PERMIT_STATE_COOLING {
			t.Fatalf("holders = %v, want one cooling permit", h)
		}
		srv.ExpireAll(t, "job")
		acquire(t, c, "job")
	})
}

func TestExpireAll_KeepsPermitsOfOtherSemaphores(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		srv.Define(t, &gatekeeperv1.Definition{Name: "job", Permits: new(uint32(3))}, &gatekeeperv1.Definition{Name: "other"})
		c := srv.Dial(t, "app1")
		for range 3 {
			acquire(t, c, "job")
		}
		other := acquire(t, c, "other")
		srv.ExpireAll(t, "job")
		if h := srv.Holders(t, "job"); len(h) > 0 {
			t.Errorf("holders = %v, want none", h)
		}
		srv.Advance(t, time.Hour)
		if !other.Held() {
			t.Error("the other semaphore's permit ended")
		}
	})
}

func TestRevoke_NotifiesTheHolderAndKeepsTheSlot(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		c := srv.Dial(t, "app1")
		p := acquire(t, c, "job")
		srv.Advance(t, 2*time.Second)
		srv.Revoke(t, p.Token(), "disk is full")
		srv.Advance(t, 0)
		wantCause(t, p.Context(), client.ErrRevoked)
		if d, ok := errors.AsType[*client.DeniedError](secondResult(srv.Dial(t, "app2").Semaphore("job").TryAcquire(t.Context()))); !ok {
			t.Errorf("TryAcquire after Revoke = %v, want a denial", d)
		}
		if err := p.Release(t.Context()); err != nil {
			t.Error(err)
		}
		acquire(t, c, "job")
	})
}
