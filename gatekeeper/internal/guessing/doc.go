// Package guessing bounds failed authentications by the address that they come from.
//
// # The limit
//
// A source may fail so many times at once, and one more time as each part of the window passes: 10 in a minute are 10
// at once, and then one every 6 seconds. Only a failure costs something. Beyond the limit Admit refuses an attempt
// before its credential is verified, with an error that says when to come again. All that it costs then is a hash of
// some nanoseconds (below). An attempt that was refused costs nothing, so a block ends however often its source calls.
//
// Attempts of one source that are checked at the same time may all fail, and exceed the limit by as many. Callers check
// a token within microseconds; a token of 256 bits is not found by any rate of calls. The limit keeps guesses from
// costing processors and from filling logs, and keeps the guesses against anything weaker few.
//
// # Sources
//
// A source is an IPv4 address, or the /64 of an IPv6 address, since one customer has at least that. The address of a
// call that a member passed on is the one that the member reports, not the member's own: the leader takes it only from
// a connection of a member. Otherwise one bad client of a follower would block all of that follower's clients. A member
// that lies about it could do worse.
//
// # Who is not locked out
//
// Many clients may share an address with one that guesses, behind a NAT. Three kinds of them stay unaffected.
//
// A client certificate was verified by TLS, and there is nothing to guess. Calls with one are not counted here, and a
// blocked source can present one.
//
// A JWT is verified first, and counted here only if it is wrong: pods share addresses, and each shows a new JWT every
// hour.
//
// A credential that was right from the same source is remembered by a keyed hash of 64 bits. It passes a block, and is
// then verified as usual. So a client that was there before the guesses continues, and one that comes later waits with
// the others of its address. A guesser can try remembered credentials of its address without being slowed down,
// which stays hopeless for 256 bits. A credential that fails, for example because it was revoked, is forgotten.
//
// # Memory
//
// Strangers decide how many sources there are. Each takes some 100 bytes, and of more than a number the one with the
// fewest failures left is forgotten. A guesser cannot end its block by failing from other addresses once
// each. What is remembered of right credentials is bounded too.
//
// # The audit log
//
// A blocked source may call a million times, and a line for each would push everything else out of the audit log.
// BlockedError.Notable picks the first attempt that is refused, the tenth, the hundredth and so on; Attempts is how
// many there were. They are counted until all failures of the source are paid.
package guessing
