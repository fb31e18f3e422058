// Package consensus assembles Raft: a member's data directory, its stores, the connections between peers, membership,
// leadership and its confirmation. It knows nothing about permits. Committed entries are applied through the Machine
// interface.
//
// The library is hashicorp/raft v1.8.0. Code that works around one of its bugs names the issue, so that the workaround
// can be removed once a later release fixes the bug. The workarounds for storage are described in package store, and
// those for connections in package peer.
//
// # Leadership
//
// An epoch is a term in which this server leads. Raft's leadership channel keeps only its newest value, so a receiver
// can miss changes: it may see leadership gained twice in a row, or lost without having been gained. The watcher
// therefore compares terms. A leader's term never changes while it leads, so an unchanged term means unbroken
// leadership. Once the watcher has seen a new epoch, a barrier ensures that everything committed before it has been
// applied here. Then the state and the term are checked again, the epoch is published, and LeadershipObserver.Promote
// is called. When the epoch ends, everything that depends on it ends immediately, without waiting for Raft's futures,
// some of which never complete. One goroutine calls Promote and Demote in order, so the next epoch waits for the
// previous one's Demote. Nothing is appended or confirmed in the meantime.
//
// # Confirm
//
// Confirm(term, t) answers the question: did this server still lead in term at or after t? A leader may extend a permit
// only if the answer is yes. The safety of every permit that outlives a leader's term depends on this argument:
//
//	A voter that acknowledged, in term T, a request sent at or after t cannot have voted in a later term before t. If
//	a majority of voters acknowledged such requests, every majority contains at least one of them, so no server was
//	elected in a later term before t.
//
// Raft's own VerifyLeader does not prove this. Any response that arrives after the call satisfies it, even the response
// to a request sent long before, so it succeeds on a leader that was deposed in the meantime
// (TestConfirm_LateResponses_DoNotConfirm). It also counts the responses of non-voters toward a quorum of voters. This
// package therefore wraps Raft's transport. For each AppendEntries, heartbeat or not, the wrapper reads the clock
// before it sends the request. If the peer responds with success in the same term, the wrapper records the peer, the
// term and that time. Confirm succeeds when times at or after t are recorded for a majority of the voters in Raft's
// latest configuration, read at or after t. This server counts itself without a response, but only if it is a voter in
// that configuration and Raft reports, at or after t, that it leads in exactly that term. The epoch alone proves
// nothing, because it may lag behind. Responses to InstallSnapshot do not count. Before the epoch is published, Confirm
// always fails.
//
// VerifyLeader is called only to make Raft send a round of heartbeats. All callers share the rounds, and each round
// sends one heartbeat to every peer. A new round starts when a majority has responded to the previous one and a caller
// is still waiting, unless Raft has too many rounds pending. A call succeeds when times at or after its t are recorded
// for a majority, regardless of which round or log entry produced them.
//
// The latest configuration may be uncommitted and may lag the log by one entry. That is safe, because majorities of
// adjacent configurations overlap.
//
// # Heartbeats
//
// Raft lets the transport answer heartbeats on a separate goroutine. Its handler changes the term concurrently with the
// main loop, and logs can diverge (issue 695). The wrapper therefore ignores Raft's handler and installs one that
// changes nothing. A member that follows the sender in the request's term responds with success immediately. Every
// other heartbeat goes to the main loop, unless the member has a fault. A copy of an answered heartbeat also goes to
// the main loop if the loop has not heard from the leader very recently.
//
// Such a response may count for Confirm, because only its term matters. The member read its term after the request had
// arrived, and the term was T. Raft stores a new term before it votes in it, the term that the handler reads changes
// between those two steps, and terms never decrease. Therefore, the member had not voted in a term later than T when
// the request was sent, neither before a restart nor after it. A response from the main loop proves no more than that.
// A leader elected in a later term before then was elected without this member's vote, and if a majority of voters
// responded like this, no majority remains that could have elected it. The follower's state and its leader are checked
// only for Raft's sake: a candidate, or a follower with no leader or a different one, must first update its state.
//
// Followers with stalled disks therefore keep confirming the leader. A leader steps down only when it cannot reach a
// majority for the length of its lease, the heartbeat timeout. The lease plays no part in safety. While a majority of
// the disks are stalled, no other server could lead anyway, because votes must be stored as well. A store call that
// does not return within Config.StoreTimeout is a fault, after which the member no longer responds to heartbeats.
//
// # The leader writes while its followers write
//
// Raft (v1.8.0) stores an entry on the leader before sending it, so every commit waits for two syncs in sequence. The
// protocol allows both at the same time (Ongaro's thesis, section 10.2.1). On a leader, store.AppendQueue therefore
// returns from StoreLogs before the entry is on disk. Raft then counts this member's copy of the entry too early. That
// is harmless because of four rules:
//
//   - (a) The state machine waits until an entry is on this member's disk before it applies it, and every response
//     waits for the state machine.
//   - (b) The commit index that this member sends is at most the last entry on its disk. Together, (a) and (b) mean
//     that an entry counts as committed when a majority that includes the leader has it on disk, as before.
//   - (c) Everything else that is written waits for the queue first: terms, votes, truncations, snapshots from a
//     leader, entries that are not commands, and all entries on a follower. A write that fails or hangs stops the
//     member, which then answers no more requests.
//   - (d) Reads of the log, and its last index, include the queue.
//
// Suppose that a member crashes and loses its queue. The lost entries have the term that was current on its disk,
// because a newer term would have waited for them. Only this member could send entries of that term, and after the
// restart it can lead only in a newer one. It has acknowledged none of the lost entries to another leader: such a
// leader has a newer term, which waits for the queue. It has neither applied them nor sent a commit index that includes
// them. So its disk looks like that of a member that crashed after sending those entries but before appending them, and
// Raft allows a follower to have entries that the leader lost.
//
// A queued entry may make this member's log look longer than it is on disk, which matters in two cases. The member
// refuses to vote for a candidate with a shorter log, which never endangers safety. It may also request pre-votes,
// which are not binding. Before it requests votes, it writes its new term, and that write waits for the queue.
//
// The leader's disk remains necessary for every commit: even entries that all followers have stored wait for it. This
// is deliberate. It preserves the meaning of a commit, and a leader with a failing disk must stop anyway.
//
// # Membership
//
// A member joins as a non-voter and becomes a voter when its log has caught up. A member keeps its id, with its data,
// for life. Each data directory contains a number generated when it was created, and members record each other's
// numbers. A member that returns with a different number has lost votes and entries that others rely on. It is refused
// and must rejoin under a new id.
//
// # Clocks
//
// No decision in this package depends on wall clocks. A member reports its clock in the handshake, so that a leader can
// compare all members' clocks (Node.Clocks). This matters because the leader decides by its own clock when a firing is
// due. A leader whose clock is off hands leadership over; see gatekeeper/memberclocks.go.
//
// # Starting several members for the first time
//
// The members of a new set agree on the cluster's id before any of them starts Raft. DataDir.Agree implements this, and
// decide contains the rule. Each member queries all others on the peer port. A member is empty, holds an id, or has
// founded the cluster with that id. Every step is on disk before another member can see it.
//
//  1. When all others have reported that they are empty, the first member in the sorted list generates an id with a
//     random seed and holds it.
//  2. The others adopt the id that the first member holds, and hold it too.
//  3. When all others have reported that they hold its id, the first member founds the cluster and bootstraps.
//  4. When any member has founded the cluster, the others found it too, and bootstrap.
//
// A directory never replaces the id that it holds. By the time a cluster is founded, every listed member's directory
// has held its id, and founding a cluster with a different id would require all of those directories too. A second
// cluster can therefore be founded only when all directories with the first id have been lost. The argument does not
// depend on the order or the age of messages. It holds even if two servers are started as the first member by mistake.
//
// A member that founded a cluster, voted, and then lost its directory cannot return to that cluster. It would have to
// adopt the id from a first member that merely holds it and answers its query, but the first member founds the cluster
// before any other member does, and never returns to merely holding the id. A first member that lost its directory
// generates a different seed. In both cases, the member is refused as soon as it reaches a member with data, and waits
// while any member is silent.
//
// If the first member loses its directory during the start, others may hold an id that it does not recognize. It does
// not adopt that id, because it may have founded a cluster with that id, and that cluster may have had data. The others
// never replace their ids. The log tells operators which directories to empty.
//
// A query from a member only prompts the recipient to query that member. Only answers received from a member's listed
// address count.
//
// # Recovery
//
// A cluster that has permanently lost its majority is recovered offline. ReadDataDir reads each remaining directory
// without writing to it, Latest picks the most recent directory, by the order that Raft uses in elections, and
// Bootstrap creates the data directory of a new single-server cluster. Raft's files are never edited in place, so a
// failed recovery leaves the old directories unchanged. The new cluster has the old seed and a later incarnation. Its
// members refuse the old servers in the handshake, as they refuse any unknown server. Incarnations are ordered, so the
// old servers can tell that their cluster has a successor, and they stop. Otherwise, a majority of them could come back
// and also grant permits.
package consensus
