package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// pair opens a leader, gk1, and its follower, gk2.
func pair(t *testing.T, change ...func(*Config)) (leader, follower *gate) {
	t.Helper()
	leader = open(t, change...)
	follower = open(t, append(change, func(c *Config) { c.ID = "gk2" })...)
	follower.consensus.follow(consensus.Leader{ID: "gk1", APIAddress: leader.address, Term: 1})
	follower.keeper.tryAcquire = func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) {
		t.Error("the follower answered the call instead of forwarding it")
		return keeper.Answer{}, errors.New("wrong server")
	}
	return leader, follower
}

// unusedAddress returns an address that nothing listens on.
func unusedAddress(t *testing.T) string {
	t.Helper()
	l := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().String()
}

var plainRequest = &gatekeeperv1.TryAcquireRequest{Semaphore: "s", Identity: testIdentity()}

func TestForward_Unary_IsAnsweredByLeader(t *testing.T) {
	leader, follower := pair(t)
	var header metadata.MD
	var deadline time.Time
	leader.keeper.tryAcquire = func(ctx context.Context, c *keeper.AcquireCall) (keeper.Answer, error) {
		header, _ = metadata.FromIncomingContext(ctx)
		deadline, _ = ctx.Deadline()
		return keeper.Answer{Outcome: semaphore.Granted, Permit: &semaphore.Permit{Semaphore: c.Semaphore, Token: 7}}, nil
	}
	before := time.Now()
	reply, err := follower.permits.TryAcquire(withHeader(ctx(t), "traceparent", "00-1", "x-blob-bin", "\x00\xff"), plainRequest)
	if err != nil || reply.GetGrant().GetPermit().GetToken() != 7 {
		t.Fatalf("TryAcquire() at the follower = %v, %v; want token 7", reply, err)
	}
	if h := header.Get(HopHeader); len(h) != 1 || h[0] != "gk2" {
		t.Errorf("hop header at the leader = %q, want gk2", h)
	}
	if h := header.Get("traceparent"); len(h) != 1 || h[0] != "00-1" {
		t.Errorf("traceparent at the leader = %q, want 00-1", h)
	}
	if h := header.Get("x-blob-bin"); len(h) != 1 || h[0] != "\x00\xff" {
		t.Errorf("binary header at the leader = %q, want it unchanged", h)
	}
	if deadline.Before(before) || deadline.After(before.Add(testTimeout+time.Second)) {
		t.Errorf("deadline at the leader = %v, want the client's", deadline)
	}
}

// The leader's address may have been reassigned to another server, perhaps to another cluster's leader.
func TestForward_LeaderAddressBelongsToAnotherServer_IsRefused(t *testing.T) {
	other, follower := pair(t)
	other.consensus.rename("def.1/gk1/other")
	other.keeper.tryAcquire = func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) {
		t.Error("another cluster's leader answered the call")
		return keeper.Answer{}, errors.New("wrong server")
	}
	other.keeper.acquire = func(context.Context, *keeper.AcquireCall, func(keeper.Place) error) (keeper.Answer, error) {
		t.Error("another cluster's leader queued the caller")
		return keeper.Answer{}, errors.New("wrong server")
	}
	follower.consensus.follow(consensus.Leader{ID: "gk1", APIAddress: other.address, Name: "abc.1/gk1/ours", Term: 1})
	_, err := follower.permits.TryAcquire(withHeader(ctx(t), HopToHeader, "def.1/gk1/other"), plainRequest)
	want(t, err, codes.Unavailable, "NO_LEADER") // the client's own header is ignored
	_, err = follower.permits.TryAcquire(ctx(t), plainRequest)
	want(t, err, codes.Unavailable, "NO_LEADER")
	err = acquire(&gatekeeperv1.AcquireRequest{Semaphore: "s", Identity: testIdentity(), RequestId: "r"})(ctx(t), follower)
	want(t, err, codes.Unavailable, "NO_LEADER")
	other.consensus.rename("abc.1/gk1/ours")
	other.keeper.tryAcquire = func(_ context.Context, c *keeper.AcquireCall) (keeper.Answer, error) {
		return keeper.Answer{Outcome: semaphore.Granted, Permit: &semaphore.Permit{Semaphore: c.Semaphore, Token: 7}}, nil
	}
	if reply, err := follower.permits.TryAcquire(ctx(t), plainRequest); err != nil || reply.GetGrant().GetPermit().GetToken() != 7 {
		t.Errorf("call to the intended server = %v, %v", reply, err)
	}
}

