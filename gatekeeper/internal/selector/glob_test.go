package selector

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestGlob_Matches(t *testing.T) {
	for _, c := range []struct {
		glob, yes, no string
	}{
		{"nightly", "nightly", "nightl nightly- anightly"},
		{"*", "a a/b ä", ""},
		{"nightly-*", "nightly- nightly-export nightly-a/b", "nightly weekly-export"},
		{"*-export", "nightly-export -export", "nightly-exports export"},
		{"a*b*c", "abc axbyc abbcc a/b/c", "ab acb abcd"},
		{"a**b", "ab axxb", "a b"},
		{"?", "a ä 世", "aa äa"},
		{"job-[0-9]", "job-0 job-7", "job-x job-10"},
		{"job-[^0-9]", "job-x job-ä", "job-0 job-"},
		{"job-[!a-c]", "job-d", "job-a"},
		{"[a-]", "a -", "b"},
		{"[-a]", "a -", "b"},
		{"[abc]?*", "ax bxyz", "a dx"},
		{"*[0-9]*[0-9]", "a1b2 12", "1 a1b"},
		{`back\slash`, `back\slash`, "backslash"},
		{"世*界", "世界 世の界", "世 界"},
	} {
		g, problem := compileGlob(c.glob)
		if problem != "" {
			t.Errorf("compileGlob(%q): %s", c.glob, problem)
			continue
		}
		for _, name := range strings.Fields(c.yes) {
			if !g.match(name) {
				t.Errorf("glob %q does not match %q", c.glob, name)
			}
		}
		for _, name := range strings.Fields(c.no) {
			if g.match(name) {
				t.Errorf("glob %q matches %q", c.glob, name)
			}
		}
	}
}

func TestGlob_Invalid_ErrorReportsPosition(t *testing.T) {
	for glob, want := range map[string]string{
		"":                       "empty",
		"job-[0-9":               "[ at byte 4 is not closed by a ]",
		"[]":                     "[ at byte 0 starts an empty set",
		"[^]":                    "starts an empty set",
		"ab[z-a]":                "[ at byte 2 starts a set with the reversed range z-a",
		strings.Repeat("a", 513): "at most 512 bytes, not 513",
		"\xff":                   "UTF-8",
	} {
		if _, problem := compileGlob(glob); !strings.Contains(problem, want) {
			t.Errorf("compileGlob(%q) = %q, want an error containing %q", glob, problem, want)
		}
	}
}

func TestGlob_ManyStars_IsNotSlow(t *testing.T) {
	g, _ := compileGlob(strings.Repeat("*a", 200) + "b")
	if g.match(strings.Repeat("a", 256)) {
		t.Fatal("the glob matches a name that does not end in b")
	}
}

// FuzzGlob compares the matcher with Go's regular expressions.
func FuzzGlob(f *testing.F) {
	for _, s := range []string{"*", "a*b?c", "[a-z]*", "[^x]", "a[!0-9]*b", "**", "[-a]?", "世*"} {
		f.Add(s, "abc")
		f.Add(s, "a1b世")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		if !utf8.ValidString(name) {
			return
		}
		g, problem := compileGlob(text)
		if problem != "" {
			return
		}
		if len(g.steps) > len(text) {
			t.Fatalf("glob %q has %d steps, more than it has bytes", text, len(g.steps))
		}
		if got, expected := g.match(name), asRegexp(g).MatchString(name); got != expected {
			t.Fatalf("glob %q: match(%q) = %v, but the equivalent regular expression returns %v", text, name, got, expected)
		}
	})
}

func asRegexp(g *glob) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A(?s:`)
	for _, s := range g.steps {
		switch s.kind {
		case globChar:
			b.WriteString(regexp.QuoteMeta(string(s.char)))
		case globAny:
			b.WriteString(".")
		case globRun:
			b.WriteString(".*")
		case globClass:
			b.WriteString("[")
			if s.not {
				b.WriteString("^")
			}
			for _, r := range s.ranges {
				b.WriteString(classChar(r.low) + "-" + classChar(r.high))
			}
			b.WriteString("]")
		}
	}
	b.WriteString(`)\z`)
	return regexp.MustCompile(b.String())
}

func classChar(r rune) string {
	const digits = "0123456789abcdef"
	hex := ""
	for n := r; n > 0; n /= 16 {
		hex = string(digits[n%16]) + hex
	}
	return `\x{` + "0" + hex + `}`
}
