package gktest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
)

// wireCount returns the number of c's open connections.
func wireCount(t *testing.T, srv *Server, c *client.Client) int {
	t.Helper()
	return len(srv.linksFor(t, []*client.Client{c})[0].openWires())
}

func TestPartition_CallsHangAndOtherClientsAreUnaffected(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		app1, app2 := srv.Dial(t, "app1"), srv.Dial(t, "app2")
		srv.Partition(t, app1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		before := time.Now()
		if _, err := app1.Semaphore("job").TryAcquire(ctx); !errors.Is(err, client.ErrUnavailable) {
			t.Errorf("TryAcquire during the partition = %v, want ErrUnavailable", err)
		}
		if time.Since(before) != time.Minute {
			t.Errorf("TryAcquire returned after %s, want 1 min", time.Since(before))
		}
		acquire(t, app2, "job")
		srv.Heal(t, app1)
		if _, err := app1.Semaphore("job").TryAcquire(t.Context()); !errors.As(err, new(*client.DeniedError)) {
			t.Errorf("TryAcquire after the partition = %v, want a denial", err)
		}
	})
}

func TestPartition_Brief_ConnectionsSurvive(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		c := srv.Dial(t, "app1")
		p := acquire(t, c, "job")
		srv.Advance(t, 2*time.Second)
		wires := srv.linksFor(t, []*client.Client{c})[0].openWires()
		srv.Partition(t) // all clients
		srv.Partition(t, c)
		srv.Advance(t, time.Second)
		srv.Heal(t)
		srv.Advance(t, time.Minute)
		if now := srv.linksFor(t, []*client.Client{c})[0].openWires(); len(now) != len(wires) {
			t.Errorf("got %d connections after the partition, want %d", len(now), len(wires))
		}
		for _, w := range wires {
			select {
			case <-w.gone:
				t.Error("a connection was broken")
			default:
			}
		}
		if !p.Held() {
			t.Error(context.Cause(p.Context()))
		}
	})
}

func TestHeal_DataSentDuringThePartition_Arrives(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		c := srv.Dial(t, "app1")
		p := acquire(t, c, "job")
		srv.Partition(t, c)
		released := make(chan error, 1)
		go func() { released <- p.Release(t.Context()) }()
		srv.Advance(t, 3*time.Second) // shorter than the attempt timeout, so that the release is not retried
		if len(srv.Holders(t, "job")) != 1 || len(released) > 0 {
			t.Error("the release reached the server during the partition")
		}
		srv.Heal(t, c)
		srv.Advance(t, 0)
		if h := srv.Holders(t, "job"); len(h) > 0 || len(released) == 0 {
			t.Errorf("holders after Heal = %v, want none", h)
		}
	})
}

func TestSlowDown_DelaysEveryResponse(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		c := srv.Dial(t, "app1")
		measure := func() time.Duration {
			before := time.Now()
			if err := acquire(t, c, "job").Release(t.Context()); err != nil {
				t.Error(err)
			}
			return time.Since(before)
		}
		measure() // connects the client
		srv.SlowDown(t, 300*time.Millisecond, c)
		if d := measure(); d != 600*time.Millisecond {
			t.Errorf("two calls took %s, want 600 ms", d)
		}
		srv.SlowDown(t, 0)
		if d := measure(); d != 0 {
			t.Errorf("two calls took %s, want 0", d)
		}
	})
}

func TestSlowDown_LongerThanTimeout_DelaysOnlyResponses(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		c := srv.Dial(t, "app1")
		p := acquire(t, c, "job")
		srv.SlowDown(t, time.Hour, c)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Release(ctx); !errors.Is(err, client.ErrUnavailable) {
			t.Errorf("Release = %v, want ErrUnavailable", err)
		}
		if h := srv.Holders(t, "job"); len(h) > 0 {
			t.Errorf("holders = %v, want none, because requests are not delayed", h)
		}
	})
}

func TestDisconnect_ClientsReconnect(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		c := srv.Dial(t, "app1")
		p := acquire(t, c, "job")
		granted := make(chan error, 1)
		go func() { granted <- secondResult(srv.Dial(t, "app2").Semaphore("job").Acquire(t.Context())) }()
		srv.Advance(t, 2*time.Second)
		wires := srv.linksFor(t, []*client.Client{c})[0].openWires()
		srv.Disconnect(t)
		for _, w := range wires {
			select {
			case <-w.gone:
			default:
				t.Error("a connection is still open")
			}
		}
		srv.Advance(t, time.Hour)
		if !p.Held() || len(srv.Waiters(t, "job")) != 1 {
			t.Errorf("Held() = %t, waiters = %v; want the permit kept and one waiter", p.Held(), srv.Waiters(t, "job"))
		}
		if err := p.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-granted; err != nil {
			t.Error(err)
		}
	})
}

func TestCrash_ReleasesNothingAndThePermitExpires(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		c := srv.Dial(t, "app1")
		p := acquire(t, c, "job")
		srv.Advance(t, 2*time.Second)
		srv.Crash(t, c)
		wantCause(t, p.Context(), client.ErrClosed)
		srv.Advance(t, 0)
		if n := wireCount(t, srv, c); n > 0 {
			t.Errorf("got %d connections after Crash, want 0", n)
		}
		srv.Advance(t, 50*time.Second)
		if len(srv.Holders(t, "job")) != 1 {
			t.Error("the permit was released")
		}
		srv.Advance(t, 12*time.Second)
		if h := srv.Holders(t, "job"); len(h) > 0 {
			t.Errorf("holders = %v, want the permit to have expired", h)
		}
	})
}

func TestPartition_ForeignClient_FailsTest(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		foreign := Start(t).Dial(t, "app1")
		wantFatal(t, "not created by Dial", func(s testing.TB) { srv.Partition(s, foreign) })
	})
}
