package gatekeeper

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// elections is a fake cluster that elects a new leader after a number of calls to Leader.
type elections struct {
	gatekeeperv1.UnimplementedClusterServiceServer
	// callsPerTerm is the number of calls to Leader per term.
	callsPerTerm uint64
	// grantingTerm is the only term whose leader promotes gk4.
	grantingTerm uint64
	refuse       bool

	mu       sync.Mutex // guards the fields below
	calls    uint64
	requests map[uint64]int // AddMember requests by term
	voter    bool
}

func (e *elections) term() uint64 { return 1 + e.calls/e.callsPerTerm }

func (e *elections) Members() ([]consensus.Member, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return []consensus.Member{{ID: "gk1", Voter: true}, {ID: "gk4", Voter: e.voter}}, nil
}

func (e *elections) Leader() consensus.Leader {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls++
	return consensus.Leader{ID: "gk1", Term: e.term()}
}

func (e *elections) AddMember(_ context.Context, r *gatekeeperv1.AddMemberRequest) (*gatekeeperv1.AddMemberResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.GetId() != "gk4" || r.GetPeerAddress() != "127.0.0.1:4" || r.GetNonVoter() {
		return nil, status.Error(codes.InvalidArgument, "not gk4's request")
	}
	e.requests[e.term()]++
	if e.refuse {
		return nil, status.Error(codes.FailedPrecondition, "no")
	}
	e.voter = e.term() == e.grantingTerm // a new leader does not finish the promotions of earlier leaders
	return &gatekeeperv1.AddMemberResponse{}, nil
}

// run runs askForVote against e until it returns or the given number of terms has ended.
func (e *elections) run(t *testing.T, terms uint64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	gatekeeperv1.RegisterClusterServiceServer(server, e)
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(l) }) // returns after Stop
	ctx, cancel := context.WithCancel(bounded(t))
	defer running.Wait()
	defer server.Stop()
	defer cancel()
	j := &joiner{
		servers: []string{"127.0.0.1:1", l.Addr().String()}, // nothing listens on the first
		id:      "gk4", peerAddress: "127.0.0.1:4", credentials: insecure.NewCredentials(), log: slog.New(slog.DiscardHandler),
	}
	done := make(chan struct{})
	running.Go(func() {
		defer close(done)
		j.askForVote(ctx, e, time.Millisecond)
	})
	eventually(t, func() bool {
		select {
		case <-done:
			return true
		default:
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.term() > terms
	})
	cancel()
	<-done
}

func TestJoiner_LeaderLostBeforePromotion_RequestsVoteOncePerTerm(t *testing.T) {
	t.Parallel()
	e := &elections{callsPerTerm: 20, grantingTerm: 3, requests: map[uint64]int{}}
	e.run(t, 5)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.voter || len(e.requests) != 3 || e.requests[1] != 1 || e.requests[2] != 1 || e.requests[3] != 1 {
		t.Errorf("voter = %v, requests by term = %v, want one request in each of 3 terms", e.voter, e.requests)
	}
}

func TestJoiner_VoteRefused_DoesNotRetryInSameTerm(t *testing.T) {
	t.Parallel()
	e := &elections{callsPerTerm: 20, refuse: true, requests: map[uint64]int{}}
	e.run(t, 2)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.requests[1] != 1 || e.requests[2] != 1 {
		t.Errorf("requests by term = %v, want one in each term", e.requests)
	}
}
