// Command scale fills real servers with 100 000 definitions, 1 000 000 permits and 10 000 clients on this machine, and
// measures at 10, 30 and 100 % of that what each of them costs, and what grows with them that should not:
//
//   - a server at rest with the timetable of the Kubernetes project;
//   - memory for each client's stream, on connections that clients share and on connections of their own;
//   - one server that is filled: memory for each definition and permit, the cost of a decision, a refresh, a grant and
//     an expiry, how long a snapshot takes and what a grant sees of it, and how long a restart takes;
//   - three servers, made of the full one by joining two more: how long nobody is granted anything when the leader
//     hands over and when it is killed, beside the same of three empty servers.
//
// Permits are made by log entries through the public API. Each figure that has a target is printed beside it. A target
// that was missed is shown and does not fail the run, for most depend on the machine and on what else it does; a failed
// call or a lost permit does.
//
// With -paper it measures nothing, and prints what larger machines and more clusters carry by the constants measured
// here.
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

// amounts are how many there are of each.
type amounts struct {
	Definitions int `json:"definitions"`
	Permits     int `json:"permits"`
	Clients     int `json:"clients"`
}

// of is a part of the amounts, at least one of each.
func (a amounts) of(part float64) amounts {
	some := func(n int) int { return max(int(float64(n)*part), 1) }
	return amounts{some(a.Definitions), some(a.Permits), some(a.Clients)}
}

// scale is the command with its flags.
type scale struct {
	out       io.Writer
	bin, dir  string
	full      amounts
	callers   int
	window    time.Duration
	rest      time.Duration
	snapshots bool
	handOvers int
	kills     int
}

// report is everything that a run measured.
type report struct {
	Go      string      `json:"go"`
	CPUs    int         `json:"cpus"`
	Full    amounts     `json:"full"`
	Seconds float64     `json:"seconds"`
	Rest    atRest      `json:"at_rest"`
	Streams []streams   `json:"streams"`
	Empty   costs       `json:"empty"`
	Stages  []stage     `json:"stages"`
	Three   three       `json:"three"`
	Targets []judgement `json:"targets"`
}

// parts are how much of everything there is at each stage.
func parts() []float64 { return []float64{0.1, 0.3, 1} }

func command(ctx context.Context, args []string, out io.Writer) error {
	s := scale{out: out, full: amounts{100_000, 1_000_000, 10_000}}
	p := realHardware()
	var size float64
	var paper bool
	var plotFile, jsonFile, from string
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.StringVar(&s.bin, "bin", "bin", "folder of gatekeeperd")
	flags.Float64Var(&size, "size", 1, "part of 100 000 definitions, 1 000 000 permits and 10 000 clients to make, for a quick try")
	flags.IntVar(&s.callers, "callers", 256, "how many call at once while permits are made")
	flags.DurationVar(&s.window, "window", 2*time.Second, "how long each cost is measured")
	flags.DurationVar(&s.rest, "rest", 30*time.Second, "how long the server at rest is looked at")
	flags.BoolVar(&s.snapshots, "snapshots", true, "wait at each stage for a snapshot, up to a minute and a half: servers take them by themselves")
	flags.IntVar(&s.handOvers, "hand-overs", 5, "how often leadership is handed over, empty and full")
	flags.IntVar(&s.kills, "kills", 3, "how often the leader is killed, empty and full")
	flags.StringVar(&plotFile, "plot", "bin/scale.svg", "file for the plot; empty for none")
	flags.StringVar(&jsonFile, "json", "bin/scale.json", "file for the figures; empty for none")
	flags.BoolVar(&paper, "paper", false, "measure nothing; print what larger machines and more clusters carry, in Markdown")
	flags.StringVar(&from, "constants", "", "with -paper: JSON file of constants that take the place of the built-in ones, or that of an earlier run's figures")
	p.flags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if paper {
		return p.command(flags, from, out)
	}
	if size <= 0 || size > 1 {
		return fmt.Errorf("-size %v must be above 0 and at most 1", size)
	}
	if s.callers < 1 || s.window <= 0 || s.rest <= 0 || s.handOvers < 1 || s.kills < 1 {
		return errors.New("-callers, -window, -rest, -hand-overs and -kills must be above 0")
	}
	s.full = s.full.of(size)
	r, err := s.run(ctx)
	if err != nil {
		return err
	}
	r.print(out)
	return r.write(out, jsonFile, plotFile)
}

// write writes the figures and the plot.
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
	fmt.Fprintf(out, "plotted in %s\n", plotFile)
	return nil
}

func (s *scale) run(ctx context.Context) (*report, error) {
	begin := time.Now()
	// Beside the binaries, so that it is a disk: temporary folders often are memory.
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
		{"a server at rest", s.measureRest}, {"streams of clients", s.measureStreams}, {"three empty servers", s.measureEmpty}, {"servers that are filled", s.measureFull},
	} {
		s.say("%s", part.what)
		if err := part.measure(ctx, r); err != nil {
			return nil, fmt.Errorf("%s: %w", part.what, err)
		}
	}
	r.Seconds = time.Since(begin).Seconds()
	r.judge()
	return r, nil
}

// say returns how far it is: a run takes minutes.
func (s *scale) say(format string, args ...any) {
	fmt.Fprintf(s.out, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

// start starts servers with their data in a folder of that name. The caller kills them.
func (s *scale) start(ctx context.Context, name string, count int, definitions string) (*servers.Cluster, error) {
	return servers.Start(ctx, servers.Options{
		Binary: filepath.Join(s.bin, "gatekeeperd"), Dir: filepath.Join(s.dir, name), Count: count, Definitions: definitions,
	})
}
