// Command mutants injects known bugs into the code, one at a time, and checks that the tests listed for each bug fail.
//
// Each file in .ci/mutants describes a mutant: what it breaks, which tests must fail, and a diff. The working tree is
// not changed: the tool applies the diff to copies of the current files and makes the go command read the copies
// instead (-overlay). Builds started by a test read the copies too, so fault-injection runs use mutated servers.
//
//	make mutants                     every mutant
//	make mutants ARGS='-run Confirm' mutants whose names match
//	make mutants ARGS=-check         only apply and compile them, like make test
//
// # Format
//
// A file begins with lines of the form "Key: value". A line that starts with a space continues the previous one.
//
//	Breaks:   the rule that the mutant breaks; or
//	Harmless: why the diff changes the code but breaks no rule; the tests must then pass
//	Test:     package, test and arguments of one test that must fail; may be repeated
//	With:     another mutant to apply first
//
// A unified diff follows. Line numbers in it are ignored: a line that starts with @@ opens a hunk, and the hunk's
// context and removed lines must occur in the file exactly once. git apply and diff libraries use the line numbers and
// choose the nearest match if the numbers are wrong, so they could silently apply a mutant in the wrong place after the
// tree has changed. To repair a mutant, copy the current lines from the file and prefix each with a space or a minus
// sign.
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

// command runs the tool on the module in the directory root.
func command(ctx context.Context, root string, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	filter := flags.String("run", "", "run only the mutants whose names match this regular expression")
	check := flags.Bool("check", false, "apply and compile the mutants without running tests")
	timeout := flags.Duration("timeout", 6*time.Minute, "timeout for each test run, including anything the test builds, but not building the test itself")
	if err := flags.Parse(args); err != nil {
		return err
	}
	matches, err := regexp.Compile(*filter)
	if err != nil {
		return err
	}
	all, err := load(root, filepath.Join(root, ".ci", "mutants"))
	if err != nil {
		return err
	}
	var selected []*mutant
	for _, m := range all {
		if matches.MatchString(m.name) {
			selected = append(selected, m)
		}
	}
	if len(selected) == 0 {
		return fmt.Errorf("no mutants match %q", *filter)
	}
	if err := compile(ctx, root, selected); err != nil {
		return err
	}
	if *check {
		fmt.Fprintf(out, "%d mutants apply and compile\n", len(selected))
		return nil
	}
	temp, err := os.MkdirTemp("", "gatekeeper-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r := runner{root: root, temp: temp, timeout: *timeout, out: out}
	return r.runAll(ctx, selected)
}
