// Package plot draws curves as SVG for reports on web pages. It follows the reader's light or dark colour scheme.
package plot

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Dimensions in SVG units.
const (
	width, panelHeight = 760, 150
	left, top          = 70, 30
	perPanel           = panelHeight + 50
)

// Plot is a column of panels over the same range.
type Plot struct {
	// Names are the names of the curves in panels with more than one curve.
	Names  []string
	Panels []Panel
	// From and To are the labels below the left and right ends of each panel.
	From, To string
}

// Panel is a set of curves on one scale, which begins at 0.
type Panel struct {
	Title  string
	Curves []Curve
}

// Curve is a series of points from left to right.
type Curve struct {
	Points []Point
	// Dots marks each point. It suits curves with few points.
	Dots bool
}

// Point is a value at a position in the range, from 0 to 1. Points whose value is NaN are omitted.
type Point struct{ At, Value float64 }

// colour returns the colour of a curve. Colour-blind readers can tell the colours apart, on white and on black.
func colour(curve int) string {
	return [...]string{"#0080c8", "#d55e00", "#009e73", "#b0689a", "#8a7400"}[curve%5]
}

// SVG returns the plot as an SVG document.
func (p *Plot) SVG() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n",
		left+width+20, top+len(p.Panels)*perPanel)
	b.WriteString(`<style>
.paper { fill: #ffffff } text { fill: #24292f } .grid { stroke: #d8dee4 }
@media (prefers-color-scheme: dark) { .paper { fill: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d } }
</style>
<rect class="paper" width="100%" height="100%"/>
`)
	x := left
	for i, name := range p.Names {
		fmt.Fprintf(&b, `<rect x="%d" y="10" width="9" height="9" fill="%s"/><text x="%d" y="19">%s</text>`+"\n", x, colour(i), x+14, html.EscapeString(name))
		x += 34 + 7*len(name)
	}
	for i, panel := range p.Panels {
		p.panel(&b, panel, top+i*perPanel)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func (p *Plot) panel(b *strings.Builder, panel Panel, at int) {
	highest := 0.0
	for _, c := range panel.Curves {
		for _, point := range c.Points {
			if !math.IsNaN(point.Value) {
				highest = max(highest, point.Value)
			}
		}
	}
	highest = max(highest*1.1, 1e-9)
	bottom := at + 20 + panelHeight
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", left, at+14, html.EscapeString(panel.Title))
	for _, fraction := range []float64{0, 0.5, 1} {
		y := float64(bottom) - fraction*panelHeight
		fmt.Fprintf(b, `<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%.4g</text>`+"\n",
			left, y, left+width, y, left-6, y+4, fraction*highest)
	}
	for i, c := range panel.Curves {
		var points []string
		for _, point := range c.Points {
			if math.IsNaN(point.Value) {
				continue
			}
			x, y := left+width*point.At, float64(bottom)-point.Value/highest*panelHeight
			points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
			if c.Dots {
				fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x, y, colour(i))
			}
		}
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.3" points="%s"/>`+"\n", colour(i), strings.Join(points, " "))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text><text x="%d" y="%d" text-anchor="end">%s</text>`+"\n",
		left, bottom+16, html.EscapeString(p.From), left+width, bottom+16, html.EscapeString(p.To))
}
