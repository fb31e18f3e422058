package jobs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	job := &cobra.Command{
		GroupID: ui.GroupWork, Use: "job", Short: "Submit, show and change jobs and their tasks", Args: cobra.ArbitraryArgs, RunE: ui.GroupHelp,
	}
	job.AddCommand(newSubmit(f), newList(f), newShow(f), newResults(f), newFollow(f), newCancel(f), newRetry(f), newDelete(f))
	task := &cobra.Command{
		GroupID: ui.GroupWork, Use: "task", Short: "Show and change a job's tasks", Args: cobra.ArbitraryArgs, RunE: ui.GroupHelp,
	}
	task.AddCommand(newTaskList(f), newTaskShow(f), newTaskRetry(f), newTaskDrop(f))
	return []*cobra.Command{job, task}
}

// completeJobs completes job ids.
func completeJobs(f *conn.Factory) cobra.CompletionFunc {
	return f.Complete(func(ctx context.Context, c *client.Client, _ []string, _ string) ([]string, error) {
		r, err := c.Work().ListJobs(ctx, &gatekeeperv1.ListJobsRequest{PageSize: conn.CompletionPage})
		return words.Map(r.GetJobs(), func(j *gatekeeperv1.Job) string { return j.GetSpec().GetId() }), err
	})
}

// completeFirstJob completes a job id as the first argument.
func completeFirstJob(f *conn.Factory) cobra.CompletionFunc {
	jobs := completeJobs(f)
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return jobs(cmd, args, toComplete)
	}
}

// addHint adds a hint to an error.
func addHint(err error) error {
	switch {
	case ui.Is[*client.NoSuchJobError](err):
		return &ui.CodeError{Code: ui.ExitNoSuch, Err: err, Hint: "`gkctl job list` lists the jobs."}
	case ui.Is[*client.JobNotFinishedError](err):
		return ui.WithHint(err, "Wait until it finishes, or cancel it with `gkctl job cancel`.")
	case ui.Is[*client.JobDiffersError](err):
		return ui.WithHint(err, "Use a different --id for the new job.")
	}
	if e, ok := errors.AsType[*client.WorkLimitError](err); ok {
		return ui.WithHint(err, "%s", limitHint(e.Limit))
	}
	return err
}

// limitHint returns a hint on how to get below a limit. Other jobs count only toward the limits of the semaphore and
// the cluster.
func limitHint(limit string) string {
	switch limit {
	case "max_semaphore_work_bytes", "max_work_bytes":
		return "`gkctl status` shows how much space jobs use, and `gkctl cluster settings` shows the limits. `gkctl job delete` frees space."
	case "max_task_bytes":
		return "Store it elsewhere and submit its location, or raise max_task_bytes with `gkctl cluster settings`."
	case "max_job_bytes":
		return "Split it into several jobs, or raise max_job_bytes with `gkctl cluster settings`."
	case "max_result":
		return "Store the result elsewhere and return its location, or submit the job with a larger --max-result."
	default: // the number of tasks, whose limit is not configurable
		return "Split it into several jobs."
	}
}

func stateText(j *gatekeeperv1.Job) string {
	s := words.Word(j.GetState(), "JOB_STATE_")
	if cause := words.Word(j.GetCancelCause(), "CANCEL_CAUSE_"); cause != "" {
		s += " (" + cause + ")"
	}
	return s
}

func jobRow(j *gatekeeperv1.Job) ui.Row {
	s := j.GetSpec()
	return ui.Row{
		Name: s.GetId(),
		Cells: []string{
			s.GetId(), s.GetSemaphore(), stateText(j), words.Number(j.GetTasks()), words.Number(j.GetWaiting()), words.Number(j.GetHeld()),
			words.Number(j.GetDone()), words.Number(j.GetFailed()), words.Number(j.GetDropped()), words.Number(j.GetCancelled()),
			words.Ago(j.GetSubmittedAt()),
		},
		More: []string{strconv.Itoa(int(s.GetPriority())), words.Number(j.GetBytes()), s.GetAuthor(), words.Pairs(s.GetLabels())},
	}
}

func listing(jobs []*gatekeeperv1.Job, object any) ui.Listing {
	return ui.Listing{
		Headers: []string{"ID", "SEMAPHORE", "STATE", "TASKS", "WAITING", "HELD", "DONE", "FAILED", "DROPPED", "CANCELLED", "SUBMITTED"},
		More:    []string{"PRIORITY", "BYTES", "AUTHOR", "LABELS"},
		Rows:    words.Map(jobs, jobRow), Object: object, Empty: "No jobs match.",
	}
}

func newShow(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one job", Example: "  gkctl job show nightly-thumbnails -o json",
		Args: ui.Exactly(1, "the id of a job"), ValidArgsFunction: completeFirstJob(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				j, err := work.Get(ctx, c, args[0])
				if err != nil {
					return addHint(err)
				}
				if err := f.Print(output, listing([]*gatekeeperv1.Job{j}, j)); err != nil {
					return err
				}
				if text := j.GetCancelText(); text != "" && (output.Is(ui.Table) || output.Is(ui.Wide)) {
					f.Logf("%s", words.Cell("It was cancelled "+text+"."))
				}
				return nil
			})
		},
	}
	output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML)
	return cmd
}

