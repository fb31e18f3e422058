// Package consensus assembles Raft.
package consensus
