// Package peer is the stream layer under Raft's network transport: it accepts, dials, encrypts and authenticates
// connections.
//
// Every connection opens with a handshake in which each side sends the cluster's id, its own member id, the member id
// of the intended peer, and its API address. A side that finds the wrong cluster or the wrong member reports it and
// closes the connection. Raft itself checks none of this. It attributes a response to the member to which it sent the
// request, so this layer must make sure that no other server answers, and that servers from a cluster's earlier
// incarnation cannot join a restored cluster.
//
// Anyone can connect and claim anything. An outsider is therefore refused without being told why. A reason is sent only
// to a peer that presents a certificate issued by the cluster's authority or sends this cluster's seed, and it reveals
// only information that clients already have. Statements from an unverified peer are not recorded; see Statement. Above
// all, a server that hears of a later incarnation of its cluster stops only if it has dialed the reporting member
// itself, at the address in its own configuration. An incoming claim only makes the server dial the members.
//
// Members that start a new cluster together have no cluster id yet. They query each other with a Note, one per
// connection, under the same rules. Every member answers, even one that has a cluster, but it does not reveal the
// cluster to an outsider. Members that have not agreed yet refuse every other handshake.
//
// Each new connection's handshake runs on a separate goroutine, with a deadline. When too many handshakes are pending,
// the oldest connection is closed, so that port scanners and stuck clients cannot lock out members.
//
// With TLS, both sides must use version 1.3 and present a certificate issued by the cluster's own authority. The dialed
// side's certificate must be valid for the dialed name. Both certificates must have the extended key usage serverAuth,
// which client certificates lack. Any such certificate from that authority is valid for any member id. The files are
// read at every handshake, so certificates are renewed by replacing the files.
package peer
