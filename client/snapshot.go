package client

import (
	"context"
	"errors"
	"io"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// SaveSnapshot writes a backup of the cluster to w: the file that gkctl snapshot inspect shows, and gatekeeperd restore
// makes a cluster of. It holds everything that was answered before the call, payloads and results of tasks included; of
// bearer tokens it holds hashes. It needs the role admin. Another member is asked as long as none has sent anything;
// after an error, what w got is not a backup.
func (c *Client) SaveSnapshot(ctx context.Context, w io.Writer) error {
	var cut error // of a stream that had begun: no other server continues it
	err := c.do(ctx, call{harmless: true, timeout: forever}, func(ctx context.Context, conn *link) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := gatekeeperv1.NewClusterServiceClient(conn).SaveSnapshot(ctx, &gatekeeperv1.SaveSnapshotRequest{})
		if err != nil {
			return err
		}
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		for ; err == nil; r, err = stream.Recv() {
			if _, cut = w.Write(r.GetData()); cut != nil {
				return nil
			}
		}
		if !errors.Is(err, io.EOF) {
			cut = err
		}
		return nil
	})
	if err != nil {
		return err
	}
	return typed(ctx, cut)
}
