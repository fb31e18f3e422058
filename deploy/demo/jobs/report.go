package jobs

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/counted"
)

// report adds the results and the violations to a report.
func (e *evidence) report(r *stage.Report, f *faults) {
	why, missed := e.unclaimed()
	again, twice := e.repeatedFirings()
	died, mismatches := e.audit()
	overlaps := e.overlaps()
	lost, suspended, continued := e.successions()
	refused, stale := e.stale()
	r.AddViolations(slices.Concat(missed, twice, mismatches, overlaps, continued, stale)...)

	claimed, spent := died, 0
	for f := range e.byFiring {
		if last := e.last(f); last != nil {
			claimed++
			if last.cut() && last.began() && !e.job(f.job).free {
				spent++
			}
		}
	}
	due := claimed + len(missed)
	for _, n := range why {
		due += n
	}
	runsStarted, unconfirmed := 0, 0
	for _, run := range e.runs {
		if run.began() {
			runsStarted++
		}
		if run.unconfirmed() {
			unconfirmed++
		}
	}
	r.Row("firings", "%d due, %d claimed once, %d claimed twice", due, claimed-len(twice), len(twice))
	r.Row("not claimed", "%s", counted.Format(why, "; "))
	r.Row("lost firings", "%d rerun as defined (free), %d not rerun (spent); %d of both kinds finished while no server was reachable",
		again, spent, unconfirmed)
	r.Row("server records", "%d firings, %d with a different outcome; %d claimed by an application that died or was suspended before recording the claim",
		e.queried, len(mismatches), died)
	r.Row("runs", "%d started, %d overlaps", runsStarted, len(overlaps))
	r.Row("lost permits", "%d whose runs stopped before the next one started, and %d held by the suspended application (see below)", lost, len(suspended))
	r.Row("writes", "%d accepted, %d refused because of their tokens", len(e.writes)-len(refused)-len(stale), len(refused))
	e.clock(r)
	e.leader(r, f.leader)
	e.killed(r, f.kill)
	e.suspended(r, f.suspend, suspended, refused)
}

// clock reports on the application with the skewed clock.
func (e *evidence) clock(r *stage.Report) {
	for _, l := range e.lives {
		if l.clock == 0 {
			continue
		}
		why := map[string]int{}
		for _, rec := range l.Since(skipped, 0) {
			if rec.Text != shutDown {
				why[rec.Text]++
			}
		}
		r.Row("skewed clock", "%s, off by %vs: ran %d firings, and skipped others: %s",
			l.Name, l.clock.Seconds(), len(l.Since(stage.Began, 0)), counted.Format(why, ", "))
	}
}

// leader reports on the killed leader.
func (e *evidence) leader(r *stage.Report, k killedLeader) {
	at := k.leaderless.from
	var underWay, unconfirmed, stopped int
	for _, run := range e.runs {
		switch {
		case !run.began() || !(span{run.Last(stage.Began).At, run.stopped()}).has(at):
			continue
		case run.Last(finished).Lost:
			stopped++
		case run.unconfirmed():
			unconfirmed++
		}
		underWay++
	}
	r.Row("failover", "%.2fs from killing %s to the next grant; of %d running jobs, %d continued, %d finished while no server was reachable, %d had to stop",
		(k.leaderless.until - at).Seconds(), k.server, underWay, underWay-unconfirmed-stopped, unconfirmed, stopped)
}

// killed reports on the killed application.
func (e *evidence) killed(r *stage.Report, k killedApp) {
	t := stage.Table{Lines: heading(), Title: fmt.Sprintf("killed %s (kill -9), which held %d permits, all freed after %.2fs", k.app, k.held, k.freed.Seconds())}
	kinds := map[bool]int{}
	for _, run := range e.runs {
		if run.life.Killed == 0 || run.Has(finished) {
			continue // the process survived, or the run had finished
		}
		t.Lines = append(t.Lines, e.fate(run, k.at))
		free := e.job(run.job).free
		if !run.began() || run.Has(returned) {
			continue // this run was not cut short
		}
		again := e.last(run.firing) != run
		_, claimed := e.claims[run.firing]
		switch {
		case again && !free:
			r.Violationf("%s was spent when %s died, but was run again", e.name(run.firing), k.app)
		case !again && free && claimed:
			r.Violationf("%s was not freed when %s died", e.name(run.firing), k.app)
		case again == free:
			kinds[free]++
		}
	}
	if kinds[true] == 0 || kinds[false] == 0 {
		r.Violationf("inconclusive: of the killed application's firings, %d were rerun and %d spent", kinds[true], kinds[false])
	}
	r.Tables = append(r.Tables, t)
}

// suspended reports on the suspended application.
func (e *evidence) suspended(r *stage.Report, s suspendedApp, runs []*run, refused []write) {
	t := stage.Table{Lines: heading(), Title: fmt.Sprintf("suspended %s (SIGSTOP) for %.2fs, longer than its permits last, partway through %s",
		s.app, (s.when.until - s.when.from).Seconds(), s.caught.Semaphore)}
	seen := false
	for _, run := range runs {
		writes := "none after resuming"
		next := e.next(run)
		late := 0
		for _, w := range e.writes {
			if w.token != run.Token || w.at < s.when.until {
				continue
			}
			if late++; w.accepted {
				// This is correct: if the next holder had written first, the store would have refused the write, or
				// stale would have reported it.
				writes = fmt.Sprintf("write %d accepted: it arrived before the first write with token %d", w.step, next.Token)
			}
		}
		if late > 1 {
			r.Violationf("%s made %d writes with token %d after it was resumed, even though it checks its permit before each write", run.job, late, run.Token)
		}
		for _, w := range refused {
			if w.token == run.Token {
				writes = fmt.Sprintf("write %d refused: token %d is older than %d", w.step, w.token, next.Token)
				seen = seen || w.token == s.caught.Token
			}
		}
		t.Lines = append(t.Lines, append(e.fate(run, s.when.from), writes))
	}
	if !seen {
		r.Violationf("the suspended write %d of %s with token %d was not refused", s.caught.Step, s.caught.Semaphore, s.caught.Token)
	}
	r.Tables = append(r.Tables, t)
}

func heading() [][]string {
	return [][]string{{"job", "due", "on loss", "token", "firing", "next holder"}}
}

// fate returns a table row with the outcome of a run that was interrupted by a fault at the given time.
func (e *evidence) fate(r *run, at time.Duration) []string {
	onLoss := "spent"
	if e.job(r.job).free {
		onLoss = "free"
	}
	outcome := "cut short, never run again"
	switch last := e.last(r.firing); {
	case last != nil && last != r:
		outcome = "run again by " + last.life.Name
	case r.Has(returned) && r.Last(returned).Text == "":
		outcome = "run to completion"
	case !r.began():
		outcome = "claimed, not started"
	case e.claims[r.firing].token == 0:
		outcome = "freed, but too late for another application to claim"
	}
	holder := "none yet"
	if next := e.next(r); next != nil {
		holder = fmt.Sprintf("%s, %.2fs later", next, (next.At - at).Seconds())
	}
	return []string{r.job, r.due.Format("15:04:05"), onLoss, strconv.FormatUint(r.Token, 10), outcome, holder}
}
