// Command scale fills real servers on this machine with 100,000 definitions, 1,000,000 permits and 10,000 clients. At
// 10%, 30% and 100% of these numbers, it measures the cost per object and figures that should not grow:
//
//   - an idle server with the job schedule of the Kubernetes project;
//   - memory per client stream, with shared and with separate connections;
//   - one server, filled in stages: memory per definition and permit, the cost of a decision, a refresh, a grant and an
//     expiry, how long a snapshot takes and how it affects grants, and how long a restart takes;
//   - three servers, built from the full one by adding two members: how long grants stop when the leader hands over
//     leadership and when it is killed, compared with three empty servers.
//
// Each permit is created through the public API, with its own log entry. Each figure with a target is printed next to
// the target. A missed target does not fail the run, because most figures depend on the machine and its other load. A
// failed call or a lost permit fails the run.
//
// With -paper, it takes no measurements. Instead, it estimates the capacity of larger machines and more clusters from
// previously measured constants.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/program"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

func main() { program.Main("scale", command) }

// amounts holds the number of objects of each kind.
type amounts struct {
	Definitions int `json:"definitions"`
	Permits     int `json:"permits"`
	Clients     int `json:"clients"`
}

// scaled returns a fraction of the amounts, but at least one of each.
func (a amounts) scaled(part float64) amounts {
	fraction := func(n int) int { return max(int(float64(n)*part), 1) }
	return amounts{fraction(a.Definitions), fraction(a.Permits), fraction(a.Clients)}
}

// scale holds the command's options.
type scale struct {
	out       io.Writer
	bin, dir  string
	full      amounts
	callers   int
	window    time.Duration
	rest      time.Duration
	snapshots bool
	handovers int
	kills     int
}

// report holds the results of a run.
type report struct {
	Go      string     `json:"go"`
	CPUs    int        `json:"cpus"`
	Full    amounts    `json:"full"`
	Seconds float64    `json:"seconds"`
	Rest    idleResult `json:"at_rest"`
	Streams []streams  `json:"streams"`
	Empty   costs      `json:"empty"`
	Stages  []stage    `json:"stages"`
	Three   three      `json:"three"`
	Targets []check    `json:"targets"`
}

// parts returns the fractions of the full size at which measurements are made.
func parts() []float64 { return []float64{0.1, 0.3, 1} }

func command(ctx context.Context, args []string, out io.Writer) error {
	s := scale{out: out, full: amounts{100_000, 1_000_000, 10_000}}
	p := realHardware()
	var size float64
	var paper bool
	var plotFile, jsonFile, from string
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.StringVar(&s.bin, "bin", "bin", "directory that contains gatekeeperd")
	flags.Float64Var(&size, "size", 1, "fraction of the full load (100,000 definitions, 1,000,000 permits, 10,000 clients) to create; lower it for a quick test")
	flags.IntVar(&s.callers, "callers", 256, "number of concurrent callers that create permits")
	flags.DurationVar(&s.window, "window", 2*time.Second, "how long to measure each cost")
	flags.DurationVar(&s.rest, "rest", 30*time.Second, "how long to measure the idle server")
	flags.BoolVar(&s.snapshots, "snapshots", true, "at each stage, wait up to five minutes for the server to take a snapshot")
	flags.IntVar(&s.handovers, "hand-overs", 5, "number of leadership handovers, both with empty and with full servers")
	flags.IntVar(&s.kills, "kills", 3, "number of times to kill the leader, both with empty and with full servers")
	flags.StringVar(&plotFile, "plot", "bin/scale.svg", "file for the plot; empty for none")
	flags.StringVar(&jsonFile, "json", "bin/scale.json", "file for the results as JSON; empty for none")
	flags.BoolVar(&paper, "paper", false, "take no measurements; print the estimated capacity of larger machines and of several clusters, as Markdown")
	flags.StringVar(&from, "constants", "", "with -paper: JSON file with constants that replace the built-in ones, or with the results of an earlier run")
	p.flags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if paper {
		return p.command(flags, from, out)
	}
	if size <= 0 || size > 1 {
		return fmt.Errorf("-size %v must be greater than 0 and at most 1", size)
	}
	if s.callers < 1 || s.window <= 0 || s.rest <= 0 || s.handovers < 1 || s.kills < 1 {
		return errors.New("-callers, -window, -rest, -hand-overs and -kills must be greater than 0")
	}
	s.full = s.full.scaled(size)
	r, err := s.run(ctx)
	if err != nil {
		return err
	}
	r.print(out)
	return r.write(out, jsonFile, plotFile)
}

// write writes the results and the plot.
func (r *report) write(out io.Writer, jsonFile, plotFile string) error {
	if err := program.SaveJSON(jsonFile, r); err != nil {
		return err
	}
	if plotFile == "" {
		return nil
	}
	if err := os.WriteFile(plotFile, r.plot(), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(out, "plot written to %s\n", plotFile)
	return nil
}

func (s *scale) run(ctx context.Context) (*report, error) {
	start := time.Now()
	// Put the data next to the binaries to use a real disk: temporary directories are often in memory.
	dir, err := os.MkdirTemp(s.bin, "scale-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s.dir = dir
	r := &report{Go: runtime.Version(), CPUs: runtime.NumCPU(), Full: s.full}
	for _, part := range []struct {
		what    string
		measure func(context.Context, *report) error
	}{
		{"an idle server", s.measureIdleServer}, {"client streams", s.measureStreams}, {"three empty servers", s.measureEmpty}, {"a server filled in stages", s.measureFull},
	} {
		s.logf("%s", part.what)
		if err := part.measure(ctx, r); err != nil {
			return nil, fmt.Errorf("%s: %w", part.what, err)
		}
	}
	r.Seconds = time.Since(start).Seconds()
	r.judge()
	return r, nil
}

// logf prints progress, because a run takes minutes.
func (s *scale) logf(format string, args ...any) {
	fmt.Fprintf(s.out, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

// start starts servers that store their data in the named directory. The caller must kill them.
func (s *scale) start(ctx context.Context, name string, count int, definitions string) (*servers.Cluster, error) {
	return servers.Start(ctx, servers.Options{
		Binary: filepath.Join(s.bin, "gatekeeperd"), Dir: filepath.Join(s.dir, name), Count: count, Definitions: definitions,
	})
}
