package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// elements parses an SVG, and returns the number of elements by name and the points of the curves in document order.
func elements(t *testing.T, svg []byte) (counts map[string]int, points []string) {
	t.Helper()
	counts = map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return counts, points
		}
		if err != nil {
			t.Fatalf("the SVG is not well-formed: %v\n%s", err, svg)
		}
		if start, ok := token.(xml.StartElement); ok {
			counts[start.Name.Local]++
			for _, a := range start.Attr {
				if a.Name.Local == "points" {
					points = append(points, a.Value)
				}
			}
		}
	}
}

func TestSVG_DrawsEveryCurve_OmitsNaN(t *testing.T) {
	p := Plot{Names: []string{"<a>", "b"}, From: "0", To: "1", Panels: []Panel{
		{Title: "one & only", Curves: []Curve{{Points: []Point{{0, 1}, {0.5, math.NaN()}, {1, 10}}, Dots: true}}},
		{Title: "two", Curves: []Curve{{Points: []Point{{0, 5}}}, {}}},
	}}
	svg := p.SVG()
	counts, points := elements(t, svg)
	if counts["polyline"] != 3 || counts["circle"] != 2 {
		t.Errorf("got elements %v, want 3 curves and 2 dots", counts)
	}
	// The scale extends 10% beyond the largest value. The top of the panel is at y = 50, and zero is at y = 200.
	if want := "70.0,186.4 830.0,63.6"; points[0] != want {
		t.Errorf("got points %q, want %q", points[0], want)
	}
	if text := string(svg); !strings.Contains(text, "prefers-color-scheme: dark") || strings.Contains(text, "NaN") {
		t.Errorf("the SVG has no dark mode, or contains NaN:\n%s", text)
	}
}

func TestSVG_Empty_IsWellFormed(t *testing.T) {
	p := Plot{Panels: []Panel{{Title: "empty", Curves: []Curve{{Points: []Point{{0, 0}}}}}}}
	elements(t, p.SVG())
}
