package conn

import (
	"context"
	"os"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// Factory is what every command works with: the streams of a person or a script, and the way to the servers.
type Factory struct {
	*ui.IO
	// Dial connects to a cluster.
	Dial func(ctx context.Context, endpoints []string, opts ...client.Option) (*client.Client, error)

	Global Global
}

// New is a Factory of the given streams. Its flags are read by Global.
func New(in, out, err *os.File) *Factory {
	return &Factory{IO: ui.New(in, out, err), Dial: client.Dial}
}

// Connected runs do with a connection to the cluster, and closes it.
func (f *Factory) Connected(ctx context.Context, do func(context.Context, *client.Client) error, opts ...client.Option) error {
	endpoints, settings, err := f.Global.Connection()
	if err != nil {
		return err
	}
	c, err := f.Dial(ctx, endpoints, append(settings, opts...)...)
	if err != nil {
		return ui.Usagef("%s", err)
	}
	defer func() { _ = c.Close() }() // it has none
	return lookup.Meant(ctx, c, do(ctx, c))
}

// Ask is Connected for a command that is one step: it has --timeout for it.
func (f *Factory) Ask(ctx context.Context, do func(context.Context, *client.Client) error, opts ...client.Option) error {
	return f.Connected(ctx, func(ctx context.Context, c *client.Client) error {
		ctx, cancel := f.Bounded(ctx)
		defer cancel()
		return do(ctx, c)
	}, opts...)
}

// Bounded is a context for one step of a command.
func (f *Factory) Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, f.Global.Timeout)
}
