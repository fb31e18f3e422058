package client

import (
	"context"
	"time"
)

// withTimeout is like context.WithTimeout, but its deadline is not sent to the servers: a call carries only the
// caller's deadline. The servers notice the end of an attempt anyway, because gRPC resets its stream. Sending the
// deadline with each attempt would cost more than everything else that the client adds to a call: a header whose value
// never repeats, and a timer on the server.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	bounded, cancel := context.WithTimeout(ctx, d)
	return quietContext{bounded, ctx}, cancel
}

// quietContext is a context that reports outer's deadline, although it ends earlier.
type quietContext struct {
	context.Context //nolint:containedctx // quietContext is itself a context
	outer           context.Context
}

func (q quietContext) Deadline() (deadline time.Time, ok bool) { return q.outer.Deadline() }
