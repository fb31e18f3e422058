package jobs

import (
	"fmt"
	"slices"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/internal/overlap"
)

// evidence is everything on which the report is founded.
type evidence struct {
	*history
	jobs   []job
	writes []write
	// claims are what the servers said of the firings at the end; one that is absent was not claimed there.
	claims map[firing]claim
	asked  int // of how many firings
	// window is the part of the timetable in which every firing is expected.
	window window
	// leaderless is from the leader's death to the next grant.
	leaderless stretch
}

// twice are the broken promises of firings that were begun more than once. Only one that was cut short, of a job whose
// firings are then free, may be run again; again counts those.
func (e *evidence) twice() (again int, broken []string) {
	before := map[firing]*run{}
	for _, r := range e.runs {
		if r.givenBack() {
			continue
		}
		was := before[r.firing]
		before[r.firing] = r
		switch {
		case was == nil:
		case !was.cut():
			broken = append(broken, fmt.Sprintf("%s was run twice: by %s and, after that was done, by %s", e.name(r.firing), was, r))
		case !e.job(r.job).free:
			broken = append(broken, fmt.Sprintf("%s is spent by a loss, and was run twice: by %s and by %s", e.name(r.firing), was, r))
		default:
			again++
		}
	}
	return again, broken
}

// overlaps are the moments in which two applications believed in one permit, and tokens that fell.
func (e *evidence) overlaps() (broken []string) {
	var beliefs []overlap.Belief
	permits := map[string]uint32{}
	for _, r := range e.runs {
		beliefs = append(beliefs, r.Belief(stage.Began))
		permits[r.job] = 1
	}
	return stage.Overlaps(beliefs, permits)
}

// successions looks at every run that was followed by another of its job: it must have stopped before the next was
// granted, unless its process was suspended then; those are returned too.
func (e *evidence) successions() (lost int, suspended []*run, broken []string) {
	for _, r := range e.runs {
		if !r.began() {
			continue
		}
		next := e.next(r)
		switch {
		case next != nil && r.stopped() > next.At && r.life.suspended.has(next.At):
			suspended = append(suspended, r)
		case next != nil && r.stopped() > next.At:
			broken = append(broken, fmt.Sprintf("%s went on when %s had begun: for %v", r, next, min(r.stopped(), next.stopped())-next.At))
		case r.cut() || r.Said(finished).Lost:
			lost++
		}
	}
	return lost, suspended, broken
}

// stale are the writes that the store should have refused and did not, or did and should not have.
func (e *evidence) stale() (refused []write, broken []string) {
	newest := map[string]uint64{}
	for _, w := range e.writes {
		switch {
		case w.accepted && w.token < newest[w.job]:
			broken = append(broken, fmt.Sprintf("the store took write %d of %s with token %d after one with token %d", w.step, w.job, w.token, newest[w.job]))
		case w.accepted:
			newest[w.job] = w.token
		case w.token >= newest[w.job]:
			broken = append(broken, fmt.Sprintf("the store refused write %d of %s with token %d, and had seen no newer one", w.step, w.job, w.token))
		default:
			refused = append(refused, w)
		}
	}
	return refused, broken
}

// String is the run for a person.
func (r *run) String() string { return fmt.Sprintf("%s with token %d", r.life.Name, r.Token) }

func (e *evidence) name(f firing) string { return f.job + " of " + f.due.Format("15:04:05") }

// job returns the job of that name.
func (e *evidence) job(name string) job { return find(e.jobs, name) }

func find(jobs []job, name string) job {
	i := slices.IndexFunc(jobs, func(j job) bool { return j.Name == name })
	return jobs[i]
}
