package consensus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// fakeRaft fakes the part of Raft that Confirm uses.
type fakeRaft struct {
	mu          sync.Mutex // guards the fields below
	term        uint64
	state       raft.RaftState
	servers     []raft.Server
	begun       int
	onRound     func(round int) // if set, runs before a round completes
	configReads int             // number of GetConfiguration calls
}

func (f *fakeRaft) CurrentTerm() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.term
}

func (f *fakeRaft) State() raft.RaftState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

func (f *fakeRaft) GetConfiguration() raft.ConfigurationFuture {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.configReads++
	return fakeConfiguration{servers: f.servers}
}

func (f *fakeRaft) VerifyLeader() raft.Future {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun++
	round, answer := f.begun, f.onRound
	return fakeRound(func() {
		if answer != nil {
			answer(round)
		}
	})
}

// fakeRound is a future that completes when the function returns.
type fakeRound func()

func (r fakeRound) Error() error {
	r()
	return nil
}

// rounds returns the number of rounds started.
func (f *fakeRaft) rounds() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.begun
}

func (f *fakeRaft) set(change func(*fakeRaft)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

type fakeConfiguration struct{ servers []raft.Server }

func (fakeConfiguration) Error() error  { return nil }
func (fakeConfiguration) Index() uint64 { return 0 }
func (f fakeConfiguration) Configuration() raft.Configuration {
	return raft.Configuration{Servers: f.servers}
}

func voter(id raft.ServerID) raft.Server    { return raft.Server{ID: id} }
func nonVoter(id raft.ServerID) raft.Server { return raft.Server{ID: id, Suffrage: raft.Nonvoter} }

const lease = time.Second

// withConfirmer runs f in a synctest bubble with a confirmer for server a in term 5.
func withConfirmer(t *testing.T, servers []raft.Server, f func(r *fakeRaft, c *confirmer)) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRaft{term: 5, state: raft.Leader, servers: servers}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		c := newConfirmer(r, "a", newAcks(), lease, func() {}, func(f func()) bool { wg.Go(f); return true })
		wg.Go(func() { c.run(ctx) })
		defer wg.Wait()
		defer cancel()
		sleep(time.Hour) // so that tests can use earlier times
		f(r, c)
	})
}

// sleep advances the bubble's clock by d.
func sleep(d time.Duration) { <-time.After(d) }

// startConfirm calls confirm and confirmLater concurrently, and checks that they return the same result.
func startConfirm(c *confirmer, term uint64, at time.Time) <-chan error {
	done := make(chan error, 1)
	later := make(chan error, 1)
	c.confirmLater(term, at, func(err error) { later <- err })
	go func() {
		err := c.confirm(context.Background(), term, at)
		if other := <-later; !errors.Is(err, other) {
			err = fmt.Errorf("confirm returned %w, but later returned %s", err, fmt.Sprint(other))
		}
		done <- err
	}()
	synctest.Wait()
	return done
}

func wantPending(t *testing.T, call <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-call:
		t.Fatalf("Confirm returned %v, want it to block", err)
	default:
	}
}

func wantConfirmed(t *testing.T, call <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-call:
		if err != nil {
			t.Fatalf("Confirm() = %v, want nil", err)
		}
	default:
		t.Fatal("Confirm blocks, want it to return")
	}
}

func wantRefused(t *testing.T, call <-chan error, want error) {
	t.Helper()
	if err := <-call; !errors.Is(err, want) {
		t.Fatalf("Confirm() = %v, want %v", err, want)
	}
}

func TestConfirm_SingleVoter_ReturnsImmediately(t *testing.T) {
	withConfirmer(t, []raft.Server{voter("a"), nonVoter("b")}, func(r *fakeRaft, c *confirmer) {
		wantConfirmed(t, startConfirm(c, 5, time.Now()))
		if r.rounds() != 0 {
			t.Errorf("got %d rounds, want none", r.rounds())
		}
	})
}

func TestConfirm_ResponseToEarlierRequest_IsIgnored(t *testing.T) {
	withConfirmer(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		before := time.Now()
		sleep(time.Millisecond)
		call := startConfirm(c, 5, time.Now())
		c.acks.ack("b", 5, before, 0)
		c.acks.ack("c", 5, before, 0)
		wantPending(t, call)
		c.acks.ack("c", 5, time.Now(), 0)
		wantConfirmed(t, call)
	})
}

