package client

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// hold acquires n permits, of the tokens 1 to n.
func hold(t *testing.T, c *Client, a *server, n int, duration time.Duration) []*Permit {
	t.Helper()
	token := uint64(0)
	a.set(func(s *server) {
		s.tryAcquire = func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			token++
			return granted(q.GetSemaphore(), token, duration), nil
		}
		s.release = releases
	})
	permits := make([]*Permit, n)
	for i := range permits {
		p := acquire(t, c.Semaphore("export"))
		permits[i] = p
	}
	return permits
}

func TestKeepAlive_ManyPermits_ShareFramesAndNoneIsMissed(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		permits := hold(t, c, a, 3*maxTokens, 30*time.Second)
		pass(10 * time.Minute)
		for _, p := range permits {
			if !p.Held() || ended(p) != nil {
				t.Fatalf("token %d lost: %v", p.Token(), ended(p))
			}
		}
		frames, tokens := get(a, func(s *server) []sentFrame { return s.frames }), 0
		for i, f := range frames {
			if n := len(f.message.GetTokens()); n > maxTokens {
				t.Fatalf("%d tokens in a frame", n)
			}
			if f.message.GetFrame() != uint64(i+1) {
				t.Fatalf("frame %d has the number %d", i+1, f.message.GetFrame())
			}
			tokens += len(f.message.GetTokens())
		}
		if each := tokens / len(permits); each < 60 || each > 70 {
			t.Errorf("%d refreshes a permit in 10 min of 30 s permits", each)
		}
		if len(frames) > 10*600+10 {
			t.Errorf("%d frames", len(frames))
		}
	})
}

// A stream begins as an older server would read it, and goes over to groups once the server has answered with them.
// What reports progress, and all that an older server is sent, stays alone in its frame.
func TestKeepAlive_Groups_OnlyWithAServerThatAnswersWithThem(t *testing.T) {
	for _, older := range []bool{false, true} {
		t.Run(fmt.Sprintf("older=%v", older), func(t *testing.T) {
			withServer(t, func(t *testing.T, c *Client, a *server) {
				a.set(func(s *server) { s.older = older })
				permits := hold(t, c, a, 20, 30*time.Second)
				pass(time.Minute)
				for _, p := range permits {
					if !p.Held() || ended(p) != nil {
						t.Fatalf("token %d lost: %v", p.Token(), ended(p))
					}
				}
				permits[0].Progress()
				pass(30 * time.Second)
				if !permits[0].Held() {
					t.Fatal("lost what reports progress")
				}
				first, reported := true, false
				for _, f := range get(a, func(s *server) []sentFrame { return s.frames }) {
					if grouped := len(f.raw.GetGroups()) > 0; grouped && (older || first) || !f.raw.GetGrouped() {
						t.Fatalf("a frame is %v", f.raw)
					}
					for _, token := range f.raw.GetTokens() {
						reported = reported || token.GetSinceProgress() != nil && token.GetToken() == permits[0].Token()
						if !older && !first && token.GetSinceProgress() == nil {
							t.Errorf("token %d is not in a group", token.GetToken())
						}
					}
					first = false
				}
				if !reported {
					t.Error("progress was not reported")
				}
			})
		})
	}
}

func TestKeepAlive_BriefPermits_OpenNoStream(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		for range 100 {
			p := hold(t, c, a, 1, time.Minute)[0]
			pass(500 * time.Millisecond)
			release(t, p)
		}
		pass(time.Minute)
		if n := get(a, func(s *server) int { return s.streams }); n != 0 {
			t.Errorf("%d streams", n)
		}
		c.renewer.mu.Lock()
		defer c.renewer.mu.Unlock()
		if n := len(c.renewer.forget) + len(c.renewer.permits) + len(c.renewer.events.permits) + len(c.renewer.refresh.permits); n != 0 {
			t.Errorf("%d things are remembered of permits that have ended", n)
		}
	})
}

func TestKeepAlive_BrokenStream_NamesEveryTokenAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b")
		c := w.dial([]string{"a", "b"})
		hold(t, c, w.servers["a"], 10, 30*time.Second)
		pass(3 * time.Second)
		w.servers["a"].down()
		pass(15 * time.Second)
		first := get(w.servers["b"], func(s *server) []sentFrame { return s.frames })
		if len(first) == 0 || len(first[0].message.GetTokens()) != 10 || first[0].message.GetFrame() != 1 {
			t.Fatalf("%v", first)
		}
	})
}

func TestKeepAlive_NotLeader_FollowsTheHintAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b", "c")
		c := w.dial([]string{"a", "b", "c"})
		p := hold(t, c, w.servers["a"], 1, 10*time.Second)[0]
		w.servers["a"].keeps(func(*gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error) {
			return nil, notLeader("c", 9)
		})
		start := time.Now()
		if err := p.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := get(w.servers["b"], func(s *server) int { return s.streams }); n != 0 || time.Since(start) != 0 {
			t.Errorf("%d streams at b, took %s", n, time.Since(start))
		}
	})
}

func TestKeepAlive_ReleasedPermit_IsForgottenByTheStreamAndTheStreamByTheIdle(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		permits := hold(t, c, a, 2, 10*time.Second)
		pass(5 * time.Second)
		release(t, permits[0])
		pass(10 * time.Second)
		forgotten := 0
		for _, f := range get(a, func(s *server) []sentFrame { return s.frames }) {
			for _, token := range f.message.GetForget() {
				if forgotten++; token != permits[0].Token() {
					t.Errorf("forgot %d", token)
				}
			}
		}
		if forgotten != 1 {
			t.Errorf("forgotten %d times", forgotten)
		}
		release(t, permits[1])
		pass(idle + 2*time.Second)
		frames := get(a, func(s *server) int { return len(s.frames) })
		p := hold(t, c, a, 1, 10*time.Second)[0]
		pass(20 * time.Second)
		if n := get(a, func(s *server) int { return s.streams }); n != 2 || !p.Held() || frames == 0 {
			t.Errorf("%d streams, held %v", n, p.Held())
		}
	})
}
