package client

import (
	"context"
	"errors"
	"io"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// SaveSnapshot writes a backup of the cluster to w, for gkctl snapshot inspect and gatekeeperd restore. The backup
// contains every change acknowledged before the call, including task payloads and results. It contains bearer tokens
// only as hashes. The caller needs the admin role. If a member fails before it has sent anything, another member is
// tried. If SaveSnapshot returns an error, discard the data written to w.
func (c *Client) SaveSnapshot(ctx context.Context, w io.Writer) error {
	var cut error // an error after the first message, when no other server can continue the stream
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
