package gktest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// newIncarnation returns a connected client and a semaphore with a fixed holder ID. Every call simulates a new process
// with the same identity.
func newIncarnation(t *testing.T, srv *Server) (*client.Client, *client.Semaphore) {
	t.Helper()
	c := srv.Dial(t, "app1")
	if _, err := c.Permits().ListHolders(t.Context(), &gatekeeperv1.ListHoldersRequest{}); err != nil {
		t.Fatal(err)
	}
	return c, c.Semaphore("job", client.WithHolderID("worker"))
}

// wantOtherDenied checks that p is held and that another host is denied.
func wantOtherDenied(t *testing.T, srv *Server, other *client.Client, p *client.Permit) {
	t.Helper()
	q, err := other.Semaphore("job").TryAcquire(t.Context())
	if !errors.As(err, new(*client.DeniedError)) {
		t.Errorf("TryAcquire by another host while token %d is held (%t) = %v, %v; want a denial", p.Token(), p.Held(), q, err)
	}
	if !p.Held() {
		t.Errorf("token %d is no longer held: %v", p.Token(), context.Cause(p.Context()))
	}
}

// The response to an acquisition is lost and the process gives up. The next process acquires the permit before the
// first one's cancellation arrives.
func TestSameHolder_LateCancel_KeepsNewPermit(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		other := srv.Dial(t, "app2")
		first, sem := newIncarnation(t, srv)
		srv.SlowDown(t, time.Hour, first)
		failed := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { failed <- secondResult(sem.TryAcquire(ctx)) }()
		srv.Await(t, "the grant whose response is delayed", func() bool { return len(srv.Holders(t, "job")) == 1 })
		srv.Partition(t, first)
		cancel()
		if err := <-failed; !errors.Is(err, client.ErrOutcomeUnknown) {
			t.Fatalf("first TryAcquire = %v, want ErrOutcomeUnknown", err)
		}
		_, sem = newIncarnation(t, srv)
		p := mustAcquire(t, sem)
		srv.Heal(t, first)
		srv.Advance(t, time.Second)
		wantOtherDenied(t, srv, other, p)
	})
}

// The denial of an acquisition is lost and the process gives up. The server keeps no record of denied requests, so only
// the request ID protects the next process's permit from the late cancellation.
func TestSameHolder_LateCancelOfDeniedRequest_KeepsNewPermit(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		other := srv.Dial(t, "app2")
		held := mustAcquire(t, other.Semaphore("job"))
		first, sem := newIncarnation(t, srv)
		srv.SlowDown(t, time.Hour, first)
		failed := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { failed <- secondResult(sem.TryAcquire(ctx)) }()
		srv.Advance(t, 0) // the request is denied, and the response is delayed
		srv.Partition(t, first)
		cancel()
		if err := <-failed; !errors.Is(err, client.ErrOutcomeUnknown) {
			t.Fatalf("first TryAcquire = %v, want ErrOutcomeUnknown", err)
		}
		release(t, held)
		_, sem = newIncarnation(t, srv)
		p := mustAcquire(t, sem)
		srv.Heal(t, first)
		srv.Advance(t, time.Second)
		wantOtherDenied(t, srv, other, p)
	})
}

// A process releases its permit and exits, and is restarted before the release arrives.
func TestSameHolder_LateRelease_KeepsNewPermit(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		other := srv.Dial(t, "app2")
		first, sem := newIncarnation(t, srv)
		old := mustAcquire(t, sem)
		srv.Advance(t, 0) // flushes the messages that follow the acquisition
		srv.Partition(t, first)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := old.Release(ctx); !errors.Is(err, client.ErrUnavailable) {
			t.Fatalf("Release = %v, want ErrUnavailable", err)
		}
		_, sem = newIncarnation(t, srv)
		p := mustAcquire(t, sem)
		if p.Token() <= old.Token() {
			t.Errorf("second token = %d, want more than %d", p.Token(), old.Token())
		}
		srv.Heal(t, first)
		srv.Advance(t, time.Second)
		wantOtherDenied(t, srv, other, p)
	})
}