// outcome returns an error if a job has finished but not all of its tasks succeeded.
func outcome(j *gatekeeperv1.Job) error {
	if !j.GetOver() || j.GetDone() == j.GetTasks() {
		return nil
	}
	return incomplete(j, countText(j))
}

// incomplete returns the error for a finished job. text describes what is missing.
func incomplete(j *gatekeeperv1.Job, text string) error {
	cancelled, id, hint := j.GetCancelText(), words.ShellWord(j.GetSpec().GetId()), ""
	if cancelled != "" {
		text += "; it was cancelled " + cancelled
	}
	if j.GetFailed() > 0 {
		hint = fmt.Sprintf("`gkctl task list %s --state failed` shows what failed", id)
		if cancelled == "" { // the tasks of a cancelled job cannot be retried
			hint += fmt.Sprintf("; `gkctl task retry %s` retries it", id)
		}
		hint += "."
		if cancelled == "" {
			hint += fmt.Sprintf(" A task that failed because its worker's permit was lost may also kill the next worker: check its payload "+
				"first, with `gkctl task show %s INDEX`.", id)
		}
	}
	return &ui.CodeError{Code: ui.ExitFailure, Err: fmt.Errorf("job %s: %s", j.GetSpec().GetId(), text), Hint: hint}
}

func countText(j *gatekeeperv1.Job) string {
	text := fmt.Sprintf("%d of %d tasks done", j.GetDone(), j.GetTasks())
	for _, c := range []struct {
		n    uint32
		word string
	}{{j.GetFailed(), "failed"}, {j.GetDropped(), "dropped"}, {j.GetCancelled(), "cancelled"}, {j.GetHeld(), "held"}, {j.GetWaiting(), "waiting"}} {
		if c.n > 0 {
			text += fmt.Sprintf(", %d %s", c.n, c.word)
		}
	}
	return text
}

// progressText returns the counts of a job's tasks and, if the job has finished, how long it took.
func progressText(j *gatekeeperv1.Job) string {
	text := countText(j)
	if j.GetOver() && j.GetEndedAt() != nil {
		text += ", " + words.Elapsed(max(0, j.GetEndedAt().AsTime().Sub(j.GetSubmittedAt().AsTime()))) + " after submission"
	}
	return text
}

// getJob returns a job that a command is about to follow. Following has no timeout, but this request does, so the
// command fails promptly if there is no such job or no server responds.
func getJob(ctx context.Context, f *conn.Factory, c *client.Client, id string) (*gatekeeperv1.Job, error) {
	ctx, cancel := f.Bounded(ctx)
	defer cancel()
	j, err := work.Get(ctx, c, id)
	return j, addHint(err)
}

// follow shows the progress of a job until it finishes. On a terminal it keeps overwriting one line; otherwise it
// prints a new line for every 5% of the tasks. If endOnly is set, it prints only the last line.
func follow(ctx context.Context, f *conn.Factory, c *client.Client, id string, endOnly bool) (last *gatekeeperv1.Job, err error) {
	shown, bar := -1, f.ErrTTY && !endOnly
	for r, err := range c.FollowJob(ctx, &gatekeeperv1.FollowJobRequest{Id: id}) {
		if err != nil {
			return last, addHint(err)
		}
		if r.GetJob() == nil {
			continue
		}
		last = r.GetJob()
		finished := last.GetDone() + last.GetFailed() + last.GetDropped() + last.GetCancelled()
		part := int(20 * uint64(finished) / uint64(max(last.GetTasks(), 1)))
		switch {
		case bar:
			fmt.Fprintf(f.Err, "\r\x1b[K[%-20s] %s", strings.Repeat("#", part), words.Cell(progressText(last)))
		case part != shown && !endOnly || last.GetOver():
			f.Logf("%s: %s", words.Cell(id), progressText(last))
		}
		shown = part
	}
	if bar && shown >= 0 {
		fmt.Fprintln(f.Err)
	}
	if !last.GetOver() && ctx.Err() == nil {
		return last, client.ErrClosed
	}
	return last, ctx.Err()
}

func newFollow(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use: "follow ID", Short: "Show the progress of a job until it finishes",
		Long:    "Shows the progress of a job until it finishes, as a bar on a terminal and as lines otherwise. It exits with 1 if a task failed, was cancelled or was dropped. Interrupting it does not stop the job.",
		Example: "  gkctl job follow nightly-thumbnails",
		Args:    ui.Exactly(1, "the id of a job"), ValidArgsFunction: completeFirstJob(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Connect(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				if _, err := getJob(ctx, f, c, args[0]); err != nil {
					return err
				}
				j, err := follow(ctx, f, c, args[0], false)
				if err == nil && !output.Is(ui.Table) {
					err = f.PrintObject(output, j)
				}
				if err != nil {
					return err
				}
				return outcome(j)
			})
		},
	}
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}
