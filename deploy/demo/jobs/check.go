package jobs

import (
	"fmt"
	"slices"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/internal/overlap"
)

// evidence is the data on which the report is based.
type evidence struct {
	*history
	jobs   []job
	writes []write
	// claims holds the servers' final record of each firing. A firing without an entry was not claimed.
	claims  map[firing]claim
	queried int // number of firings whose records were requested from the servers
	// window is the part of the schedule in which every firing must be claimed.
	window window
	// leaderless is the time from the leader's death to the next grant.
	leaderless span
}

// repeatedFirings reports firings that ran more than once as violations. Only a firing that was cut short may run
// again, and only if the job's definition frees such firings. again counts the permitted reruns.
func (e *evidence) repeatedFirings() (again int, violations []string) {
	before := map[firing]*run{}
	for _, r := range e.runs {
		if r.neverStarted() {
			continue
		}
		prev := before[r.firing]
		before[r.firing] = r
		switch {
		case prev == nil:
		case !prev.cut():
			violations = append(violations, fmt.Sprintf("%s was run twice: by %s and, after that run had finished, by %s", e.name(r.firing), prev, r))
		case !e.job(r.job).free:
			violations = append(violations, fmt.Sprintf("%s was spent when its permit was lost, but was run twice: by %s and by %s", e.name(r.firing), prev, r))
		default:
			again++
		}
	}
	return again, violations
}

// overlaps returns a violation for each period in which two applications relied on the same permit, and for each
// decreasing token.
func (e *evidence) overlaps() (violations []string) {
	var beliefs []overlap.Belief
	permits := map[string]uint32{}
	for _, r := range e.runs {
		beliefs = append(beliefs, r.Belief(stage.Began))
		permits[r.job] = 1
	}
	return stage.Overlaps(beliefs, permits)
}

// successions checks every run that was followed by another run of its job. The run must have stopped before the next
// one was granted, unless its process was suspended at that time. suspended lists those exceptions.
func (e *evidence) successions() (lost int, suspended []*run, violations []string) {
	for _, r := range e.runs {
		if !r.began() {
			continue
		}
		next := e.next(r)
		switch {
		case next != nil && r.stopped() > next.At && r.life.suspended.has(next.At):
			suspended = append(suspended, r)
		case next != nil && r.stopped() > next.At:
			violations = append(violations, fmt.Sprintf("%s continued after %s began, overlapping for %v", r, next, min(r.stopped(), next.stopped())-next.At))
		case r.cut() || r.Last(finished).Lost:
			lost++
		}
	}
	return lost, suspended, violations
}

// stale returns the writes that the store refused. It reports writes that the store wrongly accepted or wrongly refused
// as violations.
func (e *evidence) stale() (refused []write, violations []string) {
	newest := map[string]uint64{}
	for _, w := range e.writes {
		switch {
		case w.accepted && w.token < newest[w.job]:
			violations = append(violations, fmt.Sprintf("the store accepted write %d of %s with token %d after one with token %d", w.step, w.job, w.token, newest[w.job]))
		case w.accepted:
			newest[w.job] = w.token
		case w.token >= newest[w.job]:
			violations = append(violations, fmt.Sprintf("the store refused write %d of %s with token %d, but had seen no newer one", w.step, w.job, w.token))
		default:
			refused = append(refused, w)
		}
	}
	return refused, violations
}

// String formats the run for messages.
func (r *run) String() string { return fmt.Sprintf("%s with token %d", r.life.Name, r.Token) }

func (e *evidence) name(f firing) string { return f.job + " at " + f.due.Format("15:04:05") }

// job returns the job with the given name.
func (e *evidence) job(name string) job { return find(e.jobs, name) }

func find(jobs []job, name string) job {
	i := slices.IndexFunc(jobs, func(j job) bool { return j.Name == name })
	return jobs[i]
}
