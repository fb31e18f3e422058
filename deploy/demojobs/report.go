package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demojobs/app"
)

// report is what the demo prints. Durations are in seconds.
type report struct {
	Firings struct {
		Due     int `json:"due"`
		Claimed int `json:"claimed"`
		Again   int `json:"run_again_after_a_loss"`
		Twice   int `json:"claimed_twice"`
		Spent   int `json:"spent_by_a_loss"`
		// Untold had run to their end, and no server was there to be told: they count as lost.
		Untold    int            `json:"run_to_their_end_and_not_told"`
		Unclaimed map[string]int `json:"not_claimed,omitempty"`
		// Asked is how many the servers were asked about, and Died how many claims died with their application before it could write
		// them down.
		Asked int `json:"asked_of_the_servers"`
		Died  int `json:"claims_that_died_unwritten"`
		// Otherwise is in how many the servers disagree with what was written down.
		Otherwise int `json:"servers_say_otherwise"`
	} `json:"firings"`
	Runs struct {
		Begun     int `json:"begun"`
		Overlaps  int `json:"overlaps"`
		Lost      int `json:"lost_and_stopped_before_the_next"`
		Suspended int `json:"lost_while_suspended"`
	} `json:"runs"`
	Store struct {
		Accepted int `json:"accepted"`
		Refused  int `json:"refused_by_token"`
	} `json:"writes"`
	Clock struct {
		App  string         `json:"app"`
		Off  float64        `json:"off"`
		Ran  int            `json:"ran"`
		Told map[string]int `json:"did_not_run"`
	} `json:"wrong_clock"`
	Kill struct {
		App   string  `json:"app"`
		Held  int     `json:"held"`
		Freed float64 `json:"freed_after"`
		Jobs  []fate  `json:"jobs"`
	} `json:"killed_app"`
	Leader struct {
		Server   string  `json:"server"`
		FailOver float64 `json:"fail_over"`
		UnderWay int     `json:"jobs_under_way"`
		WentOn   int     `json:"went_on"`
		Stopped  int     `json:"told_to_stop"`
		Untold   int     `json:"ended_before_a_server_could_be_told"`
	} `json:"killed_leader"`
	Suspend struct {
		App    string  `json:"app"`
		For    float64 `json:"for"`
		Jobs   []fate  `json:"jobs"`
		Caught string  `json:"caught"`
	} `json:"suspended_app"`
	Broken []string `json:"broken_promises"`
}

// fate is what became of one job that a fault hit.
type fate struct {
	Job    string `json:"job"`
	Due    string `json:"due"`
	OnLoss string `json:"firing_on_loss"`
	Token  uint64 `json:"token"`
	// Firing is what became of its firing.
	Firing string `json:"firing"`
	// Next is who was granted the job's permit next, and After how long after the fault.
	Next  string  `json:"next,omitempty"`
	After float64 `json:"after,omitempty"`
	// Writes says what became of the writes of one that was suspended.
	Writes string `json:"writes,omitempty"`
}

func newReport(e *evidence, f *faults) *report {
	r := &report{}
	broke := func(broken []string) int {
		r.Broken = append(r.Broken, broken...)
		return len(broken)
	}
	var broken []string

	r.Firings.Unclaimed, broken = e.unclaimed()
	missed := broke(broken)
	r.Firings.Again, broken = e.twice()
	r.Firings.Twice = broke(broken)
	r.Firings.Asked = e.asked
	r.Firings.Died, broken = e.audit()
	r.Firings.Otherwise = broke(broken)
	for f := range e.by {
		last := e.last(f)
		if last == nil {
			continue
		}
		r.Firings.Claimed++
		if last.cut() && last.began > 0 && !e.job(f.job).free {
			r.Firings.Spent++
		}
	}
	r.Firings.Claimed += r.Firings.Died
	r.Firings.Due = r.Firings.Claimed + missed
	for _, n := range r.Firings.Unclaimed {
		r.Firings.Due += n
	}

	for _, run := range e.runs {
		if run.began > 0 {
			r.Runs.Begun++
		}
		if run.untold() {
			r.Firings.Untold++
		}
	}
	r.Runs.Overlaps = broke(e.overlaps())
	lost, suspended, broken := e.successions()
	broke(broken)
	r.Runs.Lost, r.Runs.Suspended = lost, len(suspended)
	refused, broken := e.stale()
	broke(broken)
	r.Store.Refused = len(refused)
	r.Store.Accepted = len(e.writes) - len(refused) - len(broken)

	r.clock(e)
	broke(r.killed(e, f.kill))
	r.leader(e, f.leader)
	broke(r.suspended(e, f.suspend, suspended, refused))
	return r
}

