package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/gatekeeperd/gatekeeper/deploy/bench/failover"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
)

// print writes the results, with a table for each part.
func (r *report) print(out io.Writer) {
	if len(r.Clusters) > 0 {
		r.printCores(out)
	}
	if len(r.Calls) > 0 {
		r.printCalls(out)
	}
	if r.Control != nil {
		r.Control.print(out)
	}
	if r.Keep != nil {
		r.Keep.print(out)
	}
	printProfiles(out, r.Profiles)
	if len(r.Failover) > 0 {
		failover.Print(out, r.Failover, failover.Targets())
	}
}

// printCores prints one column per number of callers, along with this machine's limits.
func (r *report) printCores(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "per second, by callers\t")
	for _, f := range r.Echo {
		fmt.Fprintf(w, "%d\t", f.Callers)
	}
	fmt.Fprintln(w)
	r.row(w, "echo", r.Echo)
	r.row(w, "append+fdatasync", []load.Figure{*r.Sync})
	for _, c := range r.Clusters {
		name := strconv.Itoa(c.Servers) + " servers: "
		if c.Servers == 1 {
			name = "1 server: "
		}
		r.row(w, name+"denials", c.Denials)
		r.ratio(w, "ratio to echo", c.Denials)
		r.row(w, name+"refreshes", c.Refreshes)
		r.row(w, name+"refreshes by stream, one per frame", c.Messages)
		r.row(w, fmt.Sprintf("%stokens in frames of %d", name, tokensPerFrame), c.Tokens)
		r.row(w, name+"pairs", c.Pairs)
		fmt.Fprintf(w, "commands per entry\t")
		for _, e := range c.Entries {
			fmt.Fprintf(w, "%.1f\t", e.PerEntry)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
	for _, c := range r.Clusters {
		// A pair is an acquire and a release. Each takes two consecutive syncs and two hops.
		if len(c.Pairs) > 0 && c.Pairs[0].Callers == 1 && c.Servers > 1 {
			floor := 2*r.Sync.P50 + 2*r.Echo[0].P50
			fmt.Fprintf(out, "%d servers: one acquire or release takes %.0f µs with one caller, %.1f times the floor of two syncs and two hops (%.0f µs)\n",
				c.Servers, c.Pairs[0].P50/2, c.Pairs[0].P50/2/floor, floor)
		}
	}
	printBatched(out, r.Clusters)
	fmt.Fprintln(out, "According to the leaders' counters, denials and refreshes wrote no log entries.")
}

// printCalls prints the overhead of the client library over the generated stub.
func (r *report) printCalls(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "one caller, alternating\tstub µs\tclient µs\tadded per call, µs\tCPU µs\t\tallocs\t\t")
	for _, a := range r.Calls {
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.1f ± %.1f%s\t%.0f\t%.0f\t%.0f\t%.0f\t\n", a.What, a.Raw, a.Client, a.PerRPC, a.Error, missed(a.PerRPC-a.Error, overheadTarget),
			a.RawCost.CPU, a.ClientCost.CPU, a.RawCost.Allocs, a.ClientCost.Allocs)
	}
	_ = w.Flush()
	fmt.Fprintf(out, "Times are medians per unit of work. The added time is the median difference between adjacent units. CPU time and allocations are those of the calling process, with the stub and with the client. The target is less than %.0f µs added per call.\n", overheadTarget)
}

func (k *keepResult) print(out io.Writer) {
	fmt.Fprintf(out, "One client kept %d permits of %s alive for %.0f s (%d lost), using %.1f%% of one core%s. The target is less than %.0f%% with 10000 permits.\n",
		k.Permits, keepDuration, k.Seconds, k.Lost, k.CPU, missed(k.CPU, keepTargetCPU), keepTargetCPU)
	fmt.Fprintf(out, "It sent %d tokens in %d frames on one stream, using %.1f µs of CPU time per token. The three servers used %.1f%% of one core.\n",
		k.Tokens, k.Frames, k.PerToken, k.ServersCPU)
}

// missed marks a figure that misses its target.
func missed(figure, target float64) string {
	if figure < target {
		return ""
	}
	return " (MISSED)"
}

func (r *report) row(w io.Writer, name string, figures []load.Figure) {
	fmt.Fprintf(w, "%s\t", name)
	for _, f := range figures {
		fmt.Fprintf(w, "%.0f\t", f.PerSecond)
	}
	fmt.Fprintln(w)
}

func (r *report) ratio(w io.Writer, name string, figures []load.Figure) {
	fmt.Fprintf(w, "%s\t", name)
	for i, f := range figures {
		fmt.Fprintf(w, "%.2f\t", f.PerSecond/r.Echo[i].PerSecond)
	}
	fmt.Fprintln(w)
}
