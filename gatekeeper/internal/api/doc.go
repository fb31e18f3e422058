// Package api implements a server's gRPC services. It only validates and converts requests and passes them to the
// keeper or the leader. Package keeper and the packages below it grant permits. This package must not change their
// decisions.
//
// # Unary calls
//
// A unary gatekeeper.v1 call passes through these steps:
//
//  1. Admission (intercept.go) refuses excess load before the message is read.
//  2. The codec (wire.go) rejects invalid UTF-8 and names the field.
//  3. The interceptor (intercept.go, errors.go) catches panics, counts calls, and turns errors into statuses.
//  4. Forwarding (forward.go) passes the call on to the leader if necessary.
//  5. The handler first reads the clock, which defines when the call was received.
//  6. The message is converted (convert_*.go) and passed to the keeper.
//
// Streams pass through the same steps.
//
// # Errors
//
// A denial is a result, never an error. A single table in errors.go turns errors into statuses. Clients act on
// google.rpc.ErrorInfo.reason, so published reasons are frozen. UNAVAILABLE always means that nothing was done or that
// the outcome is unknown. It never means a denial.
//
// # Forwarding
//
// Clients can use one address behind a load balancer, because a server that is not the leader forwards calls and
// streams to the leader. There is at most one hop; otherwise, two servers that mistake each other for the leader would
// forward a call back and forth. The gatekeeper-hop header prevents that. Calls that may return stale data are served
// locally: GetStatus and stale reads. Watch, AwaitFiring and FollowJob go to the leader but are served locally if it
// cannot be reached. ListMembers calls GetStatus on each member.
//
// The leader's clock is authoritative. A call is received when its handler starts on the leader, which is always after
// the client sent it. This makes all durations measured from that time err on the safe side.
//
// If a hop does not reach the leader, nothing has been done. The server then holds most calls for up to a second. If it
// learns of another leader, it tries again; otherwise, the call fails with NO_LEADER (see leaderWait). If a hop breaks
// after reaching the leader, a call that may have changed something fails with OUTCOME_UNKNOWN. Streams that need the
// leader end when leadership changes, so that a client finds the new leader immediately instead of waiting for a
// timeout.
//
// # Batches
//
// BatchTryAcquire evaluates many requests against a single state, with a single Confirm. Each is admitted, validated
// and counted like a TryAcquire, both here and on the leader. A batch returns only denials and errors, and leaves the
// other requests open. It never changes the state or waits for the log.
//
// # Contexts and grants
//
// TryAcquire and Acquire pass the call's context to the keeper. The keeper abandons a grant only if all calls for it
// ended before it responded to any of them. Once the keeper has returned, the result is final even if the context ends:
// the client may have received it, and will release the permit or let it expire.
package api
