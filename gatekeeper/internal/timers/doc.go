// Package timers ends temporary changes while this server is the leader: drains, pauses and cordons with an end time,
// temporary edits, and the quarantine after a recovery. It also enforces job timeouts and job retention.
//
// # Two clocks
//
// Some timers, such as drains and the quarantine after a recovery, are durations. They run on the monotonic clock, from
// the moment the change was applied on this server or, if they started under an earlier leader, in full from this
// server's promotion. Adjusting a clock never shortens them. A leader change makes them longer.
//
// The other timers are due at a point in time, usually one chosen by a person. They follow the wall clock, which is
// read again every few seconds so that clock changes are noticed.
//
// # Commands name the change they end
//
// A timer that is due becomes a log command that names the term and the change to end. The command does nothing if that
// change has been replaced or ended manually, or if another server is the leader when the command is appended. A
// command can therefore be proposed again whenever its outcome is unknown, and a stale timer does no harm: the state
// decides.
package timers
