package nearest_test

import (
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/internal/nearest"
)

func TestWord_Typos_FindIntendedWord(t *testing.T) {
	known := []string{"name", "permits", "duration", "group_pattern", "acquirer_pattern"}
	for unknown, want := range map[string]string{
		"permit":       "permits",
		"groupPattern": "group_pattern",
		"Permits":      "permits",
		"duraton":      "duration",
		"nam":          "name",
		"nm" + "ae":    "name", // a transposition is one edit
		"colour":       "",
		"":             "",
	} {
		if got := nearest.Word(unknown, known); got != want {
			t.Errorf("Word(%q) = %q, want %q", unknown, got, want)
		}
	}
	if got := nearest.Word("x", nil); got != "" {
		t.Errorf("Word() without known words = %q, want none", got)
	}
}

func FuzzWord(f *testing.F) {
	f.Add("permit", "permits,name")
	f.Fuzz(func(t *testing.T, unknown, known string) {
		words := strings.Split(known, ",")
		got := nearest.Word(unknown, append(words, unknown))
		if !strings.EqualFold(got, unknown) && unknown != "" {
			t.Errorf("Word(%q) = %q, want the word itself, because it is known", unknown, got)
		}
	})
}

func TestPrefixed_MissingPrefix_FindsID(t *testing.T) {
	known := []string{"app", "group:app", "acquirer:app"}
	for unknown, want := range map[string]string{"app": "acquirer:app", "acquirer:apq": "acquirer:app", "appk": "app", "zzz": ""} {
		if got := nearest.Prefixed(unknown, known, "acquirer:", "group:"); got != want {
			t.Errorf("Prefixed(%q) = %q, want %q", unknown, got, want)
		}
	}
}

// FuzzWord_MatchesFullTable compares Word with the textbook algorithm, which computes the full table for every word.
func FuzzWord_MatchesFullTable(f *testing.F) {
	f.Add("nihgtly-exprot", "nightly-export,nightly-report,weekly,nihgtly")
	f.Add("ab", "ba,a,abc,")
	f.Add("Ca", "abc,ac,A")
	f.Fuzz(func(t *testing.T, unknown, words string) {
		known := strings.Split(words, ",")
		want, best := "", 1<<30
		for _, word := range known {
			d := textbookDistance(strings.ToLower(unknown), strings.ToLower(word))
			if d < best && 3*d <= max(len(unknown), len(word)) {
				want, best = word, d
			}
		}
		if got := nearest.Word(unknown, known); got != want {
			t.Errorf("Word(%q, %q) = %q, want %q", unknown, known, got, want)
		}
	})
}

// textbookDistance returns the optimal string alignment distance between a and b.
func textbookDistance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
