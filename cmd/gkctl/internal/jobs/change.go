package jobs

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// jobResult is the result for one job, or for its tasks, in JSON output.
type jobResult struct {
	ID string `json:"id"`
	// Action is cancelled, retried, dropped, deleted or unchanged. If the servers refused, it is empty and Error
	// contains the reason.
	Action string `json:"action,omitempty"`
	// Tasks is the number of tasks that were retried or dropped.
	Tasks uint32 `json:"tasks,omitempty"`
	// Job is the job after the change, if it still exists.
	Job   ui.Message `json:"job,omitzero"`
	Error string     `json:"error,omitempty"`

	// text is the rest of the line in the table, after the job's id.
	text string
}

// jobAction changes a job, unless it has been replaced since it was shown.
type jobAction func(context.Context, *client.Client, *gatekeeperv1.Job) (jobResult, error)

// carryOut changes each job and prints the result.
func carryOut(ctx context.Context, f *conn.Factory, c *client.Client, output ui.Output, jobs []*gatekeeperv1.Job, do jobAction) error {
	return change.Each(ctx, f.IO, output, jobs, func(j *gatekeeperv1.Job) (change.ItemResult, error) {
		ctx, cancel := f.Bounded(ctx)
		defer cancel()
		d, err := do(ctx, c, j)
		if err != nil {
			err = addHint(err)
			d = jobResult{Error: ui.ErrorText(err)}
		}
		d.ID = j.GetSpec().GetId()
		return change.ItemResult{Object: d, Name: d.ID, Text: words.Cell(d.ID + d.text)}, err
	})
}

// eachJob holds the options of a command that processes several jobs.
type eachJob struct {
	choice
	yes    change.YesFlag
	dryRun bool
	output ui.Output
	do     jobAction
	// verb describes what the command does.
	verb string
	// lossText describes what would be stopped or lost. If it is nil, the command does not ask for confirmation.
	lossText func([]*gatekeeperv1.Job) string
}

func (o *eachJob) register(cmd *cobra.Command) *cobra.Command {
	cmd.Long = cmp.Or(cmd.Long, cmd.Short+".") + `

Select jobs by id, or with --semaphore, -l and --state. If one of them cannot be changed, gkctl continues with the rest and then exits with 1.`
	cmd.Use += " ID...|--semaphore NAME|-l LABELS|--state STATE,..."
	cmd.Args, cmd.ValidArgsFunction = cobra.ArbitraryArgs, completeJobs(o.f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) }
	o.choice.register(cmd)
	if o.lossText != nil {
		o.yes.Register(cmd)
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the jobs without changing anything")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *eachJob) run(ctx context.Context, ids []string) error {
	if (len(ids) > 0) == o.given() {
		return ui.Usagef("specify job ids, or select jobs with --semaphore, -l or --state")
	}
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		jobs, err := o.mustFind(ctx, c, ids)
		if err != nil {
			return err
		}
		if o.dryRun {
			return o.f.Print(o.output, listing(jobs, ui.Items(ui.Messages(jobs))))
		}
		if o.lossText != nil {
			if _, err := change.Confirm(ctx, o.f.IO, &change.Proposal{
				What:     fmt.Sprintf("this %s %s", o.verb, words.Plural(len(jobs), "job", "jobs")),
				Question: "Continue?", Declined: "nothing was done", Loss: o.lossText(jobs),
				Notes: change.TruncateNotes(words.Map(jobs, func(j *gatekeeperv1.Job) string { return j.GetSpec().GetId() + ": " + countText(j) })),
			}, o.yes); err != nil {
				return err
			}
		}
		return carryOut(ctx, o.f, c, o.output, jobs, o.do)
	})
}

