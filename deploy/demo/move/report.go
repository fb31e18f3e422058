package move

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/internal/overlap"
)

// leg is a move of all tasks from one zone to the other. Times are relative to the first event about the edit.
type leg struct {
	// handOver holds the times from the end of the old holder's belief to the start of the new holder's.
	ordered, stopped, handOver []time.Duration
	started                    map[string]time.Duration
}

func newLeg(began time.Duration, from, to *stage.Life) *leg {
	l := &leg{started: map[string]time.Duration{}}
	orders := from.Since(ordered, began)
	heard := slices.Concat(from.Since(edited, began), to.Since(edited, began), orders)
	if len(heard) == 0 {
		return l // no host received an event, so no task was started either
	}
	edit := slices.MinFunc(heard, func(a, b stage.Record) int { return cmp.Compare(a.At, b.At) }).At
	for _, r := range orders {
		l.ordered = append(l.ordered, r.At-edit)
	}
	ended := map[string]time.Duration{}
	for _, r := range from.Since(stage.Ended, began) {
		ended[r.Semaphore] = r.Until
		l.stopped = append(l.stopped, r.Until-edit)
	}
	for _, r := range to.Since(stage.Granted, began) {
		l.started[r.Semaphore] = r.At - edit
		if until, ok := ended[r.Semaphore]; ok {
			l.handOver = append(l.handOver, r.At-until)
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
		{"  ordered to stop", l.ordered}, {"  old holders stopped", l.stopped}, {"  new holders started", started}, {"  handover", l.handOver},
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
func (m *moveOutput) judge(deaf string) (broken []string) {
	var overran []string
	for _, task := range m.Tasks {
		for _, s := range task.Stopped {
			if s.Overran {
				overran = append(overran, task.Name)
			}
		}
	}
	if !slices.Contains(overran, deaf) {
		broken = append(broken, fmt.Sprintf("gkctl reports overruns for %[2]q, but not for %[1]s, whose holder ignored its drain", deaf, overran))
	}
	if m.Left > 0 {
		broken = append(broken, fmt.Sprintf("gkctl reports that %d old holders remain", m.Left))
	}
	return broken
}

// judge finds overlaps and losses in the hosts' records. The stubborn holder is in the first zone.
func (s *Story) judge(lives []*stage.Life, deaf string) {
	permits := map[string]uint32{}
	var beliefs []overlap.Belief
	var lost int
	var kept *stage.Grant // the stubborn holder loses its permit at its deadline
	for _, l := range lives {
		for _, g := range l.Grants() {
			permits[g.Semaphore] = 1
			beliefs = append(beliefs, g.Belief(stage.Granted))
			switch {
			case !g.Has(stage.Ended):
				s.Breakf("no record of how the belief in token %d ended", g.Token)
			case g.Said(stage.Ended).Lost && g.Semaphore == deaf && kept == nil:
				kept = g
			case g.Said(stage.Ended).Lost:
				lost++
				s.Breakf("%s was lost by %s", g.Semaphore, g.Holder)
			}
		}
	}
	s.judgeDeaf(kept, deaf)
	s.Row("overlaps", "%d among %d beliefs", s.Break(stage.Overlaps(beliefs, permits)...), len(beliefs))
	s.Row("lost permits", "%d", lost)
}

// judgeDeaf reports how long the holder that ignored its drain kept its slot after the order to stop.
func (s *Story) judgeDeaf(kept *stage.Grant, deaf string) {
	if kept == nil || !kept.Has(ordered) || len(s.legs) == 0 {
		s.Breakf("the holder of %s did not keep its permit until the deadline", deaf)
		return
	}
	span := kept.Until() - kept.Said(ordered).At
	s.Row("drain ignored", "%s: its holder kept it for %.2fs, until its deadline; the next holder started at %.2fs",
		deaf, span.Seconds(), s.legs[0].started[deaf].Seconds())
	if span < s.drain*9/10 {
		s.Breakf("the holder of %s lost its permit before the drain was over, after %v", deaf, span)
	}
}