// Raft's queue of pending rounds is short, and no round completes while Raft's main loop waits for the disk.
func TestConfirm_RaftIsBusy_LimitsRoundsAndUsesOtherResponses(t *testing.T) {
	withConfirmer(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		done := make(chan struct{})
		r.set(func(r *fakeRaft) { r.onRound = func(int) { <-done } })
		confirmOnce := func() {
			t.Helper()
			sleep(time.Millisecond)
			call := startConfirm(c, 5, time.Now())
			sleep(time.Millisecond)
			c.acks.ack("b", 5, time.Now(), 0) // a regular heartbeat
			wantConfirmed(t, call)
		}
		for range 10 * maxPendingRounds {
			confirmOnce()
		}
		if r.rounds() != maxPendingRounds {
			t.Errorf("got %d rounds while Raft was busy, want %d", r.rounds(), maxPendingRounds)
		}
		close(done)
		synctest.Wait()
		for range 10 * maxPendingRounds {
			confirmOnce()
		}
		if r.rounds() != 11*maxPendingRounds {
			t.Errorf("got %d rounds in total, want %d", r.rounds(), 11*maxPendingRounds)
		}
	})
}

// A round may never complete, for example one that was requested before a member was removed.
func TestConfirm_UnansweredRound_StartsMoreRounds(t *testing.T) {
	withConfirmer(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		stop := make(chan struct{})
		defer close(stop)
		r.set(func(r *fakeRaft) {
			r.onRound = func(round int) {
				if round <= maxPendingRounds/2 { // includes a round that the confirmer watches
					<-stop
				}
			}
		})
		for range 10 * maxPendingRounds {
			sleep(time.Millisecond)
			call := startConfirm(c, 5, time.Now())
			sleep(time.Millisecond)
			c.acks.ack("b", 5, time.Now(), 0)
			wantConfirmed(t, call)
		}
		if r.rounds() != 10*maxPendingRounds {
			t.Errorf("got %d rounds, want %d", r.rounds(), 10*maxPendingRounds)
		}
	})
}

func TestConfirm_ResponseFromNonVoter_IsIgnored(t *testing.T) {
	servers := []raft.Server{voter("a"), voter("b"), voter("c"), nonVoter("d"), nonVoter("e")}
	withConfirmer(t, servers, func(r *fakeRaft, c *confirmer) {
		call := startConfirm(c, 5, time.Now())
		c.acks.ack("d", 5, time.Now(), 0)
		c.acks.ack("e", 5, time.Now(), 0)
		c.acks.ack("unknown", 5, time.Now(), 0)
		wantPending(t, call)
		c.acks.ack("b", 5, time.Now(), 0)
		wantConfirmed(t, call)
	})
}

func TestConfirm_ResponseFromEarlierTerm_IsIgnored(t *testing.T) {
	withConfirmer(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		call := startConfirm(c, 5, time.Now())
		c.acks.ack("b", 4, time.Now(), 0)
		c.acks.ack("c", 4, time.Now(), 0)
		wantPending(t, call)
		c.acks.ack("b", 5, time.Now(), 0)
		c.acks.ack("b", 4, time.Now(), 0) // late, so it has no effect
		wantConfirmed(t, call)
	})
}

func TestConfirm_SelfInALaterTerm_IsNotCounted(t *testing.T) {
	withConfirmer(t, []raft.Server{voter("a")}, func(r *fakeRaft, c *confirmer) {
		r.set(func(r *fakeRaft) { r.term = 6 }) // the epoch has not ended yet
		wantRefused(t, startConfirm(c, 5, time.Now()), errTermOver)
		r.set(func(r *fakeRaft) { r.term, r.state = 5, raft.Follower })
		wantRefused(t, startConfirm(c, 5, time.Now()), errTermOver)
	})
}

