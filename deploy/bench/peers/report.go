package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gatekeeperd/gatekeeper/deploy/bench/failover"
)

// report holds the results of a run.
type report struct {
	Go       string            `json:"go"`
	CPUs     int               `json:"cpus"`
	Versions []string          `json:"versions,omitempty"`
	Skipped  []string          `json:"left_out,omitempty"`
	Plan     *plan             `json:"plan,omitempty"`
	Cells    []*cell           `json:"cells,omitempty"`
	Ratios   []ratio           `json:"ratios,omitempty"`
	Targets  []verdict         `json:"targets,omitempty"`
	Failover []failover.Result `json:"failover,omitempty"`
}

// addVersion adds the version of a measured peer, unless it is empty.
func (r *report) addVersion(version string) {
	if version != "" && !slices.Contains(r.Versions, version) {
		r.Versions = append(r.Versions, version)
	}
}

func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "%s, %d CPUs, %s\n", r.Go, r.CPUs, strings.Join(r.Versions, "; "))
	for _, reason := range r.Skipped {
		fmt.Fprintf(out, "Skipped: %s\n", reason)
	}
	for _, w := range []work{pairs, denials, refreshes, tokens, tasks, jobs} {
		r.printWork(out, w)
	}
	if len(r.Targets) > 0 {
		r.printTargets(out)
	}
	if len(r.Failover) > 0 {
		fmt.Fprintln(out)
		failover.Print(out, r.Failover, failoverTargets())
	}
}

// printWork prints one row per variant and one column per number of callers, followed by the ratios.
func (r *report) printWork(out io.Writer, kind work) {
	rows := map[string][]string{}
	var order []string
	add := func(row, text string) {
		if _, ok := rows[row]; !ok {
			order = append(order, row)
		}
		rows[row] = append(rows[row], text)
	}
	for _, c := range r.Cells {
		if c.Work == kind {
			text := fmt.Sprintf("%.0f", c.medianFigure().PerSecond)
			if e, ok := c.cpuCost(); ok {
				text += fmt.Sprintf(" (%s + %s µs)", micros(e.Servers), micros(e.Callers))
			}
			add(c.name(), text)
		}
	}
	if len(order) == 0 {
		return
	}
	for _, q := range r.Ratios {
		if q.Work == kind {
			text := fmt.Sprintf("%.2f (%.2f–%.2f)", q.Median, q.Min, q.Max)
			if q.CPU != nil {
				text += fmt.Sprintf(", by CPU %.2f (%.2f–%.2f)", q.CPU.Median, q.CPU.Min, q.CPU.Max)
			}
			add(q.Of+" / "+q.To, text)
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\n%s per second (CPU time of servers + callers per operation), by callers", kind)
	for _, callers := range r.Plan.Callers {
		fmt.Fprintf(w, "\t%d", callers)
	}
	fmt.Fprintln(w)
	for _, row := range order {
		fmt.Fprintf(w, "%s\t%s\n", row, strings.Join(rows[row], "\t"))
	}
	_ = w.Flush()
}

func (r *report) printTargets(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\ntargets\treached\tat least\t")
	for _, v := range r.Targets {
		outcome := "met"
		if !v.Met {
			outcome = fmt.Sprintf("MISSED by %.3g", v.AtLeast-v.Reached)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.What, brief(v.Reached), brief(v.AtLeast), outcome)
	}
	_ = w.Flush()
	met := len(slices.DeleteFunc(slices.Clone(r.Targets), func(v verdict) bool { return !v.Met }))
	fmt.Fprintf(out, "%d of %d targets met.\n", met, len(r.Targets))
}

// micros formats µs, with one decimal for single-digit figures.
func micros(us float64) string {
	if us < 10 {
		return fmt.Sprintf("%.1f", us)
	}
	return fmt.Sprintf("%.0f", us)
}

// brief formats a ratio with two decimals, and a large figure with none.
func brief(f float64) string {
	if f >= 1000 {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.2f", f)
}
