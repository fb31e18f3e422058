// Package client talks to a Gatekeeper cluster: it acquires permits, keeps them alive while a job runs, and notifies
// the job when its permit is lost.
//
//	c, err := client.Dial(ctx, nil) // GK_ENDPOINTS, or 127.0.0.1:7420
//	...
//	defer c.Close()
//	permit, err := c.Semaphore("nightly-export").TryAcquire(ctx)
//	if denied, ok := errors.AsType[*client.DeniedError](err); ok {
//		log.Print(denied) // includes the reason and the holders
//		return nil
//	}
//	...
//	defer permit.Release(ctx)
//	return export(permit.Context())
//
// # How long a holder can rely on its permit
//
// The leader and this process each measure a permit's duration with their own clock, and the two clocks are never
// compared. Both sides assume only that their clocks run at nearly the same rate, at most 1% apart. The client
// therefore relies on a permit until
//
//	send + waited + duration - margin,    margin = 2% of (waited + duration)
//
// where send is the local time before the attempt was passed to the transport, and waited is how long, by the leader's
// clock, the call was in the queue before its grant was proposed to the log. The leader starts counting no earlier than
// that and extends its own deadline by a grace period. A new leader restarts every permit with its full duration. So
// this deadline passes before the slot can be granted to another holder. A late response makes no difference, because
// the client counts from the send time.
//
// The code calls this period belief. permit.go, belief.go and keepalive.go follow these rules:
//
//   - A permit ends only when the leader reports that it has, or at the local deadline. Losing the connection to a
//     server does not end it: the client retries the refresh on all members until the local deadline.
//   - At most one refresh of a permit is outstanding, and only its response counts. Each frame states the duration that
//     the client uses once the frame is sent. If that duration is shorter than before, belief shrinks at that moment,
//     because a leader may then pass the shorter duration to its successor.
//   - A refused refresh is not yet a loss: the permit's context ends so that the job stops, but belief lasts until its
//     deadline. The status LOST ends belief immediately.
//   - Belief ends before a release is sent, and a permit that was lost or released is never valid again.
//   - Time is CLOCK_BOOTTIME where available, which advances while the machine is suspended. No lock service can
//     protect against a machine resumed from a memory snapshot, or a process paused between a check and a write: pass
//     Token with each write, and make the resource reject any token older than the newest it has seen.
//
// # Jobs
//
// Wrap and Runner acquire a permit, run a function, and release the permit, as a careful caller of TryAcquire would do
// by hand; see Runner. The order of the steps matters: the job's context ends while the permit is still valid, the job
// returns, and the permit is released last. The next holder therefore never overlaps with the previous one. No job runs
// without a permit unless OutageRunUnguarded is set.
//
// # Calls
//
// Every call goes to the endpoint that responded last, or to the leader if a server named it, with a timeout for each
// attempt. A call that is safe to repeat is retried on all endpoints, with jittered backoff, until the context ends.
// Any call is safe to repeat if the server reports that it did nothing. If the outcome is unknown, a call is retried
// only if making it twice has the same effect as making it once. This is true for reads, refreshes, releases and
// cancellations, and for acquisitions and edits with a request id. If certificate errors keep a Client from reaching
// any endpoint, and it has never reached a server, a call gives up after one round; see CertificateError. The Client
// classifies errors from servers by google.rpc.ErrorInfo, never by their text. The exception is a failed TLS handshake,
// whose error carries only text.
//
// Goroutines that are denied the same semaphores at the same time request them in batches; see batch.go. A batch only
// makes denials cheaper; it never grants a permit. Requests that it does not answer are then sent one by one, as are
// all requests to servers that do not support batches. WithCallsAlone turns batches off.
//
// # Errors
//
// An error that carries data is a *XError, for errors.AsType. A sentinel ErrX, for errors.Is, is enough for most
// decisions: ErrDenied, ErrUnavailable, ErrOutcomeUnknown, ErrClosed, ErrWrongCluster, and the reasons why a permit's
// context ended. A refusal by a server is a *StatusError or wraps one. Error messages are meant for people: they have
// no prefix, name the object at fault, and say what to do next. If the caller's context ends before the first attempt,
// the call returns that context's error unchanged.
//
// # Compatibility
//
// Within major version 1, code that compiles with this package and relies only on documented guarantees continues to
// compile and work. New versions may add functions, methods, options, constants, and fields of structs: name the fields
// in struct literals, and give every switch over a Reason or a policy a default case. The text of errors and log
// messages may change. Symbols documented as "for tests", such as WithClock, may change in a minor version. The
// messages of package gatekeeperv1 follow the API, which follows the same rule: no field changes its number, type or
// meaning. A new call adds a method to its client and server interfaces: embed the Unimplemented server, and do not
// implement the client interfaces.
//
// A client works with servers of the same major version, older or newer. A call that an older server does not support
// fails with a *StatusError with code Unimplemented. If the cluster must be upgraded before a call works, the error has
// the reason FEATURE_LEVEL. Reasons known only to a newer server are passed on unchanged.
package client
