package client

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// These benchmarks compare the client with the generated stub. Both call the same fake server over an in-memory
// connection, so the difference is the client's overhead. `make bench` measures the client with real servers.

func BenchmarkTryAcquire_Denied(b *testing.B) {
	client, stub := benchCluster(b)
	b.Run("stub", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := stub.TryAcquire(b.Context(), &gatekeeperv1.TryAcquireRequest{
				Semaphore: "held", Identity: &gatekeeperv1.Identity{Group: "prod", Acquirer: "app1", HolderId: "h"}, RequestId: "r",
			})
			if err != nil || r.GetDenial() == nil {
				b.Fatal(r, err)
			}
		}
	})
	b.Run("client", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := client.Semaphore("held").TryAcquire(b.Context())
			if _, denied := errors.AsType[*DeniedError](err); !denied {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkTryAcquire_Release(b *testing.B) {
	client, stub := benchCluster(b)
	b.Run("stub", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := stub.TryAcquire(b.Context(), &gatekeeperv1.TryAcquireRequest{
				Semaphore: "free", Identity: &gatekeeperv1.Identity{Group: "prod", Acquirer: "app1", HolderId: "h"}, RequestId: "r",
			})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := stub.Release(b.Context(), &gatekeeperv1.ReleaseRequest{Token: r.GetGrant().GetPermit().GetToken()}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("client", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p, err := client.Semaphore("free").TryAcquire(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if err := p.Release(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRenewer_Round measures one round of refreshes for 10,000 permits, without the stream.
func BenchmarkRenewer_Round(b *testing.B) {
	const permits = 10_000
	k, clock := idleRenewer(b)
	for token := range uint64(permits) {
		k.grantNow(b, token+1, 30*time.Second)
	}
	number := uint64(0)
	round := func() {
		for refreshed := 0; refreshed < permits; {
			k.expire()
			clock.now += max(k.untilDue(), 0)
			number++
			f := k.nextFrame(number, true)
			if f == nil {
				number--
				continue
			}
			k.handleAnswer(f, &gatekeeperv1.KeepAliveResponse{Refreshed: f.message.GetGroups()})
			refreshed += len(f.permits)
		}
	}
	round()
	b.ReportAllocs()
	frames := number
	for b.Loop() {
		round()
	}
	if len(k.permits) != permits {
		b.Fatalf("%d of %d permits are still held, want all", len(k.permits), permits)
	}
	b.ReportMetric(float64(number-frames)/float64(b.N), "frames/op")
}

func refreshedAll(q *gatekeeperv1.KeepAliveRequest) []*gatekeeperv1.TokenResult {
	results := make([]*gatekeeperv1.TokenResult, len(q.GetTokens()))
	for i, t := range q.GetTokens() {
		results[i] = refreshed(t.GetToken(), 30*time.Second)
	}
	return results
}

// benchServer grants "free", refreshes every token, and denies anything else. Unlike the fakes in the tests, it does
// not record calls.
type benchServer struct {
	gatekeeperv1.UnimplementedPermitServiceServer
	token atomic.Uint64
}

func (s *benchServer) TryAcquire(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
	if q.GetSemaphore() == "free" {
		return granted("free", s.token.Add(1), 30*time.Second), nil
	}
	return &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Denial{Denial: &gatekeeperv1.Denial{
		Reason: gatekeeperv1.Reason_REASON_NO_FREE_PERMIT, Message: "held: no free permit: 1 of 1 taken",
		Holders: []*gatekeeperv1.Permit{{Semaphore: "held", Token: 1, Identity: &gatekeeperv1.Identity{Group: "prod", Acquirer: "app2"}}}, HolderCount: 1,
	}}}, nil
}

func (s *benchServer) Release(ctx context.Context, q *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error) {
	return releases(ctx, q)
}

func (s *benchServer) KeepAlive(stream gatekeeperv1.PermitService_KeepAliveServer) error {
	for {
		q, err := stream.Recv()
		if err != nil {
			return err
		}
		if err := stream.Send(&gatekeeperv1.KeepAliveResponse{Frame: q.GetFrame(), Results: refreshedAll(q)}); err != nil {
			return err
		}
	}
}

// benchCluster returns a client and a stub for the same server.
func benchCluster(b *testing.B) (*Client, gatekeeperv1.PermitServiceClient) {
	b.Helper()
	listener := bufconn.Listen(64 << 10)
	server := grpc.NewServer()
	gatekeeperv1.RegisterPermitServiceServer(server, &benchServer{})
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	dialer := grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) })
	c, err := Dial(b.Context(), []string{endpoint("a")}, WithGroup("prod"), WithAcquirer("app1"), WithGRPC(dialer))
	if err != nil {
		b.Fatal(err)
	}
	conn, err := grpc.NewClient(endpoint("a"), dialer, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(c.Close(), conn.Close()); err != nil {
			b.Error(err)
		}
		server.Stop()
		serving.Wait()
	})
	return c, gatekeeperv1.NewPermitServiceClient(conn)
}
