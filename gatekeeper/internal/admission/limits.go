package admission

import "fmt"

// Kind says what a call is for.
type Kind uint8

const (
	// Vital calls keep or end live permits, or tell how the server is. They are let in always, and not counted.
	Vital Kind = iota
	// Ordinary calls are all others of clients, such as a TryAcquire.
	Ordinary
	// Batch calls bring requests, each of which is admitted as an Ordinary call, or the tasks of a job.
	Batch
	// Operator calls change definitions, permits of others, or the cluster.
	Operator
	// Heavy calls read or compute much for one answer.
	Heavy
	// Waiting calls are streams that are in work until their first answer, and wait from then on.
	Waiting

	kinds = int(Waiting) + 1
)

// String is the kind as it stands in metrics and errors.
func (k Kind) String() string {
	return [kinds]string{"vital", "ordinary", "batch", "operator", "heavy", "waiting"}[k]
}

// Kinds are those that are counted.
func Kinds() []Kind { return []Kind{Ordinary, Batch, Operator, Heavy, Waiting} }

// Limits bound what a server does at once.
type Limits struct {
	// Open is the most calls of each kind that are open: in work, waiting, or not yet received. Working is the most
	// that are in work. Those of Vital mean nothing.
	Open, Working [kinds]int
}

// DefaultWorking is the most ordinary calls in work, unless an operator knows better. Commands go to the log by 256 in
// an entry, and from 256 to 4000 callers at once two processors answered no more than a tenth more; what is beyond is
// room for the calls that all come at a full minute. It bounds how long a refresh stands behind others: some 30 µs of a
// processor each.
const DefaultWorking = 4096

// maxWaiting is the most open calls that wait, at some 15 kB each (measured). With the other kinds it leaves a
// connection between members, which carries 32 768 streams, enough for those that keep permits alive.
const maxWaiting = 16 << 10

// NewLimits are those for this many ordinary calls in work, which is above 0.
func NewLimits(working int) Limits {
	var l Limits
	l.Working[Ordinary] = working
	l.Working[Waiting] = max(working/4, 4)
	l.Working[Batch] = max(working/16, 16)
	l.Working[Operator] = max(working/16, 16)
	l.Working[Heavy] = max(working/128, 4)
	// Of those that do not wait few are open and not in work: those whose message has not come yet.
	for _, k := range []Kind{Ordinary, Batch, Operator, Heavy} {
		l.Open[k] = max(2*l.Working[k], 64)
	}
	l.Open[Waiting] = max(maxWaiting, l.Working[Waiting])
	return l
}

// openOf is the most open calls of that kind of one connection or identity.
func (l *Limits) openOf(k Kind) int { return max(l.Open[k]*2/3, 1) }

// workingOf is the most calls of that kind in work of one connection or identity.
func (l *Limits) workingOf(k Kind) int { return max(l.Working[k]/4, 1) }

// Scope is whose calls a limit is on.
type Scope uint8

const (
	// Server is all of them together.
	Server Scope = iota
	// Connection is one of a client.
	Connection
	// OneIdentity is one group and acquirer, whatever connections it uses.
	OneIdentity

	scopes = int(OneIdentity) + 1
)

// String is the scope as it stands in metrics and errors.
func (s Scope) String() string { return [scopes]string{"server", "connection", "identity"}[s] }

// Scopes are all of them.
func Scopes() []Scope { return []Scope{Server, Connection, OneIdentity} }

// OverloadedError refuses a call of which nothing was done.
type OverloadedError struct {
	Kind  Kind
	Scope Scope
	// Open: too many are open; else too many are in work.
	Open bool
	// Limit is how many there may be.
	Limit int
}

func (e *OverloadedError) Error() string {
	whose := [scopes]string{"this server has", "this connection has", "this group and acquirer have"}[e.Scope]
	what := fmt.Sprintf("%d %s calls in work", e.Limit, e.Kind)
	if e.Open {
		what = fmt.Sprintf("%d %s calls open", e.Limit, e.Kind)
	}
	return fmt.Sprintf("overloaded: %s %s, the most at once; nothing was done: try again later or at a lower rate", whose, what)
}