func TestForward_LeaderStatus_IsReturnedUnchanged(t *testing.T) {
	leader, follower := pair(t)
	leader.create("a")
	direct := batchEditCall(creation(&gatekeeperv1.Definition{Name: "a"}))(ctx(t), leader)
	hopped := batchEditCall(creation(&gatekeeperv1.Definition{Name: "a"}))(ctx(t), follower)
	want(t, hopped, codes.AlreadyExists, "ALREADY_EXISTS")
	if diff := cmp.Diff(statusContents(direct), statusContents(hopped), protocmp.Transform()); diff != "" {
		t.Errorf("direct error (-), forwarded error (+):\n%s", diff)
	}
}

// statusContents returns the contents of a status.
func statusContents(err error) []any {
	s := status.Convert(err)
	return append([]any{s.Code(), s.Message()}, s.Details()...)
}

// Watch calls are forwarded to the leader, which applies changes first. Without a leader, any server serves them.
func TestForward_Watch_PrefersLeader(t *testing.T) {
	leader, follower := pair(t)
	leader.create("a")
	if _, first := openWatch(t, follower, new(gatekeeperv1.WatchRequest)); first.GetRevision() != 1 {
		t.Errorf("with a leader: first message = %v, want the leader's revision", first)
	}
	follower.consensus.follow(consensus.Leader{})
	if _, first := openWatch(t, follower, new(gatekeeperv1.WatchRequest)); first.GetRevision() != 0 {
		t.Errorf("without a leader: first message = %v, want the follower's revision", first)
	}
}

// Each server answers status calls and stale reads locally.
func TestForward_LocalMethods_AreNotForwarded(t *testing.T) {
	leader, follower := pair(t)
	leader.create("a")
	got, err := follower.cluster.GetStatus(ctx(t), &gatekeeperv1.GetStatusRequest{})
	if err != nil || got.GetId() != "gk2" {
		t.Errorf("GetStatus() = %v, %v; want the status of gk2", got, err)
	}
	_, err = follower.definitions.GetDefinition(ctx(t), &gatekeeperv1.GetDefinitionRequest{Name: "a", Stale: true})
	want(t, err, codes.NotFound, "NO_SUCH_DEFINITION")
	if r, err := follower.definitions.GetDefinition(ctx(t), &gatekeeperv1.GetDefinitionRequest{Name: "a"}); err != nil || r.GetRecord() == nil {
		t.Errorf("GetDefinition() = %v, %v; want the leader's record", r, err)
	}
}

func TestForward_SecondHop_IsRefused(t *testing.T) {
	_, follower := pair(t)
	_, err := follower.permits.TryAcquire(withHeader(ctx(t), HopHeader, "gk3"), plainRequest)
	if info := want(t, err, codes.Unavailable, "NOT_LEADER"); info["leader_id"] != "gk1" || info["leader_api"] == "" {
		t.Errorf("error metadata on a second hop = %v, want leader gk1", info)
	}
	stream := must(follower.permits.KeepAlive(withHeader(ctx(t), HopHeader, "gk3")))(t)
	_, err = stream.Recv()
	want(t, err, codes.Unavailable, "NOT_LEADER")
}

// If two servers each take the other for the leader, the call fails after one hop.
func TestForward_ServersFollowingEachOther_DoNotLoop(t *testing.T) {
	first, second := pair(t)
	first.consensus.follow(consensus.Leader{ID: "gk2", APIAddress: second.address, Term: 2})
	_, err := second.permits.TryAcquire(ctx(t), plainRequest)
	if info := want(t, err, codes.Unavailable, "NOT_LEADER"); info["leader_id"] != "gk2" {
		t.Errorf("error metadata = %v, want leader_id gk2", info)
	}
}

func TestForward_LeaderAddressIsOwnAddress_ReturnsHopLimit(t *testing.T) {
	_, follower := pair(t)
	follower.consensus.follow(consensus.Leader{ID: "gk1", APIAddress: follower.address, Term: 1})
	_, err := follower.permits.TryAcquire(ctx(t), plainRequest)
	want(t, err, codes.Unavailable, "HOP_LIMIT")
}

