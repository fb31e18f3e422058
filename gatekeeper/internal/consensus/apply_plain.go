//go:build !planted

package consensus

import "github.com/hashicorp/raft"

// apply hands an entry to Raft. See apply_planted.go.
func (n *Node) apply(entry []byte) raft.ApplyFuture { return n.raft.Apply(entry, n.enqueueTimeout()) }
