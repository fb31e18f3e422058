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
	answer      func(kick int) // if set, runs before a round completes
	configReads int            // number of reads of the configuration
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
	kick, answer := f.begun, f.answer
	return fakeRound(func() {
		if answer != nil {
			answer(kick)
		}
	})
}

// fakeRound is a future that completes once the function has returned.
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

// confirming runs f in a synctest bubble with a confirmer for server a in term 5.
func confirming(t *testing.T, servers []raft.Server, f func(r *fakeRaft, c *confirmer)) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRaft{term: 5, state: raft.Leader, servers: servers}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		c := newConfirmer(r, "a", newAnswers(), lease, func() {}, func(f func()) bool { wg.Go(f); return true })
		wg.Go(func() { c.run(ctx) })
		defer wg.Wait()
		defer cancel()
		pass(time.Hour) // so that earlier times exist
		f(r, c)
	})
}

// pass advances the bubble's clock by d.
func pass(d time.Duration) { <-time.After(d) }

// asked calls confirm and later concurrently, and checks that they return the same result.
func asked(c *confirmer, term uint64, at time.Time) <-chan error {
	done := make(chan error, 1)
	later := make(chan error, 1)
	c.later(term, at, func(err error) { later <- err })
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

func pendingCall(t *testing.T, call <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-call:
		t.Fatalf("Confirm returned %v, want it to block", err)
	default:
	}
}

func confirmed(t *testing.T, call <-chan error) {
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

func refused(t *testing.T, call <-chan error, want error) {
	t.Helper()
	if err := <-call; !errors.Is(err, want) {
		t.Fatalf("Confirm() = %v, want %v", err, want)
	}
}

func TestConfirm_SingleVoter_ReturnsImmediately(t *testing.T) {
	confirming(t, []raft.Server{voter("a"), nonVoter("b")}, func(r *fakeRaft, c *confirmer) {
		confirmed(t, asked(c, 5, time.Now()))
		if r.rounds() != 0 {
			t.Errorf("%d rounds were started, want none", r.rounds())
		}
	})
}

func TestConfirm_AnswerToAnEarlierRequest_DoesNotCount(t *testing.T) {
	confirming(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		before := time.Now()
		pass(time.Millisecond)
		call := asked(c, 5, time.Now())
		c.answers.note("b", 5, before, 0)
		c.answers.note("c", 5, before, 0)
		pendingCall(t, call)
		c.answers.note("c", 5, time.Now(), 0)
		confirmed(t, call)
	})
}

// Raft has little room for pending rounds, and completes none while its main loop is waiting for the disk.
func TestConfirm_RaftIsBusy_LimitsRoundsAndUsesOtherAnswers(t *testing.T) {
	confirming(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		done := make(chan struct{})
		r.set(func(r *fakeRaft) { r.answer = func(int) { <-done } })
		ask := func() {
			t.Helper()
			pass(time.Millisecond)
			call := asked(c, 5, time.Now())
			pass(time.Millisecond)
			c.answers.note("b", 5, time.Now(), 0) // a regular heartbeat
			confirmed(t, call)
		}
		for range 10 * mostRounds {
			ask()
		}
		if r.rounds() != mostRounds {
			t.Errorf("a busy Raft was asked for %d rounds, want %d", r.rounds(), mostRounds)
		}
		close(done)
		synctest.Wait()
		for range 10 * mostRounds {
			ask()
		}
		if r.rounds() != 11*mostRounds {
			t.Errorf("afterwards Raft had been asked for %d rounds in total, want %d", r.rounds(), 11*mostRounds)
		}
	})
}

// A round may never complete, for example one that was requested before a member was removed.
func TestConfirm_RoundIsNeverAnswered_OthersAreRequested(t *testing.T) {
	confirming(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		over := make(chan struct{})
		defer close(over)
		r.set(func(r *fakeRaft) {
			r.answer = func(kick int) {
				if kick <= mostRounds/2 { // includes a round that the confirmer watches
					<-over
				}
			}
		})
		for range 10 * mostRounds {
			pass(time.Millisecond)
			call := asked(c, 5, time.Now())
			pass(time.Millisecond)
			c.answers.note("b", 5, time.Now(), 0)
			confirmed(t, call)
		}
		if r.rounds() != 10*mostRounds {
			t.Errorf("Raft was asked for %d rounds, want %d", r.rounds(), 10*mostRounds)
		}
	})
}

