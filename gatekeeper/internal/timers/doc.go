// Package timers ends what has an end, while this server leads: drains, pauses and cordons with an end, edits whose old
// values come back, and the waiting after a recovery.
//
// # Two clocks
//
// A drain and the waiting after a recovery are durations. They run on the monotonic clock, from the moment at which the
// change was applied here, or in full from the promotion when an earlier leader began them. Setting a clock never cuts
// them short; a change of leaders makes them longer.
//
// The other ends are instants, for people. They are read on the wall clock, again every few seconds, so that a clock
// that is set is noticed.
//
// # Commands that name what they end
//
// A timer that is due becomes a log command that names the change which it ends, and the term. The command does nothing
// if that change was replaced or ended by hand, or if another server leads when it is appended. So an end may be
// proposed again whenever its outcome is unknown, and a timer may be stale: the state decides.
package timers
