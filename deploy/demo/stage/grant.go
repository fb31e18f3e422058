package stage

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/overlap"
)

// Never is later than any recorded time.
const Never = time.Duration(1<<63 - 1)

// noElection is too short a time for a new leader to be elected. A grant recorded within this time after the leader's
// death was still made by the dead leader.
const noElection = 50 * time.Millisecond

// Life holds the records that a process wrote before it exited or was killed.
type Life struct {
	Name    string
	Records []Record
	// Killed is the time at which the process was killed, or zero if it exited normally. A dead process no longer
	// relies on its permits.
	Killed time.Duration
}

// End returns the time at which the process was killed, or Never.
func (l *Life) End() time.Duration {
	if l.Killed > 0 {
		return l.Killed
	}
	return Never
}

// Grant is the record of a grant, together with the holder's later records about it.
type Grant struct {
	Record
	Life    *Life
	records map[Event]Record
}

// Grants returns the process's grants in the order in which it recorded them.
func (l *Life) Grants() []*Grant {
	byToken := map[uint64]*Grant{}
	var all []*Grant
	for _, r := range l.Records {
		if r.Event == Granted {
			g := &Grant{r, l, map[Event]Record{}}
			byToken[r.Token] = g
			all = append(all, g)
		}
		if g := byToken[r.Token]; g != nil {
			g.records[r.Event] = r
		}
	}
	return all
}

// Last returns the last record of the given kind about the grant, or the zero Record.
func (g *Grant) Last(e Event) Record { return g.records[e] }

// Has reports whether there is a record of the given kind about the grant.
func (g *Grant) Has(e Event) bool { return g.records[e].Event == e }

// Until returns the recorded end of the belief, or else the time at which the process was killed, or Never.
func (g *Grant) Until() time.Duration {
	if g.Has(Ended) {
		return g.Last(Ended).Until
	}
	return g.Life.End()
}

// Belief returns the holder's belief, which begins with the given event.
func (g *Grant) Belief(from Event) overlap.Belief {
	b := overlap.Belief{Semaphore: g.Semaphore, Token: g.Token, Weight: max(g.Weight, 1), Holder: g.Life.Name}
	if g.Holder != "" {
		b.Holder = g.Holder
	}
	if g.Has(from) {
		b.From, b.Until = g.Last(from).At, g.Until()
	}
	return b
}

// Overlaps returns the periods in which a semaphore's holders relied on more permits than it has, and any
// decreasing tokens.
func Overlaps(beliefs []overlap.Belief, permits map[string]uint32) (violations []string) {
	for _, o := range overlap.Find(beliefs, permits) {
		violations = append(violations, "overlap: "+o.String())
	}
	for _, b := range overlap.DecreasingTokens(beliefs, permits) {
		violations = append(violations, fmt.Sprintf("token decreased: %s held %s with token %d after another holder had a higher one", b.Holder, b.Semaphore, b.Token))
	}
	return violations
}

// NextGrant returns the time of the next leader's first grant after a leader's death, or zero if there was none.
func NextGrant(lives []*Life, death time.Duration) time.Duration {
	var next time.Duration
	for _, l := range lives {
		for _, r := range l.Records {
			if r.Event == Granted && r.At > death+noElection && (next == 0 || r.At < next) {
				next = r.At
			}
		}
	}
	return next
}

// Since returns the records of the given kind from the given time onward.
func (l *Life) Since(e Event, from time.Duration) []Record {
	var found []Record
	for _, r := range l.Records {
		if r.Event == e && r.At >= from {
			found = append(found, r)
		}
	}
	return found
}

// Spread is the number, the median and the maximum of a set of times.
type Spread struct {
	N           int
	Median, Max time.Duration
}

// SpreadOf computes the spread of times. It sorts the slice in place.
func SpreadOf(times []time.Duration) Spread {
	if len(times) == 0 {
		return Spread{}
	}
	slices.SortFunc(times, cmp.Compare[time.Duration])
	return Spread{len(times), times[len(times)/2], times[len(times)-1]}
}