func newCancel(f *conn.Factory) *cobra.Command {
	o := &eachJob{choice: choice{f: f}, verb: "cancels"}
	o.lossText = func(jobs []*gatekeeperv1.Job) string {
		waiting, held := 0, 0
		for _, j := range jobs {
			if !j.GetOver() && j.GetState() != gatekeeperv1.JobState_JOB_STATE_CANCELLED {
				waiting, held = waiting+int(j.GetWaiting()), held+int(j.GetHeld())
			}
		}
		if waiting+held == 0 {
			return ""
		}
		return words.Plural(waiting, "waiting task will not run", "waiting tasks will not run") + ", and " +
			words.Plural(held, "running task will stop", "running tasks will stop")
	}
	o.do = func(ctx context.Context, c *client.Client, j *gatekeeperv1.Job) (jobResult, error) {
		r, err := c.Work().CancelJob(ctx, &gatekeeperv1.CancelJobRequest{
			Id: j.GetSpec().GetId(), Author: f.Global.ChangeAuthor(), Reason: f.Global.Reason, SubmittedRevision: j.GetSubmittedRevision(),
		})
		if r.GetRepeated() {
			text := " was already over"
			if cancelled := r.GetJob().GetCancelText(); cancelled != "" {
				text = " was already cancelled, " + cancelled
			}
			return jobResult{Action: "unchanged", Job: ui.Message{Message: r.GetJob()}, text: text}, err
		}
		return jobResult{Action: "cancelled", Job: ui.Message{Message: r.GetJob()}, text: " cancelled: " + countText(r.GetJob())}, err
	}
	return o.register(&cobra.Command{
		Use: "cancel", Short: "Cancel jobs: stop handing out their tasks, and stop the running ones",
		Long:    "Stops handing out the jobs' tasks and stops the running ones. It shows the effect and asks for confirmation; in a script, pass --yes.",
		Example: "  gkctl job cancel nightly-thumbnails --reason 'wrong bucket'\n  gkctl job cancel --semaphore resize --state open --dry-run",
	})
}

// changeTasks retries or drops a job's failed tasks with the given indexes, or all of its failed tasks if none are
// given. It skips tasks that have failed since the job was shown.
func changeTasks(drop bool, indexes []uint32) jobAction {
	return func(ctx context.Context, c *client.Client, j *gatekeeperv1.Job) (jobResult, error) {
		var r interface {
			GetJob() *gatekeeperv1.Job
			GetTasks() uint32
		}
		var err error
		id, asOf := j.GetSpec().GetId(), j.GetRevision()
		action, one, many := "retried", "failed task will be retried", "failed tasks will be retried"
		if drop {
			action, one, many = "dropped", "failed task dropped", "failed tasks dropped"
			r, err = c.Work().DropTasks(ctx, &gatekeeperv1.DropTasksRequest{Id: id, Indexes: indexes, AsOf: asOf})
		} else {
			r, err = c.Work().RetryTasks(ctx, &gatekeeperv1.RetryTasksRequest{Id: id, Indexes: indexes, AsOf: asOf})
		}
		if r.GetTasks() == 0 {
			action = "unchanged"
		}
		return jobResult{
			Action: action, Tasks: r.GetTasks(), Job: ui.Message{Message: r.GetJob()}, text: ": " + words.Plural(int(r.GetTasks()), one, many),
		}, err
	}
}

func newRetry(f *conn.Factory) *cobra.Command {
	o := &eachJob{choice: choice{f: f}, do: changeTasks(false, nil)}
	return o.register(&cobra.Command{
		Use: "retry", Short: "Retry all failed tasks in jobs",
		Long: `Hands out all failed tasks of the jobs again. A task that failed because its worker's permit was lost may kill the next worker too: look
at its payload first, with gkctl task show.`,
		Example: "  gkctl job retry nightly-thumbnails",
	})
}

// deleteJob deletes a job, unless a job with the same id has been submitted since the job was shown.
func deleteJob(ctx context.Context, c *client.Client, j *gatekeeperv1.Job) (jobResult, error) {
	return jobResult{Action: "deleted", text: " deleted"}, work.DeleteSubmitted(ctx, c, j)
}

func newDelete(f *conn.Factory) *cobra.Command {
	o := &eachJob{choice: choice{f: f}, verb: "deletes", do: deleteJob}
	o.lossText = func(jobs []*gatekeeperv1.Job) string {
		done, failed := 0, 0
		for _, j := range jobs {
			done, failed = done+int(j.GetDone()), failed+int(j.GetFailed())
		}
		return words.Plural(done, "result", "results") + " and " + words.Plural(failed, "failed task", "failed tasks") + " will be lost"
	}
	return o.register(&cobra.Command{
		Use: "delete", Short: "Delete finished jobs and their results",
		Long: `Deletes finished jobs and their results. It shows the effect and asks for confirmation; in a script, pass --yes. If a new job with the
same id was submitted in the meantime, it is not deleted.`,
		Example: "  gkctl job delete nightly-thumbnails\n  gkctl job delete -l team=web --state ended,cancelled --yes",
	})
}
