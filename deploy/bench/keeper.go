package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"google.golang.org/grpc"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// keeperReport is a client process's report on the window in which it did nothing but keep its permits alive.
type keeperReport struct {
	Permits int     `json:"permits"`
	Seconds float64 `json:"seconds"`
	// CPU is the CPU usage of the whole process, user and system, as a percentage of one core.
	CPU float64 `json:"client_cpu_percent"`
	// PerToken is the CPU time per refreshed permit, in µs.
	PerToken float64 `json:"client_cpu_us_per_token"`
	// Streams is the number of streams that were open at the start or were opened later.
	Streams int `json:"streams"`
	Frames  int `json:"frames"`
	Tokens  int `json:"tokens"`
	// NotRefreshed counts results other than refreshes.
	NotRefreshed int `json:"not_refreshed"`
	// Missed counts permits that were not refreshed at least twice.
	Missed int `json:"missed"`
	// Lost counts permits that were no longer valid at the end, or whose jobs had to stop.
	Lost      int    `json:"lost"`
	FirstLoss string `json:"first_loss,omitempty"`
}

// acquirers is the number of concurrent acquires.
const acquirers = 50

// keep runs in the keeper process. It acquires permits of the semaphore "kept", spread evenly over a third of their
// duration, so that their refreshes are distributed as evenly as in normal operation. It prints a line when all permits
// have been refreshed once, and then reports on the following window.
func keep(ctx context.Context, out io.Writer, endpoints []string, permits int, window time.Duration) error {
	t := &traffic{counts: make(map[uint64]int, permits)}
	c, err := client.Dial(ctx, endpoints, client.WithGroup("bench"), client.WithAcquirer("keeper"),
		client.WithGRPC(grpc.WithChainStreamInterceptor(t.intercept)))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // its permits expire when the servers are stopped
	held, err := acquireAll(ctx, c, permits)
	if err != nil {
		return err
	}
	if err := t.awaitAll(ctx, permits); err != nil {
		return err
	}

	fmt.Fprintln(out, "begin")
	before, err := cpuTime()
	if err != nil {
		return err
	}
	t.resetCounts()
	begin := time.Now()
	select {
	case <-time.After(window):
	case <-ctx.Done():
		return ctx.Err()
	}
	r := keeperReport{Permits: permits, Seconds: time.Since(begin).Seconds()}
	after, err := cpuTime()
	if err != nil {
		return err
	}
	t.report(&r, held)
	took := after - before
	r.CPU = 100 * took.Seconds() / r.Seconds
	r.PerToken = load.Micros(took) / float64(max(r.Tokens, 1))
	return json.NewEncoder(out).Encode(r)
}

func acquireAll(ctx context.Context, c *client.Client, permits int) ([]*client.Permit, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	held := make([]*client.Permit, permits)
	each := time.NewTicker(keepDuration / 3 / time.Duration(permits))
	defer each.Stop()
	var wg sync.WaitGroup
	for first := range acquirers {
		wg.Go(func() {
			for i := first; i < permits; i += acquirers {
				select {
				case <-each.C:
				case <-ctx.Done():
					return
				}
				p, err := c.Semaphore("kept").TryAcquire(ctx)
				if err != nil {
					cancel(fmt.Errorf("acquire permit %d: %w", i, err))
					return
				}
				held[i] = p
			}
		})
	}
	wg.Wait()
	return held, context.Cause(ctx)
}

// traffic counts the messages on a client's streams.
type traffic struct {
	mu           sync.Mutex // guards the fields below
	open, opened int        // numbers of streams
	frames       int
	tokens       int
	notRefreshed int
	counts       map[uint64]int // number of refreshes by token
}

func (t *traffic) intercept(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	if err != nil || method != gatekeeperv1.PermitService_KeepAlive_FullMethodName {
		return stream, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open++
	t.opened++
	return &countedStream{ClientStream: stream, traffic: t}, nil
}

// awaitAll waits until every permit has been refreshed once.
func (t *traffic) awaitAll(ctx context.Context, permits int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, keepDuration, fmt.Errorf("not all %d permits were refreshed within %s", permits, keepDuration))
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		t.mu.Lock()
		refreshed := len(t.counts)
		t.mu.Unlock()
		if refreshed >= permits {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// resetCounts resets the counters. Streams that are still open count as opened.
func (t *traffic) resetCounts() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opened, t.frames, t.tokens, t.notRefreshed = t.open, 0, 0, 0
	clear(t.counts)
}

func (t *traffic) report(r *keeperReport, held []*client.Permit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Streams, r.Frames, r.Tokens, r.NotRefreshed = t.opened, t.frames, t.tokens, t.notRefreshed
	for _, p := range held {
		if t.counts[p.Token()] < 2 {
			r.Missed++
		}
		if p.Held() && p.Context().Err() == nil {
			continue
		}
		if r.Lost++; r.Lost == 1 {
			r.FirstLoss = "it reached its deadline"
			if cause := context.Cause(p.Context()); cause != nil {
				r.FirstLoss = cause.Error()
			}
		}
	}
}

// countedStream is a KeepAlive stream that counts its messages.
type countedStream struct {
	grpc.ClientStream
	traffic *traffic
	ended   sync.Once
}

func (s *countedStream) SendMsg(m any) error {
	err := s.ClientStream.SendMsg(m)
	if r, ok := m.(*gatekeeperv1.KeepAliveRequest); ok && err == nil {
		s.traffic.mu.Lock()
		defer s.traffic.mu.Unlock()
		s.traffic.frames++
		s.traffic.tokens += len(r.GetTokens())
		for _, group := range r.GetGroups() {
			s.traffic.tokens += len(group.GetTokens())
		}
	}
	return err
}

func (s *countedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	s.traffic.mu.Lock()
	defer s.traffic.mu.Unlock()
	if err != nil {
		s.ended.Do(func() { s.traffic.open-- })
		return err
	}
	if r, ok := m.(*gatekeeperv1.KeepAliveResponse); ok {
		for _, group := range r.GetRefreshed() {
			for _, token := range group.GetTokens() {
				s.traffic.counts[token]++
			}
		}
		for _, result := range r.GetResults() {
			if result.GetStatus() == gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
				s.traffic.counts[result.GetToken()]++
			} else {
				s.traffic.notRefreshed++
			}
		}
	}
	return nil
}
