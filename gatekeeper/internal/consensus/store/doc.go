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
// Raft (v1.8.0) remembers how long the log was. A member whose log was longer than the snapshot, and another one, takes no entries after
// that and is sent snapshots again, which raises an alarm, until it is restarted. It takes more than TrailingLogs entries in its absence.
//
// # A damaged file is refused
//
// One flipped bit in an entry would make this member another one than the others, silently. So each record carries a checksum,
// and Open reads the whole file, page by page, before bbolt does: bbolt checks its headers only, falls back on the older one,
// trusts the rest, and panics on goroutines of its own. Whatever is not as it was written is ErrDamaged.
//
// The log and stable stores are small interfaces, Raft's own, so that another log store can be put beside Bolt.
package store
