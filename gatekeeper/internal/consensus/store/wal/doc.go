// Package wal is the log store of raft-wal: segments to which entries are appended. The term, the vote and the list of
// the segments are values of the stable store. An append is one write and one sync of a few hundred bytes.
//
// raft-wal (v0.4.1) believes what it wrote. It reads the last segment up to the first frame that it cannot read,
// rewinds by one batch when the last CRC is wrong, and continues from there without an error: a flipped bit anywhere in
// that segment looks to it like a write that a crash cut short, and all entries behind it are gone. It leaves the
// remains of such a write where they are, does not look into sealed segments, has no checksum in its records when it
// reads one, refuses to continue behind a segment that was sealed just before a crash, and only logs an error when it
// cannot make the next one. So this package does not leave it alone:
//
//   - Each entry has a checksum, from package intact.
//   - raft-wal's state is a value of the stable store, so it has a checksum and no separate file that could be damaged.
//   - Before raft-wal is opened all segments are read. A crash can leave remains of one batch, behind the last whole
//     one: each batch is on disk before the next is written. They are removed, and a segment that was sealed just
//     before is followed by a new one. Everything else is ErrDamaged.
//   - No file of raft-wal says whether a broken last batch was torn, and never acknowledged, or has rotted. The mark of
//     package intact, in the segments' folder, says up to which entry the log was acknowledged, and those entries must
//     be there.
//
// # What is not detected
//
// After a loss of power the mark is as old as the system's last write of it, some seconds. An acknowledged batch behind
// it that has rotted since, or that the disk has lost, is taken for torn if it is the very last one: when another batch
// follows it was on disk, and what follows is looked for. Syncing the mark with each batch would be a second sync, and
// cost what this store gains.
//
// go test -bench StoreLogs in package store, and make bench with -parts core and -log-store bolt and wal by turns, say
// how much it gains.
package wal
