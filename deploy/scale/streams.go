package main

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// streams holds the result for clients that have each refreshed a permit on one open stream.
type streams struct {
	Clients     int `json:"clients"`
	Connections int `json:"connections"`
	// Each is the server's memory per stream, including its share of the connection and excluding the permit.
	Each memory `json:"each"`
}

// clientsPerConn is the number of clients on a shared connection.
const clientsPerConn = 100

// measureStreams opens streams to servers with no other load, first on shared connections, then on separate ones.
func (s *scale) measureStreams(ctx context.Context, r *report) error {
	for _, sharing := range []int{clientsPerConn, 1} {
		got, err := s.openStreams(ctx, sharing)
		if err != nil {
			return fmt.Errorf("%d per connection: %w", sharing, err)
		}
		r.Streams = append(r.Streams, got...)
	}
	return nil
}

func (s *scale) openStreams(ctx context.Context, sharing int) ([]streams, error) {
	maxClients := s.full.Clients
	if sharing == 1 {
		// Both ends of each connection are on this machine. Each process also needs a few other files, and both
		// have the same limit.
		limit, err := openFiles()
		if err != nil {
			return nil, err
		}
		maxClients = min(maxClients, limit-500)
	}
	cluster, err := s.start(ctx, "streams-"+strconv.Itoa(sharing), 1, "")
	if err != nil {
		return nil, err
	}
	defer cluster.Kill()
	server := cluster.Servers[0]
	f, err := newFleet(ctx, server.API, concurrentCallers)
	if err != nil {
		return nil, err
	}
	defer f.close()
	// Acquire the permits first, because they are not part of the measurement.
	if err := f.grant(ctx, s.callers, maxClients, 0); err != nil {
		return nil, err
	}
	before, err := measureMemory(ctx, server)
	if err != nil {
		return nil, err
	}
	c := &clients{sharing: sharing}
	defer c.close()
	var all []streams
	for _, part := range parts() {
		n := max(int(float64(maxClients)*part), 1)
		if err := c.open(ctx, server.API, f.tokens[:n]); err != nil {
			return nil, err
		}
		now, err := measureMemory(ctx, server)
		if err != nil {
			return nil, err
		}
		result := streams{Clients: n, Connections: len(c.conns), Each: now.perObject(before, n)}
		s.logf("  %d streams on %d connections: %.1f KiB each", n, result.Connections, result.Each.InUse/1024)
		all = append(all, result)
	}
	return all, nil
}

// clients is a set of clients with one open stream each.
type clients struct {
	sharing int // number of clients per connection
	conns   []*grpc.ClientConn
	count   int
	cancels []context.CancelFunc
}

// open opens a stream for each token that does not have one yet, and refreshes the token on it once.
func (c *clients) open(ctx context.Context, address string, tokens []uint64) error {
	for len(c.conns)*c.sharing < len(tokens) {
		conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return err
		}
		c.conns = append(c.conns, conn)
	}
	ctx, cancel := context.WithCancel(ctx)
	c.cancels = append(c.cancels, cancel)
	var next atomic.Int64
	next.Store(int64(c.count))
	err := runConcurrently(ctx, 4*concurrentCallers, func(context.Context, int) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(tokens) || ctx.Err() != nil {
				return nil
			}
			// Use the long-lived context, because the streams stay open.
			if err := openStream(ctx, c.conns[i/c.sharing], tokens[i]); err != nil {
				return fmt.Errorf("stream %d: %w", i, err)
			}
		}
	})
	c.count = len(tokens)
	return err
}

func openStream(ctx context.Context, conn *grpc.ClientConn, token uint64) error {
	stream, err := gatekeeperv1.NewPermitServiceClient(conn).KeepAlive(ctx)
	if err != nil {
		return err
	}
	err = stream.Send(&gatekeeperv1.KeepAliveRequest{Frame: 1, Tokens: []*gatekeeperv1.TokenRefresh{{Token: token, Duration: durationpb.New(longDuration)}}})
	if err != nil {
		return err
	}
	resp, err := stream.Recv()
	if err != nil {
		return err
	}
	if len(resp.GetResults()) != 1 || resp.GetResults()[0].GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		return fmt.Errorf("not refreshed: %v", resp)
	}
	return nil
}

func (c *clients) close() {
	for _, cancel := range c.cancels {
		cancel()
	}
	for _, conn := range c.conns {
		_ = conn.Close() // no call is in flight
	}
}

// openAll opens one stream for each client on shared connections. Each stream keeps one of the permits alive.
func (s *scale) openAll(ctx context.Context, server *servers.Server, f *fleet, n int) (*clients, error) {
	c := &clients{sharing: clientsPerConn}
	if err := c.open(ctx, server.API, f.tokens[:min(n, len(f.tokens))]); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}
