package jobs

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
)

// stretch is a part of the shared clock's time, its end not included.
type stretch struct{ from, until time.Duration }

func (s stretch) has(at time.Duration) bool { return s.from <= at && at < s.until }
func (s stretch) meets(o stretch) bool      { return s.from < o.until && o.from < s.until }

// life is one process of an application.
type life struct {
	stage.Life
	// clock is how far its clock was off.
	clock   time.Duration
	started time.Duration
	// suspended is when it did not run; empty if it always did.
	suspended stretch
}

// firing is one due run of a job.
type firing struct {
	job string
	due time.Time
}

// run is what became of one grant, by the account of its application.
type run struct {
	*stage.Grant
	firing
	life *life
}

// history is all accounts together.
type history struct {
	lives []*life
	runs  []*run // in the order of their tokens
	byJob map[string][]*run
	by    map[firing][]*run
}

func newHistory(lives []*life) *history {
	h := &history{lives: lives, byJob: map[string][]*run{}, by: map[firing][]*run{}}
	for _, l := range lives {
		for _, g := range l.Grants() {
			h.runs = append(h.runs, &run{g, firing{g.Semaphore, g.Due}, l})
		}
	}
	slices.SortFunc(h.runs, func(a, b *run) int { return cmp.Compare(a.Token, b.Token) })
	for _, r := range h.runs {
		h.byJob[r.job] = append(h.byJob[r.job], r)
		h.by[r.firing] = append(h.by[r.firing], r)
	}
	return h
}

func (r *run) began() bool { return r.Has(stage.Began) }

// stopped is when the run did nothing any more.
func (r *run) stopped() time.Duration {
	if r.Has(returned) {
		return r.Said(returned).At
	}
	return r.life.End()
}

// cut says that the servers may not know the firing as done: its permit was lost, died with its process, it was stopped
// before its end, or its release was not confirmed.
func (r *run) cut() bool {
	return r.Said(stage.Ended).Lost || !r.Has(finished) && r.life.Killed > 0 || r.Said(returned).Text != "" || r.Said(finished).Text != ""
}

// unconfirmed says that it ran to its end, and that no server has confirmed the release.
func (r *run) unconfirmed() bool {
	return r.Has(returned) && r.Said(returned).Text == "" && r.Said(finished).Text != ""
}

// givenBack says that nothing was begun, so that the firing may be claimed again.
func (r *run) givenBack() bool { return !r.began() && r.Has(finished) }

// next is the job's next grant; nil when there was none.
func (h *history) next(r *run) *run {
	all := h.byJob[r.job]
	if i := slices.Index(all, r) + 1; i < len(all) {
		return all[i]
	}
	return nil
}
