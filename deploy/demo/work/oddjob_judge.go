package work

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/internal/overlap"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// judge reports on the rounds and the violations.
func (s *Oddjob) judge(lives []*stage.Life) {
	var all, byFiring []overlap.Belief
	permits, runs := map[string]uint32{}, map[int64][]*stage.Grant{}
	for _, l := range lives {
		for _, g := range l.Grants() {
			runs[g.Due.UnixNano()] = append(runs[g.Due.UnixNano()], g)
			b := g.Belief(stage.Granted)
			all = append(all, b)
			b.Semaphore = "the firing of " + g.Due.Format(time.TimeOnly)
			byFiring, permits[b.Semaphore] = append(byFiring, b), 1
		}
	}
	lines, good := [][]string{{"round", "due", "done by", "idle", "idle worker notified of"}}, 0
	for i, due := range s.dueTimes {
		idle, claim := processesWith(lives, lost, due), s.claims[due]
		if s.AddViolations(s.judgeRound(i, runs[due.UnixNano()], idle)...) == 0 {
			good++
		}
		lines = append(lines, []string{
			strconv.Itoa(i + 1), due.Format(time.TimeOnly), claim.GetWinner().GetAcquirer(), strings.Join(idle, ", "), strings.Join(notifications(lives, due), ", "),
		})
	}
	s.Row("rounds", "%d of %d were done once, by the recorded worker, and left a worker idle", good, len(s.dueTimes))
	s.Row("overlaps", "%d among %d worker beliefs", s.AddViolations(stage.Overlaps(byFiring, permits)...), len(byFiring))
	busy := overlap.Find(all, map[string]uint32{oddjobWork: oddjobWorkers - 1})
	for _, o := range busy {
		s.Violationf("all workers were busy for %v", o.Until-o.From)
	}
	s.Row("always idle", "1 of %d workers; number of times when all were busy: %d", oddjobWorkers, len(busy))
	s.Tables = append(s.Tables, stage.Table{Title: "rounds", Lines: lines})
}

// judgeRound compares a round's runs with the servers' record.
func (s *Oddjob) judgeRound(i int, runs []*stage.Grant, idle []string) (violations []string) {
	round, claim := "round "+strconv.Itoa(i+1), s.claims[s.dueTimes[i]]
	if claim.GetState() != gatekeeperv1.FiringState_FIRING_STATE_DONE {
		violations = append(violations, round+" is recorded as "+stateName(claim.GetState()))
	}
	var by []string // excludes the worker that was killed
	for _, g := range runs {
		if g.Life.Name != s.killed || i < len(s.dueTimes)-1 {
			by = append(by, g.Life.Name)
		}
	}
	if winner := claim.GetWinner().GetAcquirer(); !slices.Equal(by, []string{winner}) {
		violations = append(violations, round+" was done by "+strconv.Quote(strings.Join(by, ", "))+" and recorded for "+winner)
	}
	// In the first round, no worker is still busy with a previous round.
	if len(idle) == 0 || len(idle) > 1 && i > 0 {
		violations = append(violations, round+" left idle: "+strconv.Quote(strings.Join(idle, ", ")))
	}
	return violations
}

// notifications returns the notifications that idle workers received about a firing.
func notifications(lives []*stage.Life, due time.Time) (texts []string) {
	for _, l := range lives {
		for _, r := range l.Since(notified, 0) {
			if r.Due.Equal(due) {
				texts = append(texts, r.Text)
			}
		}
	}
	return texts
}
