// Package intact detects files that no longer contain what was written to them. A member's log stores and stable store
// are built on it, on disk and in memory.
//
//   - Entries adds a checksum to each entry of a log, verifies it, and removes it before Raft sees the entry.
//   - Values seals each value of a stable store, so that a value is bound to its key.
//   - Mark records the last acknowledged entry of the log. Acknowledged maintains the mark and refuses gaps.
//   - All return ErrDamaged for a file that does not contain what was written to it.
//
// # The checksum of an entry
//
// The checksum is a CRC-32C of index, term, type, append time and data. It is stored in Log.Extensions. Raft replicates
// Extensions, so a follower could store a checksum computed by its leader for data that changed in flight. Therefore,
// Entries removes the checksum before Raft reads an entry, and each member recomputes it from the data that it stores.
// Entries works on copies, because Raft still uses the entries that it hands to a store.
//
// This program does not set Extensions itself. Entries accepts an entry that carries exactly the checksum that it
// computes, and refuses any other content. Overwriting that content would silently lose the data of another program.
//
// A later version may need Extensions for data that is replicated with an entry. Entries would then keep that data next
// to the checksum. However, an older member would refuse an entry with such data and stop with a fault. Therefore, only
// a new feature level may allow a leader to set Extensions: a cluster reaches a level only when every member supports
// it.
package intact
