package gktest

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/client"
)

// endpoints is the server as its own clients name it: whatever the name, they dial through their links.
func endpoints() []string { return []string{"passthrough:///gktest"} }

// Dial returns a client, which stands for one process on the host acquirer. It has its own network, on which the
// switches act, counts by the test's time, and logs to t. It is in the group "default" whatever GK_GROUP says; options
// are added to these. It is closed with the test.
func (s *Server) Dial(t testing.TB, acquirer string, opts ...client.Option) *client.Client {
	t.Helper()
	l := newLink(s.enter)
	c, err := client.Dial(context.Background(), endpoints(), slices.Concat(l.options(acquirer, logTo(t, slog.LevelWarn)), opts)...)
	if err != nil {
		t.Fatalf("gktest: dial as %s: %v", acquirer, err)
	}
	s.mu.Lock()
	closed := s.closed
	s.links[c] = l
	s.mu.Unlock()
	t.Cleanup(func() {
		l.slowDown(0)
		l.heal() // last words need not wait for their time to run out
		_ = c.Close()
		l.kill()
	})
	if closed {
		t.Fatal("gktest: dial: the server is closed")
	}
	return c
}

// options are those of a client on this link.
func (l *link) options(acquirer string, log *slog.Logger) []client.Option {
	return []client.Option{
		client.WithAcquirer(acquirer),
		client.WithGroup(client.DefaultGroup),
		client.WithLogger(log),
		ClockRate(1),
		client.WithGRPC(grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.dial(ctx) })),
	}
}

// ClockRate makes the clock by which a client counts its permits run that much faster than the test's: 1.01 is fast by
// one per cent, as much as clocks may differ, see client.Clock. It is an option of Dial. A permit's SafeUntil and Held
// follow it exactly; its context and Done are woken by timers of the test's clock, and may be late by as much as the
// two differ in a second.
func ClockRate(rate float64) client.Option {
	return client.WithClock(clock{start: time.Now(), rate: rate})
}

type clock struct {
	start time.Time
	rate  float64
}

// Now follows time.Now, which is virtual in a bubble.
func (c clock) Now() time.Duration {
	passed := time.Since(c.start)
	if c.rate == 1 {
		return passed
	}
	return time.Duration(float64(passed) * c.rate)
}
