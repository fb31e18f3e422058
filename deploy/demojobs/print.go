package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/counted"
)

// print writes the report for people.
func (r *report) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	fmt.Fprintln(w)
	f := r.Firings
	row("firings", "%d due, %d claimed once, %d claimed twice", f.Due, f.Claimed-f.Twice, f.Twice)
	row("not claimed", "%s", counted.Words(f.Unclaimed, "; "))
	row("lost firings", "%d run again, as their definitions say (free), %d not (spent); %d of both kinds had run to their end when no server could be told",
		f.Again, f.Spent, f.Untold)
	row("by the servers", "of %d firings %d otherwise; %d were claimed by an application that died, or was suspended, before it wrote that down", f.Asked, f.Otherwise, f.Died)
	row("runs", "%d begun, %d overlaps", r.Runs.Begun, r.Runs.Overlaps)
	row("lost permits", "%d jobs, stopped before the next began; and %d of the suspended application, see below", r.Runs.Lost, r.Runs.Suspended)
	row("writes", "%d taken, %d refused by their tokens", r.Store.Accepted, r.Store.Refused)
	row("wrong clock", "%s, off by %vs: ran %d firings, and of the others was told %s", r.Clock.App, r.Clock.Off, r.Clock.Ran, counted.Words(r.Clock.Told, ", "))
	row("fail-over", "%.2fs from kill -9 of %s to the next grant; of %d jobs under way %d went on, %d ended when no server could be told, %d were told to stop",
		r.Leader.FailOver, r.Leader.Server, r.Leader.UnderWay, r.Leader.WentOn, r.Leader.Untold, r.Leader.Stopped)
	row("broken promises", "%d", len(r.Broken))
	_ = w.Flush()

	fmt.Fprintf(out, "\nkill -9 of %s, which held %d permits, all free again after %.2fs:\n", r.Kill.App, r.Kill.Held, r.Kill.Freed)
	table(out, r.Kill.Jobs)
	fmt.Fprintf(out, "\nSIGSTOP of %s for %.2fs, longer than its permits, in the middle of %s:\n", r.Suspend.App, r.Suspend.For, r.Suspend.Caught)
	table(out, r.Suspend.Jobs)
}

func table(out io.Writer, fates []fate) {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "  job\tdue\ton loss\ttoken\tits firing\tthe next holder")
	for _, f := range fates {
		next := "none yet"
		if f.Next != "" {
			next = fmt.Sprintf("%s, %.2fs after", f.Next, f.After)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%d\t%s\t%s\t%s\n", f.Job, f.Due, f.OnLoss, f.Token, f.Firing, next, f.Writes)
	}
	_ = w.Flush()
}
