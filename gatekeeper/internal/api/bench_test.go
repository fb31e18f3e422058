package api

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// BenchmarkUnary measures the API's overhead for a TryAcquire, excluding the transport and the keeper.
func BenchmarkUnary(b *testing.B) {
	k := &fakeKeeper{machine: fsm.New("bench")}
	k.tryAcquire = func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) {
		return keeper.Answer{Outcome: semaphore.Denied, Denial: new(keeper.Denial)}, nil
	}
	a, err := New(Config{ID: "gk1", Keeper: k, Consensus: &fakeConsensus{leader: consensus.Leader{ID: "gk1", Term: 1}}, Machine: k.machine})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	service := a.describe(&gatekeeperv1.PermitService_ServiceDesc)
	ctx := peer.NewContext(b.Context(), &peer.Peer{Addr: &net.TCPAddr{}})
	ctx = metadata.NewIncomingContext(ctx, metadata.Pairs(":authority", "gk", "content-type", "application/grpc", "user-agent", "bench"))
	read := func(m any) error {
		proto.Merge(m.(*inbound).message.(proto.Message), plainRequest)
		return nil
	}
	for _, m := range service.Methods {
		if m.MethodName != "TryAcquire" {
			continue
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.Handler(&permitService{API: a, keeper: a.cfg.Keeper}, ctx, read, a.unary); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkFrame measures decoding a frame of 100 tokens and encoding its response.
func BenchmarkFrame(b *testing.B) {
	answer := make([]keeper.TokenResult, 100)
	group := &gatekeeperv1.TokenGroup{Duration: durationpb.New(30 * time.Second)}
	for i := range answer {
		answer[i] = keeper.TokenResult{Token: uint64(i) + 1<<40, Status: keeper.StatusRefreshed, Duration: 30 * time.Second}
		group.Tokens = append(group.Tokens, answer[i].Token)
	}
	request := &gatekeeperv1.KeepAliveRequest{Frame: 1, Grouped: true, Groups: []*gatekeeperv1.TokenGroup{group}}
	sent, err := proto.Marshal(request)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var got gatekeeperv1.KeepAliveRequest
		if err := proto.Unmarshal(sent, &got); err != nil {
			b.Fatal(err)
		}
		if _, err := groupsFrom(got.GetGroups(), nil); err != nil {
			b.Fatal(err)
		}
		others, refreshed := splitRefreshed(answer)
		if _, err := proto.Marshal(&gatekeeperv1.KeepAliveResponse{Frame: 1, Results: toResults(others), Refreshed: refreshed}); err != nil {
			b.Fatal(err)
		}
	}
}
