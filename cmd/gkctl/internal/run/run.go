package run

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/child"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/held"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{
		newAcquire(f, (*acquireOptions).run),
		newRefresh(f, (*refreshOptions).run),
		newVerify(f, (*verifyOptions).run),
		newRelease(f),
		newRevoke(f),
		newClear(f),
		newRun(f, (*runOptions).run),
		newRunGuard(f),
		newRunBegin(),
	}
}

type runOptions struct {
	f *conn.Factory
	conn.IdentityFlags
	semaphore     string
	command       []string
	weight        uint32
	nonblock      bool
	timeout       time.Duration
	onDenied      choice
	onUnavailable choice
	patience      time.Duration
	conflictCode  int
	firing        string
	tz            string
	killAfter     time.Duration
	shell         bool
	verbose       bool
	statusFile    string

	limited bool // whether --timeout was given
	status  runStatus
	signals chan os.Signal
}

func newRun(f *conn.Factory, run func(*runOptions, context.Context) error) *cobra.Command {
	o := &runOptions{f: f, onDenied: newChoice("fail", "wait", "queue", "skip"), onUnavailable: newChoice("fail", "wait")}
	cmd := &cobra.Command{
		GroupID: ui.GroupPermits,
		Use:     "run SEMAPHORE [flags] -- COMMAND [ARGUMENT...]",
		Short:   "Run a command under a permit",
		Long: `Acquires a permit, runs the command while it holds the permit, and releases it when the command and everything that it left running in its
process group have exited. Until then it keeps the permit alive. If the permit is lost, or an operator stops its holder, the command gets
SIGTERM, and SIGKILL after --kill-after or at the end of a drain. Both happen before anyone else can get the permit.

gkctl exits with the command's exit code, or with 128+n if signal n killed it. Otherwise:

  1    the servers refused the request, or another error occurred
  64   bad flag, or permits too short for --kill-after
  65   invalid name, weight or firing
  69   no server responded: the command was not started
  70   the permit was lost, or had to be given up, while the command ran: it was stopped
  75   not acquired (-E sets a different code): the command was not started
  77   not allowed: the definition does not admit this group or acquirer, or the caller is cordoned; unauthenticated or forbidden
  78   no such definition
  126  the command cannot be executed; 127: it was not found. Both are checked before a permit is requested

If another holder has claimed or run the firing, gkctl does not run the command, exits with 0, and prints a line that names that holder.
With cron: and auto that line goes to syslog, and is printed only on a terminal or with --verbose, because cron would mail it from every host
but one.

--firing names the run so that hosts with the same schedule run it only once. cron:SCHEDULE takes the five fields of a crontab line, or @daily and the
like. The run is the most recent one due in the time zone given by --tz, which defaults to the host's; hosts in different zones must set it. auto is
the minute in which gkctl was started, auto:5m the five-minute interval, and auto:12h the half day, all in UTC. The interval must divide a day
evenly. The firing gets the semaphore's name; NAME@cron:SCHEDULE and NAME@auto give it a different one.

The command's environment contains GK_SEMAPHORE, GK_TOKEN, GK_GROUP, GK_ACQUIRER, GK_FIRING, and GK_PERMIT_FILE: the path of a JSON file that
always shows how long the permit is safe (safe_until).`,
		Example: `  gkctl run nightly-export -- /usr/local/bin/export --all
  gkctl run nightly-export --firing cron:'30 2 * * *' --tz Europe/Berlin -- export.sh
  gkctl run mirror --firing auto:5m -- mirror.sh
  gkctl run builds --weight 4 --timeout 10m --shell -- 'make && make install'`,
		Args: held.CommandArgs("run"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault // completes the command and its files
			}
			return f.CompleteNames(cmd, args, toComplete)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.semaphore, o.command = args[0], args[1:]
			o.limited = cmd.Flags().Changed("timeout")
			return run(o, cmd.Context())
		},
	}
	o.RegisterCaller(cmd) // no --holder-id: two commands with the same id would take the permit from each other
	flags := cmd.Flags()
	flags.Uint32Var(&o.weight, "weight", 1, "number of permits to take")
	flags.BoolVarP(&o.nonblock, "nonblock", "n", false, "do not wait for a permit (the default)")
	flags.DurationVar(&o.timeout, "timeout", 0, "wait at most this long for a permit")
	flags.Var(&o.onDenied, "on-denied", "what to do if the permit is denied: fail; wait (in the queue, at most --timeout, unless another run on this host is already waiting); queue (always wait); skip (exit with 0)")
	flags.Var(&o.onUnavailable, "on-unavailable", "what to do when no server answers for --patience: fail, or wait")
	flags.DurationVar(&o.patience, "patience", client.DefaultOutageLimit, "how long to keep trying when no server answers")
	flags.IntVarP(&o.conflictCode, "conflict-exit-code", "E", ui.ExitNotAcquired, "exit code if no permit was acquired")
	flags.StringVar(&o.firing, "firing", "", "run only once for this firing: cron:SCHEDULE, auto or auto:DURATION, optionally preceded by NAME@; or NAME@TIME or NAME")
	flags.StringVar(&o.tz, "tz", "", "time zone of the schedule in --firing cron:SCHEDULE, such as Europe/Berlin; default: the host's")
	flags.DurationVar(&o.killAfter, "kill-after", held.DefaultKillAfter, "time between SIGTERM and SIGKILL when the command must stop")
	flags.BoolVar(&o.shell, "shell", false, "run the command, given as one argument, with sh -c")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "report progress on standard error")
	flags.StringVar(&o.statusFile, "status-file", "", "write the outcome to this file as JSON")
	o.onDenied.complete(cmd, "on-denied")
	o.onUnavailable.complete(cmd, "on-unavailable")
	_ = cmd.RegisterFlagCompletionFunc("firing", cobra.FixedCompletions([]string{"auto", "auto:1h", "cron:"}, cobra.ShellCompDirectiveNoFileComp)) // fails only if there is no such flag
	return cmd
}

