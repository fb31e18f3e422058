package main

import (
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/counted"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
)

// print writes the table at the end.
func (d *demo) print(t *tally, f *faulted, jobs []samples.Job) {
	w := tabwriter.NewWriter(d.out, 0, 0, 3, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	fmt.Fprintln(w)
	firings, err := d.table.firings(jobs, d.length)
	if err == nil {
		row("due runs", "%d, in %v of the timetable", len(firings), d.table.slowDown(d.length).Round(time.Minute))
	}
	row("grants", "%d of jobs, %d of pool shares", t.grants[false], t.grants[true])
	row("denials", "%s", counted.Words(t.denials, ", "))
	row("no answer in time", "%d", t.gaveUp)
	row("ends", "%s, %d with the killed host", counted.Words(t.ends, ", "), t.orphans)
	if n := len(t.handOvers); n == 0 {
		row("hand-over", "none: there was room for everybody")
	} else {
		row("hand-over", "%v median, %v at most, of %d to hosts that had to wait",
			middle(t.handOvers).Round(10*time.Microsecond), last(t.handOvers).Round(10*time.Microsecond), n)
	}
	if t.failOver > 0 {
		row("fail-over", "%v from kill -9 of %s to the next grant", t.failOver.Round(time.Millisecond), f.leader)
	}
	if f.freed > 0 {
		row("killed host", "%s: its slots were free after %v, of a duration of %v", f.host, f.freed.Round(10*time.Millisecond), d.duration)
	}
	row("runs", "%d, %d of them twice", len(t.ran), len(t.twice()))
	row("overlaps", "%d, of %d beliefs", len(t.overlaps), len(t.beliefs))
	_ = w.Flush()
}

// twice are the firings that were run more than once.
func (t *tally) twice() []string {
	var all []string
	for firing, n := range t.ran {
		if n > 1 {
			all = append(all, firing)
		}
	}
	slices.Sort(all)
	return all
}

// verdict is an error for everything that must not be.
func (t *tally) verdict() error {
	var errs []error
	for i, o := range t.overlaps {
		if i == 10 {
			errs = append(errs, fmt.Errorf("and %d more overlaps", len(t.overlaps)-i))
			break
		}
		errs = append(errs, fmt.Errorf("overlap: %v", o))
	}
	for _, b := range t.falling {
		errs = append(errs, fmt.Errorf("falling token: %s held %s with token %d after somebody with a higher one", b.Holder, b.Semaphore, b.Token))
	}
	for _, firing := range t.twice() {
		errs = append(errs, fmt.Errorf("%s was run %d times", firing, t.ran[firing]))
	}
	switch {
	case t.grants[false] == 0 || t.grants[true] == 0:
		errs = append(errs, errors.New("nothing was granted: this shows nothing"))
	case t.failOver == 0:
		errs = append(errs, errors.New("nothing was granted after the leader's death"))
	}
	return errors.Join(errs...)
}
