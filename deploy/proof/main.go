// Command proof tries to break what Gatekeeper promises: it lets real servers and clients run, kills, suspends, cuts
// off and damages them, and checks everything that the clients saw.
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

// proof is the command with its flags.
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
	every   bool
	secure  bool
	commit  string
}

func command(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == run.HolderCommand {
		return run.Holder(ctx, args)
	}
	p := proof{out: out}
	flags := flag.NewFlagSet("proof", flag.ContinueOnError)
	flags.StringVar(&p.bin, "bin", "bin", "folder of the gatekeeperd to run, and in its folder faulty one of the build tag faulty")
	flags.IntVar(&p.runs, "runs", 1, "how many runs to make, each with the next seed")
	flags.Uint64Var(&p.seed, "seed", 1, "of the first run: it decides which faults happen, when, and what clients do")
	flags.StringVar(&p.kind, "kind", "", "the kind of fault: "+strings.Join(fault.Names(), ", ")+", or mixed; empty: each in turn")
	flags.StringVar(&p.network, "network", run.Auto, "what is between servers and clients: "+run.Namespaces+" (networks in the kernel; needs Linux, root, ip, tc and ss), "+
		run.Proxies+", or "+run.Auto+": the first where it can be and can do the kind of fault")
	flags.DurationVar(&p.length, "for", 12*time.Second, "how long the faults of a run go on, at most 30s")
	flags.StringVar(&p.store, "log-store", "", "how the servers keep their logs, bolt or wal; empty: their default")
	flags.BoolVar(&p.secure, "secure", false, "with TLS, authenticated clients, roles and an audit log")
	flags.StringVar(&p.tally, "tally", "", "file to which a line is added for each run")
	flags.StringVar(&p.commit, "commit", "", "what is tried, for the tally; empty: HEAD")
	flags.StringVar(&p.keep, "keep", filepath.Join(os.TempDir(), "gatekeeper-proof"), "folder for the histories of runs in which something was wrong")
	flags.BoolVar(&p.every, "keep-all", false, "keep the histories of all runs")
	again := flags.String("check", "", "make no run, but check the history in this file again")
	total := flags.String("sum", "", "make no run, but say what the tally in this file comes to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *again != "" {
		return p.check(*again)
	}
	if *total != "" {
		text, err := sum(*total)
		fmt.Fprint(p.out, text)
		return err
	}
	if p.length > 30*time.Second {
		return errors.New("faults go on for at most 30s: make more runs instead")
	}
	if !slices.Contains([]string{run.Namespaces, run.Proxies, run.Auto}, p.network) {
		return fmt.Errorf("no network is called %q: there are %s, %s, and %s", p.network, run.Namespaces, run.Proxies, run.Auto)
	}
	if p.kind != "" && p.kind != fault.Mixed && !slices.Contains(fault.Names(), p.kind) {
		return fmt.Errorf("no kind of fault is called %q: there are %s, and %s", p.kind, strings.Join(fault.Names(), ", "), fault.Mixed)
	}
	if p.commit == "" {
		p.commit = head()
	}
	return p.all(ctx)
}

// all makes the runs, and fails when one broke a promise.
func (p *proof) all(ctx context.Context) error {
	removed, err := namespaces.Sweep()
	if len(removed) > 0 {
		fmt.Fprintf(p.out, "removed what a killed run has left: %s\n", strings.Join(removed, ", "))
	}
	if err != nil {
		return err
	}
	kinds := append(fault.Names(), fault.Mixed, fault.Mixed, fault.Mixed)
	var broken []string
	var operations, faults int
	for i := range p.runs {
		seed := p.seed + uint64(i)
		kind := p.kind
		if kind == "" {
			kind = kinds[seed%uint64(len(kinds))]
		}
		r, err := p.once(ctx, kind, seed)
		if errors.Is(err, run.ErrNotHere) {
			fmt.Fprintf(p.out, "%-16s seed %-6d left out: %v\n", kind, seed, err)
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(p.out, "%-16s seed %-6d the run itself failed: %v\n", kind, seed, err)
			broken = append(broken, fmt.Sprintf("-kind %s -seed %d", kind, seed))
			continue
		}
		operations += r.Operations
		for _, n := range r.Faults {
			faults += n
		}
		if len(r.Violations)+len(r.Undecided) > 0 {
			broken = append(broken, fmt.Sprintf("-kind %s -seed %d", kind, seed))
		}
	}
	fmt.Fprintf(p.out, "%d runs, %d operations, %d faults, %d runs in which something was wrong\n", p.runs, operations, faults, len(broken))
	if len(broken) > 0 {
		return fmt.Errorf("something was wrong in %s", strings.Join(broken, "; "))
	}
	return nil
}

// once makes a run, tells what came of it, and keeps its history when something was wrong.
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
		kind, seed, r.Network, r.Operations, r.Unknown, r.Grants, r.Reacquired, r.Terms, counted.Words(r.Ends, ", "), counted.Words(r.Faults, ", "))
	fmt.Fprintf(p.out, "  shared work: %s; %s\n", counted.Words(r.Work, ", "), counted.Words(r.Harm, ", "))
	p.tell(r)
	if p.every || len(r.Violations)+len(r.Undecided) > 0 {
		file, err := r.Save(p.keep)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(p.out, "  its history: make faults ARGS='-check %s'\n", file)
	}
	if p.tally != "" {
		err = note(p.tally, p.commit, p.store, r, p.length)
	}
	return r, err
}

func (p *proof) tell(r *run.Report) {
	for _, v := range r.Violations {
		fmt.Fprintf(p.out, "  VIOLATION: %v\n", v)
	}
	for _, semaphore := range r.Undecided {
		fmt.Fprintf(p.out, "  undecided: the model had not enough time for %s\n", semaphore)
	}
}

// check checks a kept history.
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
	p.tell(r)
	if len(r.Violations) > 0 {
		return fmt.Errorf("%d promises are broken", len(r.Violations))
	}
	return nil
}
