package consensus

// Leader identifies the current leader, as far as a server knows. The zero value means unknown.
type Leader struct {
	ID          string
	PeerAddress string
	// APIAddress is the address that the leader reported in the peer handshake. It is empty until then.
	APIAddress string
	// Name is the leader's name; see Node.Name. It is empty until this member knows the leader's data directory.
	Name string
	Term uint64
}

// LeadershipObserver is notified when this server starts and stops leading. One goroutine calls both methods in order
// and waits for each. While one of them runs, a loss of leadership may be reported late, but never early.
type LeadershipObserver interface {
	// Promote reports that this server leads in term. Everything committed in earlier terms has been applied, and Raft
	// has since reported that this server still leads in term. done is closed when leadership ends, before Demote is
	// called and possibly while Promote is still running.
	Promote(term uint64, done <-chan struct{})
	// Demote reports that this server no longer leads in term, for which Promote was called.
	Demote(term uint64)
}

// Member is one server of the cluster.
type Member struct {
	ID          string
	PeerAddress string
	// APIAddress is the address that the member reported in the peer handshake. It is empty until then.
	APIAddress string
	// Name is the member's name; see Node.Name. It is empty until this server knows that member's data directory.
	Name   string
	Voter  bool
	Leader bool
}
