// Package guessing limits failed authentications by source address.
//
// # The limit
//
// A source may use up its allowed failures in a burst. It then regains them one at a time, evenly over the window: a
// limit of 10 per minute allows a burst of 10, and then one failure every 6 seconds. Only failures count. Beyond the
// limit, Admit refuses an attempt before its credential is verified, with an error that says when to retry. A refusal
// costs only one hash, a few nanoseconds (see below). A refused attempt does not count as a failure, so a block ends
// even if its source keeps calling.
//
// If several attempts from one source are checked concurrently, all may fail and together exceed the limit. Checking a
// token takes microseconds, and no feasible number of attempts finds a 256-bit token. The limit keeps guesses from
// using up CPU time and filling logs, and slows down guessing any weaker secret.
//
// # Sources
//
// A source is an IPv4 address, or the /64 of an IPv6 address, since every customer has at least a /64. If a member
// forwarded a call, the source is the address that the member reports, not the member's own: otherwise one bad client
// of a follower would block all of that follower's clients. The leader accepts such an address only over a connection
// from a member. A malicious member could do more harm in other ways.
//
// # Clients that are not locked out
//
// Many clients may share an address with a guesser, for example behind a NAT. Three kinds of clients are not affected.
//
// A client certificate has been verified by TLS, and cannot be guessed. Calls with a certificate are not counted here,
// and a blocked source can still use one.
//
// A JWT is verified first, and counted here only if it is invalid, because pods share addresses and each presents a new
// JWT every hour.
//
// A credential that was valid from the same source is remembered as a 64-bit keyed hash. It is admitted despite a
// block, and then verified as usual. So a client that was active before the guessing began is not affected, but a new
// client must wait like all others at its address. A guesser can guess at the credentials remembered for its address at
// full speed, which is still hopeless against 256 bits. A credential that fails, for example because it was revoked, is
// forgotten.
//
// # Memory
//
// Unauthenticated callers determine how many sources there are. Each source takes about 100 bytes. If there are too
// many, the source whose failures expire first is dropped, so a guesser cannot end its block by failing once from many
// other addresses. The number of remembered credentials is bounded too.
//
// # The audit log
//
// A blocked source may call a million times, and a line for each call would push everything else out of the audit log.
// BlockedError.Notable selects the first refused attempt, the tenth, the hundredth and so on, and Attempts is the
// number of refusals so far. The count starts over once all of the source's failures have expired.
package guessing
