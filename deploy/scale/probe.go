package main

import (
	"context"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/snapshots"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// measureSnapshot acquires and releases permits until the server has taken a snapshot.
func measureSnapshot(ctx context.Context, server *servers.Server, f *fleet) (*snapshots.Delay, error) {
	return snapshots.Measure(ctx, server, func(ctx context.Context) (func(context.Context) error, error) {
		token, err := f.acquire(ctx, 0, probeName, "probe", "")
		return func(ctx context.Context) error { return f.release(ctx, 0, token) }, err
	})
}
