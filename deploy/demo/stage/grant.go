package stage

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/overlap"
)

// Never is later than every instant.
const Never = time.Duration(1<<63 - 1)

// noElection is a time in which no new leader can be elected. A grant that a process notes so soon after the leader's
// death still came from the dead leader.
const noElection = 50 * time.Millisecond

// Life is one process and everything that it wrote down.
type Life struct {
	Name    string
	Records []Record
	// Killed is when the process was gone; zero when it ended in order. A dead process believes nothing.
	Killed time.Duration
}

// End is when the process was killed; Never if it was not.
func (l *Life) End() time.Duration {
	if l.Killed > 0 {
		return l.Killed
	}
	return Never
}

// Grant is one grant, and what its holder wrote down about it afterwards.
type Grant struct {
	Record
	Life *Life
	said map[Event]Record
}

// Grants are the grants of a process, in the order in which it wrote them down.
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
			g.said[r.Event] = r
		}
	}
	return all
}

// Said is the last record of this kind about the grant; the zero Record when there is none.
func (g *Grant) Said(e Event) Record { return g.said[e] }

// Has reports whether there is a record of this kind about the grant.
func (g *Grant) Has(e Event) bool { return g.said[e].Event == e }

// Until is the end of belief. A process that never wrote it down believed until its death: a living one believes for
// ever.
func (g *Grant) Until() time.Duration {
	if g.Has(Ended) {
		return g.Said(Ended).Until
	}
	return g.Life.End()
}

// Belief is what the holder believed, from an event on.
func (g *Grant) Belief(from Event) overlap.Belief {
	b := overlap.Belief{Semaphore: g.Semaphore, Token: g.Token, Weight: max(g.Weight, 1), Holder: g.Life.Name}
	if g.Holder != "" {
		b.Holder = g.Holder
	}
	if g.Has(from) {
		b.From, b.Until = g.Said(from).At, g.Until()
	}
	return b
}

// Overlaps are the moments at which more was believed in than the semaphores' permits, and the tokens that fell.
func Overlaps(beliefs []overlap.Belief, permits map[string]uint32) (broken []string) {
	for _, o := range overlap.Find(beliefs, permits) {
		broken = append(broken, "overlap: "+o.String())
	}
	for _, b := range overlap.FallingTokens(beliefs, permits) {
		broken = append(broken, fmt.Sprintf("falling token: %s held %s with token %d after a holder with a higher one", b.Holder, b.Semaphore, b.Token))
	}
	return broken
}

// NextGrant is the first grant after the leader's death that the next leader gave; zero when there is none.
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

// Since are the records of this kind from an instant on.
func (l *Life) Since(e Event, from time.Duration) []Record {
	var found []Record
	for _, r := range l.Records {
		if r.Event == e && r.At >= from {
			found = append(found, r)
		}
	}
	return found
}

// Spread is the number, the median and the largest of some times.
type Spread struct {
	N           int
	Median, Max time.Duration
}

// SpreadOf sorts the times.
func SpreadOf(times []time.Duration) Spread {
	if len(times) == 0 {
		return Spread{}
	}
	slices.SortFunc(times, cmp.Compare[time.Duration])
	return Spread{len(times), times[len(times)/2], times[len(times)-1]}
}
