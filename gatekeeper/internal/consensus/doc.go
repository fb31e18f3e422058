// Package consensus assembles Raft: a member's data folder, its stores, the streams between peers, membership,
// leaderships and their confirmation. It knows nothing of permits; the state machine is applied through the Machine
// interface.
//
// The library is hashicorp/raft v1.8.0. Where the code works around one of its faults it names the issue, so that the
// workaround can go when a later release fixes it. The stores' side of the story is in package store, that of the
// connections in package peer.
//
// # Leaderships
//
// An epoch is one leadership: the term in which this server leads. Raft's channel keeps only its newest value, so a
// leadership that was lost and regained looks like none or like two in a row; the watcher therefore compares terms. A
// leader's term never changes while it leads, so an unchanged term means an unbroken leadership. Once the watcher has
// seen an epoch begin, a barrier makes sure that everything committed before is applied here, state and term are looked
// at again, the epoch is published and Leading is promoted. When the epoch ends, everything that hangs on it ends at
// once, whatever Raft's futures do: some of them are never answered. Promote and Demote are called by one goroutine in
// order, so the next epoch waits for the last one's Demote; nothing is appended or confirmed meanwhile.
//
// # Confirm
//
// Confirm(term, t) answers: did this server still lead in term at or after t? It is the step between "I believe I lead"
// and "I may extend a permit", and the safety of every permit that outlives a leadership rests on it:
//
//	A voter that acknowledged term T to something sent at or after t cannot have voted for a later term before t. If a
//	majority of voters did, every majority contains one of them, so nobody was elected in a later term before t.
//
// Raft's own VerifyLeader does not show this. It is satisfied by any answer that arrives after it was called, also one
// to a question that was asked long before, and so it succeeds on a leader that was deposed in between
// (TestConfirm_VerifyLeaderSatisfiedByLateAnswer). It also counts the answers of non-voters toward a quorum of voters.
// So the transport under Raft is wrapped. For each AppendEntries, heartbeat or not, the wrapper reads the clock before
// it is sent, and when the peer that was asked answers with success in the same term, keeps (peer, term, that time).
// Confirm holds when a majority of the voters of Raft's latest configuration, read at or after t, is covered by times
// at or after t. Self needs no answer, but is counted only if it is a voter there and Raft says, read at or after t,
// that it leads in that very term: the epoch may lag behind. Answers to InstallSnapshot are not counted, nor anything
// before the promotion.
//
// VerifyLeader is called only to make Raft send a round of heartbeats. All callers share rounds: a round asks every
// peer once, and a new one starts when a majority has answered the last and somebody still waits, unless Raft is not
// done with too many. A caller is answered as soon as the covered time has reached its own t, whichever round or log
// entry brought it there, and never sooner.
//
// That the latest configuration may not be committed, and may lag the log by one entry, does no harm: majorities of
// neighbouring configurations overlap.
//
// # Heartbeats
//
// Raft lets the transport answer heartbeats on its own goroutine. That changes the term beside the main loop, and logs
// can diverge (issue 695). So the wrapper does not take Raft's handler for them; it has one that changes nothing. A
// follower that follows the asking leader, in the term of the question, answers with success at once; every other
// heartbeat, unless the member has a fault, goes to the main loop, and so does a copy of an answered one when the main
// loop has not heard of the leader for a moment.
//
// That such an answer may count for Confirm needs only its term. The member read its own term after the question had
// come, and it was T. Raft stores a new term before it votes in it, the term that is read changes in between, and never
// goes back. So the member had not voted in a term after T when the question was asked, neither before a restart nor
// after, and that is all that an answer of the main loop says. A leader of a later term that was elected before then
// has the votes of a majority without that member, and majorities overlap. The follower's state and its leader are
// looked at only for Raft's sake: a candidate, and a follower that knows of no leader or of another one, have something
// to change first.
//
// A follower whose disk stalls thus goes on confirming, and a leader steps down only when it cannot reach a majority
// for as long as its lease, the heartbeat timeout. The lease has no part in safety. While those of a majority stall
// nobody else could lead, for a vote is stored as well. A store call that does not return within Config.StoreTimeout is
// a fault, after which no heartbeat is answered.
//
// # Membership
//
// A member joins without a vote and gets one when its log has caught up. Its id is its for life, with its data: the
// folder of each member carries a number drawn when it was made, members remember each other's, and one that returns
// with another has lost votes and entries that others count on. It is refused and must come back under a new id.
//
// # Clocks
//
// Wall clocks decide nothing here. A member states its own in the handshake, so that a leader can compare those of all
// (Clocks): due times of firings are compared with the leader's. A leader whose clock is off hands leadership over:
// gatekeeper/memberclocks.go.
//
// # The first start of several members
//
// The members of a new set agree on the cluster's id before any of them has a Raft: see Folder.Agree, and decide for
// the rule. Each asks all others, on the peer port, and each is empty, or holds an id, or has founded the cluster of
// that id. Every step is on disk before anybody hears of it.
//
//  1. The first in the sorted list draws an id, with a random seed, when all others have answered that they are empty,
//     and holds it.
//  2. The others take the id that the first holds, and hold it.
//  3. The first founds the cluster when all others have answered that they hold its id, and bootstraps.
//  4. The others found it when any member has, and bootstrap.
//
// A folder never exchanges the id that it holds. So when a cluster is founded every folder of the list has held its id,
// and another id needs all of them too: a second cluster is founded only when all folders with the first one's id are
// lost. That needs nothing of the order or the age of messages, and holds even if two servers are started as the first
// member by mistake.
//
// A member that founded a cluster, voted, and lost its folder does not come back to it. It would have to take the id
// from a first member that merely holds it, in an answer to its own question: but the first founds before anybody else,
// and for good. A first member that lost its folder draws another seed. Either is refused as soon as it hears of a
// member with data, and waits while one is silent.
//
// When the first loses its folder in between, others hold an id that it does not know. It does not adopt that id,
// because it may have founded a cluster with it that had data. The others do not exchange it. The log tells operators
// which folders to empty.
//
// What a member says when it asks is only a reason to ask it: answers count, at the address that the list has for the
// member.
//
// # Recovery
//
// A cluster that has lost its majority for good is recovered offline: ReadFolder reads what is left without writing to
// it, Latest chooses by the order by which Raft elects, and Found makes the folder of a new cluster of one server.
// Nothing of Raft's is edited in place, so whatever goes wrong leaves the old folders as they were. The new cluster has
// the old one's seed and a later incarnation. Old servers are refused in the handshake, as all strangers are, and since
// the order of incarnations tells them that a later life runs, they stop: a majority of them that comes back would
// grant too.
package consensus
