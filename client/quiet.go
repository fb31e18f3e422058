package client

import (
	"context"
	"time"
)

// withTimeout is like context.WithTimeout, but its deadline is not sent to the servers: a call carries only the
// caller's deadline. The servers notice the end of an attempt anyway, because gRPC resets its stream. Sending the
// deadline with each attempt would cost more than everything else that the client adds to a call: a header that never
// repeats, and a timer on the server.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	bounded, cancel := context.WithTimeout(ctx, d)
	return quiet{bounded, ctx}, cancel
}

// quiet is a context that reports the deadline of outer instead of an earlier one.
type quiet struct {
	context.Context //nolint:containedctx // quiet is itself a context
	outer           context.Context
}

func (q quiet) Deadline() (deadline time.Time, ok bool) { return q.outer.Deadline() }
