package jobs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type submitOptions struct {
	f            *conn.Factory
	job          work.Job
	args, files  []string
	lines        string
	wait, follow bool
	cancelOnExit bool
	output       ui.Output
}

func newSubmit(f *conn.Factory) *cobra.Command {
	o := &submitOptions{f: f}
	cmd := &cobra.Command{
		Use:   "submit SEMAPHORE [TASK...] [--file FILE...] [--lines FILE]",
		Short: "Submit a job whose tasks are arguments, files or lines",
		Long: `Submits a job for a semaphore's workers. Its tasks are the arguments, the contents of each --file, or the lines of the
--lines file; - means standard input. Submitting a job again with the same --id has no further effect.

With --wait, --follow or --cancel-on-exit, gkctl exits when the job finishes, with 1 if a task failed, was cancelled or was dropped. With
--cancel-on-exit, the job is cancelled if gkctl exits first. If the submission got no response, the servers cancel the job within 30s,
unless it is submitted again with the same --id first.`,
		Example: `  gkctl job submit resize a.jpg b.jpg --id holiday --follow
  find . -name '*.jpg' | gkctl job submit resize --lines -`,
		Args: ui.AtLeastOne("the name of a semaphore"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return f.CompleteNames(cmd, args, toComplete)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.job.Semaphore, o.args = args[0], args[1:]
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.files, "file", nil, "a `FILE` with the payload of one task; repeat the flag for more tasks")
	flags.StringVar(&o.lines, "lines", "", "a `FILE` whose lines are the tasks")
	flags.StringVar(&o.job.ID, "id", "", "job id (default: generated)")
	flags.StringToStringVar(&o.job.Labels, "label", nil, "the job's labels, `KEY=VALUE,...`")
	flags.Int32Var(&o.job.Priority, "priority", 0, "jobs with a higher priority are handed out first")
	flags.IntVar(&o.job.MaxAttempts, "max-attempts", 0, "maximum number of times that a task is handed out, default 3")
	flags.IntVar(&o.job.MaxResult, "max-result", 0, "maximum size of a task's result in bytes, reserved when the job is submitted; default 1024, -1 for no results")
	flags.BoolVar(&o.job.RetryFailed, "retry-failed", false, "retry a task whose worker reported an error, as long as it has attempts left")
	flags.DurationVar(&o.job.Timeout, "job-timeout", 0, "cancel the job after this time, for example 2h")
	flags.DurationVar(&o.job.Retention, "retention", 0, "how long the job is kept after it ends, default 24h")
	flags.BoolVar(&o.wait, "wait", false, "wait until the job finishes")
	flags.BoolVar(&o.follow, "follow", false, "like --wait, but also show progress")
	flags.BoolVar(&o.cancelOnExit, "cancel-on-exit", false, "wait, and cancel the job if gkctl exits first")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

// payloads returns the tasks' payloads. It returns an error unless exactly one source of tasks was given.
func (o *submitOptions) payloads() (tasks [][]byte, err error) {
	sources := 0
	for _, given := range []bool{len(o.args) > 0, len(o.files) > 0, o.lines != ""} {
		if given {
			sources++
		}
	}
	if sources != 1 {
		return nil, ui.Usagef("specify tasks in exactly one way: as arguments, with --file, or with --lines")
	}
	for _, arg := range o.args {
		tasks = append(tasks, []byte(arg))
	}
	for _, name := range o.files {
		data, err := o.file(name)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, data)
	}
	if o.lines == "" {
		return tasks, nil
	}
	data, err := o.file(o.lines)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		tasks = append(tasks, bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")))
	}
	if len(tasks) == 0 {
		return nil, ui.Usagef("--lines %s contains no lines: a job needs at least one task", o.lines)
	}
	return tasks, nil
}

func (o *submitOptions) file(name string) (data []byte, err error) {
	if name == "-" {
		data, err = io.ReadAll(o.f.In)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, ui.Usagef("%w", err)
	}
	return data, nil
}

func (o *submitOptions) run(ctx context.Context) error {
	switch {
	case o.job.Timeout < 0:
		return ui.Usagef("--job-timeout must not be negative")
	case o.job.Retention < 0:
		return ui.Usagef("--retention must not be negative")
	case o.job.MaxAttempts < 0:
		return ui.Usagef("--max-attempts must not be negative")
	}
	tasks, err := o.payloads()
	if err != nil {
		return err
	}
	o.job.ID = cmp.Or(o.job.ID, client.NewRequestID()) // generated here, so that a submission with an unknown outcome can be repeated
	o.job.Author = o.f.Global.ChangeAuthor()
	if o.cancelOnExit {
		o.job.OnSubmitterLoss = work.SubmitterCancel
	}
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		submitCtx, cancel := o.f.Bounded(ctx)
		defer cancel()
		s, err := work.Submit(submitCtx, c, o.job, tasks)
		if ui.Is[*client.NoSuchDefinitionError](err) {
			if unknown := lookup.CheckDefined(submitCtx, c, []string{o.job.Semaphore}, nil); ui.Is[*ui.CodeError](unknown) {
				return unknown // this error suggests the right name
			}
		}
		unknown := errors.Is(err, client.ErrOutcomeUnknown)
		switch { // err is not printed if gkctl was interrupted
		case err == nil || ctx.Err() == nil:
		case unknown:
			o.f.Logf("gkctl: interrupted; it is unknown whether job %s was stored\n%s", words.Cell(o.job.ID), o.repeatHint())
		default:
			o.f.Logf("gkctl: interrupted: job %s was not submitted", words.Cell(o.job.ID))
		}
		if unknown {
			return &ui.CodeError{Code: ui.ExitUnreachable, Err: err, Hint: o.repeatHint()}
		}
		if err != nil {
			return addHint(err)
		}
		r := &gatekeeperv1.SubmitJobResponse{Job: s.Job, Repeated: s.Repeated}
		if o.output.Is(ui.Table) {
			text := "submitted"
			if s.Repeated {
				text = "was already submitted"
			}
			fmt.Fprintf(o.f.Out, "%s %s: %s\n", words.Cell(s.ID), text, countText(s.Job))
		}
		if o.waits() && !s.Job.GetOver() {
			o.noteNoWorker(ctx, c)
		}
		if r.Job, err = o.watch(ctx, c, s); err != nil {
			if !o.output.Is(ui.Table) { // the id has not been printed yet
				o.f.Logf("gkctl: stopped waiting for job %s", words.Cell(s.ID))
			}
			return err
		}
		if !o.output.Is(ui.Table) {
			if err := o.f.PrintAs(o.output, r, []string{s.ID}); err != nil {
				return err
			}
		}
		if o.waits() {
			return outcome(r.GetJob())
		}
		return nil
	})
}

