package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/loop"
	"github.com/gatekeeperd/gatekeeper/internal/workload"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// benchPlan describes what a run will do, and to which cluster.
type benchPlan struct {
	Cluster     string   `json:"cluster"`
	Leader      string   `json:"leader"`
	Members     int      `json:"members"`
	Prefix      string   `json:"prefix"`
	Semaphores  int      `json:"semaphores"`
	Workloads   []string `json:"workloads"`
	Concurrency []int    `json:"concurrency"`
	Connections int      `json:"connections"`
	Rate        int      `json:"rate,omitempty"`
	WarmUp      string   `json:"warm_up"`
	For         string   `json:"for"`
	Takes       string   `json:"takes"`
	DryRun      bool     `json:"dry_run,omitempty"`

	reached, definitions, permits int
	kept                          int // ended permits that the journal will keep
	edits                         bool
	warmUp, window, takes         time.Duration
}

// plan inspects the cluster and returns the plan for the run.
func (o *benchOptions) plan(ctx context.Context, c *client.Client, fixture *workload.Fixture) (*benchPlan, error) {
	ctx, cancel := o.f.Bounded(ctx)
	defer cancel()
	members, err := c.Members(ctx, &gatekeeperv1.GetStatusRequest{})
	if err != nil {
		return nil, err
	}
	best := conn.LeaderOrNewest(members)
	if best.GetLeaderId() == "" {
		return nil, &ui.CodeError{Code: ui.ExitUnreachable, Err: fmt.Errorf("there is no leader, so nothing can be measured"), Hint: "`gkctl cluster status` shows which members are responding."}
	}
	if err := fixture.CheckUnused(ctx); err != nil {
		return nil, explainTaken(err)
	}
	settings, err := c.Cluster().GetSettings(ctx, &gatekeeperv1.GetSettingsRequest{})
	if err != nil {
		return nil, err
	}
	s := settings.GetSettings()
	takes := time.Duration(len(o.kinds)*len(o.callers)) * (o.warmUp + o.window)
	p := &benchPlan{
		Cluster: best.GetClusterId(), Leader: best.GetLeaderId(), Prefix: o.prefix, Semaphores: fixture.Size(),
		Workloads:   words.Map(o.kinds, func(k *workload.Kind) string { return k.Name }),
		Concurrency: o.callers, Connections: o.connections, Rate: o.rate, WarmUp: words.Seconds(o.warmUp), For: words.Seconds(o.window), Takes: words.Seconds(takes), DryRun: o.dryRun,
		definitions: int(best.GetDefinitions()), permits: int(best.GetPermits()), //nolint:gosec // as received
		edits:  slices.ContainsFunc(o.kinds, func(k *workload.Kind) bool { return k.Edits }),
		kept:   min(int(s.GetJournalTotal()), int(s.GetJournalPerSemaphore())*fixture.Size()),
		warmUp: o.warmUp, window: o.window, takes: takes,
	}
	p.reached, p.Members = conn.CountResponding(best, members)
	return p, nil
}

// lines returns the plan as text.
func (p *benchPlan) lines() []string {
	how := "each making its next call immediately"
	if p.Rate > 0 {
		how = fmt.Sprintf("%d calls per second", p.Rate)
	}
	changes := "two changes"
	if p.edits {
		changes = "two changes, plus any made by watch and batch,"
	}
	return []string{
		fmt.Sprintf("cluster %s, led by %s, %d of %d members responding, %s and %s that will not be touched", p.Cluster, p.Leader, p.reached, p.Members,
			words.Plural(p.definitions, "definition", "definitions"), words.Plural(p.permits, "permit", "permits")),
		fmt.Sprintf("load: %s by %s callers on %s, %s, for %s plus %s of warm-up each: %s plus preparation", strings.Join(p.Workloads, ", "),
			strings.Join(words.Map(p.Concurrency, strconv.Itoa), ", "), words.Plural(p.Connections, "connection", "connections"), how, words.Brief(p.window), words.Brief(p.warmUp), words.Brief(p.takes)),
		fmt.Sprintf("%s under %s/ will be created and then deleted; the journal will keep %s and up to %d ended permits, and will discard as many of its oldest entries if it is full",
			words.Plural(p.Semaphores, "semaphore", "semaphores"), p.Prefix, changes, p.kept),
	}
}

// printPlan prints the plan of a dry run.
func (o *benchOptions) printPlan(p *benchPlan) error {
	if !o.output.Is(ui.Table) && !o.output.Is(ui.Wide) {
		return o.f.PrintObject(o.output, p)
	}
	for _, line := range p.lines() {
		fmt.Fprintln(o.f.Out, line)
	}
	fmt.Fprintln(o.f.Out, "Nothing was changed (dry run).")
	return nil
}

// benchReport is the result of all measurements.
type benchReport struct {
	*benchPlan
	Results []benchRow `json:"results"`
	// Cleared reports whether everything created by the run was deleted.
	Cleared     bool `json:"cleared"`
	Interrupted bool `json:"interrupted,omitempty"`
}

// benchRow is the result of one workload, or of a part of it, for one number of callers.
type benchRow struct {
	Operation   string  `json:"operation"`
	Concurrency int     `json:"concurrency"`
	PerSecond   float64 `json:"per_second"`
	P50         string  `json:"p50"`
	P90         string  `json:"p90"`
	P99         string  `json:"p99"`
	P999        string  `json:"p99_9"`
	Max         string  `json:"max"`
	Errors      int     `json:"errors"`
	FirstError  string  `json:"first_error,omitempty"`
	Calls       int     `json:"calls"`
	Operations  int     `json:"operations"`
	Late        int     `json:"late,omitempty"`
	Missed      int     `json:"missed,omitempty"`
	// WarmUpErrors counts calls that failed before measuring began. NotReturned counts permits that were still held
	// after every caller had released its permits.
	WarmUpErrors int    `json:"warm_up_errors,omitempty"`
	NotReturned  int    `json:"not_returned,omitempty"`
	Elapsed      string `json:"elapsed"`

	latency loop.Latency
	elapsed time.Duration
}

