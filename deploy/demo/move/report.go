package move

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/internal/overlap"
)

// leg is a move of all tasks from one zone to the other. Times are relative to the first event that the edit
// caused.
type leg struct {
	// handovers holds the times between the end of the old holder's belief and the start of the new holder's.
	ordered, stopped, handovers []time.Duration
	started                     map[string]time.Duration
}

func newLeg(start time.Duration, from, to *stage.Life) *leg {
	l := &leg{started: map[string]time.Duration{}}
	orders := from.Since(ordered, start)
	events := slices.Concat(from.Since(edited, start), to.Since(edited, start), orders)
	if len(events) == 0 {
		return l // no host received an event, so no tasks were started either
	}
	edit := slices.MinFunc(events, func(a, b stage.Record) int { return cmp.Compare(a.At, b.At) }).At
	for _, r := range orders {
		l.ordered = append(l.ordered, r.At-edit)
	}
	ended := map[string]time.Duration{}
	for _, r := range from.Since(stage.Ended, start) {
		ended[r.Semaphore] = r.Until
		l.stopped = append(l.stopped, r.Until-edit)
	}
	for _, r := range to.Since(stage.Granted, start) {
		l.started[r.Semaphore] = r.At - edit
		if until, ok := ended[r.Semaphore]; ok {
			l.handovers = append(l.handovers, r.At-until)
		}
	}
	return l
}

func (l *leg) report(r *stage.Report, name string) {
	r.Row(name, "times are relative to the edit")
	var started []time.Duration
	for _, at := range l.started {
		started = append(started, at)
	}
	for _, row := range []struct {
		name  string
		times []time.Duration
	}{
		{"  ordered to stop", l.ordered}, {"  old holders stopped", l.stopped}, {"  new holders started", started}, {"  handover", l.handovers},
	} {
		s := stage.SpreadOf(row.times)
		r.Row(row.name, "%d, median %.3fs, maximum %.3fs", s.N, s.Median.Seconds(), s.Max.Seconds())
	}
}

// moveOutput holds the fields of gkctl move's output that are used here.
type moveOutput struct {
	Revision string `json:"revision"`
	Tasks    []struct {
		Name    string `json:"name"`
		Stopped []struct {
			Overran bool `json:"overran"`
		} `json:"stopped"`
	} `json:"tasks"`
	Left int `json:"left"`
}

// judge compares gkctl's output with what actually happened.
func (m *moveOutput) judge(stubborn string) (violations []string) {
	var overran []string
	for _, task := range m.Tasks {
		for _, s := range task.Stopped {
			if s.Overran {
				overran = append(overran, task.Name)
			}
		}
	}
	if !slices.Contains(overran, stubborn) {
		violations = append(violations, fmt.Sprintf("gkctl reports overruns for %[2]q, but not for %[1]s, whose holder ignored its drain", stubborn, overran))
	}
	if m.Left > 0 {
		violations = append(violations, fmt.Sprintf("gkctl reports that %d old holders remain", m.Left))
	}
	return violations
}

// judge finds overlaps and losses in the hosts' records. The stubborn holder is in the first zone.
func (s *Scenario) judge(lives []*stage.Life, stubborn string) {
	permits := map[string]uint32{}
	var beliefs []overlap.Belief
	var lost int
	var kept *stage.Grant // the stubborn holder's grant, which is lost at its deadline
	for _, l := range lives {
		for _, g := range l.Grants() {
			permits[g.Semaphore] = 1
			beliefs = append(beliefs, g.Belief(stage.Granted))
			switch {
			case !g.Has(stage.Ended):
				s.Violationf("no record of how the belief in token %d ended", g.Token)
			case g.Last(stage.Ended).Lost && g.Semaphore == stubborn && kept == nil:
				kept = g
			case g.Last(stage.Ended).Lost:
				lost++
				s.Violationf("%s was lost by %s", g.Semaphore, g.Holder)
			}
		}
	}
	s.judgeStubborn(kept, stubborn)
	s.Row("overlaps", "%d among %d beliefs", s.AddViolations(stage.Overlaps(beliefs, permits)...), len(beliefs))
	s.Row("lost permits", "%d", lost)
}

// judgeStubborn reports how long the holder that ignored its drain kept its permit after the order to stop.
func (s *Scenario) judgeStubborn(kept *stage.Grant, stubborn string) {
	if kept == nil || !kept.Has(ordered) || len(s.legs) == 0 {
		s.Violationf("the holder of %s did not keep its permit until the deadline", stubborn)
		return
	}
	held := kept.Until() - kept.Last(ordered).At
	s.Row("drain ignored", "%s: the holder kept the permit for %.2fs, until its deadline; the next holder started at %.2fs",
		stubborn, held.Seconds(), s.legs[0].started[stubborn].Seconds())
	if held < s.drain*9/10 {
		s.Violationf("the holder of %s lost its permit after %v, before the drain was over", stubborn, held)
	}
}
