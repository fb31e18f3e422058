// Package lessor keeps the deadlines of permits while this server leads.
//
// Durations are replicated, deadlines are not. Only the leader runs deadlines, on its own monotonic clock, and only
// here.
//
// # Why a permit never ends early
//
// A client counts from before it sent the request whose answer it uses, and takes a margin off. The lessor counts from
// a later moment, the apply of the grant or the receipt of the refresh, and adds a grace. So at nearly equal clock
// rates the local deadline of the client lies before the one kept here.
//
// A new leader cannot know when the old one last moved a deadline out. It gives every permit its full own duration
// again, from one instant, its promotion: a permit without a lease of this epoch has that instant + own duration +
// grace. Storing the instant is all that a promotion costs. The leases themselves are made afterwards, a few at a time,
// beside the traffic, those of permits that live briefly first; one that is made late can only expire late.
//
// # Marks
//
// An expiry is a log command, and until its fate is known the permit is neither alive nor ended. So the lease is marked
// first, under the same lock under which refreshes move deadlines: a marked lease is not refreshed, and a lease that
// was just refreshed is not marked. The mark belongs to the epoch. It is lifted only when the command certainly never
// reached the log; an unknown outcome keeps it, because the command may still be applied.
//
// An abandoned grant, one that no caller received, is marked in the same way, and only if nobody has renewed it since.
//
// # The fence
//
// Frames that were received before a deadline passed are processed before an expiry is proposed: the receiver of a
// frame holds the intake open until its deadlines have been moved, and an expiry waits for every intake that was open.
package lessor
