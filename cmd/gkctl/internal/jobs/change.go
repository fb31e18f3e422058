package jobs

import (
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

// eachJob is a command that does something to each of its jobs. All of them must be there before anything is done.
type eachJob struct {
	f      *conn.Factory
	yes    change.YesFlag
	dryRun bool
	output ui.Output
	verb   string
	// asks says whether a person must agree.
	asks func([]*gatekeeperv1.Job) bool
	// do changes a job, and returns what it did and how the job is now, if it is still there.
	do func(context.Context, *client.Client, *gatekeeperv1.Job) (string, *gatekeeperv1.Job, error)
}

func (o *eachJob) register(cmd *cobra.Command) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = ui.AtLeastOne("the ids of jobs"), completeJobs(o.f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) }
	o.yes.Register(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the jobs; do nothing")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func (o *eachJob) run(ctx context.Context, ids []string) error {
	return o.f.Connected(ctx, func(ctx context.Context, c *client.Client) error {
		jobs, err := o.find(ctx, c, ids)
		if err != nil {
			return err
		}
		if o.dryRun {
			return o.f.Print(o.output, listing(jobs, ui.Items(ui.Messages(jobs))))
		}
		if o.asks(jobs) {
			held := uint32(0)
			for _, j := range jobs {
				held += j.GetHeld()
			}
			if _, err := change.Agree(ctx, o.f.IO, &change.Proposal{
				What:     fmt.Sprintf("this will %s %s; %s", o.verb, words.Plural(len(jobs), "job", "jobs"), words.Plural(int(held), "running task stops", "running tasks stop")),
				Question: "Do it?", Declined: "nothing was done", Always: true,
				Notes: words.Mapped(jobs, func(j *gatekeeperv1.Job) string { return j.GetSpec().GetId() + ": " + countText(j) }),
			}, o.yes); err != nil {
				return err
			}
		}
		now := []*gatekeeperv1.Job{}
		for _, j := range jobs {
			text, after, err := o.one(ctx, c, j)
			if err != nil {
				return refused(err)
			}
			if after != nil {
				now = append(now, after)
			}
			if o.output.Is(ui.Table) {
				fmt.Fprintln(o.f.Out, words.Cell(text))
			}
		}
		if o.output.Is(ui.Table) {
			return nil
		}
		return o.f.PrintObject(o.output, ui.Items(ui.Messages(now)))
	})
}

func (o *eachJob) find(ctx context.Context, c *client.Client, ids []string) ([]*gatekeeperv1.Job, error) {
	ctx, cancel := o.f.Bounded(ctx)
	defer cancel()
	jobs := make([]*gatekeeperv1.Job, len(ids))
	for i, id := range ids {
		var err error
		if jobs[i], err = work.Get(ctx, c, id); err != nil {
			return nil, refused(err)
		}
	}
	return jobs, nil
}

func (o *eachJob) one(ctx context.Context, c *client.Client, j *gatekeeperv1.Job) (string, *gatekeeperv1.Job, error) {
	ctx, cancel := o.f.Bounded(ctx)
	defer cancel()
	return o.do(ctx, c, j)
}

func several(jobs []*gatekeeperv1.Job) bool { return len(jobs) > 1 }

func newCancel(f *conn.Factory) *cobra.Command {
	o := &eachJob{f: f, verb: "cancel"}
	o.asks = func(jobs []*gatekeeperv1.Job) bool {
		for _, j := range jobs {
			if j.GetHeld() > 0 {
				return true
			}
		}
		return several(jobs)
	}
	o.do = func(ctx context.Context, c *client.Client, j *gatekeeperv1.Job) (string, *gatekeeperv1.Job, error) {
		id := j.GetSpec().GetId()
		r, err := c.Work().CancelJob(ctx, &gatekeeperv1.CancelJobRequest{Id: id, Author: f.Global.Who(), Reason: f.Global.Reason})
		if r.GetRepeated() {
			return id + " was over, or cancelled, before", r.GetJob(), err
		}
		return id + " cancelled: " + countText(r.GetJob()), r.GetJob(), err
	}
	return o.register(&cobra.Command{
		Use: "cancel ID... [--yes]", Short: "Hand out no more tasks of jobs, and stop those that run",
		Long:    "Hands out no more tasks of jobs, and has the workers of running tasks stop. It asks first, or in a script needs --yes, when tasks run or it takes several jobs.",
		Example: "  gkctl job cancel nightly-thumbnails --reason 'wrong bucket'",
	})
}

func newRetry(f *conn.Factory) *cobra.Command {
	o := &eachJob{f: f, verb: "retry", asks: func([]*gatekeeperv1.Job) bool { return false }}
	o.do = func(ctx context.Context, c *client.Client, j *gatekeeperv1.Job) (string, *gatekeeperv1.Job, error) {
		r, err := c.Work().RetryTasks(ctx, &gatekeeperv1.RetryTasksRequest{Id: j.GetSpec().GetId()})
		return fmt.Sprintf("%s: %s", j.GetSpec().GetId(), words.Plural(int(r.GetTasks()), "failed task waits again", "failed tasks wait again")), r.GetJob(), err
	}
	return o.register(&cobra.Command{
		Use: "retry ID...", Short: "Hand all failed tasks of jobs out again", Example: "  gkctl job retry nightly-thumbnails",
	})
}

func newDelete(f *conn.Factory) *cobra.Command {
	o := &eachJob{f: f, verb: "delete", asks: several}
	o.do = func(ctx context.Context, c *client.Client, j *gatekeeperv1.Job) (string, *gatekeeperv1.Job, error) {
		return j.GetSpec().GetId() + " deleted", nil, work.Delete(ctx, c, j.GetSpec().GetId())
	}
	return o.register(&cobra.Command{
		Use: "delete ID... [--yes]", Short: "Remove jobs that are over, with their results",
		Long:    "Removes jobs that are over, with their results. It asks first, or in a script needs --yes, when it takes several jobs.",
		Example: "  gkctl job delete nightly-thumbnails",
	})
}
