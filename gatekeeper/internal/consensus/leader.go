package consensus

// Leader is the member that leads, as far as a server knows. It is zero when unknown.
type Leader struct {
	ID          string
	PeerAddress string
	// APIAddress is what the leader said in the peer handshake; empty until it has.
	APIAddress string
	// Name is the leader's, see Node.Name; empty until it was met.
	Name string
	Term uint64
}

// Leading is called for this server's leaderships. Both methods are called from one goroutine, in order, and that
// goroutine waits for them: a leadership is over late, never early, while one of them runs.
type Leading interface {
	// Promote says that this server leads in term. Everything committed before was applied, and Raft still said leader
	// of that term after it. done is closed when that leadership is over, before Demote is called and perhaps while
	// Promote still runs.
	Promote(term uint64, done <-chan struct{})
	// Demote says that the leadership of term, passed to Promote before, is over.
	Demote(term uint64)
}

// Member is one server of the cluster.
type Member struct {
	ID          string
	PeerAddress string
	// APIAddress is what the member said in the peer handshake; empty until it has.
	APIAddress string
	// Name is the member's, see Node.Name; empty until it was met.
	Name   string
	Voter  bool
	Leader bool
}
