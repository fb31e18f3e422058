// Package store keeps what a member must not forget: its log, its term and vote, and its snapshots.
//
// # A failed write never returns
//
// Raft continues after most failed store calls, panics after others, and lets a leader whose disk hangs lead for ever
// (hashicorp/raft issue 503). None of these is right here: a member that does not know what is on its disk must say nothing more.
// So every call goes through a Guard. The first call that fails, or that has not returned within a bound, is a fault: it is
// reported once, so that the process leaves, and no call returns to Raft from then on. The goroutine of Raft that made the
// call waits inside it until the member is closed and then ends there, running its deferred functions. Nothing can be
// acknowledged on the strength of a write that failed, and an embedding program is not torn down by a panic.
//
// # A vote is one write
//
// Raft writes the term of its vote and the candidate one after the other (issue 661). After a crash between the two the
// member would have voted in the new term for the candidate of the old one, and would grant that candidate the repeated
// request without comparing logs. Stable holds the term back and writes both as one value.
//
// # A snapshot of a leader replaces the log
//
// Raft leaves the old entries where they are when it is sent a snapshot, also those that were never committed, and goes on behind a
// gap. Snapshots deletes a log that does not lead to the snapshot as soon as it is on disk, and Open does if a crash came in
// between. (To declare the log monotonic would have Raft delete it after every snapshot, also after one that arrives late and is
// older than entries which this member has acknowledged.) So the log has no gap, ever: writes that would make one are refused.
//
// Raft (v1.8.0) remembers how long the log was. A member whose log reached as far as the snapshot, and was another one, would take no entries
// after that. So it ends by a fault as soon as the snapshot is there, and goes on from it when it is started again. It takes more
// than TrailingLogs entries in its absence.
//
// # Two log stores, one stable store
//
// RaftFile is raft-boltdb's (v2.3.0), with NoFreelistSync and the map freelist, and never NoSync. It keeps the term and the vote, and by
// default the log. With KindWAL the log is in the segments of package wal. Package intact stands between Raft and either: it adds
// checksums to entries and values, refuses gaps, and keeps the mark that says up to which entry the log was acknowledged. A Log in front
// of the inner one, see intact.Log, is the place for a queue of appends.
//
// # A damaged file is refused
//
// One flipped bit in an entry would silently make this member differ from the others. So each entry and each value has a checksum,
// and Open reads the whole file, page by page, before bbolt does: bbolt checks its headers only, falls back on the older one,
// trusts the rest, and panics on other goroutines. Whatever is not as it was written is ErrDamaged. bolt catches what bbolt does with a
// file that is damaged while it is open.
//
// This is what no check can detect:
//
//   - A disk that goes back, whole, to an earlier state, mark included.
//   - The last batch, lost after a loss of power. The mark is not synced with each batch, which would be a second sync. After a loss of
//     power it may be some seconds old. If the disk has also lost the last batch of entries, which it had said was on disk, but has what was
//     before it, then nothing says that there was such a batch. raft-boltdb has no transaction to which a record of the log's end could be
//     added. When the process ends in any other way the mark is there, and so is what it asks for.
//   - The last batch of KindWAL, broken after a loss of power. See package wal.
//
// # Older formats
//
// A folder in the format before raft-boltdb is refused with ErrOldFormat. Convert rewrites it.
package store
