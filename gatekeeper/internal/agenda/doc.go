// Package agenda ends what ends by itself, while this server leads: drains, pauses and cordons with an end, edits whose old
// values come back, and the waiting after a recovery.
//
// # Two clocks
//
// A drain and the waiting after a recovery are durations: they run on the monotonic clock, from the moment at which the
// change was applied here, or in full from the promotion when an earlier leader began them. They are never cut short by a
// clock that somebody sets; a change of leaders makes them longer.
//
// The other ends are instants, for people: they are read on the wall clock, anew every few seconds, so that a clock that is
// set is noticed.
//
// # Commands that name what they end
//
// Whatever runs out here becomes a log command that names the change which it ends, and the term. If that change was
// replaced, ended by hand, or another server leads when the command is appended, it does nothing. So an end may be proposed
// again whenever its outcome is not known, and what stands here may be stale: the state decides.
package agenda
