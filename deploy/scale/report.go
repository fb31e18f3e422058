package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/plot"
)

// check compares a measured figure with its target.
type check struct {
	What   string  `json:"what"`
	Unit   string  `json:"unit"`
	Target float64 `json:"target"` // upper limit
	Figure float64 `json:"figure"`
}

func (j check) met() bool { return j.Figure < j.Target }

// verdict returns the last column of the table.
func (j check) verdict() string {
	if j.met() {
		return "met"
	}
	return fmt.Sprintf("MISSED, %.1f times the target", j.Figure/j.Target)
}

// judge compares the results with the targets. The targets are for the full size, but smaller runs are also judged, to
// test the program.
func (r *report) judge() {
	add := func(what, unit string, target, figure float64) {
		r.Targets = append(r.Targets, check{what, unit, target, figure})
	}
	add("idle server, resident", "MB", 40, r.Rest.Resident/1e6)
	add("idle server, CPU", "%", 0.5, r.Rest.CPU)
	last := r.Stages[len(r.Stages)-1]
	add("a permit, in use", "bytes", 500, r.permitBytes())
	add("a definition, in use", "bytes", 1024, r.definitionBytes())
	add("a permit after a restart, resident, including everything else", "bytes", 500, last.Restarted.Resident/float64(last.Permits))
	for _, s := range r.Streams {
		if s.Clients*len(parts()) > last.Clients { // only the measurements with the most clients
			// Resident memory would be misleading, because streams also reuse garbage that is already resident.
			add(fmt.Sprintf("each of %d streams over %d connections, in use", s.Clients, s.Connections), "KiB", 40, s.Each.InUse/1024)
		}
	}
	if last.Snapshot != nil {
		add("grant delay caused by a snapshot", "ms", 10, last.Snapshot.Added())
	}
	add("restart to the first grant", "s", 10, last.Restart.Seconds)
	add("handover, increase relative to empty servers", "ms", 150, r.Three.Full.Handover-r.Three.Empty.Handover)
	add("leader kill, increase relative to empty servers", "ms", 150, r.Three.Full.Kill-r.Three.Empty.Kill)
	first := r.Stages[0]
	allowed := math.Log(float64(last.Permits)) / math.Log(float64(max(first.Permits, 2)))
	for _, kind := range kinds() {
		add(kind.name+", server CPU at 100% relative to 10%", "times", allowed, kind.get(last.Costs).CPU/max(kind.get(first.Costs).CPU, 1e-9))
	}
}

func (r *report) permitBytes() float64 {
	return r.average(func(s stage) (float64, int) { return s.Permit.InUse, s.Permits })
}

func (r *report) definitionBytes() float64 {
	return r.average(func(s stage) (float64, int) { return s.Definition.InUse, s.Definitions })
}

// average returns the average over the objects added in all stages.
func (r *report) average(get func(stage) (each float64, count int)) float64 {
	sum, previous := 0.0, 0
	for _, s := range r.Stages {
		each, count := get(s)
		sum += each * float64(count-previous)
		previous = count
	}
	return sum / float64(max(previous, 1))
}

// kind is a kind of operation.
type kind struct {
	name string
	get  func(costs) op
}

func kinds() []kind {
	return []kind{
		{"decision", func(c costs) op { return c.Decision }},
		{"refresh", func(c costs) op { return c.Refresh }},
		{"refresh among 100", func(c costs) op { return c.Frame }},
		{"grant and release", func(c costs) op { return c.Grant }},
		{"expiry", func(c costs) op { return c.Expiry }},
	}
}

