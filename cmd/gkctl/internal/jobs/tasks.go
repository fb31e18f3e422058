package jobs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func token(t *gatekeeperv1.Task) string {
	if t.GetToken() == 0 {
		return ""
	}
	return words.Number(t.GetToken())
}

// worker returns the identity of the worker that holds a task, or of the last worker known to have held it.
func worker(t *gatekeeperv1.Task) *gatekeeperv1.Identity {
	if t.GetWorker() != nil {
		return t.GetWorker()
	}
	return t.GetPermit().GetIdentity()
}

// taskPermitText describes the state of a task's permit, or how it ended.
func taskPermitText(p *gatekeeperv1.Permit) string {
	switch {
	case p == nil:
		return ""
	case p.GetState() == gatekeeperv1.PermitState_PERMIT_STATE_HELD && p.GetEndedAt() == nil:
		return fmt.Sprintf("expired, held for an operator: gkctl clear %d", p.GetToken())
	case p.GetState() == gatekeeperv1.PermitState_PERMIT_STATE_COOLING:
		return fmt.Sprintf("%s, cooling for %s", words.Word(p.GetEnded(), "PERMIT_END_"), words.Brief(p.GetExpiresIn().AsDuration()))
	case p.GetEndedAt() == nil:
		text := words.PermitState(p)
		if p.GetExpiresIn() != nil {
			text += ", ends in " + words.Brief(p.GetExpiresIn().AsDuration()) + " unless refreshed"
		}
		return text
	}
	text := words.Word(p.GetEnded(), "PERMIT_END_") + " " + words.Ago(p.GetEndedAt()) + " ago"
	if cause := words.Word(p.GetStop(), "STOP_CAUSE_"); cause != "" {
		text += ", " + cause
		if p.GetStopReason() != "" {
			text += ": " + p.GetStopReason()
		}
	}
	return text
}

func readTasks(ctx context.Context, c *client.Client, req *gatekeeperv1.ListTasksRequest) ([]*gatekeeperv1.Task, error) {
	tasks := []*gatekeeperv1.Task{}
	for t, err := range work.Tasks(ctx, c, req) {
		if err != nil {
			return nil, addHint(err)
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

func taskListing(tasks []*gatekeeperv1.Task) ui.Listing {
	return ui.Listing{
		Headers: []string{"INDEX", "STATE", "ATTEMPTS", "RETURNS", "WORKER", "PROGRESS", "FAILURE"}, More: []string{"GROUP", "TOKEN", "PERMIT"},
		Rows: words.Map(tasks, func(t *gatekeeperv1.Task) ui.Row {
			return ui.Row{
				Name: words.Number(t.GetIndex()),
				Cells: []string{
					words.Number(t.GetIndex()), words.Word(t.GetState(), "TASK_STATE_"), words.Number(t.GetAttempts()), words.Number(t.GetReturns()),
					worker(t).GetAcquirer(), words.Progress(t.GetProgress()), t.GetFailure(),
				},
				More: []string{worker(t).GetGroup(), token(t), taskPermitText(t.GetPermit())},
			}
		}),
		Object: ui.Items(ui.Messages(tasks)), Empty: "No tasks match.",
	}
}

func newTaskList(f *conn.Factory) *cobra.Command {
	var output ui.Output
	var states []string
	cmd := &cobra.Command{
		Use: "list JOB-ID [--state STATE,...]", Short: "Show a job's tasks in index order",
		Long: `Shows a job's tasks in index order. WORKER is the worker that holds the task, or the last one that held it. RETURNS counts
how many times workers returned the task unfinished; ATTEMPTS does not include these returns. FAILURE is the message from the last attempt that failed
or was returned. With -o wide, PERMIT shows how long the worker may keep the task, or how its last permit ended.`,
		Example: "  gkctl task list nightly-thumbnails --state failed",
		Args:    ui.Exactly(1, "the id of a job"), ValidArgsFunction: completeFirstJob(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, err := parseStates[gatekeeperv1.TaskState](states, gatekeeperv1.TaskState_value, "TASK_STATE_")
			if err != nil {
				return err
			}
			return f.Call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				tasks, err := readTasks(ctx, c, &gatekeeperv1.ListTasksRequest{Job: args[0], States: chosen})
				if err != nil {
					return err
				}
				return f.Print(output, taskListing(tasks))
			})
		},
	}
	cmd.Flags().StringSliceVar(&states, "state", nil, "only tasks in one of these `STATES`: waiting, held, done, failed, dropped, cancelled")
	output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func parseIndex(arg string) (uint32, error) {
	n, err := strconv.ParseUint(arg, 10, 32)
	if err != nil {
		return 0, ui.Usagef("%q is not a task index: `gkctl task list` shows the indexes", arg)
	}
	return uint32(n), nil
}

// noTask returns the error for an index that does not exist in the job.
func noTask(j *gatekeeperv1.Job, index uint32) error {
	return &ui.CodeError{Code: ui.ExitNoSuch, Err: fmt.Errorf("job %s has no task %d: it has %d, numbered from 0", j.GetSpec().GetId(), index, j.GetTasks())}
}

func newTaskShow(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use: "show JOB-ID INDEX", Short: "Show one task with its payload and its result", Example: "  gkctl task show nightly-thumbnails 17",
		Args: ui.Exactly(2, "the id of a job and the index of a task"), ValidArgsFunction: completeFirstJob(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := parseIndex(args[1])
			if err != nil {
				return err
			}
			return f.Call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				r, err := c.Work().ListTasks(ctx, &gatekeeperv1.ListTasksRequest{Job: args[0], From: at, PageSize: 1, Payloads: true, Results: true})
				if err != nil {
					return addHint(err)
				}
				if len(r.GetTasks()) == 0 || r.GetTasks()[0].GetIndex() != at {
					return noTask(r.GetJob(), at)
				}
				t := r.GetTasks()[0]
				if !output.Is(ui.Table) {
					return f.PrintObject(output, t)
				}
				w := tabwriter.NewWriter(f.Out, 0, 8, 2, ' ', 0)
				for _, l := range [][2]string{
					{"state", words.Word(t.GetState(), "TASK_STATE_")}, {"attempts", words.Number(t.GetAttempts())}, {"returns", words.Number(t.GetReturns())},
					{"worker", worker(t).GetAcquirer()}, {"group", worker(t).GetGroup()}, {"token", token(t)}, {"permit", taskPermitText(t.GetPermit())},
					{"progress", words.Progress(t.GetProgress())}, {"failure", t.GetFailure()},
					{"payload", string(t.GetPayload())}, {"result", string(t.GetResult())},
				} {
					fmt.Fprintf(w, "%s:\t%s\n", l[0], words.Cell(l[1]))
				}
				return w.Flush()
			})
		},
	}
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

