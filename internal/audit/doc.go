// Package audit is the audit log of a server: a chain of JSON lines in rotated files, and the check of that chain.
//
// It stands outside the server's packages because gkctl checks a log without a server.
//
// # A line
//
// A line is one refusal or one change, as a JSON object. `seq` counts the lines of a log from 1, and `prev` is the
// SHA-256 of the line before, without its newline. Both continue over rotation and over restarts. `crc` is a checksum
// of the rest of its line: it finds damage of the last line, whose hash no later line has yet.
//
// Names and metadata come from strangers. Each text is bounded in length, each list in number. JSON escapes what would
// break a line, invalid UTF-8 and other characters that do not print become U+FFFD. A Record has no field for the body
// of a call, so no payload and no token can get in.
//
// # What the chain shows
//
// Verify names lines that were changed, removed, moved or repeated, and files that are missing. It accepts a beginning
// that rotation removed. The hashes have no key: a person who can write the files can compute a new chain, or cut off
// the end. So the log also writes an anchor, the number and hash of its newest line, to the server's ordinary log: at
// each start, rotation and end, and once an hour. Verify holds a log against anchors that were kept elsewhere.
//
// # Durability
//
// Write puts a record into a bounded queue. One goroutine takes what is there, writes it in one system call, and syncs
// a second after the first line that is not synced, before a rotation, and at Close. A killed server loses what is in
// the queue, for the most part nothing. A machine that loses power loses a second more. A sync per line would cost as
// much as the change that it records.
//
// When the queue is full a caller waits: if lines were dropped, a caller could hide one by making many. It waits for a
// second at most. After that the disk is taken to hang. The record is counted as lost, and so are others until the
// writer continues: a cluster must not stop because of its audit log.
//
// # A disk that is full
//
// Lines that cannot be written are lost, and calls go on. The log says so as an error once a minute, Lost counts them,
// and the next line that can be written has their number in `lost`. Part of a line is cut off before the next one is
// written.
//
// # A torn line
//
// A server that is killed while it writes leaves part of a line, without a newline, at the end of the newest file. Open
// moves it into the field `torn` of the line `started` that it writes, and the chain continues from the last whole
// line. Verify reports a torn line, and a start without the line `stopped` before it, and takes neither for tampering.
// A damaged line that has its newline stays where it is, and is reported forever.
//
// # Rotation
//
// A full file is renamed to PATH.N, where N is the number of its first line, and the oldest beyond a number are
// removed. A name that is taken is never overwritten. A file that was moved away is noticed within a second, and a new
// one is begun, but rotation by another program is not needed.
//
// gopkg.in/natefinch/lumberjack.v2 was considered. Its last release is of February 2023. It does not sync, overwrites a
// file that was rotated in the same millisecond, leaves a goroutine behind, and has no hook for rotations.
package audit