func TestConfirm_SelfNotAVoter_IsNotCounted(t *testing.T) {
	withConfirmer(t, []raft.Server{nonVoter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		call := startConfirm(c, 5, time.Now())
		c.acks.ack("b", 5, time.Now(), 0)
		wantPending(t, call)
		c.acks.ack("c", 5, time.Now(), 0)
		wantConfirmed(t, call)
	})
}

func TestConfirm_EvenNumberOfVoters_NeedsMoreThanHalf(t *testing.T) {
	withConfirmer(t, []raft.Server{voter("a"), voter("b"), voter("c"), voter("d")}, func(r *fakeRaft, c *confirmer) {
		call := startConfirm(c, 5, time.Now())
		c.acks.ack("b", 5, time.Now(), 0)
		wantPending(t, call)
		c.acks.ack("d", 5, time.Now(), 0)
		wantConfirmed(t, call)
	})
}

func TestConfirm_VotersChangeWhileWaiting_LatestConfigurationDecides(t *testing.T) {
	withConfirmer(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		call := startConfirm(c, 5, time.Now())
		r.set(func(r *fakeRaft) { r.servers = append(r.servers, voter("d"), voter("e")) })
		c.acks.ack("b", 5, time.Now(), 0)
		wantPending(t, call)
		c.acks.ack("e", 5, time.Now(), 0)
		wantConfirmed(t, call)
	})
}

func TestConfirm_LaterCaller_WaitsForLaterResponse(t *testing.T) {
	withConfirmer(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		first := startConfirm(c, 5, time.Now())
		sent := time.Now()
		sleep(time.Millisecond)
		second := startConfirm(c, 5, time.Now())
		if r.rounds() != 1 {
			t.Errorf("got %d rounds, want the second caller to wait until the first round ends", r.rounds())
		}
		c.acks.ack("b", 5, sent, 0)
		wantConfirmed(t, first)
		wantPending(t, second)
		if r.rounds() != 2 {
			t.Errorf("got %d rounds, want one per caller", r.rounds())
		}
		c.acks.ack("b", 5, time.Now(), 0)
		wantConfirmed(t, second)
	})
}

func TestConfirm_ConcurrentCallers_ShareRound(t *testing.T) {
	withConfirmer(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		var calls []<-chan error
		for range 1000 {
			calls = append(calls, startConfirm(c, 5, time.Now()))
		}
		c.acks.ack("c", 5, time.Now(), 0)
		for _, call := range calls {
			wantConfirmed(t, call)
		}
		if r.rounds() > 2 {
			t.Errorf("got %d rounds for simultaneous callers, want at most 2", r.rounds())
		}
	})
}

// A caller that arrives during a round can be confirmed only by a response, so the configuration need not be read.
func TestConfirm_CallersDuringRound_DoNotReadConfiguration(t *testing.T) {
	withConfirmer(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		calls := []<-chan error{startConfirm(c, 5, time.Now())}
		before := 0
		r.set(func(r *fakeRaft) { before = r.configReads })
		for range 100 {
			calls = append(calls, startConfirm(c, 5, time.Now()))
		}
		r.set(func(r *fakeRaft) {
			if r.configReads != before {
				t.Errorf("the configuration was read %d times before any answer arrived", r.configReads-before)
			}
		})
		c.acks.ack("c", 5, time.Now(), 0)
		for _, call := range calls {
			wantConfirmed(t, call)
		}
	})
}

// The only caller waiting for a round gives up. The next caller arrives before the round ends, or long after.
func TestConfirm_OnlyCallerGivesUp_NextCallerIsConfirmed(t *testing.T) {
	for _, after := range []time.Duration{time.Millisecond, lease} {
		t.Run(after.String(), func(t *testing.T) {
			withConfirmer(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
				ctx, cancel := context.WithCancel(context.Background())
				abandoned := make(chan error, 1)
				go func() { abandoned <- c.confirm(ctx, 5, time.Now()) }()
				synctest.Wait()
				cancel()
				wantRefused(t, abandoned, context.Canceled)

				sleep(after)
				call := startConfirm(c, 5, time.Now())
				if after < lease { // the first round is pending, but its response is too old for this call
					c.acks.ack("b", 5, time.Now().Add(-time.Microsecond), 0)
				}
				wantPending(t, call)
				if r.rounds() != 2 {
					t.Errorf("got %d rounds, want one per caller", r.rounds())
				}
				c.acks.ack("b", 5, time.Now(), 0)
				wantConfirmed(t, call)

				sleep(after)
				begun := time.Now()
				wantRefused(t, startConfirm(c, 5, begun), errNoMajority)
				if took := time.Since(begun); took != 2*lease {
					t.Errorf("Confirm took %v, want %v", took, 2*lease)
				}
			})
		})
	}
}