// taskChange holds the options of a command that changes a job's failed tasks.
type taskChange struct {
	f      *conn.Factory
	drop   bool
	yes    change.YesFlag
	dryRun bool
	output ui.Output
}

func newTaskRetry(f *conn.Factory) *cobra.Command {
	o := &taskChange{f: f}
	return o.register(&cobra.Command{
		Use: "retry JOB-ID [INDEX...]", Short: "Retry failed tasks",
		Long:    "Hands out failed tasks again: those with the given indexes, or all of the job's failed tasks.",
		Example: "  gkctl task retry nightly-thumbnails 17 18",
	})
}

func newTaskDrop(f *conn.Factory) *cobra.Command {
	o := &taskChange{f: f, drop: true}
	return o.register(&cobra.Command{
		Use: "drop JOB-ID [INDEX...] [--yes]", Short: "Drop failed tasks and remove their payloads",
		Long: `Drops the failed tasks with the given indexes, or all of the job's failed tasks, and removes their payloads. It shows the tasks and asks
for confirmation; in a script, pass --yes.`,
		Example: "  gkctl task drop nightly-thumbnails 17 18",
	})
}

func (o *taskChange) register(cmd *cobra.Command) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = ui.AtLeastOne("a job id and, optionally, task indexes"), completeFirstJob(o.f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		indexes := make([]uint32, len(args)-1)
		for i, arg := range args[1:] {
			var err error
			if indexes[i], err = parseIndex(arg); err != nil {
				return err
			}
		}
		return o.run(cmd.Context(), args[0], indexes)
	}
	if o.drop {
		o.yes.Register(cmd)
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the tasks without changing anything")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *taskChange) run(ctx context.Context, id string, indexes []uint32) error {
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		j, tasks, err := o.failed(ctx, c, id, indexes)
		if err != nil {
			return addHint(err)
		}
		if o.dryRun {
			return o.f.Print(o.output, taskListing(tasks))
		}
		if o.drop && len(tasks) > 0 {
			if _, err := change.Confirm(ctx, o.f.IO, &change.Proposal{
				What:     fmt.Sprintf("this drops %s of job %s", words.Plural(len(tasks), "failed task", "failed tasks"), id),
				Question: "Continue?", Declined: "nothing was done", Loss: "payloads will be lost",
				Notes: change.TruncateNotes(words.Map(tasks, func(t *gatekeeperv1.Task) string { return fmt.Sprintf("task %d: %s", t.GetIndex(), t.GetFailure()) })),
			}, o.yes); err != nil {
				return err
			}
		}
		return carryOut(ctx, o.f, c, o.output, []*gatekeeperv1.Job{j}, changeTasks(o.drop, indexes))
	})
}

// failed returns a job and its failed tasks with the given indexes, or all of its failed tasks if no indexes are given.
func (o *taskChange) failed(ctx context.Context, c *client.Client, id string, indexes []uint32) (*gatekeeperv1.Job, []*gatekeeperv1.Task, error) {
	ctx, cancel := o.f.Bounded(ctx)
	defer cancel()
	j, err := work.Get(ctx, c, id)
	if err != nil {
		return nil, nil, err
	}
	for _, index := range indexes {
		if index >= j.GetTasks() {
			return nil, nil, noTask(j, index)
		}
	}
	if !o.drop && !o.dryRun {
		return j, nil, nil
	}
	tasks, err := readTasks(ctx, c, &gatekeeperv1.ListTasksRequest{Job: id, States: []gatekeeperv1.TaskState{gatekeeperv1.TaskState_TASK_STATE_FAILED}})
	return j, slices.DeleteFunc(tasks, func(t *gatekeeperv1.Task) bool {
		return t.GetRevision() > j.GetRevision() || len(indexes) > 0 && !slices.Contains(indexes, t.GetIndex())
	}), err
}
