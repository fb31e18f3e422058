package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced = regexp.MustCompile("(?ms)^```.*?^```$")
	link   = regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]*))?\)`)
	image  = regexp.MustCompile(`(?:src|srcset)="([^"]+)"`)
	// symbol matches an identifier in the tour.
	symbol  = regexp.MustCompile("`([A-Za-z]+\\.)?([A-Za-z]+)`")
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	// unslugged matches the characters that GitHub drops from a heading to make its anchor.
	unslugged = regexp.MustCompile(`[^\p{L}\p{M}\p{N}\p{Pc} -]`)
)

func TestPages_EveryLink_Exists(t *testing.T) {
	for _, file := range pages(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		prose := fenced.ReplaceAllString(string(text), "")
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			path, anchor := m[1], m[2]
			if strings.Contains(path, "://") {
				continue
			}
			target := file
			if path != "" {
				target = filepath.Join(filepath.Dir(file), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", file, path, err)
				continue
			}
			if anchor == "" || filepath.Ext(target) != ".md" {
				continue
			}
			to, err := os.ReadFile(target)
			if err != nil {
				t.Fatal(err)
			}
			if !anchors(string(to))[anchor] {
				t.Errorf("%s links to %s#%s, but the page has no such heading", file, path, anchor)
			}
		}
		for _, m := range image.FindAllStringSubmatch(prose, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil && !strings.Contains(m[1], "://") {
				t.Errorf("%s refers to the image %s: %v", file, m[1], err)
			}
		}
	}
}

// anchors returns the anchors that GitHub generates for a page's headings: the text in lower case, without punctuation,
// with spaces replaced by hyphens, and with a number appended if the page already has that anchor.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		text := link.ReplaceAllString(m[1], "]")
		slug := strings.ReplaceAll(unslugged.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
		unique := slug
		for n := 1; found[unique]; n++ {
			unique = fmt.Sprintf("%s-%d", slug, n)
		}
		found[unique] = true
	}
	return found
}

func TestAnchors_MatchGitHub(t *testing.T) {
	got := anchors("# A `gkctl run`, or two\n## Why not?\n```text\n# a comment\n```\n## Why not?\n## [On](a.md#b)_off – x\n")
	for _, want := range []string{"a-gkctl-run-or-two", "why-not", "why-not-1", "on_off--x"} {
		if !got[want] {
			t.Errorf("anchors() = %v, want it to contain %q", got, want)
		}
	}
	if len(got) != 4 {
		t.Errorf("anchors() = %v, want 4 anchors", got)
	}
}

// The tour mentions functions and types by name. Every name must occur in a file that its paragraph links to.
func TestTour_EveryName_IsInTheLinkedCode(t *testing.T) {
	text, err := os.ReadFile("tour.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, paragraph := range strings.Split(string(text), "\n\n") {
		var code strings.Builder
		for _, m := range link.FindAllStringSubmatch(paragraph, -1) {
			if strings.HasSuffix(m[1], ".go") {
				source, err := os.ReadFile(m[1])
				if err != nil {
					t.Fatal(err)
				}
				code.Write(source)
			}
		}
		if code.Len() == 0 {
			continue
		}
		for _, m := range symbol.FindAllStringSubmatch(paragraph, -1) {
			if !strings.Contains(code.String(), m[2]) {
				t.Errorf("no file that this paragraph links to contains %s:\n%s", m[0], paragraph)
			}
		}
	}
}
