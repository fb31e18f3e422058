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
	for {
		f := n.raft.Apply(entry, n.enqueueTimeout())
		if !planted.Is(planted.AppendLate) || !errors.Is(n.failed(f.Error()).Err, ErrNotAppended) {
			return f
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-n.life.Done():
			return f
		}
	}
}