// A call that arrives during an election is held until this server knows the new leader, which may be this server.
func TestForward_NoLeaderYet_HoldsTheCall(t *testing.T) {
	type world struct {
		leader, follower *gate
		elected          consensus.Leader
	}
	for name, before := range map[string]consensus.Leader{
		"unknown":                {},
		"unreachable":            {ID: "gk3", APIAddress: unusedAddress(t), Term: 1},
		"without an API address": {ID: "gk3", Term: 1},
	} {
		for _, self := range []bool{false, true} {
			for kind, call := range map[string]func(w *world) error{
				"unary": func(w *world) error {
					_, err := w.follower.permits.TryAcquire(ctx(t), plainRequest)
					return err
				},
				"stream": func(w *world) error {
					stream, err := w.follower.permits.Acquire(ctx(t), &gatekeeperv1.AcquireRequest{Semaphore: "s", Identity: testIdentity(), RequestId: "r"})
					if err == nil {
						_, err = stream.Recv()
					}
					return err
				},
			} {
				t.Run(fmt.Sprintf("%s/%s/self=%t", name, kind, self), func(t *testing.T) {
					w := new(world)
					w.leader, w.follower = pair(t, func(c *Config) { c.LeaderWait, c.Poll = testTimeout/3, time.Hour })
					w.elected = consensus.Leader{ID: "gk1", APIAddress: w.leader.address, Term: 2}
					if self {
						w.elected = consensus.Leader{ID: "gk2", APIAddress: w.follower.address, Term: 2}
						w.leader = w.follower
					}
					w.leader.keeper.tryAcquire = func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) {
						return keeper.Answer{Outcome: semaphore.Granted, Permit: &semaphore.Permit{Semaphore: "s", Token: 7}}, nil
					}
					w.leader.keeper.acquire = func(context.Context, *keeper.AcquireCall, func(keeper.Place) error) (keeper.Answer, error) {
						return keeper.Answer{Outcome: semaphore.Granted, Permit: &semaphore.Permit{Semaphore: "s", Token: 7}}, nil
					}
					w.follower.consensus.follow(before)
					looks := 0
					w.follower.consensus.onLeaderRead(func() {
						if looks++; looks == 6 { // the call has failed once and is waiting
							w.follower.consensus.leader = w.elected
						}
					})
					if err := call(w); err != nil {
						t.Errorf("call = %v, want it answered by the elected leader", err)
					}
				})
			}
		}
	}
}

func TestForward_NoLeader_FailsAfterLeaderWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &forwarder{consensus: &fakeConsensus{}, leaderWait: 10 * time.Second}
		for name, test := range map[string]struct {
			err       error
			timeout   time.Duration // of the call
			forwarded bool          // by another server
			m         method
			want      time.Duration
		}{
			"no leader":            {err: &consensus.NotLeaderError{}, timeout: time.Minute, want: 10 * time.Second},
			"leader not ready":     {err: toStatus(&retryableError{}), timeout: time.Minute, want: 10 * time.Second},
			"short timeout":        {err: &consensus.NotLeaderError{}, timeout: 12 * time.Second, want: 2 * time.Second}, // leaves time for the error
			"shorter timeout":      {err: &consensus.NotLeaderError{}, timeout: 10 * time.Second},
			"another server waits": {err: &consensus.NotLeaderError{}, timeout: time.Minute, forwarded: true},
			"outcome unknown":      {err: &brokenHopError{}, timeout: time.Minute},
			"leader known":         {err: &consensus.NotLeaderError{Leader: consensus.Leader{ID: "gk1"}}, timeout: time.Minute},
			"KeepAlive":            {err: &consensus.NotLeaderError{}, timeout: time.Minute, m: method{traits: traits{kind: admission.Vital}, clientStream: true}},
			"heavy call":           {err: &consensus.NotLeaderError{}, timeout: time.Minute, m: method{traits: traits{kind: admission.Heavy}}},
		} {
			call, cancel := context.WithTimeout(t.Context(), test.timeout)
			if test.forwarded {
				call = metadata.NewIncomingContext(call, metadata.Pairs(HopHeader, "gk3"))
			}
			start := time.Now()
			w := leaderWait{forwarder: f}
			if w.retry(call, &test.m, test.err) {
				t.Errorf("%s: retry() = true, want false", name)
			}
			if waited := time.Since(start).Round(time.Second); waited != test.want {
				t.Errorf("%s: waited %v, want %v", name, waited, test.want)
			}
			cancel()
		}
	})
}

