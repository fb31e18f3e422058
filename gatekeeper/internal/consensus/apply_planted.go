//go:build planted

package consensus

import (
	"errors"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/internal/planted"
)

// apply hands an entry to Raft, and can be made to try again until it is appended, in whatever term: see internal/planted.
func (n *Node) apply(entry []byte) raft.ApplyFuture {
	for tries := 0; ; tries++ {
		f := n.raft.Apply(entry, n.enqueueTimeout())
		if !planted.Is(planted.AppendLate) || tries == 1000 {
			return f
		}
		select {
		case err := <-n.await(f):
			if err == nil || !errors.Is(n.failed(err).Err, ErrNotAppended) {
				return f
			}
		case <-n.life.Done():
			return f
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-n.life.Done():
			return f
		}
	}
}