func TestConfirm_NonVotersAnswer_DoesNotCount(t *testing.T) {
	servers := []raft.Server{voter("a"), voter("b"), voter("c"), nonVoter("d"), nonVoter("e")}
	confirming(t, servers, func(r *fakeRaft, c *confirmer) {
		call := asked(c, 5, time.Now())
		c.answers.note("d", 5, time.Now(), 0)
		c.answers.note("e", 5, time.Now(), 0)
		c.answers.note("unknown", 5, time.Now(), 0)
		pendingCall(t, call)
		c.answers.note("b", 5, time.Now(), 0)
		confirmed(t, call)
	})
}

func TestConfirm_AnswerFromAnEarlierTerm_DoesNotCount(t *testing.T) {
	confirming(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		call := asked(c, 5, time.Now())
		c.answers.note("b", 4, time.Now(), 0)
		c.answers.note("c", 4, time.Now(), 0)
		pendingCall(t, call)
		c.answers.note("b", 5, time.Now(), 0)
		c.answers.note("b", 4, time.Now(), 0) // late, and has no effect
		confirmed(t, call)
	})
}

func TestConfirm_SelfInALaterTerm_IsNotCounted(t *testing.T) {
	confirming(t, []raft.Server{voter("a")}, func(r *fakeRaft, c *confirmer) {
		r.set(func(r *fakeRaft) { r.term = 6 }) // the epoch has not ended yet
		refused(t, asked(c, 5, time.Now()), errTermOver)
		r.set(func(r *fakeRaft) { r.term, r.state = 5, raft.Follower })
		refused(t, asked(c, 5, time.Now()), errTermOver)
	})
}

func TestConfirm_SelfNotAVoter_IsNotCounted(t *testing.T) {
	confirming(t, []raft.Server{nonVoter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		call := asked(c, 5, time.Now())
		c.answers.note("b", 5, time.Now(), 0)
		pendingCall(t, call)
		c.answers.note("c", 5, time.Now(), 0)
		confirmed(t, call)
	})
}

func TestConfirm_EvenNumberOfVoters_NeedsMoreThanHalf(t *testing.T) {
	confirming(t, []raft.Server{voter("a"), voter("b"), voter("c"), voter("d")}, func(r *fakeRaft, c *confirmer) {
		call := asked(c, 5, time.Now())
		c.answers.note("b", 5, time.Now(), 0)
		pendingCall(t, call)
		c.answers.note("d", 5, time.Now(), 0)
		confirmed(t, call)
	})
}

func TestConfirm_VotersChangeWhileWaiting_LatestConfigurationDecides(t *testing.T) {
	confirming(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		call := asked(c, 5, time.Now())
		r.set(func(r *fakeRaft) { r.servers = append(r.servers, voter("d"), voter("e")) })
		c.answers.note("b", 5, time.Now(), 0)
		pendingCall(t, call)
		c.answers.note("e", 5, time.Now(), 0)
		confirmed(t, call)
	})
}

func TestConfirm_LaterCaller_WaitsForAnswersToALaterRequest(t *testing.T) {
	confirming(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		first := asked(c, 5, time.Now())
		sent := time.Now()
		pass(time.Millisecond)
		second := asked(c, 5, time.Now())
		if r.rounds() != 1 {
			t.Errorf("%d rounds, want the second caller to wait until the first round ends", r.rounds())
		}
		c.answers.note("b", 5, sent, 0)
		confirmed(t, first)
		pendingCall(t, second)
		if r.rounds() != 2 {
			t.Errorf("%d rounds, want one per caller", r.rounds())
		}
		c.answers.note("b", 5, time.Now(), 0)
		confirmed(t, second)
	})
}

func TestConfirm_ManyCallers_ShareARound(t *testing.T) {
	confirming(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		var calls []<-chan error
		for range 1000 {
			calls = append(calls, asked(c, 5, time.Now()))
		}
		c.answers.note("c", 5, time.Now(), 0)
		for _, call := range calls {
			confirmed(t, call)
		}
		if r.rounds() > 2 {
			t.Errorf("%d rounds for simultaneous callers, want at most 2", r.rounds())
		}
	})
}

// Only answers can serve a waiter that arrives during a round.
func TestConfirm_CallersDuringARound_DoNotReadTheConfiguration(t *testing.T) {
	confirming(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		calls := []<-chan error{asked(c, 5, time.Now())}
		before := 0
		r.set(func(r *fakeRaft) { before = r.configReads })
		for range 100 {
			calls = append(calls, asked(c, 5, time.Now()))
		}
		r.set(func(r *fakeRaft) {
			if r.configReads != before {
				t.Errorf("the configuration was read %d times before any answer arrived", r.configReads-before)
			}
		})
		c.answers.note("c", 5, time.Now(), 0)
		for _, call := range calls {
			confirmed(t, call)
		}
	})
}