// waits reports whether gkctl waits for the job to finish.
func (o *submitOptions) waits() bool { return o.wait || o.follow || o.cancelOnExit }

// repeatHint returns the hint for a submission whose outcome is unknown.
func (o *submitOptions) repeatHint() string {
	id := words.ShellWord(o.job.ID)
	if o.cancelOnExit {
		return fmt.Sprintf("If it was stored, the servers cancel it within %s, unless you run the command again first with `--id %s`.", work.SubmitterLease, id)
	}
	return fmt.Sprintf("Run the command again with `--id %s`: if the job was stored, this is a no-op.", id)
}

// noteNoWorker prints a note if no worker can execute the job, because gkctl would then wait forever. It ignores
// errors.
func (o *submitOptions) noteNoWorker(ctx context.Context, c *client.Client) {
	ctx, cancel := o.f.Bounded(ctx)
	defer cancel()
	workers, err := work.Workers(ctx, c, o.job.Semaphore)
	if err != nil || slices.ContainsFunc(workers, func(w *gatekeeperv1.Worker) bool {
		return !w.GetDraining() && w.GetDenied() == gatekeeperv1.Reason_REASON_UNSPECIFIED
	}) {
		return
	}
	sem := c.Semaphore(o.job.Semaphore)
	r, err := c.Definitions().Explain(ctx, &gatekeeperv1.ExplainRequest{
		Semaphore: sem.Name(), Identity: &gatekeeperv1.Identity{Group: sem.Group(), Acquirer: sem.Acquirer()}, Weight: 1,
	})
	if err == nil && r.GetWhyTasksWait() != "" {
		name := words.ShellWord(sem.Name())
		o.f.Logf("gkctl: the tasks are waiting: %s\n`gkctl work %s -- COMMAND` starts a worker; `gkctl explain %s` shows why tasks wait.",
			words.Cell(r.GetWhyTasksWait()), name, name)
	}
}

// watch waits for the job to finish, if requested, and returns the job.
func (o *submitOptions) watch(ctx context.Context, c *client.Client, s *work.Submitted) (j *gatekeeperv1.Job, err error) {
	if !o.waits() {
		return s.Job, nil
	}
	j, err = follow(ctx, o.f, c, s.ID, !o.follow)
	if ctx.Err() != nil && s.Submitter != nil {
		cancelCtx, cancel := o.f.Bounded(context.WithoutCancel(ctx))
		defer cancel()
		_, _ = work.Cancel(cancelCtx, c, s.ID, "its submitter was interrupted") // otherwise it is cancelled when the permit expires
	}
	return j, err
}
