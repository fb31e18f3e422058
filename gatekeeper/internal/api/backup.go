package api

import (
	"bufio"
	"bytes"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/internal/backup"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// chunkBytes is the chunk size in a backup stream.
const chunkBytes = 256 << 10

// SaveSnapshot streams a backup. The state is immutable, so the backup is consistent however long it takes. Commands
// applied in the meantime use additional memory until the backup has finished.
func (s *clusterService) SaveSnapshot(_ *gatekeeperv1.SaveSnapshotRequest, stream grpc.ServerStreamingServer[gatekeeperv1.SaveSnapshotResponse]) error {
	ctx := stream.Context()
	state, err := s.read(ctx, false)
	if err != nil {
		return err
	}
	members, err := s.members()
	if err != nil {
		return err
	}
	header := backup.Header{ClusterName: s.cfg.ClusterName, Member: s.cfg.ID, TakenAt: time.Now().UTC(), Version: s.cfg.Version}
	for _, m := range members {
		header.Members = append(header.Members, m.GetId())
	}
	slices.Sort(header.Members)
	w := bufio.NewWriterSize(chunks(func(data []byte) error {
		return stream.Send(&gatekeeperv1.SaveSnapshotResponse{Data: data})
	}), chunkBytes)
	if err = backup.Write(w, header, state); err == nil {
		err = w.Flush()
	}
	if err != nil && ctx.Err() != nil {
		return cancellationError(ctx, ctx.Err())
	}
	return err
}

// chunks is an io.Writer that calls a function with each chunk. The function may retain the chunk.
type chunks func(data []byte) error

// Write sends p in pieces of at most chunkBytes, because a bufio.Writer passes large writes through unsplit.
func (send chunks) Write(p []byte) (int, error) {
	sent := 0
	for piece := range slices.Chunk(p, chunkBytes) {
		if err := send(bytes.Clone(piece)); err != nil {
			return sent, err
		}
		sent += len(piece)
	}
	return sent, nil
}
