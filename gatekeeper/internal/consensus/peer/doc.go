// Package peer is the stream layer under Raft's network transport: it accepts, dials, encrypts and introduces.
//
// Every connection opens with a handshake in which both sides state the cluster's id, their own member id, whom they
// mean to talk to, and their API address. A side that finds another cluster or another member says so and closes. Raft
// itself checks none of this: an answer is counted for the member that was asked, so the layer must make sure that
// nobody else answers, and a restored cluster must not be joined by the servers of its former life.
//
// Anybody can connect and state anything. So a refusal gives a stranger no reason: the reason is given to a peer that
// shows a certificate of the cluster's authority, or states this cluster's seed, and then it says nothing that clients
// do not know. Nothing is remembered of, and nothing follows from, what an unproved peer states, see Statement. Above
// all, a server stops for a later life of its cluster only when a member says so that it dialed itself, at the address
// where its own configuration has that member. An incoming claim only makes it ask.
//
// Members that start a new cluster together have no id yet. They ask each other with a Note, one on each connection,
// under the same rules. Every member answers, also one that has a cluster; it does not tell a stranger which. Members
// that still agree refuse every other handshake.
//
// A new connection is introduced on a separate goroutine, with a deadline. When too many are waiting the one that
// has waited longest gives way, so that port scanners and stuck clients keep no member out.
//
// With TLS both sides must show a certificate of the cluster's own authority, version 1.3 only, and the dialed one a
// certificate for the dialed name. Both must have the extended key usage serverAuth, which certificates of clients
// lack. Any such certificate of that authority may speak for any member id. The files are read at every handshake, so
// that replacing them is all it takes to renew them.
package peer