func TestForward_NoReachableLeader_ReturnsNoLeader(t *testing.T) {
	_, follower := pair(t)
	for name, c := range map[string]struct {
		leader consensus.Leader
		hint   string
	}{
		"unknown leader":  {consensus.Leader{}, ""},
		"unknown address": {consensus.Leader{ID: "gk1", Term: 1}, "gk1"},
		"refused address": {consensus.Leader{ID: "gk1", APIAddress: unusedAddress(t), Term: 1}, "gk1"},
	} {
		t.Run(name, func(t *testing.T) {
			follower.consensus.follow(c.leader)
			_, err := follower.permits.TryAcquire(ctx(t), plainRequest)
			if info := want(t, err, codes.Unavailable, "NO_LEADER"); info["leader_id"] != c.hint {
				t.Errorf("error metadata = %v, want the leader's id if it is known", info)
			}
			if text := status.Convert(err).Message(); strings.Contains(text, "rpc error") || strings.Contains(text, "desc =") {
				t.Errorf("message contains raw gRPC error text: %q", text)
			}
			err = acquire(&gatekeeperv1.AcquireRequest{Semaphore: "s", Identity: testIdentity(), RequestId: "r"})(ctx(t), follower)
			want(t, err, codes.Unavailable, "NO_LEADER")
		})
	}
}

func TestForward_ElectedButNotReady_ReturnsNoLeader(t *testing.T) {
	g := open(t)
	g.keeper.tryAcquire = func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) {
		return keeper.Answer{}, &consensus.NotLeaderError{Leader: consensus.Leader{ID: "gk1", APIAddress: g.address}}
	}
	_, err := g.permits.TryAcquire(ctx(t), plainRequest)
	want(t, err, codes.Unavailable, "NO_LEADER")
}

func TestForward_CallerDeadlinePasses_CallEnds(t *testing.T) {
	leader, follower := pair(t)
	reached, ended := make(chan struct{}, 100), make(chan struct{}, 100)
	leader.keeper.tryAcquire = func(ctx context.Context, _ *keeper.AcquireCall) (keeper.Answer, error) {
		reached <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return keeper.Answer{}, ctx.Err()
	}
	// On a slow machine a call may reach the leader after its deadline, or never.
	for deadline := 50 * time.Millisecond; ; deadline *= 2 {
		c, cancel := context.WithTimeout(ctx(t), deadline)
		_, err := follower.permits.TryAcquire(c, plainRequest)
		cancel()
		if status.Code(err) != codes.DeadlineExceeded {
			t.Fatalf("TryAcquire() = %v, want DeadlineExceeded", err)
		}
		if len(reached) > 0 {
			break
		}
	}
	receiveFrom(t, ended)
}

// A call that reached the leader before the connection broke may have been executed.
func TestForward_ConnectionBreaks_OnlyWritesHaveUnknownOutcome(t *testing.T) {
	leader, follower := pair(t)
	reached := make(chan struct{}, 2)
	block := make(chan struct{})
	defer close(block)
	leader.keeper.tryAcquire = func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) {
		reached <- struct{}{}
		<-block
		return keeper.Answer{}, errors.New("too late")
	}
	leader.keeper.refresh = func(context.Context, time.Time, []keeper.TokenRefresh) ([]keeper.TokenResult, error) {
		reached <- struct{}{}
		<-block
		return nil, errors.New("too late")
	}
	writes, reads := make(chan error, 1), make(chan error, 1)
	go func() { _, err := follower.permits.TryAcquire(ctx(t), plainRequest); writes <- err }()
	go func() { reads <- refresh(frameOf(1, 1).GetTokens()...)(ctx(t), follower) }()
	receiveFrom(t, reached)
	receiveFrom(t, reached)
	go leader.server.Stop() // blocks until the calls return
	want(t, receiveFrom(t, writes), codes.Unavailable, "OUTCOME_UNKNOWN")
	want(t, receiveFrom(t, reads), codes.Unavailable, "NO_LEADER")
}

