// Command proof tries to break Gatekeeper's guarantees. It runs real servers and clients, kills, suspends, isolates and
// damages them, and checks everything the clients observed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/counted"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/program"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/fault"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/namespaces"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/run"
	"github.com/gatekeeperd/gatekeeper/internal/history"
)

func main() { program.Main("proof", command) }

// proof holds the command's options.
type proof struct {
	out     io.Writer
	bin     string
	runs    int
	seed    uint64
	kind    string
	network string
	store   string
	length  time.Duration
	tally   string
	keep    string
	keepAll bool
	secure  bool
	commit  string
}

func command(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == run.HolderCommand {
		return run.Holder(ctx, args)
	}
	p := proof{out: out}
	flags := flag.NewFlagSet("proof", flag.ContinueOnError)
	flags.StringVar(&p.bin, "bin", "bin", "directory containing gatekeeperd and, in its subdirectory faulty/, a gatekeeperd built with -tags faulty")
	flags.IntVar(&p.runs, "runs", 1, "number of runs; the seed increases by one with each run")
	flags.Uint64Var(&p.seed, "seed", 1, "seed of the first run, which determines the faults and the clients' actions")
	flags.StringVar(&p.kind, "kind", "", "the kind of fault: "+strings.Join(fault.Names(), ", ")+", or mixed; empty for all kinds in turn")
	flags.StringVar(&p.network, "network", run.Auto, "the network between servers and clients: "+run.Namespaces+" (in the kernel; requires Linux, root, ip, tc and ss), "+run.Proxies+", or "+
		run.Auto+": "+run.Namespaces+" if available and able to inject the kind of fault, "+run.Proxies+" otherwise")
	flags.DurationVar(&p.length, "for", 12*time.Second, "how long to inject faults in each run, at most 30s")
	flags.StringVar(&p.store, "log-store", "", "the servers' log store, bolt or wal; empty for their default")
	flags.BoolVar(&p.secure, "secure", false, "run the servers with TLS, authenticated clients, roles and an audit log")
	flags.StringVar(&p.tally, "tally", "", "file to which each run appends a line")
	flags.StringVar(&p.commit, "commit", "", "commit under test, recorded in the tally; empty for HEAD")
	flags.StringVar(&p.keep, "keep", filepath.Join(os.TempDir(), "gatekeeper-proof"), "directory for the histories of runs with violations")
	flags.BoolVar(&p.keepAll, "keep-all", false, "keep the histories of all runs")
	checkFile := flags.String("check", "", "check the history in this file and exit")
	sumFile := flags.String("sum", "", "summarize the tally in this file and exit")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *checkFile != "" {
		return p.check(*checkFile)
	}
	if *sumFile != "" {
		text, err := sum(*sumFile)
		fmt.Fprint(p.out, text)
		return err
	}
	if p.length > 30*time.Second {
		return errors.New("-for must be at most 30s: use more -runs instead")
	}
	if !slices.Contains([]string{run.Namespaces, run.Proxies, run.Auto}, p.network) {
		return fmt.Errorf("unknown network %q: choose %s, %s or %s", p.network, run.Namespaces, run.Proxies, run.Auto)
	}
	if p.kind != "" && p.kind != fault.Mixed && !slices.Contains(fault.Names(), p.kind) {
		return fmt.Errorf("unknown kind of fault %q: choose one of %s, or %s", p.kind, strings.Join(fault.Names(), ", "), fault.Mixed)
	}
	if p.commit == "" {
		p.commit = head()
	}
	return p.runAll(ctx)
}

// runAll performs the runs and returns an error if any of them failed.
func (p *proof) runAll(ctx context.Context) error {
	removed, err := namespaces.Sweep()
	if len(removed) > 0 {
		fmt.Fprintf(p.out, "removed leftovers from a killed run: %s\n", strings.Join(removed, ", "))
	}
	if err != nil {
		return err
	}
	kinds := append(fault.Names(), fault.Mixed, fault.Mixed, fault.Mixed)
	var failedRuns []string
	var operations, faults int
	for i := range p.runs {
		seed := p.seed + uint64(i)
		kind := p.kind
		if kind == "" {
			kind = kinds[seed%uint64(len(kinds))]
		}
		r, err := p.once(ctx, kind, seed)
		if errors.Is(err, run.ErrUnsupported) {
			fmt.Fprintf(p.out, "%-16s seed %-6d skipped: %v\n", kind, seed, err)
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(p.out, "%-16s seed %-6d the run itself failed: %v\n", kind, seed, err)
			failedRuns = append(failedRuns, fmt.Sprintf("-kind %s -seed %d", kind, seed))
			continue
		}
		operations += r.Operations
		for _, n := range r.Faults {
			faults += n
		}
		if len(r.Violations)+len(r.Undecided) > 0 {
			failedRuns = append(failedRuns, fmt.Sprintf("-kind %s -seed %d", kind, seed))
		}
	}
	fmt.Fprintf(p.out, "%d runs, %d operations, %d faults, %d runs failed\n", p.runs, operations, faults, len(failedRuns))
	if len(failedRuns) > 0 {
		return fmt.Errorf("failed runs: %s", strings.Join(failedRuns, "; "))
	}
	return nil
}

// once performs one run, prints its result, and keeps its history if there were violations.
func (p *proof) once(ctx context.Context, kind string, seed uint64) (*run.Report, error) {
	dir, err := os.MkdirTemp("", "gatekeeper-proof-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	opts := run.Options{
		Binary: filepath.Join(p.bin, "gatekeeperd"), Dir: dir, Kind: kind, Seed: seed, Network: p.network, Length: p.length, LogStore: p.store,
		Disks: kind == fault.FullDisk, Secure: p.secure,
	}
	if kind == fault.SlowDisk || kind == fault.DiskError {
		opts.Binary, opts.Faulty = filepath.Join(p.bin, "faulty", "gatekeeperd"), true
	}
	r, err := run.Once(ctx, opts)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(p.out, "%-16s seed %-6d %s: %6d operations (%d unanswered), %d grants, %d by re-acquisition, term %d, firings: %s, faults: %s\n",
		kind, seed, r.Network, r.Operations, r.Unknown, r.Grants, r.Reacquired, r.LastTerm, counted.Format(r.Outcomes, ", "), counted.Format(r.Faults, ", "))
	fmt.Fprintf(p.out, "  shared work: %s; %s\n", counted.Format(r.Work, ", "), counted.Format(r.Disruptions, ", "))
	p.printFindings(r)
	if p.keepAll || len(r.Violations)+len(r.Undecided) > 0 {
		file, err := r.Save(p.keep)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(p.out, "  to check its history: make faults ARGS='-check %s'\n", file)
	}
	if p.tally != "" {
		err = appendTally(p.tally, p.commit, p.store, r, p.length)
	}
	return r, err
}

func (p *proof) printFindings(r *run.Report) {
	for _, v := range r.Violations {
		fmt.Fprintf(p.out, "  VIOLATION: %v\n", v)
	}
	for _, semaphore := range r.Undecided {
		fmt.Fprintf(p.out, "  undecided: the model check of %s timed out\n", semaphore)
	}
}

// check checks a saved history.
func (p *proof) check(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	r := &run.Report{}
	if r.Entries, err = history.Decode(f); err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%d operations, %d grants\n", r.Operations, r.Grants)
	p.printFindings(r)
	if len(r.Violations) > 0 {
		return fmt.Errorf("%d violations", len(r.Violations))
	}
	return nil
}
