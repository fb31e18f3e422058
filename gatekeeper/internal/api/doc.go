// Package api is the gRPC face of a server: it validates, converts, calls, forwards, and nothing else. Who gets a
// permit is decided in keeper and below; nothing here may change the answer.
//
// # One call
//
// A unary call of gatekeeper.v1 passes, in this order: admission, which refuses what is too much before it is read
// (intercept.go); the codec, which names the field that is not valid UTF-8 (wire.go); the interceptor, which catches
// panics, counts, and turns errors into statuses (intercept.go, errors.go); forwarding to the leader (forward.go); the
// handler, whose first line reads the time at which the call was received; conversion (convert_*.go); the keeper.
// Streams pass the same rooms.
//
// # Errors
//
// A denial is an answer, never an error. All errors become statuses in one table, in errors.go. Clients decide on
// google.rpc.ErrorInfo.reason, so a reason is frozen once it is there. UNAVAILABLE always means that nothing is known
// or nothing was done, never a no.
//
// # Forwarding
//
// One address behind a load balancer suffices: a server that does not lead passes calls and streams on to the leader,
// by one hop. The header gatekeeper-hop stops a second one: two servers that each take the other for the leader would
// otherwise pass a call to and fro. What a call says about the past, Watch, GetStatus and stale reads, each server
// answers itself. ListMembers asks each member for its GetStatus.
//
// The time that counts is read on the leader. A call is received when its handler begins there, which is later than the
// client's send time, whatever hop lies between: later is the safe side for all who count from it.
//
// A hop that never reached the leader says NO_LEADER: nothing was done. A hop that broke after it did says
// OUTCOME_UNKNOWN for calls that may have changed something. Streams end with the leadership under which they were
// opened, so that a client finds the next leader at once and not when its patience ends.
//
// # Many requests in one call
//
// BatchTryAcquire decides many requests on one state with one Confirm. Each is admitted, validated and counted as a
// TryAcquire, here and on the leader. A batch answers denials and errors and leaves the rest open, so it changes
// nothing and never waits for the log.
//
// # Contexts and grants
//
// TryAcquire and Acquire hand the call's context to the keeper, which abandons a grant only if all its calls ended
// before any was answered. Once the keeper has returned the answer is given, and a context that ends then means nothing
// here: the client may have it, and gives the permit back or lets it expire.
package api