// If the leader hangs and another server is elected, calls forwarded to the old leader end.
func TestForward_LeaderChanges_EndsCallsInProgress(t *testing.T) {
	leader, follower := pair(t)
	reached := make(chan struct{}, 2)
	leader.keeper.tryAcquire = func(ctx context.Context, _ *keeper.AcquireCall) (keeper.Answer, error) {
		reached <- struct{}{}
		<-ctx.Done()
		return keeper.Answer{}, ctx.Err()
	}
	unary := make(chan error, 1)
	go func() { _, err := follower.permits.TryAcquire(ctx(t), plainRequest); unary <- err }()
	receiveFrom(t, reached)
	stream, listener := keepAliveOn(t, follower.permits, leader)

	// If the follower loses contact with the leader, current calls continue.
	follower.consensus.follow(consensus.Leader{})
	follower.api.forward.follow(consensus.Leader{})
	leader.keeper.refresh = refreshAll
	send(t, stream, frameOf(1, 1))
	recv(t, stream)

	follower.consensus.follow(consensus.Leader{ID: "gk3", APIAddress: "gk3:7420", Term: 2})
	want(t, receiveFrom(t, unary), codes.Unavailable, "OUTCOME_UNKNOWN")
	_, err := stream.Recv()
	if info := want(t, err, codes.Unavailable, "NOT_LEADER"); info["leader_id"] != "gk3" || info["term"] != "2" {
		t.Errorf("stream ended with metadata %v, want leader gk3 in term 2", info)
	}
	receiveFrom(t, listener.closed)
}

// A successful transfer ends the term, often before the old leader's response arrives. The follower then responds with
// the new leader.
func TestForward_TransferEndsTerm_ReturnsNewLeader(t *testing.T) {
	for name, c := range map[string]struct {
		to, newLeader string
		unknown       bool
	}{
		"to the new leader":        {"gk3", "gk3", false},
		"to any server":            {"", "gk3", false},
		"to the forwarding server": {"gk2", "gk2", false},
		"to another server":        {"gk2", "gk3", true},
		"old leader re-elected":    {"", "gk1", true},
	} {
		t.Run(name, func(t *testing.T) {
			leader, follower := pair(t)
			reached, block := make(chan struct{}, 1), make(chan struct{})
			defer close(block)
			leader.consensus.transfer = func(string) error {
				reached <- struct{}{}
				<-block
				return nil
			}
			type answer struct {
				newLeader string
				err       error
			}
			got := make(chan answer, 1)
			go func() {
				r, err := follower.cluster.TransferLeadership(ctx(t), &gatekeeperv1.TransferLeadershipRequest{Id: c.to})
				got <- answer{r.GetLeaderId(), err}
			}()
			receiveFrom(t, reached)
			follower.consensus.follow(consensus.Leader{ID: c.newLeader, APIAddress: c.newLeader + ":7420", Term: 2})
			a := receiveFrom(t, got)
			if c.unknown {
				want(t, a.err, codes.Unavailable, "OUTCOME_UNKNOWN")
			} else if a.err != nil || a.newLeader != c.newLeader {
				t.Errorf("TransferLeadership() = leader %q, %v; want leader %q", a.newLeader, a.err, c.newLeader)
			}
		})
	}
}

