package client

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// acquireN acquires n permits with the tokens 1 to n.
func acquireN(t *testing.T, c *Client, a *server, n int, duration time.Duration) []*Permit {
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

func TestKeepAlive_ManyPermits_ShareFramesAndStayAlive(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		permits := acquireN(t, c, a, 3*maxTokens, 30*time.Second)
		pass(10 * time.Minute)
		for _, p := range permits {
			if !p.Held() || endCause(p) != nil {
				t.Fatalf("permit %d was lost: %v", p.Token(), endCause(p))
			}
		}
		frames, tokens := get(a, func(s *server) []sentFrame { return s.frames }), 0
		for i, f := range frames {
			if n := len(f.message.GetTokens()); n > maxTokens {
				t.Fatalf("frame has %d tokens, want at most %d", n, maxTokens)
			}
			if f.message.GetFrame() != uint64(i+1) {
				t.Fatalf("frame %d has number %d", i+1, f.message.GetFrame())
			}
			tokens += len(f.message.GetTokens())
		}
		if each := tokens / len(permits); each < 60 || each > 70 {
			t.Errorf("sent %d refreshes per 30 s permit in 10 min, want 60 to 70", each)
		}
		if len(frames) > 10*600+10 {
			t.Errorf("sent %d frames, want at most %d", len(frames), 10*600+10)
		}
	})
}

// A stream starts without groups, because older servers do not support them, and uses groups once the server has sent
// some. Tokens of jobs that report progress are always sent individually.
func TestKeepAlive_Groups_AreUsedOnlyIfTheServerSupportsThem(t *testing.T) {
	for _, older := range []bool{false, true} {
		t.Run(fmt.Sprintf("older=%v", older), func(t *testing.T) {
			withServer(t, func(t *testing.T, c *Client, a *server) {
				a.set(func(s *server) { s.older = older })
				permits := acquireN(t, c, a, 20, 30*time.Second)
				pass(time.Minute)
				for _, p := range permits {
					if !p.Held() || endCause(p) != nil {
						t.Fatalf("permit %d was lost: %v", p.Token(), endCause(p))
					}
				}
				permits[0].Progress()
				pass(30 * time.Second)
				if !permits[0].Held() {
					t.Fatal("permit of a job that reports progress was lost")
				}
				first, reported := true, false
				for _, f := range get(a, func(s *server) []sentFrame { return s.frames }) {
					if grouped := len(f.raw.GetGroups()) > 0; grouped && (older || first) || !f.raw.GetGrouped() {
						t.Fatalf("unexpected frame %v", f.raw)
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

func TestKeepAlive_ShortPermits_OpenNoStream(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		for range 100 {
			p := acquireN(t, c, a, 1, time.Minute)[0]
			pass(500 * time.Millisecond)
			release(t, p)
		}
		pass(time.Minute)
		if n := get(a, func(s *server) int { return s.streams }); n != 0 {
			t.Errorf("opened %d streams, want 0", n)
		}
		c.renewer.mu.Lock()
		defer c.renewer.mu.Unlock()
		if n := len(c.renewer.forget) + len(c.renewer.permits) + len(c.renewer.events.permits) + len(c.renewer.refresh.permits); n != 0 {
			t.Errorf("%d entries for ended permits remain, want 0", n)
		}
	})
}

func TestKeepAlive_BrokenStream_ResendsEveryToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b")
		c := w.dial([]string{"a", "b"})
		acquireN(t, c, w.servers["a"], 10, 30*time.Second)
		pass(3 * time.Second)
		w.servers["a"].down()
		pass(15 * time.Second)
		first := get(w.servers["b"], func(s *server) []sentFrame { return s.frames })
		if len(first) == 0 || len(first[0].message.GetTokens()) != 10 || first[0].message.GetFrame() != 1 {
			t.Fatalf("b received frames %v, want all tokens in the first frame", first)
		}
	})
}

func TestKeepAlive_NotLeader_FollowsHintImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b", "c")
		c := w.dial([]string{"a", "b", "c"})
		p := acquireN(t, c, w.servers["a"], 1, 10*time.Second)[0]
		w.servers["a"].setKeepAlive(func(*gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error) {
			return nil, notLeader("c", 9)
		})
		start := time.Now()
		if err := p.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := get(w.servers["b"], func(s *server) int { return s.streams }); n != 0 || time.Since(start) != 0 {
			t.Errorf("opened %d streams to b, and Refresh() took %s; want 0 and 0s", n, time.Since(start))
		}
	})
}

func TestKeepAlive_ReleasedPermit_IsForgottenAndIdleStreamIsClosed(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		permits := acquireN(t, c, a, 2, 10*time.Second)
		pass(5 * time.Second)
		release(t, permits[0])
		pass(10 * time.Second)
		forgotten := 0
		for _, f := range get(a, func(s *server) []sentFrame { return s.frames }) {
			for _, token := range f.message.GetForget() {
				if forgotten++; token != permits[0].Token() {
					t.Errorf("frame forgets token %d, want only the released token", token)
				}
			}
		}
		if forgotten != 1 {
			t.Errorf("frames forget %d tokens, want 1", forgotten)
		}
		release(t, permits[1])
		pass(idleLimit + 2*time.Second)
		frames := get(a, func(s *server) int { return len(s.frames) })
		p := acquireN(t, c, a, 1, 10*time.Second)[0]
		pass(20 * time.Second)
		if n := get(a, func(s *server) int { return s.streams }); n != 2 || !p.Held() || frames == 0 {
			t.Errorf("opened %d streams, want 2; held = %v", n, p.Held())
		}
	})
}