// The only caller waiting for a round gives up. The next one arrives before the round is over, or long after.
func TestConfirm_AllCallersOfARoundGaveUp_NextIsAnswered(t *testing.T) {
	for _, after := range []time.Duration{time.Millisecond, lease} {
		t.Run(after.String(), func(t *testing.T) {
			confirming(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
				ctx, leave := context.WithCancel(context.Background())
				left := make(chan error, 1)
				go func() { left <- c.confirm(ctx, 5, time.Now()) }()
				synctest.Wait()
				leave()
				refused(t, left, context.Canceled)

				pass(after)
				call := asked(c, 5, time.Now())
				if after < lease { // the round is pending, but was answered too early for this call
					c.answers.note("b", 5, time.Now().Add(-time.Microsecond), 0)
				}
				pendingCall(t, call)
				if r.rounds() != 2 {
					t.Errorf("%d rounds, want one per caller", r.rounds())
				}
				c.answers.note("b", 5, time.Now(), 0)
				confirmed(t, call)

				pass(after)
				begun := time.Now()
				refused(t, asked(c, 5, begun), errNoAnswer)
				if took := time.Since(begun); took != 2*lease {
					t.Errorf("Confirm took %v, want %v", took, 2*lease)
				}
			})
		})
	}
}

func TestConfirm_NoMajority_EndsWithinTwiceTheLease(t *testing.T) {
	confirming(t, []raft.Server{voter("a"), voter("b"), voter("c")}, func(r *fakeRaft, c *confirmer) {
		begun := time.Now()
		refused(t, asked(c, 5, begun), errNoAnswer)
		if took := time.Since(begun); took != 2*lease {
			t.Errorf("Confirm took %v, want %v", took, 2*lease)
		}
		if r.rounds() < 10 {
			t.Errorf("only %d rounds were tried, want at least 10", r.rounds())
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.waiters) != 0 {
			t.Errorf("%d waiters are left, want none", len(c.waiters))
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

func TestTransport_Answers_OnlyMatchingOnesAreRecorded(t *testing.T) {
	tr := &transport{
		inner:     acceptingTransport{},
		target:    func(_ raft.ServerID, a raft.ServerAddress) raft.ServerAddress { return a },
		answers:   newAnswers(),
		snapshots: &snapshotAlarm{sent: newMetrics().snapshotsSent, follows: make(map[raft.ServerID]*snapshotsTo)},
		durable:   func() uint64 { return math.MaxUint64 },
	}
	_ = tr.InstallSnapshot("b", "b:1", &raft.InstallSnapshotRequest{Term: 5}, &raft.InstallSnapshotResponse{}, nil)
	_ = tr.AppendEntries("b", "b:1", &raft.AppendEntriesRequest{Term: 4}, &raft.AppendEntriesResponse{}) // not successful
	_ = tr.AppendEntries("c", "c:1", &raft.AppendEntriesRequest{Term: 5}, &raft.AppendEntriesResponse{}) // answered by b
	if len(tr.answers.latest) != 0 {
		t.Fatalf("answers %+v were recorded, want none", tr.answers.latest)
	}
	before := time.Now()
	_ = tr.AppendEntries("b", "b:1", &raft.AppendEntriesRequest{Term: 5, PrevLogEntry: 7, Entries: make([]*raft.Log, 2)}, &raft.AppendEntriesResponse{})
	if a := tr.answers.in(5, "b"); a.sent.Before(before) || a.sent.After(a.heard) || a.matched != 9 {
		t.Errorf("recorded answer %+v, want matched 9 and the time of sending", a)
	}
}

func TestTransport_PathsAroundRaftsMainLoop_AreDisabled(t *testing.T) {
	inner := &handled{}
	tr := &transport{inner: inner}
	tr.SetHeartbeatHandler(func(raft.RPC) {})
	if inner.handlers != 0 {
		t.Error("the inner transport received Raft's heartbeat handler, which can make logs diverge (hashicorp/raft issue 695)")
	}
	if _, err := tr.AppendEntriesPipeline("b", "b:1"); !errors.Is(err, raft.ErrPipelineReplicationNotSupported) {
		t.Errorf("AppendEntriesPipeline() = %v, want ErrPipelineReplicationNotSupported", err)
	}
}

type handled struct {
	innerTransport
	handlers int
}

func (h *handled) SetHeartbeatHandler(func(raft.RPC)) { h.handlers++ }
