// Package store keeps what a member must not forget: its log, its term and vote, and its snapshots.
//
// # A failed write never returns
//
// Raft goes on after most failed store calls, panics after others, and lets a leader whose disk hangs lead for ever
// (hashicorp/raft issue 503). None of these is right here: whoever does not know what is on its disk must say nothing more.
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
// # A damaged file is refused
//
// One flipped bit in an entry would make this member another one than the others, silently. So each record carries a checksum,
// and Open reads the whole file, page by page, before bbolt does: bbolt checks its headers only, falls back on the older one,
// trusts the rest, and panics on goroutines of its own. Whatever is not as it was written is ErrDamaged.
//
// # The second log store
//
// A folder keeps its log in RaftFile, which is Bolt, or in segments to which raft-wal appends, which is WAL; the term, the vote and the list of
// the segments are in RaftFile in either case. An append of WAL is one write and one sync of a few hundred bytes.
//
// raft-wal (v0.4.1) believes what it wrote. It reads the last segment up to the first frame that it cannot read, rewinds by one batch when the
// last CRC is wrong, and goes on from there without a word: a flipped bit anywhere in that segment looks to it like a write that a crash cut
// short, and all entries behind it are gone. It leaves the remains of such a write where they are, does not look into segments that are
// sealed, has no checksum in its records when it reads one, refuses to go on behind a segment that was sealed just before a crash, and only logs
// it when it cannot make the next one. So it is not left alone:
//
//   - The record of an entry is ours, with its checksum, and is raft-wal's data.
//   - raft-wal's own state is a value in RaftFile, so it has a checksum and no file of its own that could be damaged.
//   - Before raft-wal is opened all segments are read. Of a crash there can be remains of one batch, behind the last that is whole: each batch is on
//     disk before the next is written. They are removed; a segment that was sealed just before is followed by a new one.
//     Everything else is ErrDamaged.
//   - Whether a last batch that is broken was torn, and never acknowledged, or has rotted, no file of raft-wal says. So a mark beside the segments
//     says up to which entry the log was acknowledged, and what it asks for must be there. It is written after each batch and not synced, which
//     costs a few microseconds: a process that ends in whatever way leaves it behind. Only before the log becomes shorter it is synced, so that
//     it never asks for what was deleted.
//
// What is left is this: after a loss of power the mark is as old as the system's last writing of it, some seconds, and what was acknowledged
// behind it and has rotted since is taken for torn, if it is in the very last batch: when another batch follows it was on disk, and what follows
// is looked for. To sync the mark with each batch would be a second sync, and eat the gain. Therefore Bolt is the default: it can tell
// the two apart always. WAL is for disks that keep their power, where appends are what bounds: go test -bench StoreLogs, and
// make bench with -parts core with -log-store bolt and wal by turns, say by how much.
//
// WAL does not say that it is monotonic, although it takes no gap: see above, Snapshots deletes what must go.
package store
