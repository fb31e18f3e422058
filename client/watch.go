package client

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Watch streams changes from req's revision on until ctx ends. A stream that breaks is opened again, on another member if need be,
// and goes on after the last revision that was told; events of a revision that was told in part are told again. An error is
// the last element; there is one only when a server refuses the request.
//
// A message that says Missed means that changes were lost: read everything again, and go on from there.
func (c *Client) Watch(ctx context.Context, req *gatekeeperv1.WatchRequest) iter.Seq2[*gatekeeperv1.WatchResponse, error] {
	return func(yield func(*gatekeeperv1.WatchResponse, error) bool) {
		next := proto.CloneOf(req)
		for ctx.Err() == nil {
			stopped := false
			err := c.do(ctx, call{harmless: true, timeout: forever}, func(ctx context.Context, conn *link) error {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				stream, err := gatekeeperv1.NewWatchServiceClient(conn).Watch(ctx, next)
				told := false
				for err == nil {
					var r *gatekeeperv1.WatchResponse
					if r, err = stream.Recv(); err != nil {
						break
					}
					told = true
					next.FromRevision = r.GetRevision() + 1 // also after a live report, whose revision is that of the message before
					if stopped = !yield(r, nil); stopped {
						return nil
					}
				}
				if told && !judge(err).final {
					return nil // it worked: what comes next is a new call, not a repeat of this one
				}
				return err
			})
			if stopped || ctx.Err() != nil {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			// The server that told so far went away, or was told to; others serve as well.
			c.router.failed(c.router.pick())
			sleep(ctx, backoff(1))
		}
	}
}
