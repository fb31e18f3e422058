package main

import (
	"slices"
	"sort"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/overlap"
)

// life is everything that one host wrote down, and when it ended if it was killed.
type life struct {
	host    string
	records []record
	// killed is when the host was gone; zero when it ended by itself. Whatever it believed then, it stopped believing with that.
	killed time.Duration
}

// tally is what all accounts say together.
type tally struct {
	grants  map[bool]int // by whether it is a pool
	denials map[string]int
	ends    map[string]int
	gaveUp  int
	// ran is how often each firing was run.
	ran map[string]int

	beliefs  []overlap.Belief
	overlaps []overlap.Overlap
	falling  []overlap.Belief

	// handOvers are the times from the end of one holder's belief to the next holder's grant, where there had been no room for the next.
	handOvers []time.Duration
	// failOver is the time from the leader's death to the next grant; zero when there was none.
	failOver time.Duration
	// orphans is how many permits the killed host held.
	orphans int
}

// noElection is a time in which no new leader can be elected: a grant that a host notes within it after the old leader's death was
// still the old one's.
const noElection = 50 * time.Millisecond

// count makes the tally. permits are the sizes of all semaphores; leaderKilled is when the leader was gone, zero if it was not killed.
func count(lives []life, permits map[string]uint32, isPool func(semaphore string) bool, leaderKilled time.Duration) *tally {
	t := &tally{grants: map[bool]int{}, denials: map[string]int{}, ends: map[string]int{}, ran: map[string]int{}}
	var granted []grant
	for _, l := range lives {
		granted = append(granted, t.add(l, isPool)...)
	}
	sort.Slice(granted, func(i, j int) bool { return granted[i].From < granted[j].From })
	for _, g := range granted {
		t.beliefs = append(t.beliefs, g.Belief)
	}
	t.overlaps = overlap.Find(t.beliefs, permits)
	t.falling = overlap.FallingTokens(t.beliefs, permits)
	t.handOvers = handOvers(granted, permits)
	if leaderKilled > 0 {
		for _, g := range granted {
			if g.From > leaderKilled+noElection {
				t.failOver = g.From - leaderKilled
				break
			}
		}
	}
	return t
}

// grant is a belief with when it was asked for, and the firing that was claimed with it.
type grant struct {
	overlap.Belief
	asked  time.Duration
	firing string
}

// add counts one host's account and returns its grants.
func (t *tally) add(l life, isPool func(string) bool) []grant {
	open := map[uint64]int{} // token -> index in granted
	var granted []grant
	for _, r := range l.records {
		switch r.Event {
		case eventDenied:
			t.denials[r.Reason]++
		case eventGaveUp:
			t.gaveUp++
		case eventGranted:
			t.grants[isPool(r.Semaphore)]++
			open[r.Token] = len(granted)
			granted = append(granted, grant{
				Belief: overlap.Belief{Semaphore: r.Semaphore, Token: r.Token, Weight: r.Weight, Holder: l.host, From: r.At},
				asked:  r.Asked,
				firing: r.Firing,
			})
		case eventEnded:
			t.ends[r.Reason]++
			if i, ok := open[r.Token]; ok {
				granted[i].Until = r.Until
				if f := granted[i].firing; r.Ran && f != "" {
					t.ran[f]++
				}
				delete(open, r.Token)
			}
		}
	}
	for _, i := range open {
		// It never said that it stopped believing. Dead hosts believe nothing; a living one believes for ever, and so is seen.
		granted[i].Until = 1<<63 - 1
		if l.killed > 0 {
			granted[i].Until = l.killed
			t.orphans++
			if f := granted[i].firing; f != "" {
				t.ran[f]++ // whether it had begun died with it: then nobody else may run it
			}
		}
	}
	return granted
}

// handOvers finds, for every grant that had to wait because there was no room when it was asked for, the last belief in its semaphore
// that ended before it: that is the slot that was handed over.
func handOvers(granted []grant, permits map[string]uint32) []time.Duration {
	bySemaphore := map[string][]grant{}
	for _, g := range granted {
		bySemaphore[g.Semaphore] = append(bySemaphore[g.Semaphore], g)
	}
	var found []time.Duration
	for semaphore, grants := range bySemaphore {
		for _, g := range grants {
			var used uint32
			var freed time.Duration
			for _, other := range grants {
				if other.From <= g.asked && g.asked < other.Until {
					used += other.Weight
				}
				if other.Until <= g.From {
					freed = max(freed, other.Until)
				}
			}
			if used+g.Weight > permits[semaphore] && freed >= g.asked {
				found = append(found, g.From-freed)
			}
		}
	}
	slices.Sort(found)
	return found
}

// middle and last are the median and the maximum of sorted durations.
func middle(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }
func last(sorted []time.Duration) time.Duration   { return sorted[len(sorted)-1] }
