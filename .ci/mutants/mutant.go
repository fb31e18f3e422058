package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mutant is a known bug.
type mutant struct {
	name     string // file name without the extension
	breaks   string // the broken rule; empty for a harmless mutant
	harmless string
	with     string
	tests    []test
	hunks    []hunk

	// files maps the paths of mutated files within the module to their contents.
	files map[string]string
}

// test is a test in a package and the arguments to run it with.
type test struct{ pkg, name, args string }

func (t test) String() string { return strings.TrimSpace(t.pkg + " " + t.name + " " + t.args) }

// hunk replaces lines that must occur in the file exactly once.
type hunk struct {
	where    string // the mutant file and the line where the hunk begins
	file     string
	old, new []string
}

// load reads the mutants in dir and applies them to the files under root. The error lists all problems.
func load(root, dir string) ([]*mutant, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.patch"))
	if err != nil {
		return nil, err
	}
	var mutants []*mutant
	var errs []error
	byName := make(map[string]*mutant)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		m, err := parse(filepath.Base(path), string(text))
		errs = append(errs, err)
		mutants, byName[m.name] = append(mutants, m), m
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, m := range mutants {
		hunks := m.hunks
		if m.with != "" {
			other := byName[m.with]
			if other == nil {
				errs = append(errs, fmt.Errorf("%s.patch: With: unknown mutant %q", m.name, m.with))
				continue
			}
			hunks = slices.Concat(other.hunks, hunks)
		}
		errs = append(errs, m.apply(root, hunks))
		for _, t := range m.tests {
			errs = append(errs, m.checkTest(root, t))
		}
	}
	return mutants, errors.Join(errs...)
}

// parse parses a mutant file. If it returns no error, the mutant has at least one hunk.
func parse(file, text string) (*mutant, error) {
	m := &mutant{name: strings.TrimSuffix(file, ".patch")}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	start := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "--- ") })
	if start < 0 {
		return m, fmt.Errorf("%s: no diff found", file)
	}
	for _, line := range strings.Split(strings.ReplaceAll(strings.Join(lines[:start], "\n"), "\n ", " "), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, value, _ := strings.Cut(line, ":")
		value = strings.Join(strings.Fields(value), " ")
		switch key {
		case "Breaks":
			m.breaks = value
		case "Harmless":
			m.harmless = value
		case "With":
			m.with = value
		case "Test":
			parts := append(strings.SplitN(value, " ", 3), "", "")
			m.tests = append(m.tests, test{parts[0], parts[1], parts[2]})
		default:
			return m, fmt.Errorf("%s: invalid header line %q: want Breaks, Harmless, Test or With, followed by a colon and a value", file, line)
		}
	}
	if (m.breaks == "") == (m.harmless == "") || len(m.tests) == 0 {
		return m, fmt.Errorf("%s: the header must contain either Breaks or Harmless, and at least one Test", file)
	}
	return m, m.diff(file, lines, start)
}

// diff parses the hunks in lines[start:].
func (m *mutant) diff(file string, lines []string, start int) error {
	var path string
	for i, line := range lines[start:] {
		where := fmt.Sprintf("%s:%d", file, start+i+1)
		var h *hunk
		if len(m.hunks) > 0 {
			h = &m.hunks[len(m.hunks)-1]
		}
		inHunk := h != nil && h.file == path
		switch {
		case strings.HasPrefix(line, "--- a/"):
			path = strings.TrimPrefix(line, "--- a/")
		case line == "+++ b/"+path:
		case strings.HasPrefix(line, "@@") && path != "":
			m.hunks = append(m.hunks, hunk{where: where, file: path})
		case inHunk && strings.HasPrefix(line, "-"):
			h.old = append(h.old, line[1:])
		case inHunk && strings.HasPrefix(line, "+"):
			h.new = append(h.new, line[1:])
		case inHunk && (line == "" || strings.HasPrefix(line, " ")):
			h.old, h.new = append(h.old, strings.TrimPrefix(line, " ")), append(h.new, strings.TrimPrefix(line, " "))
		default:
			return fmt.Errorf("%s: %q is not a valid diff line", where, line)
		}
	}
	for _, h := range m.hunks {
		if len(h.old) == 0 || slices.Equal(h.old, h.new) {
			return fmt.Errorf("%s: a hunk needs context or removed lines, and must change something", h.where)
		}
	}
	if len(m.hunks) == 0 {
		return fmt.Errorf("%s: the diff has no hunks", file)
	}
	return nil
}

// apply applies the hunks to the files under root.
func (m *mutant) apply(root string, hunks []hunk) error {
	m.files = make(map[string]string)
	for _, h := range hunks {
		text, ok := m.files[h.file]
		if !ok {
			file, err := os.ReadFile(filepath.Join(root, h.file))
			if err != nil {
				return fmt.Errorf("%s: %w", h.where, err)
			}
			text = string(file)
		}
		var err error
		if m.files[h.file], err = h.apply(text); err != nil {
			return err
		}
	}
	return nil
}

// apply returns the text with the hunk applied.
func (h *hunk) apply(text string) (string, error) {
	lines := strings.Split(text, "\n")
	var places []int
	longest, at := 0, 0 // the length and position of the longest partial match
	for i := range lines {
		n := 0
		for n < len(h.old) && i+n < len(lines) && lines[i+n] == h.old[n] {
			n++
		}
		if n == len(h.old) {
			places = append(places, i)
		}
		if n > longest {
			longest, at = n, i
		}
	}
	switch {
	case len(places) == 1:
		return strings.Join(slices.Concat(lines[:places[0]], h.new, lines[places[0]+len(h.old):]), "\n"), nil
	case len(places) > 1:
		return "", fmt.Errorf("%s: this hunk matches %d places in %s, first at lines %d and %d: add more context",
			h.where, len(places), h.file, places[0]+1, places[1]+1)
	case longest == 0:
		return "", fmt.Errorf("%s: this hunk does not match %s, which does not contain the line\n\t%s", h.where, h.file, h.old[0])
	default:
		actual := "the end of the file"
		if at+longest < len(lines) {
			actual = lines[at+longest]
		}
		return "", fmt.Errorf("%s: this hunk does not match %s: line %d is\n\t%s\nbut the mutant expects\n\t%s",
			h.where, h.file, at+longest+1, actual, h.old[longest])
	}
}

// checkTest checks that the test function exists, so that a renamed test is reported before any test runs.
func (m *mutant) checkTest(root string, t test) error {
	name, _, _ := strings.Cut(t.name, "/")
	function := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`)
	files, err := filepath.Glob(filepath.Join(root, t.pkg, "*_test.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if function.Match(text) {
			return nil
		}
	}
	return fmt.Errorf("%s.patch: Test: %s has no test %s", m.name, t.pkg, name)
}

// packages returns the directories of the mutated files, in the form ./directory.
func (m *mutant) packages() []string {
	dirs := make(map[string]bool)
	for file := range m.files {
		dirs["./"+filepath.Dir(file)] = true
	}
	return slices.Sorted(maps.Keys(dirs))
}
