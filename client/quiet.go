package client

import (
	"context"
	"time"
)

// withTimeout is context.WithTimeout, but for a deadline of our own making, which the servers do not learn: only one of
// the caller's goes out with a call. They hear of the end all the same, since gRPC resets the call's stream. To tell
// each of them for each attempt when it would end takes longer than all else that the client adds to a call: a header
// that is never the same twice, and a timer at the server.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	bounded, cancel := context.WithTimeout(ctx, d)
	return quiet{bounded, ctx}, cancel
}

// quiet is a context that ends as it does, and reports the deadline of another.
type quiet struct {
	context.Context //nolint:containedctx // it is one
	outer           context.Context
}

func (q quiet) Deadline() (deadline time.Time, ok bool) { return q.outer.Deadline() }
