package fsm

import (
	"errors"
	"time"
)

// Recovery says how the state of a new cluster is made from one that was found in a folder or a backup of an old one. It is
// for tools that work offline: nothing here is a command.
type Recovery struct {
	// ClusterID is "seed.incarnation" of the new cluster; not that of the old one.
	ClusterID string
	// At is now, by the clock of who recovers. Tokens and revisions go on above its Unix seconds times 2^20, because the old
	// cluster may have given some that were not found.
	At             time.Time
	Author, Reason string
	// Retired are the ids of the old cluster's servers: none of them is taken again.
	Retired []string
	// KeepPermits carries the permits over that were found; each has its full duration again from the first promotion on. That is
	// safe only when the folders of a majority of the last voters were read. Without it every live permit is lost, as if it had
	// expired, what cooled is free, and for the largest max_duration ever in force nothing is granted.
	KeepPermits bool
	// UnsafeGrantAfter, when not nil, is granted after instead: an operator's word that every old holder has stopped by then. It
	// is journaled, and has no place beside KeepPermits.
	UnsafeGrantAfter *time.Duration
}

// Recovered returns the state of a new cluster, made from s, which stays as it is. Its index and term are those of s, its feature
// level is at least 2. What an operator set stays: definitions, pauses, cordons, drains, and permits held for an operator. One
// journal entry (RecoveredEvent) tells of it. Its Snapshot is what the first server of the new cluster starts from. A quarantine
// that is still to be waited out after an earlier recovery goes on beside KeepPermits.
//
// An error says what is wrong with r.
func (s *State) Recovered(r Recovery) (*State, error) {
	return nil, errors.New("fsm: cannot recover") // replaced in the commit that applies level 2
}
