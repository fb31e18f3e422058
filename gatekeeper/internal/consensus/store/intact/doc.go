// Package intact detects files that no longer contain what was written to them. A member's log and stable store are
// built on it, whether they are on disk or in memory.
//
//   - Entries adds a checksum to each log entry, verifies it, and removes it before Raft sees the entry.
//   - Values seals each value of a stable store, so that a value is bound to its key.
//   - Mark records the last acknowledged entry of the log. Acknowledged maintains the mark and refuses gaps.
//   - All of them return ErrDamaged for a file that does not contain what was written to it.
//
// # An entry's checksum
//
// The checksum is a CRC-32C of index, term, type, append time and data. It is stored in Log.Extensions. Raft replicates
// Extensions, so a follower could store its leader's checksum with data that was changed in flight. Entries therefore
// removes the checksum before Raft reads an entry, and each member computes its own from the data that it stores.
// Entries works on copies, because Raft still uses the entries that it hands to a store.
//
// This program does not set Extensions itself. Entries accepts an entry that carries exactly the checksum that it
// computes, and refuses any other content. Overwriting that content would silently lose another program's data.
//
// A later version may need Extensions for data that is replicated with an entry. Entries would then keep that data next
// to the checksum. However, an older member would refuse such an entry and stop with a fault. A leader may therefore
// set Extensions only at a new feature level: a cluster reaches a level only once every member supports it.
package intact
