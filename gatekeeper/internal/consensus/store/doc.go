// Package store persists a member's log, its term and vote, and its snapshots.
//
// # A failed write never returns
//
// Raft continues after most failed store calls, panics after others, and lets a leader whose disk hangs lead forever
// (hashicorp/raft issue 503). None of these is acceptable here. A member that does not know what is on its disk must
// not answer any more requests.
//
// Every call therefore goes through a Guard. The first call that fails, or does not return within a time limit, is a
// fault. The Guard reports it once, so that the process exits. After that, no call returns to Raft. A Raft goroutine
// that makes a call waits inside it until the member is closed. The goroutine then exits, and its deferred functions
// run. As a result, Raft never acknowledges anything whose write failed, and a program that embeds the member does not
// panic.
//
// # A leader's append may return early
//
// AppendQueue returns from an append by a leader before the entries are on disk. Nothing acts on an entry before it is
// durable: see "The leader writes while its followers write" in package consensus. A failed write still stops the
// member, and no call that waits for the entries ever returns.
//
// # A vote is one write
//
// Raft writes a vote's term first and its candidate second (issue 661). After a crash between the two writes, the
// member would appear to have voted, in the new term, for the candidate that it chose in the old one. If that candidate
// asked again, the member would vote for it without comparing logs. Stable therefore holds back the term and writes it
// together with the candidate as one value.
//
// # A leader's snapshot replaces the log
//
// When a leader sends a snapshot, Raft keeps the old entries, even those that were never committed, and appends new
// ones after a gap. Here a log never has a gap: a write that would leave one is refused. Once a snapshot is on disk,
// Snapshots deletes a log that does not contain the snapshot's last entry. If a crash occurs before the deletion, Open
// deletes the log. The log does not declare itself monotonic, because Raft would then delete it after every snapshot
// that a leader sends, even one that arrives late and is older than entries that this member has acknowledged.
//
// Raft (v1.8.0) remembers how long the log was. If a member's log reaches as far as the snapshot but differs from the
// leader's, the member would not accept any entries after the snapshot. It therefore stops with a fault once the
// snapshot is on disk, and resumes from the snapshot when it is restarted. This is rare: the member must have missed
// more than TrailingLogs entries.
//
// # Two log stores, one stable store
//
// RaftFile is a raft-boltdb (v2.3.0) file, with NoFreelistSync and the map freelist, and never with NoSync. It contains
// the term and the vote and, by default, the log. With KindWAL, the log is in segment files; see package wal. Package
// intact wraps both stores. It adds checksums to entries and values, refuses gaps, and maintains the mark, which
// records the log's last acknowledged entry.
//
// # A damaged file is refused
//
// A single flipped bit in an entry would silently make this member differ from the others. Therefore, each entry and
// each value has a checksum, and Open reads the whole file, page by page, before bbolt does. bbolt itself checks only
// its two headers, uses the older one if the newer is damaged, trusts all other pages, and panics on other goroutines.
// Open returns ErrDamaged if a checksum or the structure is wrong. Type bolt catches bbolt's panics when a file is
// damaged while it is open.
//
// No check can detect the following cases:
//
//   - The whole disk reverts to an earlier state, including the mark.
//   - In a power loss, the disk loses the last batch, even though it had reported that the batch was synced, and keeps
//     everything before it. The mark could reveal the loss, but after a power loss it may be half a minute old, because
//     syncing it with each batch would cost a second sync. raft-boltdb offers no way to write the log's last index in
//     the same transaction. If the process exits in any other way, the mark is up to date, and the missing batch is
//     detected.
//   - With KindWAL, the disk loses or corrupts the last batch in a power loss. See package wal.
//
// # Older formats
//
// A data directory in the pre-raft-boltdb format is refused with ErrOldFormat. Convert rewrites it.
package store
