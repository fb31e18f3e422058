// Command mutants puts known bugs into the tree, one at a time, and demands that the test which each names fails.
//
// A mutant is a file in .ci/mutants: what it breaks, the tests that must fail, and a diff. Nothing of it is in the tree
// itself. The tool applies the diff to the current files, and has the go command read the result in their place
// (-overlay), in its own builds and in those which a test starts: fault runs get mutated servers this way.
//
//	make mutants                     every mutant
//	make mutants ARGS='-run Confirm' those whose name matches
//	make mutants ARGS=-check         only apply and compile them, which make test does too
//
// # Format
//
// Lines "Key: value" come first. A line that starts with a space continues the one before.
//
//	Breaks:   the rule that the mutant breaks; or
//	Harmless: why nothing may fail, although the diff changes what the tree does: the tests must pass
//	Test:     package, test and arguments of one test that must fail; may be repeated
//	With:     another mutant, which is applied first
//
// Then comes a unified diff, except that line numbers mean nothing: a line that starts with @@ opens a hunk, and its
// context and removed lines must be in the file exactly once. git apply and the libraries for diffs go by the number of
// the line, and where it is off they take the nearest place that fits: in a tree that moves, a mutant could silently go
// somewhere else. To repair a mutant, copy the lines as they are now from the file, with a space or a minus before
// each.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err == nil {
		err = command(ctx, strings.TrimSpace(string(root)), os.Args[1:], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command runs the tool in the module whose folder is root.
func command(ctx context.Context, root string, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	choice := flags.String("run", "", "only the mutants whose name matches this regular expression")
	check := flags.Bool("check", false, "apply and compile the mutants, and run no test")
	timeout := flags.Duration("timeout", 6*time.Minute, "for each run of a test; what the test builds counts, its own build does not")
	if err := flags.Parse(args); err != nil {
		return err
	}
	matches, err := regexp.Compile(*choice)
	if err != nil {
		return err
	}
	all, err := load(root, filepath.Join(root, ".ci", "mutants"))
	if err != nil {
		return err
	}
	var chosen []*mutant
	for _, m := range all {
		if matches.MatchString(m.name) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no mutant matches %q", *choice)
	}
	if err := compile(ctx, root, chosen); err != nil {
		return err
	}
	if *check {
		fmt.Fprintf(out, "%d mutants apply and compile\n", len(chosen))
		return nil
	}
	temp, err := os.MkdirTemp("", "gatekeeper-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r := runner{root: root, temp: temp, timeout: *timeout, out: out}
	return r.all(ctx, chosen)
}
