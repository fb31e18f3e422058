package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
)

// event is one line of `go test -json`; see `go doc test2json` and, for failed builds, `go help buildjson`.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
	Elapsed    float64
}

type testName struct{ pkg, test string }

// summary collects the events of a run.
type summary struct {
	out     io.Writer
	allowed map[testName]string

	passed, failed int
	skipped        []testName
	output         map[testName]*strings.Builder // output of unfinished tests; the test name "" stands for the package
	failedIn       map[string]int                // number of failed tests by package
	open           map[string]bool               // unfinished packages
}

func newSummary(out io.Writer, allowed map[testName]string) *summary {
	return &summary{
		out:      out,
		allowed:  allowed,
		output:   map[testName]*strings.Builder{},
		failedIn: map[string]int{},
		open:     map[string]bool{},
	}
}

func (s *summary) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		// Non-JSON output from the go command is always shown.
		fmt.Fprintf(s.out, "%s", line)
		return
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
		return
	case "build-fail":
		return // The packages that depend on it fail separately.
	}
	name := testName{strings.TrimPrefix(e.Package, module), e.Test}
	s.open[name.pkg] = true
	switch {
	case e.Action == "output":
		s.keep(name, e.Output)
	case e.Test != "":
		s.testEvent(name, e.Action)
	default:
		s.packageEvent(name.pkg, e)
	}
}

func (s *summary) keep(name testName, text string) {
	b := s.output[name]
	if b == nil {
		b = &strings.Builder{}
		s.output[name] = b
	}
	b.WriteString(text)
}

func (s *summary) testEvent(name testName, action string) {
	switch action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		s.failedIn[name.pkg]++
		s.show(name)
	case "skip":
		s.skipped = append(s.skipped, name)
		return // its output contains the reason and is shown at the end unless the test is listed
	default:
		return // run, pause, cont, bench: the test is still running
	}
	delete(s.output, name)
}

func (s *summary) packageEvent(pkg string, e event) {
	own := testName{pkg, ""}
	switch e.Action {
	case "pass":
		fmt.Fprintf(s.out, "ok    %s  %.1fs\n", pkg, e.Elapsed)
	case "skip": // a package without test files
	case "fail":
		if s.failedIn[pkg] == 0 {
			// The package did not build, panicked, leaked goroutines, or timed out. The reason is at the end of its
			// output.
			s.failed++
			s.showAll(pkg)
		}
		fmt.Fprintf(s.out, "FAIL  %s  %.1fs\n", pkg, e.Elapsed)
	default:
		return // start
	}
	delete(s.open, pkg)
	delete(s.output, own)
}

func (s *summary) show(name testName) {
	fmt.Fprintf(s.out, "\n--- %s %s\n", name.pkg, name.test)
	if b := s.output[name]; b != nil {
		fmt.Fprintln(s.out, strings.TrimRight(b.String(), "\n"))
	}
}

// showAll shows the output of the package and its unfinished tests.
func (s *summary) showAll(pkg string) {
	var names []testName
	for name := range s.output {
		if name.pkg == pkg {
			names = append(names, name)
		}
	}
	sort.Slice(names, func(i, j int) bool { return names[i].test < names[j].test })
	for _, name := range names {
		s.show(name)
		if name.test != "" {
			delete(s.output, name)
		}
	}
}

// finish prints the end of the summary and reports whether the run succeeded.
func (s *summary) finish() bool {
	ok := true
	for pkg := range s.open {
		s.failed++
		s.showAll(pkg)
		fmt.Fprintf(s.out, "FAIL  %s  did not finish\n", pkg)
	}
	for _, name := range s.skipped {
		if reason, listed := s.allowed[name]; listed {
			fmt.Fprintf(s.out, "skip  %s %s: %s\n", name.pkg, name.test, reason)
			continue
		}
		ok = false
		s.show(name)
		fmt.Fprintf(s.out, "FAIL  %s %s was skipped, but is not listed in .ci/skips.txt\n", name.pkg, name.test)
	}
	if s.passed == 0 {
		fmt.Fprintln(s.out, "FAIL  no tests passed")
		ok = false
	}
	fmt.Fprintf(s.out, "\n%d passed, %d failed, %d skipped\n", s.passed, s.failed, len(s.skipped))
	return ok && s.failed == 0
}
