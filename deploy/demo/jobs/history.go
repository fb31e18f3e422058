package jobs

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
)

// span is a period on the shared clock. Its end is exclusive.
type span struct{ from, until time.Duration }

func (s span) has(at time.Duration) bool { return s.from <= at && at < s.until }
func (s span) intersects(o span) bool    { return s.from < o.until && o.from < s.until }

// life describes one application process.
type life struct {
	stage.Life
	// clock is the skew of its clock.
	clock   time.Duration
	started time.Duration
	// suspended is the period during which it was suspended, or empty.
	suspended span
}

// firing is one due run of a job.
type firing struct {
	job string
	due time.Time
}

// run is the result of one grant, according to its application's account.
type run struct {
	*stage.Grant
	firing
	life *life
}

// history combines all accounts.
type history struct {
	lives    []*life
	runs     []*run // sorted by token
	byJob    map[string][]*run
	byFiring map[firing][]*run
}

func newHistory(lives []*life) *history {
	h := &history{lives: lives, byJob: map[string][]*run{}, byFiring: map[firing][]*run{}}
	for _, l := range lives {
		for _, g := range l.Grants() {
			h.runs = append(h.runs, &run{g, firing{g.Semaphore, g.Due}, l})
		}
	}
	slices.SortFunc(h.runs, func(a, b *run) int { return cmp.Compare(a.Token, b.Token) })
	for _, r := range h.runs {
		h.byJob[r.job] = append(h.byJob[r.job], r)
		h.byFiring[r.firing] = append(h.byFiring[r.firing], r)
	}
	return h
}

func (r *run) began() bool { return r.Has(stage.Began) }

// stopped returns when the run stopped working.
func (r *run) stopped() time.Duration {
	if r.Has(returned) {
		return r.Last(returned).At
	}
	return r.life.End()
}

// cut reports whether the servers might not have recorded the firing as done: its permit was lost, its process died, it
// was stopped early, or its release was not confirmed.
func (r *run) cut() bool {
	return r.Last(stage.Ended).Lost || !r.Has(finished) && r.life.Killed > 0 || r.Last(returned).Text != "" || r.Last(finished).Text != ""
}

// unconfirmed reports whether the run finished but no server confirmed the release.
func (r *run) unconfirmed() bool {
	return r.Has(returned) && r.Last(returned).Text == "" && r.Last(finished).Text != ""
}

// neverStarted reports whether the run did not start, so the firing may be claimed again.
func (r *run) neverStarted() bool { return !r.began() && r.Has(finished) }

// next returns the job's next run after r, or nil.
func (h *history) next(r *run) *run {
	all := h.byJob[r.job]
	if i := slices.Index(all, r) + 1; i < len(all) {
		return all[i]
	}
	return nil
}