// newRunGuard returns the hidden command for the guard process; see package child.
func newRunGuard(f *conn.Factory) *cobra.Command {
	return &cobra.Command{
		Use: held.GuardCommand, Hidden: true, Args: ui.NoArgs,
		Run: func(*cobra.Command, []string) { child.Guard(f.In) },
	}
}

// newRunBegin returns the hidden command for the process that executes the user's command; see package child. Its
// arguments are the path and the command's arguments, starting with its name.
func newRunBegin() *cobra.Command {
	return &cobra.Command{
		Use: held.BeginCommand, Hidden: true, DisableFlagParsing: true, Args: cobra.MinimumNArgs(2),
		Run: func(_ *cobra.Command, args []string) { child.Begin(args[0], args[1:]) },
	}
}

// run performs all checks that do not need a server, acquires the permit, runs the command, and writes the status file.
func (o *runOptions) run(ctx context.Context) error {
	o.status = runStatus{Semaphore: o.semaphore, Outcome: outcomeNotStarted, Started: time.Now()}
	file, err := newStatusFile(o.statusFile)
	if err != nil {
		return err
	}
	err = o.execute(ctx)
	o.status.Ended = time.Now()
	return file.write(&o.status, err)
}

func (o *runOptions) execute(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.recordIdentity(); err != nil {
		return err
	}
	firing, err := runFiring(o.firing, o.tz, o.semaphore, o.status.Started)
	if err != nil {
		return err
	}
	o.status.Firing = firing.status()
	command, err := held.Find(o.command, o.shell)
	if err != nil {
		return err
	}
	file, err := held.NewFile()
	if err != nil {
		return err
	}
	defer file.Remove()

	// From here on, a signal either ends the wait or is passed to the command. It never kills gkctl in between.
	o.signals = make(chan os.Signal, 64)
	signal.Notify(o.signals, child.Forwarded()...)
	defer signal.Stop(o.signals)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	waitCtx, interrupted := interruptible(context.WithoutCancel(ctx), o.signals)
	defer interrupted.end()
	return o.f.Connect(waitCtx, func(ctx context.Context, c *client.Client) error {
		run, err := o.begin(ctx, c, command, firing)
		if s := interrupted.received(); err != nil && s != nil {
			return &ui.CodeError{Code: held.ExitCode(s)}
		}
		if err != nil {
			return o.beginError(err, firing)
		}
		r := &running{runOptions: o, command: command, file: file, permit: run.Permit()}
		return r.runCommand(run, interrupted)
	}, append(o.Options(), client.WithLogger(slog.New(slog.DiscardHandler)))...) // cron would mail its messages
}

func (o *runOptions) check() error {
	switch {
	case o.limited && o.timeout < 0:
		return ui.Usagef("--timeout must not be negative")
	case o.nonblock && o.queues():
		return ui.Usagef("--nonblock and --on-denied %s cannot be combined: one tries once, the other waits", o.onDenied.String())
	case o.nonblock && o.waits():
		return ui.Usagef("--nonblock and --timeout cannot be combined: one tries once, the other waits")
	case o.limited && o.timeout == 0 && o.queues():
		return ui.Usagef("--timeout 0 and --on-denied %s cannot be combined: omit --timeout to wait without a limit", o.onDenied.String())
	case o.killAfter < 0:
		return ui.Usagef("--kill-after must not be negative")
	case o.weight == 0:
		return ui.Usagef("--weight must be greater than 0")
	case o.patience <= 0:
		return ui.Usagef("--patience must be greater than 0")
	case o.conflictCode < 0 || o.conflictCode > 255:
		return ui.Usagef("--conflict-exit-code %s: an exit code must be between 0 and 255", strconv.Itoa(o.conflictCode))
	case o.shell && len(o.command) != 1:
		return ui.Usagef("--shell takes the command as one argument, in quotes")
	}
	return nil
}

// recordIdentity stores the caller's identity in the status.
func (o *runOptions) recordIdentity() error {
	id, err := o.Identity(&o.f.Global)
	if err != nil {
		return err
	}
	o.status.Group, o.status.Acquirer = id.GetGroup(), id.GetAcquirer()
	return nil
}

// verbosef reports progress if --verbose is set.
func (o *runOptions) verbosef(format string, args ...any) {
	if o.verbose {
		o.f.Logf("gkctl: "+format, args...)
	}
}

// choice is a flag that accepts one of several words. The first one is the current value.
type choice struct{ values []string }

func newChoice(words ...string) choice { return choice{words} }

func (c *choice) String() string {
	if len(c.values) == 0 {
		return ""
	}
	return c.values[0]
}

// Set moves the chosen word to the front.
func (c *choice) Set(s string) error {
	i := slices.Index(c.values, s)
	if i < 0 {
		return fmt.Errorf("must be one of %s", strings.Join(c.values, ", "))
	}
	c.values = slices.Concat([]string{s}, c.values[:i], c.values[i+1:])
	return nil
}

// Type returns the placeholder for the value in help text.
func (c *choice) Type() string { return strings.Join(c.values, "|") }

func (c *choice) is(word string) bool { return c.String() == word }

func (c *choice) complete(cmd *cobra.Command, flag string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(slices.Clone(c.values), cobra.ShellCompDirectiveNoFileComp)) // fails only if there is no such flag
}
