// Package lessor keeps the deadlines of permits while this server leads.
//
// Durations are replicated, but deadlines are not. Only the leader tracks deadlines, on its monotonic clock, and only
// in this package.
//
// # Why a permit never ends early
//
// A client counts from the time just before it sent the request whose response it relies on, and subtracts a margin.
// The lessor counts from a later moment, when the grant is applied or the refresh is received, and adds a grace period.
// So if the clocks run at nearly the same rate, the client's local deadline is before the lessor's.
//
// A new leader cannot know when the old one last extended a deadline. It grants every permit its full duration again,
// counted from the instant of its promotion. Until a permit has a lease in this epoch, its deadline is that instant +
// duration + grace. The promotion itself only stores the instant. The leases are created afterwards, a few at a time,
// while traffic is served, beginning with short-lived permits. A lease that is created late can only expire late.
//
// # Marks
//
// An expiry is a log command. Until its outcome is known, the permit is neither live nor ended. So the lease is marked
// first, under the lock that also protects refreshes: a marked lease is not refreshed, and a lease that was just
// refreshed is not marked. The mark belongs to the epoch. It is removed only if the command definitely never reached
// the log. After an unknown outcome, the mark remains, because the command may still be applied.
//
// An abandoned grant, which no caller received, is marked in the same way, unless it has been renewed since then.
//
// # The fence
//
// Frames that were received before a deadline passed are processed before an expiry is proposed: Receive opens the
// intake for a frame, the intake stays open until the frame's deadlines have been extended, and an expiry waits until
// every intake opened before it has closed.
package lessor