// If the old leader never received the transfer, the transfer had no effect, even if leadership has changed.
func TestForward_TransferNotSent_ReturnsNoLeader(t *testing.T) {
	dialled := make(chan struct{}, 1)
	_, follower := pair(t, func(c *Config) {
		c.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
			dialled <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	failed := make(chan error, 1)
	go func() {
		_, err := follower.cluster.TransferLeadership(ctx(t), &gatekeeperv1.TransferLeadershipRequest{})
		failed <- err
	}()
	receiveFrom(t, dialled)
	follower.consensus.follow(consensus.Leader{ID: "gk3", APIAddress: "gk3:7420", Term: 2})
	want(t, receiveFrom(t, failed), codes.Unavailable, "NO_LEADER")
}

func TestForward_AcquireStream_RelaysPlacesAndGrant(t *testing.T) {
	leader, follower := pair(t)
	proceed := make(chan struct{})
	leader.keeper.acquire = func(_ context.Context, c *keeper.AcquireCall, progress func(keeper.Place) error) (keeper.Answer, error) {
		if err := progress(keeper.Place{Place: 1, QueueLength: 1}); err != nil {
			return keeper.Answer{}, err
		}
		<-proceed
		return keeper.Answer{Outcome: semaphore.Granted, Permit: &semaphore.Permit{Semaphore: c.Semaphore, Token: 3}}, nil
	}
	stream := must(follower.permits.Acquire(ctx(t), &gatekeeperv1.AcquireRequest{Semaphore: "s", Identity: testIdentity(), RequestId: "r"}))(t)
	if r, err := stream.Recv(); err != nil || r.GetPlace().GetPlace() != 1 {
		t.Fatalf("first message = %v, %v; want place 1", r, err)
	}
	close(proceed)
	if r, err := stream.Recv(); err != nil || r.GetGrant().GetPermit().GetToken() != 3 {
		t.Fatalf("second message = %v, %v; want a grant of token 3", r, err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("after the grant: got %v, want io.EOF", err)
	}
}

func TestForward_AcquireStream_LeaderStops_HasUnknownOutcome(t *testing.T) {
	leader, follower := pair(t)
	stream := waitOn(t, follower.permits, leader)
	leader.server.Stop()
	_, err := stream.Recv()
	want(t, err, codes.Unavailable, "OUTCOME_UNKNOWN")
}

func TestForward_AcquireStream_ClientCancels_EndsOnLeader(t *testing.T) {
	leader, follower := pair(t)
	began, ended := make(chan struct{}), make(chan struct{})
	leader.keeper.acquire = func(ctx context.Context, _ *keeper.AcquireCall, _ func(keeper.Place) error) (keeper.Answer, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return keeper.Answer{}, ctx.Err()
	}
	c, cancel := context.WithCancel(ctx(t))
	must(follower.permits.Acquire(c, &gatekeeperv1.AcquireRequest{Semaphore: "s", Identity: testIdentity(), RequestId: "r"}))(t)
	receiveFrom(t, began)
	cancel()
	receiveFrom(t, ended)
}

func TestForward_KeepAliveStream_RelaysBothWays(t *testing.T) {
	leader, follower := pair(t)
	leader.keeper.refresh = refreshAll
	stream, listener := keepAliveOn(t, follower.permits, leader)
	for n := range uint64(3) {
		send(t, stream, frameOf(n+1, 40+n))
		if r := recv(t, stream); r.GetFrame() != n+1 || r.GetResults()[0].GetToken() != 40+n {
			t.Errorf("response = %v, want the frame's number and token", r)
		}
	}
	listener.notices <- []keeper.TokenResult{{Token: 41, Status: keeper.StatusLost}}
	if r := recv(t, stream); len(r.GetNotices()) != 1 || r.GetNotices()[0].GetToken() != 41 {
		t.Errorf("message = %v, want a notice for token 41", r)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("Recv() after CloseSend: got %v, want io.EOF", err)
	}
	receiveFrom(t, listener.closed)
}

func TestForward_KeepAliveStream_LeaderStops_ReturnsNoLeader(t *testing.T) {
	leader, follower := pair(t)
	stream, _ := keepAliveOn(t, follower.permits, leader)
	leader.server.Stop()
	_, err := stream.Recv()
	want(t, err, codes.Unavailable, "NO_LEADER")
}

func TestForward_KeepAliveStream_InvalidFrame_IsReportedByLeader(t *testing.T) {
	leader, follower := pair(t)
	stream, listener := keepAliveOn(t, follower.permits, leader)
	send(t, stream, frameOf(2, 1))
	_, err := stream.Recv()
	if info := want(t, err, codes.InvalidArgument, "INVALID_FIELD"); info["field"] != "frame" {
		t.Errorf("refused frame has metadata %v, want field frame", info)
	}
	receiveFrom(t, listener.closed)
}

// A call with an old term does not close the connection to the new leader.
func TestForward_OldTerm_UsesCurrentConnection(t *testing.T) {
	g := open(t)
	f := g.api.forward
	current := must(f.open(consensus.Leader{ID: "gk2", APIAddress: "x:1", Term: 5}))(t)
	if old, err := f.open(consensus.Leader{ID: "gk3", APIAddress: "y:1", Term: 4}); err != nil || old != current {
		t.Errorf("open() with an old term = connection to %v, %v; want the current connection", old.leader, err)
	}
	g.api.Close()
	if _, err := f.open(consensus.Leader{ID: "gk2", APIAddress: "x:1", Term: 6}); !errors.Is(err, ErrShuttingDown) {
		t.Errorf("open() after Close = %v, want ErrShuttingDown", err)
	}
}

func TestForwardsHeader_OnlyClientHeaders(t *testing.T) {
	for key, expected := range map[string]bool{
		"traceparent": true, "authorization": true, "x-blob-bin": true,
		":authority": false, "content-type": false, "user-agent": false, "grpc-timeout": false, "te": false,
	} {
		if forwardsHeader(key) != expected {
			t.Errorf("forwardsHeader(%s) = %v, want %v", key, !expected, expected)
		}
	}
}
