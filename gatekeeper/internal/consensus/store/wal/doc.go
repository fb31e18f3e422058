// Package wal implements a log store based on raft-wal, which appends entries to segments. The term, the vote and the
// list of segments are in the stable store. An append is one write and one sync of a few hundred bytes.
//
// raft-wal (v0.4.1) trusts its files. It reads the last segment up to the first frame that it cannot read, rewinds by
// one batch if the last CRC is wrong, and continues from there without an error. To raft-wal, a flipped bit anywhere in
// that segment looks like a write that a crash cut short, so it drops all entries after that bit. It leaves the remains
// of such a write in place. It does not verify sealed segments, and its records have no checksum that could be verified
// on a read. It refuses to continue after a segment that was sealed just before a crash, and only logs an error when it
// cannot create the next one. This package therefore adds the following:
//
//   - Each entry has a checksum, from package intact.
//   - raft-wal's state is a value in the stable store, so it has a checksum, and there is no separate file that could
//     be damaged.
//   - All segments are read before raft-wal is opened. A crash can leave remains of only one batch, after the last
//     complete one, because each batch is on disk before the next is written. These remains are removed, and a segment
//     that was sealed just before the crash is followed by a new one. Any other irregularity is reported as ErrDamaged.
//   - raft-wal's files do not show whether a broken last batch was torn, and so never acknowledged, or was corrupted
//     later. The mark from package intact, in the segments directory, records the last acknowledged entry, and the log
//     must contain that entry.
//
// # What is not detected
//
// After a power loss, the mark may be up to half a minute old, because the system writes it to disk with a delay. If
// the very last batch is newer than the mark, was acknowledged, and was then lost or corrupted by the disk, it is
// mistaken for a torn batch. If another batch follows, the broken one must have been on disk, so this package looks for
// later batches. Syncing the mark with each batch would add a second sync, which would cost as much as this store
// saves.
//
// To measure the savings, run go test -bench StoreLogs in package store, and make bench with -parts core, alternating
// between -log-store bolt and wal.
package wal
