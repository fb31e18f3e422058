// Package timers ends temporary changes while this server leads: drains, pauses and cordons with an end time, edits
// whose old values are restored, and the quarantine after a recovery.
//
// # Two clocks
//
// A drain and the quarantine after a recovery are durations. They run on the monotonic clock, from the moment at which
// the change was applied here, or in full from the promotion if an earlier leader started them. Setting a clock never
// shortens them; a change of leaders makes them longer.
//
// The other timers are due at instants that people choose. They follow the wall clock, which is read again every few
// seconds so that a clock change is noticed.
//
// # Commands name the change that they end
//
// A timer that is due becomes a log command with the term and the change to end. The command does nothing if that
// change has been replaced or ended manually, or if another server leads when the command is appended. A command may
// therefore be proposed again whenever its outcome is unknown, and a timer may be stale: the state decides.
package timers
