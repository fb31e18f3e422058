// Package intact distinguishes what a file was meant to hold from what it holds now. The log stores and the stable
// store of a member are built on it, on disk and in memory.
//
//   - Entries adds a checksum to each entry of a log, verifies it, and removes it before Raft sees the entry.
//   - Values seals each value of a stable store, so that a value is bound to its key.
//   - Mark notes up to which entry the log was acknowledged, and Acknowledged keeps it. It also refuses a gap.
//   - ErrDamaged is what all of them return for a file that does not hold what was written to it.
//
// # The checksum of an entry
//
// It is a CRC-32C of index, term, type, time of appending and data, and it is in Log.Extensions. Raft replicates
// Extensions, so a follower could store the checksum that its leader has computed, of data that changed on the way.
// Therefore Entries removes it from what Raft reads, and each member computes it again from what it stores. It works on
// copies: Raft still uses the entries that it hands to a store.
//
// Nothing in this program sets Extensions. Entries accepts an entry that carries exactly the checksum which it
// computes, and refuses any other content: to overwrite it would lose what another program meant by it, without a
// trace.
//
// A later version may need Extensions for data that is replicated with an entry. Entries would then keep that data next
// to the checksum. But an older member refuses an entry with such data, and stops by a fault. So only a new feature
// level may allow a leader to set Extensions: a cluster reaches a level only when every member supports it.
package intact
