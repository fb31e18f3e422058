package admission

import "fmt"

// Kind classifies calls by purpose.
type Kind uint8

const (
	// Vital calls refresh or end live permits, or report the server's health. They are always admitted and not counted.
	Vital Kind = iota
	// Ordinary calls are all other client calls, such as TryAcquire.
	Ordinary
	// Batch calls carry either requests, each of which is admitted as an Ordinary call, or a job's tasks.
	Batch
	// Operator calls change definitions, other holders' permits, or the cluster. A few inexpensive reads are Operator
	// calls too.
	Operator
	// Heavy calls read or compute a lot for one response.
	Heavy
	// Waiting calls are streams that are in progress until their first response and then only wait.
	Waiting

	kinds = int(Waiting) + 1
)

// String returns the kind as shown in metrics and errors.
func (k Kind) String() string {
	return [kinds]string{"vital", "ordinary", "batch", "operator", "heavy", "waiting"}[k]
}

// Kinds returns the kinds that are counted.
func Kinds() []Kind { return []Kind{Ordinary, Batch, Operator, Heavy, Waiting} }

// Limits bound a server's concurrent calls.
type Limits struct {
	// Open limits the open calls of each kind: in progress, waiting, or not yet received. Working limits the calls in
	// progress. The values for Vital are unused.
	Open, Working [kinds]int
}

// DefaultWorking is the default limit on Ordinary calls in progress. A log entry packs up to 256 commands. From 256 to
// 4000 concurrent callers, throughput on two CPUs grew by at most 10%. The rest is headroom for bursts at the top of
// the minute. The limit also bounds how long a refresh queues behind other calls, each of which takes about 30 µs of
// CPU time.
const DefaultWorking = 4096

// maxWaiting limits the open Waiting calls, which use about 15 kB each (measured). It leaves enough of the 32,768
// streams per member connection for the other kinds, including streams that refresh permits.
const maxWaiting = 16 << 10

// NewLimits derives all limits from the limit on Ordinary calls in progress, which must be positive.
func NewLimits(working int) Limits {
	var l Limits
	l.Working[Ordinary] = working
	l.Working[Waiting] = max(working/4, 4)
	l.Working[Batch] = max(working/16, 16)
	l.Working[Operator] = max(working/16, 16)
	l.Working[Heavy] = max(working/128, 4)
	// Few calls of these kinds are open without being in progress: only those whose message has not arrived yet.
	for _, k := range []Kind{Ordinary, Batch, Operator, Heavy} {
		l.Open[k] = max(2*l.Working[k], 64)
	}
	l.Open[Waiting] = max(maxWaiting, l.Working[Waiting])
	return l
}

// openShare returns how many open calls of a kind one connection or identity may have.
func (l *Limits) openShare(k Kind) int { return max(l.Open[k]*2/3, 1) }

// workingShare returns how many calls of a kind one connection or identity may have in progress.
func (l *Limits) workingShare(k Kind) int { return max(l.Working[k]/4, 1) }

// Scope defines which calls count toward a limit.
type Scope uint8

const (
	// Server limits count all of the server's calls.
	Server Scope = iota
	// Connection limits count the calls on one client connection.
	Connection
	// OneIdentity limits count the calls by one group and acquirer, across all connections.
	OneIdentity

	scopes = int(OneIdentity) + 1
)

// String returns the scope as shown in metrics and errors.
func (s Scope) String() string { return [scopes]string{"server", "connection", "identity"}[s] }

// Scopes returns all scopes.
func Scopes() []Scope { return []Scope{Server, Connection, OneIdentity} }

// OverloadedError is returned for a call that is refused before any work is done.
type OverloadedError struct {
	Kind  Kind
	Scope Scope
	// Open reports whether the limit applies to open calls rather than to calls in progress.
	Open bool
	// Limit is the limit that was reached.
	Limit int
}

func (e *OverloadedError) Error() string {
	subject := [scopes]string{"this server has", "this connection has", "this group and acquirer have"}[e.Scope]
	calls := fmt.Sprintf("%d %s calls in progress", e.Limit, e.Kind)
	if e.Open {
		calls = fmt.Sprintf("%d open %s calls", e.Limit, e.Kind)
	}
	return fmt.Sprintf("overloaded: %s %s, which is the limit; nothing was done: try again later or at a lower rate", subject, calls)
}
