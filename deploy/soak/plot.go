package main

import (
	"fmt"
	"html"
	"strings"
)

// The plot's measures, in its own units.
const (
	plotWidth, panelHeight = 760, 150
	plotLeft, plotTop      = 70, 30
)

// colour is that of a server. They are told apart also by who sees no red or green.
func colour(server int) string { return [...]string{"#0072b2", "#d55e00", "#009e73"}[server%3] }

// panel is one curve for each server, or one for all.
type panel struct {
	title  string
	curves [][]float64 // by server, then sample
}

// plot is the run as SVG, one panel below the other.
func (r *report) plot() []byte {
	var panels []panel
	for _, m := range measures() {
		p := panel{title: strings.TrimSuffix(m.what+", "+m.unit, ", ")}
		for i := range r.Servers {
			var curve []float64
			for _, s := range r.Samples {
				curve = append(curve, m.of(s.Servers[i])*m.scale)
			}
			p.curves = append(p.curves, curve)
		}
		panels = append(panels, p)
	}
	panels = append(panels, panel{"calls a second", [][]float64{r.rates()}})

	var b strings.Builder
	height := plotTop + len(panels)*(panelHeight+50)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", plotLeft+plotWidth+20, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	for i, id := range r.Servers {
		fmt.Fprintf(&b, `<text x="%d" y="18" fill="%s">%s</text>`+"\n", plotLeft+60*i, colour(i), html.EscapeString(id))
	}
	for i, p := range panels {
		r.panel(&b, p, plotTop+i*(panelHeight+50))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// rates are the calls a second between two looks.
func (r *report) rates() []float64 {
	var rates []float64
	at, before := 0.0, int64(0)
	for _, s := range r.Samples {
		rates = append(rates, float64(s.Done.calls()-before)/max(s.At-at, 1e-9))
		at, before = s.At, s.Done.calls()
	}
	return rates
}

func (r *report) panel(b *strings.Builder, p panel, top int) {
	most := 0.0
	for _, curve := range p.curves {
		for _, v := range curve {
			most = max(most, v)
		}
	}
	most = max(most*1.1, 1e-9)
	bottom := top + 20 + panelHeight
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", plotLeft, top+14, html.EscapeString(p.title))
	for _, part := range []float64{0, 0.5, 1} {
		y := float64(bottom) - part*panelHeight
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.4g</text>`+"\n",
			plotLeft, y, plotLeft+plotWidth, y, plotLeft-6, y+4, part*most)
	}
	for i, curve := range p.curves {
		var points []string
		for j, v := range curve {
			points = append(points, fmt.Sprintf("%.1f,%.1f", plotLeft+plotWidth*r.Samples[j].At/max(r.Length, 1e-9), float64(bottom)-v/most*panelHeight))
		}
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.3" points="%s"/>`+"\n", colour(i), strings.Join(points, " "))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d">0</text><text x="%d" y="%d" text-anchor="end">%.0f min</text>`+"\n",
		plotLeft, bottom+16, plotLeft+plotWidth, bottom+16, r.Length/60)
}
