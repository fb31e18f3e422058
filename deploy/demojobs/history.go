package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demojobs/app"
)

// never is later than every instant.
const never = time.Duration(1<<63 - 1)

// stretch is a part of the shared clock's time, its end not included.
type stretch struct{ from, until time.Duration }

func (s stretch) has(at time.Duration) bool { return s.from <= at && at < s.until }
func (s stretch) meets(o stretch) bool      { return s.from < o.until && o.from < s.until }

// life is one process of an application and everything that it wrote down.
type life struct {
	app string
	// clock is how far its clock was off.
	clock   time.Duration
	started time.Duration
	// killed is when it was gone; zero when it ended by itself. Whatever it believed then, it stopped believing with that.
	killed time.Duration
	// suspended is when it did not run; empty if it always did.
	suspended stretch
	records   []app.Record
}

func (l *life) end() time.Duration {
	if l.killed > 0 {
		return l.killed
	}
	return never
}

// firing is one due run of a job.
type firing struct {
	job string
	due time.Time
}

// run is what became of one grant, by the account of its application.
type run struct {
	firing
	life  *life
	token uint64

	granted  time.Duration
	began    time.Duration // 0: it never did
	returned time.Duration // 0: not before the process died
	failed   string        // the error with which it returned
	until    time.Duration // the end of belief; 0: not told
	lost     bool          // belief ended by its deadline

	finished bool   // it told of its release
	told     bool   // it was told to stop for want of its permit
	release  string // why the release was not confirmed
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
		h.runs = append(h.runs, runsOf(l)...)
	}
	slices.SortFunc(h.runs, func(a, b *run) int { return cmp.Compare(a.token, b.token) })
	for _, r := range h.runs {
		h.byJob[r.job] = append(h.byJob[r.job], r)
		h.by[r.firing] = append(h.by[r.firing], r)
	}
	return h
}

func runsOf(l *life) []*run {
	byToken := map[uint64]*run{}
	var all []*run
	for _, rec := range l.records {
		r := byToken[rec.Token]
		if rec.Event == app.Granted {
			r = &run{firing: firing{rec.Job, rec.Due}, life: l, token: rec.Token, granted: rec.At}
			byToken[rec.Token] = r
			all = append(all, r)
		}
		if r == nil {
			continue
		}
		switch rec.Event {
		case app.Began:
			r.began = rec.At
		case app.Returned:
			r.returned, r.failed = rec.At, rec.Text
		case app.Ended:
			r.until, r.lost = rec.Until, rec.Lost
		case app.Finished:
			r.finished, r.told, r.release = true, rec.Lost, rec.Text
		}
	}
	return all
}

// stopped is when the run did nothing any more.
func (r *run) stopped() time.Duration {
	if r.returned > 0 {
		return r.returned
	}
	return r.life.end()
}

// believed is when the application believed to hold the permit. A living one that never said that it stopped believes for ever.
func (r *run) believed() stretch {
	if r.began == 0 {
		return stretch{}
	}
	s := stretch{r.began, r.life.end()}
	if r.until > 0 {
		s.until = r.until
	}
	return s
}

// cut says that the servers may not know the firing as done: its permit was lost, died with its process, it was stopped before
// its end, or its release was not confirmed.
func (r *run) cut() bool {
	return r.lost || !r.finished && r.life.killed > 0 || r.failed != "" || r.release != ""
}

// untold says that it ran to its end, and that no server has confirmed the release.
func (r *run) untold() bool { return r.returned > 0 && r.failed == "" && r.release != "" }

// givenBack says that nothing was begun, so that the firing may be claimed again.
func (r *run) givenBack() bool { return r.began == 0 && r.finished }

// next is the job's next grant; nil when there was none.
func (h *history) next(r *run) *run {
	all := h.byJob[r.job]
	if i := slices.Index(all, r) + 1; i < len(all) {
		return all[i]
	}
	return nil
}

// underWay are the runs that had begun and not returned at that moment.
func (h *history) underWay(at time.Duration) []*run {
	var all []*run
	for _, r := range h.runs {
		if r.began > 0 && (stretch{r.began, r.stopped()}).has(at) {
			all = append(all, r)
		}
	}
	return all
}

// orphans are the permits that died with a killed process: it had not told of their release.
func (h *history) orphans(l *life) []*run {
	var all []*run
	for _, r := range h.runs {
		if r.life == l && !r.finished {
			all = append(all, r)
		}
	}
	return all
}
