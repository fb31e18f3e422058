package client

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Watch streams changes, starting with req's revision, until ctx ends. A broken stream is reopened, on another member
// if necessary, and continues after the last complete revision. Events of an incomplete revision are sent again. An
// error is yielded last, and only if a server refuses the request.
//
// A message with Missed set means that changes were lost: read everything again, and continue from there.
func (c *Client) Watch(ctx context.Context, req *gatekeeperv1.WatchRequest) iter.Seq2[*gatekeeperv1.WatchResponse, error] {
	return func(yield func(*gatekeeperv1.WatchResponse, error) bool) {
		next := proto.CloneOf(req)
		c.follow(ctx, func(ctx context.Context, conn *link) (over, received bool, err error) {
			stream, err := gatekeeperv1.NewWatchServiceClient(conn).Watch(ctx, next)
			for err == nil {
				var r *gatekeeperv1.WatchResponse
				if r, err = stream.Recv(); err != nil {
					break
				}
				received = true
				next.FromRevision = r.GetRevision() + 1 // even after a live report, which repeats the previous message's revision
				if !yield(r, nil) {
					return true, true, nil
				}
			}
			return false, received, err
		}, func(err error) { yield(nil, err) })
	}
}

// follow keeps a stream open until the work is finished or ctx ends. A broken stream is reopened, on another member if
// necessary. open runs one stream; it reports whether the work is finished, and whether the stream received anything.
// refused is called with the error from a server that refuses the request.
func (c *Client) follow(ctx context.Context, open func(ctx context.Context, conn *link) (over, received bool, err error), refused func(error)) {
	for ctx.Err() == nil {
		over := false
		err := c.do(ctx, call{harmless: true, timeout: forever}, func(ctx context.Context, conn *link) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			var received bool
			var err error
			sentToken := c.token(ctx)
			if over, received, err = open(ctx, conn); received && !judge(err).final {
				return nil // it worked: the next attempt is a new call, not a retry of this one
			}
			if tokenRejected(err) && (received || sentToken != c.token(ctx)) { // an idle worker receives nothing
				return nil
			}
			return err
		})
		if over || ctx.Err() != nil {
			return
		}
		if err != nil {
			refused(err)
			return
		}
		// The server has exited or is shutting down. Another server may be able to serve the stream.
		c.router.failed(c.router.pick())
		sleep(ctx, backoff(1))
	}
}
