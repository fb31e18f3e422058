package workers

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/held"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// maxParallel is the maximum number of tasks that the servers assign to a worker.
const maxParallel = 1000

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	cmd := newWork(f, (*workOptions).run)
	cmd.AddCommand(newList(f))
	return []*cobra.Command{cmd}
}

type workOptions struct {
	f *conn.Factory
	conn.IdentityFlags
	semaphore string
	line      []string
	parallel  int
	weight    uint32
	grace     time.Duration
	killAfter time.Duration
	shell     bool
	verbose   bool
}

func newWork(f *conn.Factory, run func(*workOptions, context.Context) error) *cobra.Command {
	o := &workOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupWork,
		Use:     "work SEMAPHORE|--semaphore NAME [flags] -- COMMAND [ARGUMENT...]",
		Short:   "Run a command for each task of a semaphore's jobs; `work list` shows workers",
		Long: `Turns any program into a worker: it takes tasks from the semaphore's jobs and runs the command for each of them. The command reads the task's
payload from standard input. Its standard output is the result, and its exit code determines the outcome:

  0      the task is done
  75     the task is returned for another attempt, at least a second later; the attempt is not counted
  other  the task has failed; the failure message contains the exit code and the last line of standard error

A task also fails if its output exceeds the job's max_result. Each task is covered by a permit, which gkctl keeps alive. If the permit is lost or
must be given up, or the job is cancelled, the command and the processes it started receive SIGTERM, and then SIGKILL after --kill-after or at the
end of a drain. Both are sent before another worker can get the task. Unfinished tasks are returned, and the attempt is not counted. Processes
that the command leaves running in its process group are killed. The command has no terminal.

SIGTERM, SIGINT and SIGHUP drain the worker: it takes no more tasks and exits once the running tasks have finished, or after --grace. A second
SIGTERM or SIGINT stops the commands and returns their tasks.

While no server is reachable, commands continue for as long as their permits are safe. If a semaphore is paused or does not admit the worker, the
worker waits. Exit codes of gkctl:

  0      drained
  1      refused by the servers, or any other error
  64     bad flag, or permits too short for --kill-after
  65     invalid name or weight
  69     no server was reachable at startup
  77     unauthenticated or forbidden
  78     no such definition
  126    the command cannot be executed
  127    the command was not found
  128+n  signal n arrived a second time

The command's environment contains GK_JOB, GK_TASK (the index of the task, from 0), GK_ATTEMPT (from 1), and, as in gkctl run, GK_SEMAPHORE,
GK_TOKEN, GK_GROUP, GK_ACQUIRER and GK_PERMIT_FILE.`,
		Example: `  gkctl work resize --parallel 4 -- convert - -resize 200x200 jpg:-
  gkctl work count-words -- wc -w
  gkctl work emails --shell -- 'sendmail -t && echo sent'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.semaphore == "" {
				return held.CommandArgs("work")(cmd, args)
			}
			if cmd.ArgsLenAtDash() != 0 || len(args) == 0 {
				return ui.Usagef("with --semaphore, specify only -- and a command")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 || o.semaphore != "" {
				return nil, cobra.ShellCompDirectiveDefault // completes the command and its files
			}
			return f.CompleteNames(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.line = args; o.semaphore == "" {
				o.semaphore, o.line = args[0], args[1:]
			}
			if !cmd.Flags().Changed("grace") {
				o.grace = work.GraceUnlimited
			} else if o.grace < 0 {
				return ui.Usagef("--grace must not be negative")
			}
			return run(o, cmd.Context())
		},
	}
	o.RegisterCaller(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.semaphore, "semaphore", "", "`NAME` of the semaphore, if it is also the name of a subcommand, for example --semaphore list")
	_ = cmd.RegisterFlagCompletionFunc("semaphore", f.CompleteNames) // fails only if there is no such flag
	flags.IntVarP(&o.parallel, "parallel", "p", 1, "run at most `N` tasks at a time")
	flags.Uint32Var(&o.weight, "weight", 1, "number of permits that each task takes")
	flags.DurationVar(&o.grace, "grace", 0, "how long running tasks may continue after SIGTERM, for example 30s; default: no limit")
	flags.DurationVar(&o.killAfter, "kill-after", held.DefaultKillAfter, "time between SIGTERM and SIGKILL for a command that must stop")
	flags.BoolVar(&o.shell, "shell", false, "run the command, given as one argument, with sh -c")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "report the progress of each task on standard error")
	return cmd
}

// run first performs all checks that do not need a server, then contacts the servers, and then takes tasks.
func (o *workOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	command, err := held.Find(o.line, o.shell)
	if err != nil {
		return err
	}
	w := &worker{workOptions: o, command: command}
	defer w.listen()()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return o.f.Connect(context.WithoutCancel(ctx), func(_ context.Context, c *client.Client) error {
		if err := w.preflight(c); err != nil || w.draining.Err() != nil {
			return err
		}
		return w.work(c)
	}, append(o.Options(), client.WithLogger(slog.New(slog.NewTextHandler(o.f.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))))...)
}

func (o *workOptions) check() error {
	switch {
	case o.parallel < 1 || o.parallel > maxParallel:
		return ui.Usagef("--parallel must be between 1 and %d", maxParallel)
	case o.weight == 0:
		return ui.Usagef("--weight must be greater than 0")
	case o.killAfter < 0:
		return ui.Usagef("--kill-after must not be negative")
	case o.shell && len(o.line) != 1:
		return ui.Usagef("--shell takes the command as one argument, in quotes")
	}
	return nil
}

// verbosef reports progress if --verbose is set.
func (o *workOptions) verbosef(format string, args ...any) {
	if o.verbose {
		o.f.Logf("gkctl: "+format, args...)
	}
}
