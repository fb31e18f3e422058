package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// growth compares one measure on one server early and late in the run.
type growth struct {
	Server string  `json:"server"`
	What   string  `json:"what"`
	Unit   string  `json:"unit"`
	Early  float64 `json:"early"` // median of the first third after the warm-up
	Late   float64 `json:"late"`  // median of the last third
	// Filling means that the server was still filling up at the end, as expected, so its growth is not meaningful.
	Filling bool `json:"filling,omitempty"`
}

// measure is a figure that must not grow.
type measure struct {
	what, unit string
	value      func(state) float64
	scale      float64
	// slack is the difference that is always tolerated, in the measure's unit.
	slack float64
	// full reports whether the server has reached its configured capacity. If it is nil, the server counts as full
	// after the first quarter of the run.
	full func(state) bool
}

func measures() []measure {
	return []measure{
		{"memory", "MB", func(s state) float64 { return s.Memory }, 1e-6, 24, nil},
		{"goroutines", "", func(s state) float64 { return s.Goroutines }, 1, 40, nil},
		{"data directory", "MB", func(s state) float64 { return s.Disk }, 1e-6, 24, func(s state) bool { return s.Applied >= fullLog }},
	}
}

const (
	// toleratedGrowth is the fraction by which a measure may grow.
	toleratedGrowth = 0.1
	// fullLog is the maximum number of log entries that a server keeps: the trailing entries, the entries that trigger
	// a snapshot, and the entries added before the server's next check. A log is expected to grow until it is first
	// truncated.
	fullLog = 100_000 + 2*20_000
	// minReportedStall is the shortest stall to report. An idle machine never stalls that long.
	minReportedStall = 100 * time.Millisecond
	// minJudgedLength is the minimum length of a run whose growth is judged.
	minJudgedLength = 10 * time.Minute
)

func (g growth) grew(slack float64) bool { return g.Late > g.Early*(1+toleratedGrowth)+slack }

// judge finds broken guarantees: failed calls, elections, and growth.
func (r *report) judge(failures []string) {
	r.Broken = append(r.Broken, failures...)
	if len(r.Samples) == 0 {
		r.Broken = append(r.Broken, "the servers were never sampled: the run was shorter than -every")
		return
	}
	r.judgeElections()
	if r.Done.Granted == 0 || r.Done.Denied == 0 || r.Done.Firings == 0 || r.Done.Changes == 0 {
		r.Broken = append(r.Broken, fmt.Sprintf("too little work was done for a conclusive result: %+v", r.Done))
	}
	r.Judged = r.Length >= minJudgedLength.Seconds()
	for _, m := range measures() {
		warm := m.afterWarmUp(r.Samples)
		third := max(len(warm)/3, 1)
		for i, id := range r.Servers {
			g := growth{id, m.what, m.unit, m.median(warm[:third], i), m.median(warm[len(warm)-third:], i), !m.settled(warm)}
			r.Growth = append(r.Growth, g)
			if r.Judged && !g.Filling && g.grew(m.slack) {
				r.Broken = append(r.Broken, fmt.Sprintf("%s on %s grew from %.1f to %.1f %s", g.What, id, g.Early, g.Late, g.Unit))
			}
		}
	}
}

// judgeElections distinguishes elections caused by the machine from elections caused by the servers.
func (r *report) judgeElections() {
	lease := 800 * time.Millisecond // of gatekeeper.ProfileDefault
	if r.Profile == "fast" {
		lease = 400 * time.Millisecond
	}
	for i := 1; i < len(r.Samples); i++ {
		prev, cur := r.Samples[i-1], r.Samples[i]
		if cur.term() == prev.term() {
			continue
		}
		stall := seconds(max(prev.Stall, cur.Stall))
		text := fmt.Sprintf("a leader was elected between %.0f and %.0f s, in term %d, although no server failed; the machine's longest stall was %v",
			prev.At, cur.At, cur.term(), stall.Round(time.Millisecond))
		// This process observed the stall on one CPU. It may have been longer for a server.
		if stall >= lease/2 {
			r.Machine = append(r.Machine, text)
		} else {
			r.Broken = append(r.Broken, text)
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// stalled returns the number of samples with a stall of at least the given length, and the longest stall.
func (r *report) stalled(atLeast time.Duration) (count int, longest time.Duration) {
	for _, s := range r.Samples {
		if stall := seconds(s.Stall); stall >= atLeast {
			count++
			longest = max(longest, stall)
		}
	}
	return count, longest
}

// afterWarmUp returns the samples after the warm-up.
func (m measure) afterWarmUp(samples []sample) []sample {
	from := len(samples) / 4
	for from < len(samples)-1 && !m.settled(samples[from:]) {
		from++
	}
	return samples[from:]
}

// settled reports whether all servers had reached their configured capacity in the first of these samples.
func (m measure) settled(samples []sample) bool {
	return m.full == nil || !slices.ContainsFunc(samples[0].Servers, func(s state) bool { return !m.full(s) })
}

func (m measure) median(samples []sample, server int) float64 {
	var values []float64
	for _, s := range samples {
		values = append(values, m.value(s.Servers[server])*m.scale)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (r *report) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "finished in %v\t%d grants and releases, %d denials, %d firings, %d changes, %d messages to watchers; %.0f calls per second\n",
		time.Duration(r.Length*float64(time.Second)).Round(time.Second), r.Done.Granted, r.Done.Denied, r.Done.Firings, r.Done.Changes, r.Done.Watched,
		float64(r.Done.calls())/r.Length)
	fmt.Fprintln(w, "\nserver\tmeasure\tafter warm-up\tat the end\t")
	for _, g := range r.Growth {
		note := ""
		if g.Filling {
			note = " (still filling up: not judged)"
		}
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%.1f\t%s%s\n", g.Server, g.What, g.Early, g.Late, g.Unit, note)
	}
	_ = w.Flush()
	if !r.Judged {
		fmt.Fprintf(out, "growth was not judged: that requires a run of at least %v\n", minJudgedLength)
	}
	if count, longest := r.stalled(minReportedStall); count > 0 {
		fmt.Fprintf(out, "the machine stalled for over %v before %d of %d samples; the longest stall was %v\n",
			minReportedStall, count, len(r.Samples), longest.Round(time.Millisecond))
	}
	for _, text := range r.Machine {
		fmt.Fprintf(out, "not caused by the servers: %s\n", text)
	}
	fmt.Fprintf(out, "broken guarantees: %d\n", len(r.Broken))
}
