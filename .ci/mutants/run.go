package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// runner runs tests.
type runner struct {
	root, temp string
	timeout    time.Duration
	out        io.Writer
}

// runAll runs the tests without mutants and then with each mutant.
func (r *runner) runAll(ctx context.Context, mutants []*mutant) error {
	start := time.Now()
	healthy, err := r.healthy(ctx, mutants)
	if err != nil {
		return err
	}
	ran, missed := 0, 0
	for _, m := range mutants {
		overlay, err := r.overlay(m)
		if err != nil {
			return err
		}
		for _, t := range m.tests {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			ran++
			result, took := r.runTest(ctx, overlay, t)
			verdict, ok := m.judge(result, t)
			if !healthy[t] {
				verdict, ok = "UNHEALTHY", false // it fails without the mutant too
			}
			fmt.Fprintf(r.out, "%-36s %-9s %4.0fs  %s\n", m.name, verdict, took.Seconds(), t)
			switch {
			case !ok:
				missed++
				fmt.Fprintln(r.out, indented(result.output))
			case result.finding != "":
				fmt.Fprintln(r.out, "    "+result.finding)
			}
		}
	}
	fmt.Fprintf(r.out, "%d mutants, %d runs, %d unexpected results, in %v\n", len(mutants), ran, missed, time.Since(start).Round(time.Second))
	if missed > 0 {
		return errors.New("some mutants had unexpected results")
	}
	return nil
}

// healthy runs each test once without a mutant. Tests in the same package run together.
func (r *runner) healthy(ctx context.Context, mutants []*mutant) (map[test]bool, error) {
	type group struct{ pkg, parent, args string }
	var order []group
	leaves := make(map[group][]string)
	passed := make(map[test]bool)
	for _, m := range mutants {
		for _, t := range m.tests {
			if _, seen := passed[t]; seen {
				continue
			}
			passed[t] = false
			g := group{t.pkg, path.Dir(t.name), t.args}
			if leaves[g] == nil {
				order = append(order, g)
			}
			leaves[g] = append(leaves[g], path.Base(t.name))
		}
	}
	for _, g := range order {
		all := test{g.pkg, path.Join(g.parent, "("+strings.Join(leaves[g], "|")+")"), g.args}
		result, took := r.runTest(ctx, "", all)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, leaf := range leaves[g] {
			t := test{g.pkg, path.Join(g.parent, leaf), g.args}
			passed[t] = result.outcomes[t.name] == "pass"
			if !passed[t] {
				fmt.Fprintf(r.out, "%-36s FAILED    %4.0fs  %s\n%s\n", "(none)", took.Seconds(), t, indented(result.output))
			}
		}
		fmt.Fprintf(r.out, "%-36s %-9s %4.0fs  %s\n", "(none)", "run", took.Seconds(), all)
	}
	return passed, nil
}

// overlay writes the mutant's files and an overlay file that makes the go command read them instead of the originals.
func (r *runner) overlay(m *mutant) (string, error) {
	replace := make(map[string]string)
	for file, text := range m.files {
		to := filepath.Join(r.temp, m.name, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(r.root, file)] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(r.temp, m.name, "overlay.json")
	return file, os.WriteFile(file, list, 0o600)
}

// runTest runs a test, using the overlay file if one is given. Packages under deploy belong to a separate module.
func (r *runner) runTest(ctx context.Context, overlay string, t test) (*result, time.Duration) {
	dir, pkg := r.root, t.pkg
	if inside, ok := strings.CutPrefix(t.pkg, "./deploy/"); ok {
		dir, pkg = filepath.Join(r.root, "deploy"), "./"+inside
	}
	args := []string{"test", "-json", "-count=1", "-vet=off", "-timeout", r.timeout.String(), "-run", pattern(t.name), pkg}
	if t.args != "" {
		args = append(append(args, "-args"), strings.Fields(t.args)...)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, os.Environ()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if overlay != "" {
		// Set in the environment so that it also applies to builds started by the test.
		cmd.Env = append(cmd.Env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	}
	start := time.Now()
	out, err := cmd.CombinedOutput()
	res := parseOutput(bytes.NewReader(out))
	if err != nil && len(res.outcomes) == 0 {
		res.output += err.Error()
	}
	return res, time.Since(start)
}

// pattern returns a pattern that matches only this test. The last part of the name may contain alternatives.
func pattern(name string) string {
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		parts = append(parts, "^"+part+"$")
	}
	return strings.Join(parts, "/")
}

// result is the parsed output of go test -json.
type result struct {
	outcomes map[string]string // outcome of each test: pass, fail or skip
	finding  string            // the first line that a test logged; for a failing test, its first error
	crashed  bool              // the test panicked or timed out
	output   string
}

func parseOutput(in io.Reader) *result {
	logged := regexp.MustCompile(`^ +\w+_test\.go:\d+: `)
	r := &result{outcomes: make(map[string]string)}
	var output strings.Builder
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(line, &e) != nil {
			e.Output = string(line) // a line from the go command
		}
		for _, crash := range []string{"panic: ", "fatal error: "} {
			r.crashed = r.crashed || strings.HasPrefix(e.Output, crash)
		}
		output.WriteString(e.Output)
		if r.finding == "" && logged.MatchString(e.Output) {
			r.finding = strings.TrimSpace(e.Output)
		}
		if e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
			r.outcomes[e.Test] = e.Action
		}
		if err != nil {
			r.output = output.String()
			return r
		}
	}
}

// judge describes the result of the mutant's test and reports whether it is as expected: only that test fails, without
// panicking or timing out. With a harmless mutant, the test must pass.
func (m *mutant) judge(r *result, t test) (verdict string, ok bool) {
	for name, outcome := range r.outcomes {
		related := strings.HasPrefix(t.name+"/", name+"/") || strings.HasPrefix(name, t.name+"/")
		if outcome == "fail" && !related {
			return "another test failed: " + name, false
		}
	}
	switch outcome := r.outcomes[t.name]; {
	case r.crashed:
		return "CRASHED", false
	case outcome == "fail" && m.harmless == "":
		return "caught", true
	case outcome == "fail":
		return "FAILED", false
	case outcome == "pass" && m.harmless != "":
		return "harmless", true
	case outcome == "pass":
		return "MISSED", false
	default:
		return "NOT RUN", false // it did not build, does not exist, or was skipped
	}
}

// indented returns the last lines of the output, indented.
func indented(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if len(lines) > 40 {
		lines = lines[len(lines)-40:]
	}
	return "    " + strings.Join(lines, "\n    ")
}
