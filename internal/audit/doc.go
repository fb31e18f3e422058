// Package audit writes and verifies a server's audit log: a chain of JSON lines in rotated files.
//
// It is separate from the server's packages because gkctl verifies logs without a server.
//
// # A line
//
// A line records one refusal or one change as a JSON object. `seq` numbers the lines of a log from 1, and `prev` is the
// SHA-256 of the previous line without its newline. Both continue across rotations and restarts. `crc` is a checksum of
// the rest of the line. It detects damage to the last line, whose hash is not yet recorded in a later line.
//
// Names and metadata are untrusted input. The lengths of strings and lists are bounded. JSON escapes anything that
// would break a line. Invalid UTF-8 and other unprintable characters become U+FFFD. A Record has no field for the body
// of a call, so payloads and tokens cannot end up in the log.
//
// # What the chain shows
//
// Verify reports lines that were changed, removed, moved or repeated, and files that are missing. A log whose first
// lines were removed by rotation is valid. The hashes are not keyed: anyone who can write the files can compute a new
// chain or cut off the end. For that reason the server's regular log contains anchors. An anchor consists of the number
// and the hash of the newest line. It is written at startup, at each rotation, at shutdown and, while lines are being
// written, once an hour. Verify compares a log with anchors that were stored elsewhere.
//
// # Durability
//
// Write puts a record into a bounded queue. One goroutine drains the queue and writes each batch in one system call. It
// syncs one second after the first unsynced line, before a rotation, and in Close. A server that is killed loses the
// contents of the queue, which is usually empty. A power failure can also lose the records from the last second.
// Syncing every line would cost as much as the change that the line records.
//
// When the queue is full, a caller waits. If lines were dropped instead, a caller could hide a line by making many
// calls. The wait is limited to one second. After that the disk is assumed to be hung, and this record and later ones
// are counted as lost until the writer makes progress again: a cluster must not stop because of its audit log.
//
// # A full disk
//
// Lines that cannot be written are lost, and calls continue. The log reports this as an error once a minute, Lost
// counts the lines, and the next line that can be written records their number in `lost`. A partially written line is
// truncated before the next one is written.
//
// # A torn line
//
// A server that is killed during a write leaves a partial line, without a newline, at the end of the newest file. Open
// moves that text into the `torn` field of the `started` line that it writes, and the chain continues from the last
// complete line. Verify reports a torn line, and a `started` line that does not follow a `stopped` line, but treats
// neither as tampering. A damaged line that ends in a newline stays in place and is always reported.
//
// # Rotation
//
// A full file is renamed to PATH.N, where N is the number of its first line. The oldest files beyond the configured
// number are removed. An existing file is never overwritten. If the current file is moved away, the log starts a new
// one within a second after the next write. Rotation by another program is not needed.
//
// gopkg.in/natefinch/lumberjack.v2 was considered. Its last release is from February 2023. It does not sync, overwrites
// files that were rotated in the same millisecond, leaks a goroutine, and has no rotation hook.
package audit