func newBenchRow(operation string, callers int, r loop.Result) benchRow {
	row := benchRow{
		Operation: operation, Concurrency: callers, PerSecond: math.Round(10*r.PerSecond()) / 10,
		P50: words.Seconds(r.Latency.P50), P90: words.Seconds(r.Latency.P90), P99: words.Seconds(r.Latency.P99), P999: words.Seconds(r.Latency.P999), Max: words.Seconds(r.Latency.Max),
		Errors: r.Errors, Calls: r.Calls, Operations: r.Operations, Late: r.Late, Missed: r.Missed, Elapsed: words.Seconds(r.Elapsed), latency: r.Latency, elapsed: r.Elapsed,
	}
	row.fail(r.Err)
	return row
}

// fail records the first error.
func (r *benchRow) fail(err error) {
	if err != nil && r.FirstError == "" {
		r.FirstError = ui.ErrorText(err)
	}
}

func (r *benchRow) title() string {
	return r.Operation + ", " + words.Plural(r.Concurrency, "caller", "callers")
}

// printReport prints the report as a table or an object, followed by any problems.
func (o *benchOptions) printReport(r *benchReport) error {
	l := ui.Listing{
		Headers: []string{"OPERATION", "CALLERS", "OPS/S", "P50", "P90", "P99", "P99.9", "MAX", "ERRORS"},
		More:    []string{"CALLS", "OPERATIONS", "LATE", "MISSED", "NOT RETURNED", "ELAPSED"},
		Object:  r,
		Empty:   "Nothing was measured.",
	}
	for _, row := range r.Results {
		l.Rows = append(l.Rows, row.cells())
	}
	if err := o.f.Print(o.output, l); err != nil {
		return err
	}
	for _, row := range r.Results {
		for _, line := range row.problems() {
			o.f.Logf("gkctl: %s: %s", row.title(), words.Cell(line))
		}
	}
	return nil
}

func (r *benchRow) cells() ui.Row {
	l := r.latency
	latencies := words.Map([]time.Duration{l.P50, l.P90, l.P99, l.P999, l.Max}, latency)
	if r.Calls+r.Missed == 0 {
		clear(latencies) // without operations there are no latencies
	}
	return ui.Row{
		Cells: slices.Concat([]string{r.Operation, strconv.Itoa(r.Concurrency), perSecond(r.PerSecond)}, latencies, []string{strconv.Itoa(r.Errors)}),
		More: []string{
			strconv.Itoa(r.Calls), strconv.Itoa(r.Operations), strconv.Itoa(r.Late), strconv.Itoa(r.Missed), strconv.Itoa(r.NotReturned), words.Brief(r.elapsed),
		},
	}
}

// problems describes the problems with a row, one sentence each.
func (r *benchRow) problems() []string {
	var out []string
	if r.Errors > 0 {
		out = append(out, fmt.Sprintf("%s of %d failed, the first with: %s", words.Plural(r.Errors, "call", "calls"), r.Calls+r.Errors, r.FirstError))
	}
	if r.WarmUpErrors > 0 {
		out = append(out, fmt.Sprintf("%s failed during the warm-up, the first with: %s", words.Plural(r.WarmUpErrors, "call", "calls"), r.FirstError))
	}
	if r.NotReturned > 0 {
		out = append(out, fmt.Sprintf("%s still held after all callers had released theirs, and had to be released", words.Plural(r.NotReturned, "permit was", "permits were")))
	}
	if r.Missed > 0 {
		out = append(out, fmt.Sprintf("the rate was not sustained: %s due but never started, because all callers were busy; the real latencies are higher",
			words.Plural(r.Missed, "call was", "calls were")))
	}
	if r.Late > 0 {
		out = append(out, fmt.Sprintf("%s started late, because all callers were busy; the latencies include the wait", words.Plural(r.Late, "call", "calls")))
	}
	return out
}

// verdict returns an error if the run had problems.
func (r *benchReport) verdict() error {
	var failed, kept, missed int
	for _, row := range r.Results {
		failed += row.Errors + row.WarmUpErrors
		kept += row.NotReturned
		missed += row.Missed
	}
	var parts []string
	if failed > 0 {
		parts = append(parts, words.Plural(failed, "call failed", "calls failed"))
	}
	if kept > 0 {
		parts = append(parts, words.Plural(kept, "permit was not returned", "permits were not returned"))
	}
	if missed > 0 {
		parts = append(parts, words.Plural(missed, "call was never started", "calls were never started"))
	}
	if len(parts) == 0 {
		return nil
	}
	return &ui.CodeError{Code: ui.ExitFailure, Err: fmt.Errorf("%s", strings.Join(parts, ", "))}
}

// latency formats a latency with at most three significant digits.
func latency(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return strconv.FormatFloat(float64(d)/float64(time.Microsecond), 'f', 0, 64) + "µs"
	case d < time.Second:
		return threeDigits(float64(d)/float64(time.Millisecond)) + "ms"
	}
	return threeDigits(d.Seconds()) + "s"
}

func threeDigits(x float64) string {
	switch {
	case x < 10:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case x < 100:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

func perSecond(x float64) string {
	if x < 100 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}
