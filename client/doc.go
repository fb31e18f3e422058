// Package client talks to a Gatekeeper cluster: it acquires permits, keeps them alive while a job runs, and notifies
// the job when its permit is lost.
//
//	c, err := client.Dial(ctx, nil) // GK_ENDPOINTS, or 127.0.0.1:7420
//	...
//	defer c.Close()
//	permit, err := c.Semaphore("nightly-export").TryAcquire(ctx)
//	if denied, ok := errors.AsType[*client.DeniedError](err); ok {
//		log.Print(denied) // says why, and who holds
//		return nil
//	}
//	...
//	defer permit.Release(ctx)
//	return export(permit.Context())
//
// # What a holder may believe
//
// A permit is counted by two clocks that are never compared: the leader's and this process's. All that both sides know
// is that their clocks run at nearly the same rate, at most 1 % apart. The client therefore believes in a permit only
// until
//
//	send + waited + duration - margin,    margin = 2 % of (waited + duration)
//
// where send is its own time before the attempt whose answer it uses was handed to the transport, and waited is how
// long the leader says that the call stood in the queue before its grant was handed to the log. The leader began to
// count no earlier than that, lets its own deadline run longer by a grace, and a new leader starts every permit's full
// duration again, so belief here ends before the slot can be given to anybody else. An answer that comes late changes
// nothing: it counts from its send.
//
// From this follow the rules that permit.go, belief.go and keepalive.go keep:
//
//   - Only an answer of a server that leads, or the local deadline, ends a permit. A server that cannot be reached is
//     no loss: the refresh is tried on all members until the local deadline.
//   - At most one attempt to refresh a permit is outstanding, and only its answer counts. A frame states the duration
//     by which the client counts from there on; when that has become shorter, belief shrinks to it as the frame is
//     sent, since a leader may from then on hand the shorter one to its successor.
//   - A refused refresh is no loss yet: the permit's context ends so that the job stops, and belief runs to its
//     deadline, no longer. The word LOST ends belief at once.
//   - Belief ends before a release is sent, and a permit that was lost or released never comes back.
//   - Time is CLOCK_BOOTTIME where there is one, which goes on while the machine is suspended. A machine that is
//     resumed from a memory snapshot, and a process paused between a check and a write, are beyond any lock service:
//     pass Token along with each write and let the resource refuse one that is older than the newest it has seen.
//
// # Jobs
//
// Wrap and Runner do for a function what a careful caller of TryAcquire does by hand: job.go says what a run is. The
// order is what matters. The job's context ends while the permit still lasts; the job is joined; only then is the
// permit released, so that the next holder never meets the last one. Nothing runs without a permit, unless
// OutageRunUnguarded was asked for.
//
// # Calls
//
// Every call is made on the endpoint that answered last, or on the leader when a server named it, with a timeout for
// each attempt. What is safe to repeat is repeated, over all endpoints and with jittered back-off, until the context
// ends: every call of which a server says that nothing was done, and after an unknown outcome those that a repeat
// cannot do twice: reads, refreshes, releases, cancellations, and acquisitions and edits that carry a request id. A
// Client that certificates have kept from every endpoint, and that never got through before, gives up after one round;
// see CertificateError. Errors of servers are decided on google.rpc.ErrorInfo alone, never on text; only of a failed
// TLS handshake the text is all there is.
//
// Goroutines that are denied the same semaphores at the same time ask for them in batches: batch.go. A batch makes
// denials cheaper and changes nothing else. It never grants, and whatever it does not answer is asked for again, each
// request alone, as for servers that do not know batches. WithCallsAlone does without them.
//
// # Errors
//
// An error that carries data is a *XError, for errors.AsType. A sentinel ErrX, for errors.Is, stands for what callers
// decide on without the data: ErrDenied, ErrUnavailable, ErrOutcomeUnknown, ErrClosed, ErrWrongCluster, and the reasons
// why a permit's context ended. A refusal by a server is a *StatusError or wraps one. Texts are for people: they have
// no prefix, name what the error is about, and say what to do next. The end of the caller's own context before anything
// was asked is that context's error, unchanged.
//
// # Compatibility
//
// Within major version 1, code that compiles with this package and uses what its comments promise continues to compile
// and to work. New versions may add functions, methods, options, constants, and fields of structs: name the fields in
// struct literals, and give every switch over a Reason or a policy a default. Texts of errors and log messages may
// change. What a comment calls "for tests", such as WithClock, may change in a minor version. The messages of package
// gatekeeperv1 follow the API, which follows the same rule: no field changes its number, type or meaning. A new call
// adds a method to its client and server interfaces: embed the Unimplemented server, and do not implement the clients.
//
// A client works with servers of the same major version, older or newer. A call that an older server does not know
// fails with a *StatusError of code Unimplemented; one that the cluster must first be upgraded for has the reason
// FEATURE_LEVEL. Reasons of a newer server are passed on as they are.
package client
