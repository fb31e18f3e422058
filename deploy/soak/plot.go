package main

import (
	"fmt"
	"strings"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/plot"
)

// plot draws the run as an SVG image: a panel for each measure, with a curve for each server, and a panel for the call
// rate.
func (r *report) plot() []byte {
	p := plot.Plot{Names: r.Servers, From: "0", To: fmt.Sprintf("%.0f min", r.Length/60)}
	for _, m := range measures() {
		panel := plot.Panel{Title: strings.TrimSuffix(m.what+", "+m.unit, ", ")}
		for i := range r.Servers {
			panel.Curves = append(panel.Curves, r.curve(func(j int) float64 { return m.value(r.Samples[j].Servers[i]) * m.scale }))
		}
		p.Panels = append(p.Panels, panel)
	}
	rates := r.rates()
	p.Panels = append(p.Panels, plot.Panel{Title: "calls per second", Curves: []plot.Curve{r.curve(func(j int) float64 { return rates[j] })}})
	return p.SVG()
}

// curve returns a curve with a point for each sample.
func (r *report) curve(value func(sample int) float64) plot.Curve {
	var c plot.Curve
	for j, s := range r.Samples {
		c.Points = append(c.Points, plot.Point{At: s.At / max(r.Length, 1e-9), Value: value(j)})
	}
	return c
}

// rates returns the calls per second between samples.
func (r *report) rates() []float64 {
	var rates []float64
	at, before := 0.0, int64(0)
	for _, s := range r.Samples {
		rates = append(rates, float64(s.Done.calls()-before)/max(s.At-at, 1e-9))
		at, before = s.At, s.Done.calls()
	}
	return rates
}
