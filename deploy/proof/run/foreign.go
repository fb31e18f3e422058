package run

import (
	"context"
	"path/filepath"

	"google.golang.org/grpc/credentials"

	"github.com/gatekeeperd/gatekeeper/deploy/proof/load"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// startForeign starts a second cluster. Its semaphores have the same names as the run's, so it would grant any request
// that reached it. It has either three members with the same ids or a single member. None of the run's clients are
// configured to use it.
func startForeign(ctx context.Context, opts Options, secure *servers.Secure) (*servers.Cluster, error) {
	cluster, err := servers.Start(ctx, servers.Options{
		Binary: opts.Binary, Dir: filepath.Join(opts.Dir, "foreign"), Count: 3 - 2*int(opts.Seed%2), Profile: "fast", Secure: secure,
	})
	if err != nil {
		return nil, err
	}
	var creds credentials.TransportCredentials
	if secure != nil {
		creds = secure.Credentials()
	}
	clients, err := load.New(ctx, load.Options{
		Seed: opts.Seed, Endpoints: cluster.Endpoints(), World: load.World(opts.Seed), Put: func(history.Entry) {}, Credentials: creds,
	})
	if err != nil {
		cluster.Kill()
		return nil, err
	}
	clients.Close()
	return cluster, nil
}