// print writes the results of each stage, and then the targets.
func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s, %d CPUs, %.0f s in total\n\n", r.Go, r.CPUs, r.Seconds)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(what string, get func(stage) string) {
		fmt.Fprintf(w, "%s\t", what)
		for _, s := range r.Stages {
			fmt.Fprintf(w, "%s\t", get(s))
		}
		fmt.Fprintln(w)
	}
	row("one server", func(s stage) string { return fmt.Sprintf("%.0f%%", 100*s.Part) })
	row("definitions", func(s stage) string { return fmt.Sprint(s.Definitions) })
	row("permits", func(s stage) string { return fmt.Sprint(s.Permits) })
	row("clients with a stream", func(s stage) string { return fmt.Sprint(s.Clients) })
	row("a definition in use, bytes", func(s stage) string { return fmt.Sprintf("%.0f", s.Definition.InUse) })
	row("a permit in use, bytes", func(s stage) string { return fmt.Sprintf("%.0f", s.Permit.InUse) })
	row("a definition's live objects, bytes", func(s stage) string { return fmt.Sprintf("%.0f", s.Definition.Live) })
	row("a permit's live objects, bytes", func(s stage) string { return fmt.Sprintf("%.0f", s.Permit.Live) })
	row("a stream in use, KiB", func(s stage) string { return fmt.Sprintf("%.1f", s.Stream.InUse/1024) })
	row("total in use, MB", func(s stage) string { return fmt.Sprintf("%.0f", s.Filled.InUse/1e6) })
	row("resident, MB", func(s stage) string { return fmt.Sprintf("%.0f", s.Filled.Resident/1e6) })
	row("resident after a restart, MB", func(s stage) string { return fmt.Sprintf("%.0f", s.Restarted.Resident/1e6) })
	row("permits created per second", func(s stage) string { return fmt.Sprintf("%.0f", s.FillRate) })
	for _, kind := range kinds() {
		if kind.get(r.Empty).P50 > 0 {
			row(fmt.Sprintf("%s, median µs (%.0f empty)", kind.name, kind.get(r.Empty).P50), func(s stage) string { return fmt.Sprintf("%.0f", kind.get(s.Costs).P50) })
		}
		row(fmt.Sprintf("%s, server CPU µs (%.1f empty)", kind.name, kind.get(r.Empty).CPU), func(s stage) string { return fmt.Sprintf("%.1f", kind.get(s.Costs).CPU) })
	}
	row(fmt.Sprintf("idle, %% of one core (%.1f empty)", r.Empty.Idle), func(s stage) string { return fmt.Sprintf("%.1f", s.Costs.Idle) })
	if r.Stages[0].Snapshot != nil {
		row("snapshot, s", func(s stage) string { return fmt.Sprintf("%.1f", s.Snapshot.Seconds) })
		row("snapshot, MB", func(s stage) string { return fmt.Sprintf("%.0f", s.Snapshot.Bytes/1e6) })
		row("longest grant before / during the snapshot, ms", func(s stage) string {
			return fmt.Sprintf("%.1f / %.1f", s.Snapshot.LongestBefore, s.Snapshot.LongestDuring)
		})
		row("99th percentile before / during the snapshot, ms", func(s stage) string { return fmt.Sprintf("%.1f / %.1f", s.Snapshot.P99Before, s.Snapshot.P99During) })
	}
	row("restart to the first grant, s", func(s stage) string { return fmt.Sprintf("%.1f", s.Restart.Seconds) })
	row("entries after the snapshot", func(s stage) string { return fmt.Sprint(s.Restart.Entries) })
	_ = w.Flush()
	r.printThreeServers(out)
	r.printTargets(out)
}

func (r *report) printThreeServers(out io.Writer) {
	t := &r.Three
	fmt.Fprintf(out, "\nthree servers: two joined the full one in %.1f s; %.0f MB in use on the leader, %.0f MB on a follower\n",
		t.Joined, t.Leader.InUse/1e6, t.Follower.InUse/1e6)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "time without grants, ms\tempty\tfull\tlongest\t")
	fmt.Fprintf(w, "handover\t%.0f\t%.0f\t%.0f\t\n", t.Empty.Handover, t.Full.Handover, t.Full.HandoverMax)
	fmt.Fprintf(w, "kill -9\t%.0f\t%.0f\t%.0f\t\n", t.Empty.Kill, t.Full.Kill, t.Full.KillMax)
	_ = w.Flush()
}

func (r *report) printTargets(out io.Writer) {
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\ttarget\tmeasured\t\t")
	for _, j := range r.Targets {
		fmt.Fprintf(w, "%s\t%.4g %s\t%.4g %s\t%s\t\n", j.What, j.Target, j.Unit, j.Figure, j.Unit, j.verdict())
	}
	_ = w.Flush()
}

// plot plots the growth of each figure.
func (r *report) plot() []byte {
	largest := r.Stages[len(r.Stages)-1]
	p := plot.Plot{From: "0", To: fmt.Sprintf("%d definitions, %d permits, %d clients", largest.Definitions, largest.Permits, largest.Clients)}
	for _, k := range kinds() {
		p.Names = append(p.Names, k.name)
	}
	curve := func(get func(stage) float64) plot.Curve {
		c := plot.Curve{Dots: true}
		for _, s := range r.Stages {
			c.Points = append(c.Points, plot.Point{At: s.Part, Value: get(s)})
		}
		return c
	}
	var cpu plot.Panel
	cpu.Title = "server CPU per operation, µs"
	for _, k := range kinds() {
		cpu.Curves = append(cpu.Curves, curve(func(s stage) float64 { return k.get(s.Costs).CPU }))
	}
	panel := func(title string, get func(stage) float64) plot.Panel {
		return plot.Panel{Title: title, Curves: []plot.Curve{curve(get)}}
	}
	p.Panels = []plot.Panel{
		cpu,
		panel("a permit in use, bytes", func(s stage) float64 { return s.Permit.InUse }),
		panel("a definition in use, bytes", func(s stage) float64 { return s.Definition.InUse }),
		panel("resident, MB", func(s stage) float64 { return s.Filled.Resident / 1e6 }),
		panel("restart to the first grant, s", func(s stage) float64 { return s.Restart.Seconds }),
	}
	if largest.Snapshot != nil {
		p.Panels = append(p.Panels, panel("snapshot, s", func(s stage) float64 { return s.Snapshot.Seconds }),
			panel("longest grant during the snapshot, ms", func(s stage) float64 { return s.Snapshot.LongestDuring }))
	}
	return p.SVG()
}
