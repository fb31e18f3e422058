package hosts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/counted"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
	"github.com/gatekeeperd/gatekeeper/internal/overlap"
)

// tally summarizes all accounts.
type tally struct {
	jobs, shares  int // grants for jobs and for pool shares
	denials, ends map[string]int
	gaveUp        int
	// runCount counts the runs of each firing.
	runCount map[string]int

	beliefs    []overlap.Belief
	violations []string

	// handovers holds the times from the end of one holder's belief to the next holder's grant, for grants that had to
	// wait.
	handovers []time.Duration
	// failover is the time from the leader's death to the next grant, or zero if there was none.
	failover time.Duration
	// orphans is the number of permits that the killed host held.
	orphans int
}

// count computes the tally. permits maps each semaphore to its size. leaderKilled is the time of the leader's death.
func count(lives []*stage.Life, permits map[string]uint32, leaderKilled time.Duration) *tally {
	t := &tally{denials: map[string]int{}, ends: map[string]int{}, runCount: map[string]int{}}
	var grants []*stage.Grant
	for _, l := range lives {
		for _, r := range l.Since(stage.Denied, 0) {
			t.denials[r.Text]++
		}
		t.gaveUp += len(l.Since(gaveUp, 0))
		grants = append(grants, l.Grants()...)
	}
	slices.SortFunc(grants, func(a, b *stage.Grant) int { return cmp.Compare(a.At, b.At) })
	for _, g := range grants {
		t.add(g)
	}
	t.violations = stage.Overlaps(t.beliefs, permits)
	t.handovers = handovers(grants, permits)
	if next := stage.NextGrant(lives, leaderKilled); next > 0 {
		t.failover = next - leaderKilled
	}
	return t
}

// add counts one grant.
func (t *tally) add(g *stage.Grant) {
	t.beliefs = append(t.beliefs, g.Belief(stage.Granted))
	if strings.HasPrefix(g.Semaphore, samples.Pool("")) {
		t.shares++
	} else {
		t.jobs++
	}
	orphan := !g.Has(stage.Ended) && g.Life.Killed > 0
	switch {
	case orphan:
		t.orphans++
	case g.Last(stage.Ended).Lost:
		t.ends["lost"]++
	case g.Has(stage.Ended):
		t.ends["released"]++
	}
	// An orphan's job may have started without a record. No other host may run that firing afterwards.
	if !g.Due.IsZero() && (orphan || g.Has(stage.Began)) {
		t.runCount[g.Semaphore+" at "+g.Due.Format(time.RFC3339)]++
	}
}

// handovers returns the durations of all handovers. A grant is a handover if it had to wait because the semaphore was
// full when the permit was requested. A handover lasts from the end of the last earlier belief in the same semaphore
// until the grant.
func handovers(all []*stage.Grant, permits map[string]uint32) []time.Duration {
	bySemaphore := map[string][]*stage.Grant{}
	for _, g := range all {
		bySemaphore[g.Semaphore] = append(bySemaphore[g.Semaphore], g)
	}
	var found []time.Duration
	for semaphore, grants := range bySemaphore {
		for _, g := range grants {
			var used uint32
			var freed time.Duration
			for _, other := range grants {
				if other.At <= g.RequestedAt && g.RequestedAt < other.Until() {
					used += other.Weight
				}
				if other.Until() <= g.At {
					freed = max(freed, other.Until())
				}
			}
			if used+g.Weight > permits[semaphore] && freed >= g.RequestedAt {
				found = append(found, g.At-freed)
			}
		}
	}
	return found
}

// repeatedFirings returns the firings that ran more than once.
func (t *tally) repeatedFirings() (violations []string) {
	for firing, n := range t.runCount {
		if n > 1 {
			violations = append(violations, fmt.Sprintf("%s ran %d times", firing, n))
		}
	}
	return violations
}

// report reports the counts and the violations.
func (s *Scenario) report(t *tally, f *faultTimes) {
	s.Row("grants", "%d for jobs, %d for pool shares", t.jobs, t.shares)
	s.Row("denials", "%s", counted.Format(t.denials, ", "))
	s.Row("no response in time", "%d", t.gaveUp)
	s.Row("permits ended", "%s, %d with the killed host", counted.Format(t.ends, ", "), t.orphans)
	if times := stage.SpreadOf(t.handovers); times.N == 0 {
		s.Row("handover", "none: every host got a permit immediately")
	} else {
		s.Row("handover", "%v median, %v maximum, over %d grants that had to wait",
			times.Median.Round(10*time.Microsecond), times.Max.Round(10*time.Microsecond), times.N)
	}
	if t.failover > 0 {
		s.Row("failover", "%v from killing %s to the next grant", t.failover.Round(time.Millisecond), f.leader)
	} else {
		s.Violationf("no permit was granted after the leader's death")
	}
	if f.freed > 0 {
		s.Row("killed host", "%s: its slots were freed after %v; the permit duration is %v", f.host, f.freed.Round(10*time.Millisecond), s.Duration)
	}
	s.Row("runs", "%d, %d of them more than once", len(t.runCount), s.AddViolations(t.repeatedFirings()...))
	s.Row("overlaps", "%d among %d beliefs", s.AddViolations(t.violations...), len(t.beliefs))
	if t.jobs == 0 || t.shares == 0 {
		s.Violationf("no job permits or no pool shares were granted, so the run is inconclusive")
	}
}
