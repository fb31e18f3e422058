package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced = regexp.MustCompile("(?ms)^```.*?^```$")
	link   = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	image  = regexp.MustCompile(`(?:src|srcset)="([^"]+)"`)
	// symbol is an identifier in the tour, next to a link to its file.
	symbol = regexp.MustCompile("`([A-Za-z]+\\.)?([A-Za-z]+)`")
)

func TestPages_EveryLink_Exists(t *testing.T) {
	for _, file := range pages(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		prose := fenced.ReplaceAllString(string(text), "")
		for _, m := range append(link.FindAllStringSubmatch(prose, -1), image.FindAllStringSubmatch(prose, -1)...) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", file, m[1], err)
			}
		}
	}
}

// The tour names functions and types of files that it links to. Each must still be in one of the files of its
// paragraph.
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
				t.Errorf("no linked file of this paragraph names %s:\n%s", m[0], paragraph)
			}
		}
	}
}
