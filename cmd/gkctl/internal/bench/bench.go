package bench

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	"github.com/gatekeeperd/gatekeeper/internal/workload"
)

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{newBench(f, (*benchOptions).run)}
}

const (
	// maxBatch is the maximum number of edits in one batch.
	maxBatch = 10_000
	// maxCallers is the maximum number of callers in a window. Each has its own semaphore; one batch creates them all.
	maxCallers = maxBatch
	// maxConnections and maxRate catch typos.
	maxConnections = 1000
	maxRate        = 1_000_000
	// maxTokens is the maximum number of tokens in a frame.
	maxTokens = 10_000
	// minPermitDuration and maxPermitDuration bound the duration of the permits: how long they last without a refresh,
	// for example after gkctl is killed. maxPermitDuration is the default maximum for definitions.
	minPermitDuration, maxPermitDuration = 2 * time.Minute, time.Hour
)

type benchOptions struct {
	f              *conn.Factory
	output         ui.Output
	kinds          []*workload.Kind
	callers        countsFlag
	connections    int
	warmUp, window time.Duration
	rate           int
	tokens, edits  int
	prefix         string
	dryRun, yes    bool
}

func newBench(f *conn.Factory, run func(*benchOptions, context.Context) error) *cobra.Command {
	o := &benchOptions{f: f, callers: countsFlag{1, 16, 64}}
	cmd := &cobra.Command{
		GroupID: ui.GroupCluster,
		Use:     "bench [WORKLOAD...] [--concurrency 1,16,64] [--rate N] [--dry-run] [--yes]",
		Short:   "Measure the cluster's throughput and latency on temporary semaphores",
		Long: `Puts load on the cluster and prints operations per second, latencies and errors for each workload and number of callers. It uses only
temporary semaphores under --prefix, in group "` + workload.Group + `". It creates them and deletes them at the end or after Ctrl-C. It refuses to run if there is
already a definition under the prefix. The load slows down other users of the cluster.

Workloads (by default ` + strings.Join(defaultKinds(), ", ") + `):
` + kindLines() + `
Without --rate it is a closed loop: each caller makes one call after another. While a call hangs, its caller does not make the calls that
would have hung too. With --rate it is an open loop: calls are due at that rate regardless of earlier calls, and each latency is measured from
the time the call was due. A call that is due while all callers are busy is late, and its latency includes the wait. A call that could not be
started before the end of the window is missed: it is counted, its latency includes the wait so far, and gkctl reports that the rate was not
sustained. --concurrency is then the maximum number of calls in flight.

Callers share the connections, and each connection goes to a random member. Members that are not the leader forward calls to it. The figures
include the CPU time of gkctl itself: running it on the same machine as the servers lowers the rates.`,
		Example: `  gkctl bench --dry-run
  gkctl bench --yes -o json
  gkctl bench mixed --rate 2000 --concurrency 256 --for 30s --yes
  gkctl bench watch batch --concurrency 100 --edits 10 --reason "before the upgrade"`,
		ValidArgsFunction: completeKinds,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.kinds, err = parseKinds(args); err != nil {
				return err
			}
			return run(o, cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.VarP(&o.callers, "concurrency", "c", "comma-separated caller counts, each measured in its own window; for watch, the number of watchers")
	flags.IntVar(&o.connections, "connections", 4, "number of connections shared by the callers")
	flags.DurationVar(&o.window, "for", 3*time.Second, "length of each window, for example 30s")
	flags.DurationVar(&o.warmUp, "warm-up", time.Second, "length of the warm-up before each window, which is not measured, for example 1s")
	flags.IntVar(&o.rate, "rate", 0, "total calls per second, `N`; with 0, each caller makes its next call immediately")
	flags.IntVar(&o.tokens, "tokens", 100, "permits refreshed by each frame in the stream workload")
	flags.IntVar(&o.edits, "edits", 100, "definitions changed by each batch in the batch workload")
	flags.StringVar(&o.prefix, "prefix", "", "prefix for the names of the temporary semaphores, without a trailing slash; default: bench/ and a random suffix")
	flags.BoolVar(&o.dryRun, "dry-run", false, "show the plan without running it")
	flags.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	o.output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML)
	return cmd
}

// defaultKinds returns the default workloads, which add almost nothing to the journal.
func defaultKinds() []string { return []string{"acquire", "deny", "refresh", "stream", "mixed"} }

func kindNames() []string {
	return words.Map(workload.Kinds(), func(k *workload.Kind) string { return k.Name })
}

// kindLines lists the workloads for the help text.
func kindLines() string {
	var b strings.Builder
	for _, k := range workload.Kinds() {
		fmt.Fprintf(&b, "  %-8s %s\n", k.Name, k.Short)
	}
	return b.String()
}

func completeKinds(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, k := range workload.Kinds() {
		if strings.HasPrefix(k.Name, toComplete) && !slices.Contains(args, k.Name) {
			out = append(out, k.Name+"\t"+k.Short)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// parseKinds returns the workloads with the given names, in the same order.
func parseKinds(names []string) ([]*workload.Kind, error) {
	if len(names) == 0 {
		names = defaultKinds()
	}
	all := workload.Kinds()
	var kinds []*workload.Kind
	for i, name := range names {
		at := slices.IndexFunc(all, func(k *workload.Kind) bool { return k.Name == name })
		switch {
		case at < 0:
			if suggestion := nearest.Word(name, kindNames()); suggestion != "" {
				return nil, ui.Usagef("unknown workload %q; did you mean %q?", name, suggestion)
			}
			return nil, ui.Usagef("unknown workload %q; the workloads are %s", name, strings.Join(kindNames(), ", "))
		case slices.Contains(names[:i], name):
			return nil, ui.Usagef("%s is given twice", name)
		}
		kinds = append(kinds, all[at])
	}
	return kinds, nil
}

// countsFlag is the value of --concurrency.
type countsFlag []int

func (f *countsFlag) String() string { return strings.Join(words.Map(*f, strconv.Itoa), ",") }

func (f *countsFlag) Set(s string) error {
	var counts []int
	for word := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > maxCallers {
			return fmt.Errorf("must be whole numbers from 1 to %d, as in 1,16,64", maxCallers)
		}
		counts = append(counts, n)
	}
	*f = counts
	return nil
}

func (f *countsFlag) Type() string { return "N,..." }

// check rejects invalid flags and likely typos before any server is contacted.
func (o *benchOptions) check() error {
	for _, n := range []struct {
		flag            string
		value, min, max int
	}{
		{"connections", o.connections, 1, maxConnections},
		{"rate", o.rate, 0, maxRate},
		{"tokens", o.tokens, 1, maxTokens},
		{"edits", o.edits, 1, maxBatch},
	} {
		if n.value < n.min || n.value > n.max {
			return ui.Usagef("--%s %d must be between %d and %d", n.flag, n.value, n.min, n.max)
		}
	}
	switch {
	case o.window <= 0:
		return ui.Usagef("--for %s must be greater than 0", o.window)
	case o.warmUp < 0:
		return ui.Usagef("--warm-up %s must not be negative", o.warmUp)
	case lookup.IsGlob(o.prefix), strings.HasSuffix(o.prefix, "/"):
		return ui.Usagef("--prefix %q must be the start of a name, without *, ?, [ or ], and without a trailing slash", o.prefix)
	}
	return nil
}

// fixture returns a Fixture with the semaphores used by the run.
func (o *benchOptions) fixture(control *client.Client, clients []*client.Client) *workload.Fixture {
	run := strings.ToLower(rand.Text())
	if o.prefix == "" {
		o.prefix = "bench/" + run[:8]
	}
	return workload.NewFixture(workload.Settings{
		Prefix: o.prefix, Callers: slices.Max(o.callers), Tokens: o.tokens, Edits: o.edits,
		Duration: o.permitDuration(), Timeout: o.f.Global.Timeout,
		Author: o.f.Global.ChangeAuthor(), Reason: cmp.Or(o.f.Global.Reason, "gkctl bench"), Run: run,
	}, o.kinds, control, clients)
}

// permitDuration returns a duration that lets every caller refresh its permits in time. With --rate, a caller makes one
// call every callers/rate seconds, and in the mixed workload at least one call in 30 is a refresh.
func (o *benchOptions) permitDuration() time.Duration {
	d := minPermitDuration
	if o.rate > 0 {
		d += 30 * time.Second * time.Duration(slices.Max(o.callers)) / time.Duration(o.rate)
	}
	return min(d.Round(time.Second), maxPermitDuration)
}

func (o *benchOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		fixture := o.fixture(c, nil)
		if n := fixture.Size(); n > maxBatch {
			return ui.Usagef("this needs %d semaphores, but at most %d can be created in one step: lower --concurrency or --edits", n, maxBatch)
		}
		plan, err := o.plan(ctx, c, fixture)
		if err != nil {
			return err
		}
		if o.dryRun {
			return o.printPlan(plan)
		}
		for _, line := range plan.lines() {
			o.f.Logf("%s", line)
		}
		if !o.yes {
			about := fmt.Sprintf("this puts load on cluster %s for about %s", plan.Cluster, words.Brief(plan.takes))
			if err := o.f.Confirm(ctx, about, "Continue?", "nothing was done"); err != nil {
				return err
			}
		}
		return o.carryOut(ctx, c, plan)
	})
}

// withClients opens the connections that carry the load, calls f with them, and closes them.
func (o *benchOptions) withClients(ctx context.Context, f func([]*client.Client) error) error {
	endpoints, settings, err := o.f.Global.Connection()
	if err != nil {
		return err
	}
	var clients []*client.Client
	defer func() {
		for _, c := range clients {
			_ = c.Close() // always nil
		}
	}()
	for i := range o.connections {
		c, err := o.f.Dial(ctx, endpoints, append(slices.Clone(settings), client.WithGroup(workload.Group), client.WithAcquirer(workload.Acquirer(i)))...)
		if err != nil {
			return err
		}
		clients = append(clients, c)
	}
	return f(clients)
}

// explainTaken adds a hint to the error for a prefix that is already in use.
func explainTaken(err error) error {
	e, ok := errors.AsType[*workload.TakenError](err)
	if !ok {
		return err
	}
	return ui.WithHint(err, "Nothing was changed. Choose a different --prefix. To delete what an interrupted run left behind: gkctl delete '%s/*' --yes", e.Prefix)
}
