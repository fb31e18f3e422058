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

// life returns a connected client for one process. All of these processes have the same identity.
func life(t *testing.T, srv *Server) (*client.Client, *client.Semaphore) {
	t.Helper()
	c := srv.Dial(t, "app1")
	if _, err := c.Permits().ListHolders(t.Context(), &gatekeeperv1.ListHoldersRequest{}); err != nil {
		t.Fatal(err)
	}
	return c, c.Semaphore("job", client.WithHolderID("worker"))
}

// wantTaken checks that another host is denied while a process believes it holds p.
func wantTaken(t *testing.T, srv *Server, other *client.Client, p *client.Permit) {
	t.Helper()
	q, err := other.Semaphore("job").TryAcquire(t.Context())
	if !errors.As(err, new(*client.DeniedError)) {
		t.Errorf("TryAcquire by another host while token %d is held (%t) = %v, %v; want a denial", p.Token(), p.Held(), q, err)
	}
	if !p.Held() {
		t.Errorf("token %d is no longer held: %v", p.Token(), context.Cause(p.Context()))
	}
}

// The response to an acquisition is lost, its process gives up, and the next process acquires. The first process's
// cancellation arrives last.
func TestSameHolder_CancelArrivesAfterTheNextAcquisition_KeepsThatPermit(t *testing.T) {
	inBubbleOf(t, func(t *testing.T, srv *Server) {
		other := srv.Dial(t, "app2")
		first, sem := life(t, srv)
		srv.SlowDown(t, time.Hour, first)
		failed := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { failed <- second(sem.TryAcquire(ctx)) }()
		srv.Await(t, "the grant whose response is delayed", func() bool { return len(srv.Holders(t, "job")) == 1 })
		srv.Partition(t, first)
		cancel()
		if err := <-failed; !errors.Is(err, client.ErrOutcomeUnknown) {
			t.Fatalf("first TryAcquire = %v, want ErrOutcomeUnknown", err)
		}
		_, sem = life(t, srv)
		p := take(t, sem)
		srv.Heal(t, first)
		srv.Advance(t, time.Second)
		wantTaken(t, srv, other, p)
	})
}

// The denial of an acquisition is lost, and its process gives up. The server does not remember denied requests, so only
// the request ID protects the permit of the next process from the late cancellation.
func TestSameHolder_CancelOfADeniedRequestArrivesAfterTheNextAcquisition_KeepsThatPermit(t *testing.T) {
	inBubbleOf(t, func(t *testing.T, srv *Server) {
		other := srv.Dial(t, "app2")
		held := take(t, other.Semaphore("job"))
		first, sem := life(t, srv)
		srv.SlowDown(t, time.Hour, first)
		failed := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { failed <- second(sem.TryAcquire(ctx)) }()
		srv.Advance(t, 0) // the request is denied, and the response is delayed
		srv.Partition(t, first)
		cancel()
		if err := <-failed; !errors.Is(err, client.ErrOutcomeUnknown) {
			t.Fatalf("first TryAcquire = %v, want ErrOutcomeUnknown", err)
		}
		release(t, held)
		_, sem = life(t, srv)
		p := take(t, sem)
		srv.Heal(t, first)
		srv.Advance(t, time.Second)
		wantTaken(t, srv, other, p)
	})
}

// A process releases its permit and exits, and is restarted before the release arrives.
func TestSameHolder_ReleaseArrivesAfterTheNextAcquisition_KeepsThatPermit(t *testing.T) {
	inBubbleOf(t, func(t *testing.T, srv *Server) {
		other := srv.Dial(t, "app2")
		first, sem := life(t, srv)
		old := take(t, sem)
		srv.Advance(t, 0) // all messages that follow the acquisition have been sent
		srv.Partition(t, first)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := old.Release(ctx); !errors.Is(err, client.ErrUnavailable) {
			t.Fatalf("Release = %v, want ErrUnavailable", err)
		}
		_, sem = life(t, srv)
		p := take(t, sem)
		if p.Token() <= old.Token() {
			t.Errorf("second token = %d, want more than %d", p.Token(), old.Token())
		}
		srv.Heal(t, first)
		srv.Advance(t, time.Second)
		wantTaken(t, srv, other, p)
	})
}

// lives are successive processes with the same identity. Each may still believe it holds a permit when the next one
// acquires.
type lives struct {
	srv    *Server
	random *rand.Rand
	other  *client.Semaphore

	mu         sync.Mutex // guards everything below
	held       []*client.Permit
	reacquired int
}

func (l *lives) below(most time.Duration) time.Duration {
	return time.Duration(l.random.IntN(int(most/time.Millisecond))) * time.Millisecond
}

// begin starts a process that acquires, and possibly releases, over a slow connection that may be cut temporarily.
func (l *lives) begin(t *testing.T, all *sync.WaitGroup) {
	c, sem := life(t, l.srv)
	l.srv.SlowDown(t, l.below(800*time.Millisecond), c)
	patience, hold, gives := time.Millisecond+l.below(1200*time.Millisecond), l.below(2*time.Second), l.random.IntN(2) == 0
	all.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		l.mu.Lock()
		again := l.believed() != nil
		l.mu.Unlock()
		p, err := sem.TryAcquire(ctx)
		if err != nil {
			return
		}
		l.mu.Lock()
		l.held = append(l.held, p)
		if again {
			l.reacquired++
		}
		l.mu.Unlock()
		if !gives {
			return
		}
		<-time.After(hold)
		last, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = p.Release(last) // the process may be cut off
	})
	if l.random.IntN(2) == 0 {
		return
	}
	cut, length := l.below(1200*time.Millisecond), l.below(1200*time.Millisecond)
	all.Go(func() {
		<-time.After(cut)
		l.srv.Partition(t, c)
		<-time.After(length)
		l.srv.Heal(t, c)
	})
}

// believed returns a permit that a process currently believes it holds, or nil. The caller holds mu.
func (l *lives) believed() *client.Permit {
	for _, p := range l.held {
		if p.Held() {
			return p
		}
	}
	return nil
}

// watch repeatedly tries to acquire the permit as another host. It counts how often this succeeds while a process
// believes it holds the permit.
func (l *lives) watch(t *testing.T, length time.Duration) (overlaps int) {
	const step = 20 * time.Millisecond
	for at := time.Duration(0); at < length; at += step {
		l.srv.Advance(t, step)
		q, err := l.other.TryAcquire(t.Context())
		if err != nil {
			continue
		}
		l.mu.Lock()
		if p := l.believed(); p != nil {
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
			l := &lives{srv: Start(t), random: rand.New(rand.NewPCG(seed, 2))}
			l.srv.Define(t, &gatekeeperv1.Definition{Name: "job", Duration: durationpb.New(4 * time.Second)})
			l.other = l.srv.Dial(t, "app2").Semaphore("job")
			var all sync.WaitGroup
			for range 6 {
				l.begin(t, &all)
				if n := l.watch(t, l.below(time.Second)); n > 0 {
					t.Errorf("seed %d: another host was granted the permit %d times while a process believed it was the holder", seed, n)
				}
			}
			if n := l.watch(t, 5*time.Second); n > 0 {
				t.Errorf("seed %d: %d overlapping grants after the last acquisition", seed, n)
			}
			all.Wait()
			reacquired += l.reacquired
		})
	}
	if reacquired < 5 {
		t.Errorf("got %d acquisitions while another process held the permit, want at least 5 for a meaningful test", reacquired)
	}
	t.Logf("%d acquisitions while another process held the permit", reacquired)
}

func take(t *testing.T, sem *client.Semaphore) *client.Permit {
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
