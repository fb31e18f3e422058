package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every Go block on a page must be part of an example or be a complete example program, so that it is compiled.
func TestPages_EveryGoBlock_IsInAnExample(t *testing.T) {
	examples := readAll(t, "../client/example*_test.go", "../client/*/example*_test.go", "../examples/*/*.go")
	blocks := 0
	for _, file := range pages(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := parsePage(file, string(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range p.otherBlocks {
			if b.kind != "go" {
				continue
			}
			if blocks++; !occurs(b.text, examples) {
				t.Errorf("%s:%d: no example contains this block:\n%s", file, b.line, b.text)
			}
		}
	}
	if blocks == 0 {
		t.Error("no page has a Go block")
	}
}

func readAll(t *testing.T, patterns ...string) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

// occurs reports whether code contains the block's lines, at any indentation.
func occurs(block, code string) bool {
	lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	for indent := "\n"; len(indent) < 8; indent += "\t" {
		var b strings.Builder
		for _, line := range lines {
			if line == "" {
				b.WriteString("\n")
				continue
			}
			b.WriteString(indent + line)
		}
		if strings.Contains(code, b.String()+"\n") {
			return true
		}
	}
	return false
}

func TestOccurs_IgnoresIndentation(t *testing.T) {
	const code = "func f() {\n\tif x {\n\t\ty()\n\n\t\tz()\n\t}\n}\n"
	for block, want := range map[string]bool{
		"y()\n\nz()\n":             true,
		"if x {\n\ty()\n":          true,
		"y()\nz()\n":               false,
		"if x {\ny()\n":            false,
		"z()\n}\n":                 false,
		"y\n":                      false,
		"func f() {\n\tif x {\n\t": false,
	} {
		if got := occurs(block, "\n"+code); got != want {
			t.Errorf("occurs(%q) = %v, want %v", block, got, want)
		}
	}
}