func TestConfirm_NoMajority_FailsWithinTwiceTheLease(t *testing.T) {
	withConfirmer(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		begun := time.Now()
		wantRefused(t, startConfirm(c, 5, begun), errNoMajority)
		if took := time.Since(begun); took != 2*lease {
			t.Errorf("Confirm took %v, want %v", took, 2*lease)
		}
		if r.rounds() < 10 {
			t.Errorf("got %d rounds, want at least 10", r.rounds())
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.waiters) != 0 {
			t.Errorf("got %d remaining waiters, want none", len(c.waiters))
		}
	})
}

// acceptingTransport is a transport whose peer accepts all requests except entries from term 4.
type acceptingTransport struct{ innerTransport }

func (acceptingTransport) InstallSnapshot(_ raft.ServerID, _ raft.ServerAddress, req *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, _ io.Reader) error {
	*resp = raft.InstallSnapshotResponse{Term: req.Term, Success: true}
	return nil
}

func (acceptingTransport) AppendEntries(id raft.ServerID, _ raft.ServerAddress, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	*resp = raft.AppendEntriesResponse{RPCHeader: raft.RPCHeader{ID: []byte("b")}, Term: req.Term, Success: req.Term != 4}
	return nil
}

func TestTransport_Responses_RecordsOnlyMatching(t *testing.T) {
	tr := &transport{
		inner:     acceptingTransport{},
		target:    func(_ raft.ServerID, a raft.ServerAddress) raft.ServerAddress { return a },
		acks:      newAcks(),
		snapshots: &snapshotAlarm{sent: newMetrics().snapshotsSent, followers: make(map[raft.ServerID]*followerSnapshots)},
		durable:   func() uint64 { return math.MaxUint64 },
	}
	_ = tr.InstallSnapshot("b", "b:1", &raft.InstallSnapshotRequest{Term: 5}, &raft.InstallSnapshotResponse{}, nil)
	_ = tr.AppendEntries("b", "b:1", &raft.AppendEntriesRequest{Term: 4}, &raft.AppendEntriesResponse{}) // rejected
	_ = tr.AppendEntries("c", "c:1", &raft.AppendEntriesRequest{Term: 5}, &raft.AppendEntriesResponse{}) // answered by b
	if len(tr.acks.latest) != 0 {
		t.Fatalf("recorded acknowledgements = %+v, want none", tr.acks.latest)
	}
	before := time.Now()
	_ = tr.AppendEntries("b", "b:1", &raft.AppendEntriesRequest{Term: 5, PrevLogEntry: 7, Entries: make([]*raft.Log, 2)}, &raft.AppendEntriesResponse{})
	if a := tr.acks.inTerm(5, "b"); a.sent.Before(before) || a.sent.After(a.ackedAt) || a.matched != 9 {
		t.Errorf("recorded acknowledgement = %+v, want matched 9 and the send time", a)
	}
}

func TestTransport_HeartbeatFastPathAndPipeline_AreDisabled(t *testing.T) {
	inner := &handlerCounter{}
	tr := &transport{inner: inner}
	tr.SetHeartbeatHandler(func(raft.RPC) {})
	if inner.handlers != 0 {
		t.Error("the inner transport received Raft's heartbeat handler, which can make logs diverge (hashicorp/raft issue 695)")
	}
	if _, err := tr.AppendEntriesPipeline("b", "b:1"); !errors.Is(err, raft.ErrPipelineReplicationNotSupported) {
		t.Errorf("AppendEntriesPipeline() = %v, want ErrPipelineReplicationNotSupported", err)
	}
}

type handlerCounter struct {
	innerTransport
	handlers int
}

func (h *handlerCounter) SetHeartbeatHandler(func(raft.RPC)) { h.handlers++ }
