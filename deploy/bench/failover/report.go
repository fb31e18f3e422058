package failover

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Target is an upper limit on a contestant's median time to the first grant: Limit, in ms, or the median of the
// contestant named Other, if it is set.
type Target struct {
	Name  string
	Limit float64
	Other string
}

// Names of Gatekeeper's contestants, one per profile.
const (
	Default = "gatekeeper, default profile"
	Fast    = "gatekeeper, fast profile"
)

// Targets returns Gatekeeper's targets.
func Targets() []Target {
	return []Target{{Name: Default, Limit: 1000}, {Name: Fast, Limit: 600}}
}

// Print writes a table of the results. For each target whose contestants were measured, it reports whether the target
// was met.
func Print(out io.Writer, results []Result, targets []Target) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "kill -9 of the leader, ms\truns\tfirst grant, median\tmax\tby the client library, median\tmax\t\n")
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t\n", r.Name, len(r.First), Median(r.First), slices.Max(r.First), Median(r.Library), slices.Max(r.Library))
	}
	_ = w.Flush()
	for _, t := range targets {
		mine := find(results, t.Name)
		limit, limitText := t.Limit, fmt.Sprintf("%.0f ms", t.Limit)
		if t.Other != "" {
			other := find(results, t.Other)
			if other == nil {
				continue
			}
			limit = Median(other.First)
			limitText = fmt.Sprintf("the %.0f ms of %s", limit, t.Other)
		}
		if mine == nil {
			continue
		}
		median := Median(mine.First)
		verdict := "met"
		if median > limit {
			verdict = fmt.Sprintf("MISSED by %.0f ms", median-limit)
		}
		fmt.Fprintf(out, "%s: median %.0f ms (target: at most %s): %s\n", t.Name, median, limitText, verdict)
	}
}

func find(results []Result, name string) *Result {
	i := slices.IndexFunc(results, func(r Result) bool { return r.Name == name && len(r.First) > 0 })
	if i < 0 {
		return nil
	}
	return &results[i]
}