// clock is about the application whose clock is off.
func (r *report) clock(e *evidence) {
	r.Clock.Told = map[string]int{}
	for _, l := range e.lives {
		if l.clock == 0 {
			continue
		}
		r.Clock.App, r.Clock.Off = l.app, l.clock.Seconds()
		for _, rec := range l.records {
			switch rec.Event {
			case app.Began:
				r.Clock.Ran++
			case app.Skipped:
				if rec.Text != app.ShutDown {
					r.Clock.Told[rec.Text]++
				}
			}
		}
	}
}

// killed is about the application that was killed.
func (r *report) killed(e *evidence, k killedApp) (broken []string) {
	r.Kill.App, r.Kill.Held, r.Kill.Freed = k.app, k.held, seconds(k.freed)
	kinds := map[bool]int{}
	for _, l := range e.lives {
		if l.killed == 0 {
			continue
		}
		for _, run := range e.orphans(l) {
			fate := e.fate(run, k.at)
			r.Kill.Jobs = append(r.Kill.Jobs, fate)
			free := e.job(run.job).free
			if run.began == 0 || run.returned > 0 {
				continue // it was not cut short
			}
			again := e.last(run.firing) != run
			_, claimed := e.claims[run.firing]
			switch {
			case again && !free:
				broken = append(broken, fmt.Sprintf("%s was spent by the death of %s, and was run again", e.name(run.firing), k.app))
			case !again && free && claimed:
				broken = append(broken, fmt.Sprintf("%s was not freed by the death of %s", e.name(run.firing), k.app))
			case again == free:
				kinds[free]++
			}
		}
	}
	if kinds[true] == 0 || kinds[false] == 0 {
		broken = append(broken, fmt.Sprintf("of the killed application's firings %d were run again and %d spent: this shows too little", kinds[true], kinds[false]))
	}
	return broken
}

// leader is about the server that was killed.
func (r *report) leader(e *evidence, k killedLeader) {
	r.Leader.Server, r.Leader.FailOver = k.server, seconds(k.without.until-k.without.from)
	for _, run := range e.underWay(k.without.from) {
		r.Leader.UnderWay++
		switch {
		case run.told:
			r.Leader.Stopped++
		case run.untold():
			r.Leader.Untold++
		default:
			r.Leader.WentOn++
		}
	}
}

// suspended is about the application that was suspended.
func (r *report) suspended(e *evidence, s suspendedApp, runs []*run, refused []write) (broken []string) {
	r.Suspend.App, r.Suspend.For = s.app, seconds(s.when.until-s.when.from)
	seen := false
	for _, run := range runs {
		fate := e.fate(run, s.when.from)
		fate.Writes = "none after waking"
		next := e.next(run)
		late := 0
		for _, w := range e.writes {
			if w.token != run.token || w.at < s.when.until {
				continue
			}
			if late++; w.accepted {
				// It is in order: had the next one written, the store would have refused it, or stale has found it.
				fate.Writes = fmt.Sprintf("write %d taken: it came before the first of token %d", w.step, next.token)
			}
		}
		if late > 1 {
			broken = append(broken, fmt.Sprintf("%s made %d writes with token %d after waking: it looked in between, and went on", run.job, late, run.token))
		}
		for _, w := range refused {
			if w.token == run.token {
				fate.Writes = fmt.Sprintf("write %d refused: token %d is older than %d", w.step, w.token, next.token)
				seen = seen || w.token == s.caught.Token
			}
		}
		r.Suspend.Jobs = append(r.Suspend.Jobs, fate)
	}
	r.Suspend.Caught = s.caught.Job
	if !seen {
		broken = append(broken, fmt.Sprintf("the suspended write %d of %s with token %d was not refused", s.caught.Step, s.caught.Job, s.caught.Token))
	}
	return broken
}

// fate tells what became of a run that was hit by a fault at that moment.
func (e *evidence) fate(r *run, at time.Duration) fate {
	f := fate{Job: r.job, Due: r.due.Format("15:04:05"), OnLoss: e.job(r.job).kind(), Token: r.token, Firing: "cut short, never run again"}
	switch last := e.last(r.firing); {
	case last != nil && last != r:
		f.Firing = "run again by " + last.life.app
	case r.returned > 0 && r.failed == "":
		f.Firing = "run to its end"
	case r.began == 0:
		f.Firing = "claimed, not begun"
	case e.claims[r.firing].token == 0:
		f.Firing = "free again, and all others had passed it"
	}
	if next := e.next(r); next != nil {
		f.Next, f.After = next.String(), seconds(next.granted-at)
	}
	return f
}

// verdict is an error for every broken promise.
func (r *report) verdict() error {
	var errs []error
	for i, text := range r.Broken {
		if i == 20 {
			errs = append(errs, fmt.Errorf("and %d more", len(r.Broken)-i))
			break
		}
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}

// publish prints the report, and writes it to the file.
func (d *demo) publish(r *report) error {
	r.print(d.out)
	if d.jsonFile == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(d.jsonFile, append(text, '\n'), 0o600)
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
