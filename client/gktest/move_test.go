package gktest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// zones is a server with the semaphore "job" in zone "east" and one client in each zone. The east client runs the job.
// granted receives the west client's permit.
type zones struct {
	*Server
	east, west *client.Client
	granted    chan *client.Permit
}

func inZones(t *testing.T, job func(context.Context) error, test func(t *testing.T, z *zones, ended <-chan error), opts ...client.JobOption) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := Start(t)
		srv.Define(t, &gatekeeperv1.Definition{Name: "job", GroupPattern: new("east"), Duration: durationpb.New(10 * time.Second)})
		z := &zones{
			Server: srv, east: srv.Dial(t, "app1", client.WithGroup("east")), west: srv.Dial(t, "app2", client.WithGroup("west")),
			granted: make(chan *client.Permit, 1),
		}
		ended := make(chan error, 1)
		go func() { ended <- client.NewRunner(z.east.Semaphore("job"), job, opts...).Run(t.Context()) }()
		srv.Advance(t, time.Minute)
		test(t, z, ended)
	})
}

// queueWest queues the west client for the semaphore.
func (z *zones) queueWest(t *testing.T) {
	go func() {
		p, err := z.west.Semaphore("job").TryAcquireFor(t.Context(), 10*time.Minute)
		if err != nil {
			t.Error(err)
		}
		z.granted <- p
	}()
}

func TestMove_JobFinishesDuringTheDrain_OtherZoneIsGrantedOnRelease(t *testing.T) {
	var finished time.Time
	finishing := func(ctx context.Context) error {
		<-ctx.Done()
		stop, ok := errors.AsType[*client.StopError](context.Cause(ctx))
		if !ok || !errors.Is(stop, client.ErrMoved) || stop.Drain != 2*time.Minute {
			t.Errorf("cause = %v, want ErrMoved with a drain of 2 min", context.Cause(ctx))
		}
		<-time.After(90 * time.Second) // finishes the current item
		if p := client.PermitOf(ctx); !p.Held() || time.Until(p.DrainUntil()) < 20*time.Second {
			t.Errorf("Held() = %t, DrainUntil() = %s; want the permit to be held during the drain", p.Held(), p.DrainUntil())
		}
		finished = time.Now()
		return nil
	}
	inZones(t, finishing, func(t *testing.T, z *zones, ended <-chan error) {
		z.Move(t, "east", "west", 2*time.Minute)
		z.queueWest(t)
		if err := <-ended; err != nil {
			t.Errorf("Run = %v, want nil", err)
		}
		next := <-z.granted
		if delay := time.Since(finished); delay != 0 || !next.Held() {
			t.Errorf("the other zone was granted the permit %s after the release, want 0", delay)
		}
	})
}

func TestMove_JobIgnoresDrain_KeepsSlotUntilExpiry(t *testing.T) {
	overruns := make(chan client.Overrun, 10)
	hooks := client.WithHooks(client.Hooks{Overrun: func(_ context.Context, o client.Overrun) { overruns <- o }})
	stubborn := func(context.Context) error { <-time.After(time.Hour); return nil }
	inZones(t, stubborn, func(t *testing.T, z *zones, ended <-chan error) {
		moved := time.Now()
		z.Move(t, "east", "west", time.Minute, "job")
		z.queueWest(t)
		next := <-z.granted
		if waited := time.Since(moved); waited < time.Minute || waited > 71*time.Second {
			t.Errorf("granted after %s, want 60 s to 71 s for a drain of 1 min and a duration of 10 s", waited)
		}
		first, second := <-overruns, <-overruns
		if first.Gone || !second.Gone || second.Permit.Held() || len(overruns) > 0 {
			t.Errorf("overruns = %+v, %+v and %d more, want two, with Gone set only in the second", first, second, len(overruns))
		}
		if err := next.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, client.ErrLost) {
			t.Errorf("Run = %v, want ErrLost", err)
		}
	}, hooks)
}

func TestMove_MovedBackDuringDrain_KeepsPermitAndStopsJob(t *testing.T) {
	slow := func(ctx context.Context) error { <-time.After(2 * time.Hour); return context.Cause(ctx) }
	inZones(t, slow, func(t *testing.T, z *zones, ended <-chan error) {
		z.Move(t, "east", "west", time.Minute)
		z.Advance(t, 10*time.Second)
		z.Move(t, "west", "east", 0)
		z.Advance(t, time.Hour)
		if h := z.Holders(t, "job"); len(h) != 1 || h[0].GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_UNSPECIFIED {
			t.Errorf("holders = %v, want one without a stop cause", h)
		}
		if err := <-ended; !errors.Is(err, client.ErrMoved) || errors.Is(err, client.ErrLost) {
			t.Errorf("Run = %v, want ErrMoved and not ErrLost", err)
		}
	})
}

func TestMove_NoMatchingSemaphore_FailsTest(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		wantFatal(t, "no semaphore that admits east", func(s testing.TB) { srv.Move(s, "east", "west", 0, "job") }) // job admits any group
		wantFatal(t, "absent", func(s testing.TB) { srv.Move(s, "east", "west", 0, "absent") })
	})
}

func TestCordon_DeniesUntilUncordon(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		c := srv.Dial(t, "app1")
		p := acquire(t, c, "job")
		srv.Advance(t, 2*time.Second)
		id := srv.Cordon(t, client.CordonRequest{AcquirerPattern: "app1", Reason: "patching", Drain: time.Minute})
		srv.Advance(t, 0)
		wantCause(t, p.Context(), client.ErrCordoned)
		if p.DrainUntil().IsZero() {
			t.Error("DrainUntil() is zero, want a drain")
		}
		if err := p.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if d, ok := errors.AsType[*client.DeniedError](secondResult(c.Semaphore("job").TryAcquire(t.Context()))); !ok || d.Reason != client.ReasonCordoned {
			t.Errorf("TryAcquire during the cordon = %v, want ReasonCordoned", d)
		}
		srv.Uncordon(t, id)
		acquire(t, c, "job")
		wantFatal(t, "cordon", func(s testing.TB) { srv.Cordon(s, client.CordonRequest{}) })
	})
}

func TestDrain_HolderKeepsPermitDuringDrain(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		p := acquire(t, srv.Dial(t, "app1"), "job")
		srv.Advance(t, 2*time.Second)
		srv.Drain(t, p.Token(), "disk is full", 10*time.Minute)
		srv.Advance(t, 9*time.Minute)
		wantCause(t, p.Context(), client.ErrRevoked)
		if !p.Held() {
			t.Error("the permit was lost during its drain")
		}
		srv.Advance(t, 3*time.Minute)
		if p.Held() {
			t.Error("the permit was still held after its drain and duration")
		}
	})
}
