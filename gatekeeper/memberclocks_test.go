package gatekeeper

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestOutliers_ReturnsClocksFarFromMedian(t *testing.T) {
	t.Parallel()
	const h = time.Hour
	for _, tt := range []struct {
		ahead   []time.Duration
		members int
		want    string
	}{
		{[]time.Duration{0}, 1, "[]"},
		{[]time.Duration{0, time.Minute, -time.Minute}, 3, "[]"},
		{[]time.Duration{0, h, time.Second}, 3, "[b 59m59s]"},
		{[]time.Duration{0, -h, -h}, 3, "[a 1h0m0s]"},
		{[]time.Duration{0, h}, 2, "[a -30m0s b 30m0s]"},
		{[]time.Duration{0, h}, 3, "[a -30m0s b 30m0s]"},
		{[]time.Duration{0, h}, 4, "[]"}, // no majority
		{[]time.Duration{0}, 2, "[]"},
		{[]time.Duration{0, 2, h, 4, -h}, 5, "[c 59m59.999999998s e -1h0m0.000000002s]"},
	} {
		var all []consensus.MemberClock
		for i, ahead := range tt.ahead {
			all = append(all, consensus.MemberClock{ID: string(rune('a' + i)), Ahead: ahead})
		}
		got := []string{}
		for _, m := range outliers(all, tt.members, 5*time.Minute) {
			got = append(got, m.ID, m.Ahead.String())
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("outliers(%v) with %d members = %v, want %s", tt.ahead, tt.members, got, tt.want)
		}
	}
}

// slowClocks blocks the first call to Clocks until unblock is closed.
type slowClocks struct {
	called  atomic.Bool
	unblock chan struct{}
}

func (c *slowClocks) Clocks() ([]consensus.MemberClock, int, error) {
	if !c.called.Swap(true) {
		<-c.unblock
	}
	return []consensus.MemberClock{{ID: "a", Voter: true}, {ID: "b", Voter: true}, {ID: "c", Voter: true, Ahead: time.Hour}}, 3, nil
}

func (c *slowClocks) Transfer(context.Context, string) error { return nil }

func TestClocks_LateResultOfEarlierTerm_IsDiscarded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		node := &slowClocks{unblock: make(chan struct{})}
		c := &clocks{id: "a", interval: time.Hour, node: node, state: fsm.New("").State, log: slog.New(slog.DiscardHandler)}
		first, endFirst := context.WithCancel(t.Context())
		go c.watch(first, 1)
		synctest.Wait()
		endFirst()
		second, endSecond := context.WithCancel(t.Context())
		go c.watch(second, 2)
		synctest.Wait()
		close(node.unblock)
		synctest.Wait()
		if !includes(c.list(), "c") {
			t.Errorf("list() = %v, want member c", c.list())
		}
		endSecond()
		synctest.Wait()
		if off := c.list(); len(off) > 0 {
			t.Errorf("list() after leadership ended = %v, want none", off)
		}
	})
}

// wallClock is a clock that a test can set.
type wallClock struct{ ahead atomic.Int64 }

func (c *wallClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// openWithClocks opens three servers whose clocks can be set, and returns the clocks by server id.
func openWithClocks(t *testing.T) ([]*Server, map[string]*wallClock) {
	t.Helper()
	var mu sync.Mutex
	wallClocks := make(map[string]*wallClock)
	servers := clusterWith(t, func(cfg *Config) {
		mu.Lock()
		defer mu.Unlock()
		wallClocks[cfg.ID] = &wallClock{}
		cfg.wallClock, cfg.clockCheckInterval = wallClocks[cfg.ID].now, 20*time.Millisecond
	}, "gk1", "gk2", "gk3")
	return servers, wallClocks
}

func TestClocks_LeaderClockWrong_TransfersLeadership(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			servers, wallClocks := openWithClocks(t)
			leader, others := findLeader(t, servers)
			newCaller(t, leader).create(t, "job")
			wallClocks[leader.cfg.ID].ahead.Store(int64(ahead))
			c := newCaller(t, others[0])
			eventually(t, func() bool { // another member leads and reports the wrong clock
				for _, s := range others {
					st, err := newCaller(t, s).GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{})
					if err == nil && st.GetRole() == gatekeeperv1.ServerRole_SERVER_ROLE_LEADER && slices.ContainsFunc(st.GetMemberClocks(), func(m *gatekeeperv1.MemberClock) bool {
						return m.GetId() == leader.cfg.ID && m.GetAhead().AsDuration().Round(time.Hour) == ahead
					}) {
						return true
					}
				}
				return false
			})
			// A firing that is due now is granted, and a firing that is due in an hour is denied.
			for request, due := range map[string]time.Time{"r1": time.Now(), "r2": time.Now().Add(time.Hour)} {
				resp, err := withRetry(t, c.TryAcquire, &gatekeeperv1.TryAcquireRequest{
					Semaphore: "job", Identity: &gatekeeperv1.Identity{Group: "g", Acquirer: "a", HolderId: request}, RequestId: request,
					Firing: &gatekeeperv1.Firing{Name: "job", Due: timestamppb.New(due)},
				})
				if err != nil {
					t.Fatal(err)
				}
				tooFar := resp.GetDenial().GetReason() == gatekeeperv1.Reason_REASON_FIRING_TOO_FAR_AHEAD
				if tooFar != (request == "r2") {
					t.Errorf("firing due at %v: denied as too far ahead = %v, want %v: %v", due, tooFar, request == "r2", resp)
				}
				if resp.GetGrant() != nil {
					if _, err := withRetry(t, c.Release, &gatekeeperv1.ReleaseRequest{Token: resp.GetGrant().GetPermit().GetToken()}); err != nil {
						t.Fatal(err)
					}
				}
			}
			wallClocks[leader.cfg.ID].ahead.Store(0)
			eventually(t, func() bool { // all clocks are within tolerance again
				now, _ := findLeader(t, servers)
				st, err := newCaller(t, now).GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{})
				return err == nil && st.GetRole() == gatekeeperv1.ServerRole_SERVER_ROLE_LEADER && len(st.GetMemberClocks()) == 0
			})
		})
	}
}

func TestGetStatus_Leader_ListsHostsWithWrongClocks(t *testing.T) {
	t.Parallel()
	servers, _ := openWithClocks(t)
	leader, others := findLeader(t, servers)
	c := newCaller(t, others[0]) // the follower forwards the caller's time
	newCaller(t, leader).create(t, "job")
	for host, ahead := range map[string]time.Duration{"fast": time.Hour, "slow": -time.Hour, "right": 0} {
		if _, err := withRetry(t, c.TryAcquire, &gatekeeperv1.TryAcquireRequest{
			Semaphore: "job", Identity: &gatekeeperv1.Identity{Group: "g", Acquirer: host}, RequestId: host, SentAt: timestamppb.New(time.Now().Add(ahead)),
		}); err != nil {
			t.Fatal(err)
		}
	}
	st, err := newCaller(t, leader).GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range st.GetHostClocks() {
		got += fmt.Sprintf("%s %v ", c.GetAcquirer(), c.GetAhead().AsDuration().Round(time.Hour))
	}
	if got != "fast 1h0m0s slow -1h0m0s " {
		t.Errorf("host clocks = %q, want fast and slow", got)
	}
}