// incarnations is a sequence of processes with the same identity. A process may still hold its permit when the next one
// acquires.
type incarnations struct {
	srv   *Server
	rng   *rand.Rand
	other *client.Semaphore

	mu         sync.Mutex // guards everything below
	held       []*client.Permit
	reacquired int
}

func (l *incarnations) randomBelow(limit time.Duration) time.Duration {
	return time.Duration(l.rng.IntN(int(limit/time.Millisecond))) * time.Millisecond
}

// begin starts a process that acquires a permit, and possibly releases it, over a slow connection that may be cut for a
// while.
func (l *incarnations) begin(t *testing.T, wg *sync.WaitGroup) {
	c, sem := newIncarnation(t, l.srv)
	l.srv.SlowDown(t, l.randomBelow(800*time.Millisecond), c)
	acquireTimeout, hold, releases := time.Millisecond+l.randomBelow(1200*time.Millisecond), l.randomBelow(2*time.Second), l.rng.IntN(2) == 0
	wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), acquireTimeout)
		defer cancel()
		l.mu.Lock()
		stillHeld := l.heldPermit() != nil
		l.mu.Unlock()
		p, err := sem.TryAcquire(ctx)
		if err != nil {
			return
		}
		l.mu.Lock()
		l.held = append(l.held, p)
		if stillHeld {
			l.reacquired++
		}
		l.mu.Unlock()
		if !releases {
			return
		}
		<-time.After(hold)
		releaseCtx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = p.Release(releaseCtx) // the process may be cut off
	})
	if l.rng.IntN(2) == 0 {
		return
	}
	cut, duration := l.randomBelow(1200*time.Millisecond), l.randomBelow(1200*time.Millisecond)
	wg.Go(func() {
		<-time.After(cut)
		l.srv.Partition(t, c)
		<-time.After(duration)
		l.srv.Heal(t, c)
	})
}

// heldPermit returns a permit that is currently held, or nil. The caller holds mu.
func (l *incarnations) heldPermit() *client.Permit {
	for _, p := range l.held {
		if p.Held() {
			return p
		}
	}
	return nil
}

// countOverlaps repeatedly tries to acquire the permit from another host and counts how often this succeeds while a
// process holds it.
func (l *incarnations) countOverlaps(t *testing.T, duration time.Duration) (overlaps int) {
	const step = 20 * time.Millisecond
	for at := time.Duration(0); at < duration; at += step {
		l.srv.Advance(t, step)
		q, err := l.other.TryAcquire(t.Context())
		if err != nil {
			continue
		}
		l.mu.Lock()
		if p := l.heldPermit(); p != nil {
			if overlaps++; overlaps == 1 {
				t.Logf("token %d was granted while token %d was held until %v", q.Token(), p.Token(), p.SafeUntil())
			}
		}
		l.mu.Unlock()
		if err := q.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
	return overlaps
}

func TestSameHolder_SlowNetwork_NeverOverlapsWithAnotherHolder(t *testing.T) {
	reacquired := 0
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			l := &incarnations{srv: Start(t), rng: rand.New(rand.NewPCG(seed, 2))}
			l.srv.Define(t, &gatekeeperv1.Definition{Name: "job", Duration: durationpb.New(4 * time.Second)})
			l.other = l.srv.Dial(t, "app2").Semaphore("job")
			var wg sync.WaitGroup
			for range 6 {
				l.begin(t, &wg)
				if n := l.countOverlaps(t, l.randomBelow(time.Second)); n > 0 {
					t.Errorf("seed %d: another host was granted the permit %d times while a process held it, want 0", seed, n)
				}
			}
			if n := l.countOverlaps(t, 5*time.Second); n > 0 {
				t.Errorf("seed %d: got %d overlapping grants after the last acquisition, want 0", seed, n)
			}
			wg.Wait()
			reacquired += l.reacquired
		})
	}
	if reacquired < 5 {
		t.Errorf("got %d acquisitions while another process held the permit, want at least 5 for a meaningful test", reacquired)
	}
	t.Logf("%d acquisitions while another process held the permit", reacquired)
}

func mustAcquire(t *testing.T, sem *client.Semaphore) *client.Permit {
	t.Helper()
	p, err := sem.TryAcquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func release(t *testing.T, p *client.Permit) {
	t.Helper()
	if err := p.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}
