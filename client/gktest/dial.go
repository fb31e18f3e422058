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

// endpoints returns the endpoints for clients created by this package. The address is ignored, because the clients dial
// through their links.
func endpoints() []string { return []string{"passthrough:///gktest"} }

// Dial returns a client that represents one process on the host named acquirer. It has its own network, which the
// switches control. It uses the test's clock and logs to t. Its group is "default", even if GK_GROUP is set. opts are
// applied after these options. The client is closed at the end of the test.
func (s *Server) Dial(t testing.TB, acquirer string, opts ...client.Option) *client.Client {
	t.Helper()
	l := newLink(s.connect)
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
		l.heal() // so that the final calls do not have to time out
		_ = c.Close()
		l.kill()
	})
	if closed {
		t.Fatal("gktest: dial: the server is closed")
	}
	return c
}

// options returns the options for a client on this link.
func (l *link) options(acquirer string, log *slog.Logger) []client.Option {
	return []client.Option{
		client.WithAcquirer(acquirer),
		client.WithGroup(client.DefaultGroup),
		client.WithLogger(log),
		ClockRate(1),
		client.WithGRPC(grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.dial(ctx) })),
	}
}

// ClockRate returns an option for Dial that makes the client's permit clock run faster than the test's by the given
// factor. A rate of 1.01 is one percent fast, the largest difference allowed; see client.Clock. A permit's SafeUntil
// and Held follow the clock exactly. Its context and Done depend on timers on the test's clock and may be late by as
// much as the clocks drift apart in a second.
func ClockRate(rate float64) client.Option {
	return client.WithClock(clock{start: time.Now(), rate: rate})
}

type clock struct {
	start time.Time
	rate  float64
}

// Now follows time.Now, which is virtual in a synctest bubble.
func (c clock) Now() time.Duration {
	passed := time.Since(c.start)
	if c.rate == 1 {
		return passed
	}
	return time.Duration(float64(passed) * c.rate)
}
