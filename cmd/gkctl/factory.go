package main

import (
	"context"
	"os"
	"strings"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// app is what every command works with: the streams of a person or a script, and the way to the servers.
type app struct {
	*ui.IO
	// dial connects to a cluster.
	dial func(ctx context.Context, endpoints []string, opts ...client.Option) (*client.Client, error)

	global globalOptions
}

func newApp(in, out, err *os.File) *app {
	return &app{IO: ui.New(in, out, err), dial: client.Dial}
}

// connected runs f with a connection to the cluster, and closes it.
func (a *app) connected(ctx context.Context, f func(context.Context, *client.Client) error, opts ...client.Option) error {
	endpoints, settings, err := a.global.connection()
	if err != nil {
		return err
	}
	c, err := a.dial(ctx, endpoints, append(settings, opts...)...)
	if err != nil {
		return ui.Usagef("%s", strings.TrimPrefix(err.Error(), "client: "))
	}
	defer func() { _ = c.Close() }() // it has none
	return lookup.Meant(ctx, c, f(ctx, c))
}

// bounded is a context for one step of a command.
func (a *app) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, a.global.timeout)
}
