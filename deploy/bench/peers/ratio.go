package main

import (
	"cmp"
	"slices"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
)

// spread is a median with its range.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func spreadOf(all []float64) spread {
	sorted := slices.Sorted(slices.Values(all))
	n := len(sorted)
	return spread{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Min: sorted[0], Max: sorted[n-1]}
}

// ratio is Gatekeeper's throughput divided by a peer's, computed for each round.
type ratio struct {
	Work    work   `json:"work"`
	Callers int    `json:"callers"`
	Of      string `json:"of"`
	To      string `json:"to"`
	spread
	// CPU is the CPU time per operation of the peer's servers and callers, divided by Gatekeeper's. It is absent if the
	// CPU time is unknown.
	CPU *spread `json:"cpu,omitempty"`

	of, to *variant
}

// compared reports whether two cells should be compared. A Gatekeeper variant is compared with every peer variant that
// has the same number of servers, and with the machine's limits. A variant with TLS is compared only with the same
// variant without TLS. Tasks are compared with pairs on the same servers.
func compared(of, to *cell) bool {
	if of.Store == "" || of.System == ownPairs || of.Work != to.Work || of.Callers != to.Callers {
		return false
	}
	switch {
	case to.System == ownPairs:
		return of.Servers == to.Servers && of.Store == to.Store && of.TLS == to.TLS
	case of.TLS:
		return !to.TLS && of.System == to.System && of.Servers == to.Servers && of.Store == to.Store && of.How == to.How
	}
	return to.Store == "" && (to.Servers == 0 || to.Servers == of.Servers)
}

// ratios computes the ratios of all comparisons, round by round.
func ratios(cells []*cell) []ratio {
	var all []ratio
	for _, of := range cells {
		for _, to := range cells {
			if !compared(of, to) {
				continue
			}
			var each []float64
			for round := range of.Figures {
				each = append(each, of.Figures[round].PerSecond/to.Figures[round].PerSecond)
			}
			r := ratio{Work: of.Work, Callers: of.Callers, Of: of.name(), To: to.name(), spread: spreadOf(each), of: &of.variant, to: &to.variant}
			if cpu := cpuRatios(of.CPU, to.CPU); len(cpu) > 0 {
				s := spreadOf(cpu)
				r.CPU = &s
			}
			all = append(all, r)
		}
	}
	return all
}

// cpuRatios returns the ratios of CPU times for the rounds in which both are known.
func cpuRatios(of, to []cpuCost) []float64 {
	var each []float64
	for round := range min(len(of), len(to)) {
		each = append(each, to[round].sum()/of[round].sum())
	}
	return each
}

// cpuCost returns the median CPU times of servers and callers. It returns false if they are unknown.
func (c *cell) cpuCost() (cpuCost, bool) {
	if len(c.CPU) == 0 {
		return cpuCost{}, false
	}
	var servers, callers []float64
	for _, e := range c.CPU {
		servers, callers = append(servers, e.Servers), append(callers, e.Callers)
	}
	return cpuCost{spreadOf(servers).Median, spreadOf(callers).Median}, true
}

// medianFigure returns the result of the median round.
func (c *cell) medianFigure() load.Figure {
	sorted := slices.SortedFunc(slices.Values(c.Figures), func(a, b load.Figure) int { return cmp.Compare(a.PerSecond, b.PerSecond) })
	return sorted[len(sorted)/2]
}
