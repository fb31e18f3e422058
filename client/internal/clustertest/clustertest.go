// Package clustertest starts a real server in the test's own process, for the tests and examples of the client and its adapters.
package clustertest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Open starts a server on loopback ports that the system chooses, with definitions of those names that say nothing else, and
// returns its endpoint and what ends it. It panics on any error, for examples.
func Open(names ...string) (endpoint string, end func()) {
	dir, err := os.MkdirTemp("", "gatekeeper-clustertest-")
	must(err)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := gatekeeper.Open(ctx, gatekeeper.Config{
		DataDir: dir, APIAddress: "127.0.0.1:0", PeerAddress: "127.0.0.1:0",
		Profile: gatekeeper.ProfileFast, Logger: slog.New(slog.DiscardHandler),
	})
	must(err)
	c, err := client.Dial(ctx, []string{s.APIAddress()})
	must(err)
	_, err = c.Declare(ctx, definitions(names)...) // waits for a leader
	must(errors.Join(err, c.Close()))
	return s.APIAddress(), func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		must(s.Close(ctx))
		must(os.RemoveAll(dir))
	}
}

// Start is Open for the time of a test, and returns a way to dial the server.
func Start(t testing.TB, names ...string) (dial func(acquirer string, opts ...client.Option) *client.Client) {
	t.Helper()
	endpoint, end := Open(names...)
	t.Cleanup(end)
	return func(acquirer string, opts ...client.Option) *client.Client {
		t.Helper()
		c, err := client.Dial(t.Context(), []string{endpoint}, append([]client.Option{client.WithAcquirer(acquirer), client.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
}

// Revoke tells the holder of the permit of that token to stop.
func Revoke(t testing.TB, c *client.Client, token uint64) {
	t.Helper()
	if _, err := c.Permits().Revoke(t.Context(), &gatekeeperv1.RevokeRequest{Token: token, Author: "ops@desk", Reason: "a test"}); err != nil {
		t.Fatal(err)
	}
}

func definitions(names []string) (all []*gatekeeperv1.Definition) {
	for _, name := range names {
		all = append(all, &gatekeeperv1.Definition{Name: name})
	}
	return all
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
