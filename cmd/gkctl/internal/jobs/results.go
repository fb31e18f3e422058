package jobs

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type resultsOptions struct {
	f         *conn.Factory
	output    ui.Output
	raw, wait bool
	dir       string
}

func newResults(f *conn.Factory) *cobra.Command {
	o := &resultsOptions{f: f}
	cmd := &cobra.Command{
		Use: "results ID [--raw|--dir DIR] [--wait]", Short: "Print a job's results in task order",
		Long: `Prints a job's results in task order, one per line. With --raw it prints them unchanged, without separators; with --dir it
writes each to a file named after the task's index. With --wait, each result appears once its task and all earlier tasks have ended. It
exits with 1 if a task has no result.`,
		Example: "  gkctl job results nightly-thumbnails\n  gkctl job results nightly-thumbnails --dir thumbnails --wait",
		Args:    ui.Exactly(1, "the id of a job"), ValidArgsFunction: completeFirstJob(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.raw && o.dir != "" {
				return ui.Usagef("--raw and --dir cannot be combined")
			}
			return f.Connect(cmd.Context(), func(ctx context.Context, c *client.Client) error { return o.run(ctx, c, args[0]) })
		},
	}
	cmd.Flags().BoolVar(&o.raw, "raw", false, "print results unchanged, without separators")
	cmd.Flags().StringVar(&o.dir, "dir", "", "write each result to a file in this `DIR`")
	cmd.Flags().BoolVar(&o.wait, "wait", false, "wait until the job finishes")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func (o *resultsOptions) run(ctx context.Context, c *client.Client, id string) error {
	if o.dir != "" {
		if err := os.MkdirAll(o.dir, 0o777); err != nil {
			return err
		}
	}
	tasks := listTasks(ctx, o.f, c, id)
	if o.wait {
		if _, err := getJob(ctx, o.f, c, id); err != nil {
			return err
		}
		tasks = followTasks(ctx, c, id)
	}
	missing, items := 0, []*gatekeeperv1.Task{}
	for t, err := range tasks {
		if err != nil {
			return addHint(err)
		}
		if !o.output.Is(ui.Table) {
			items = append(items, t) // JSON and YAML output is one object
		}
		result, err := work.Result(id, t)
		if err != nil {
			missing++
			o.f.Logf("gkctl: %s", words.Cell(err.Error()))
		} else if err := o.put(t.GetIndex(), result); err != nil {
			return err
		}
	}
	if !o.output.Is(ui.Table) {
		if err := o.f.PrintObject(o.output, ui.Items(ui.Messages(items))); err != nil {
			return err
		}
	}
	if missing > 0 {
		text := words.Plural(missing, "task has no result", "tasks have no result")
		if j, err := getJob(ctx, o.f, c, id); err == nil && j.GetOver() {
			return incomplete(j, text)
		}
		return ui.WithHint(fmt.Errorf("job %s: %s", id, text), "Use --wait to wait until the job finishes; `gkctl task list %s` shows its tasks.", words.ShellWord(id))
	}
	return nil
}

// put writes one result.
func (o *resultsOptions) put(index uint32, result []byte) error {
	if o.dir != "" {
		return os.WriteFile(filepath.Join(o.dir, words.Number(index)), result, 0o666)
	}
	if !o.output.Is(ui.Table) {
		return nil
	}
	if n := len(result); !o.raw && (n == 0 || result[n-1] != '\n') {
		result = append(result, '\n')
	}
	_, err := o.f.Out.Write(result)
	return err
}

// listTasks yields a job's tasks in order. --timeout applies to each request, but not to the time between requests,
// because a pager may block the output.
func listTasks(ctx context.Context, f *conn.Factory, c *client.Client, id string) iter.Seq2[*gatekeeperv1.Task, error] {
	return func(yield func(*gatekeeperv1.Task, error) bool) {
		req := &gatekeeperv1.ListTasksRequest{Job: id, PageSize: maxRun, Results: true}
		for {
			reqCtx, cancel := f.Bounded(ctx)
			page, err := c.Work().ListTasks(reqCtx, req)
			cancel()
			if err != nil {
				yield(nil, err)
				return
			}
			for _, t := range page.GetTasks() {
				if !yield(t, nil) {
					return
				}
			}
			if req.From = page.GetNext(); req.GetFrom() == 0 {
				return
			}
		}
	}
}

// followTasks yields a job's tasks in order until the job finishes, each once it and all earlier tasks have ended.
// Unlike work.Results, it keeps only the indexes of ended tasks in memory, and reads the results page by page.
func followTasks(ctx context.Context, c *client.Client, id string) iter.Seq2[*gatekeeperv1.Task, error] {
	return func(yield func(*gatekeeperv1.Task, error) bool) {
		ended, next, over := make(map[uint32]bool), uint32(0), false
		for r, err := range c.FollowJob(ctx, &gatekeeperv1.FollowJobRequest{Id: id}) {
			if err != nil {
				yield(nil, err)
				return
			}
			if r.GetJob() != nil {
				over = r.GetJob().GetOver()
			}
			for _, t := range r.GetTasks() {
				if hasEnded(t) {
					ended[t.GetIndex()] = true
				}
			}
			for ended[next] {
				page, err := c.Work().ListTasks(ctx, &gatekeeperv1.ListTasksRequest{Job: id, From: next, PageSize: runFrom(ended, next), Results: true})
				if err != nil {
					yield(nil, err)
					return
				}
				if len(page.GetTasks()) == 0 { // a different job now has this id, so the stream ends
					break
				}
				for _, t := range page.GetTasks() {
					delete(ended, next)
					if !hasEnded(t) { // it was retried in the meantime and will end again
						break
					}
					if next++; !yield(t, nil) {
						return
					}
				}
			}
		}
		if !over {
			err := ctx.Err()
			if err == nil {
				err = client.ErrClosed
			}
			yield(nil, err)
			return
		}
		for t, err := range work.Tasks(ctx, c, &gatekeeperv1.ListTasksRequest{Job: id, From: next, Results: true}) { // cancelled tasks
			if !yield(t, err) {
				return
			}
		}
	}
}

// maxRun is the maximum number of results read at a time. The servers also limit the size of a page in bytes.
const maxRun = 1000

// runFrom returns the number of consecutive ended tasks starting at index, up to maxRun.
func runFrom(ended map[uint32]bool, index uint32) (n uint32) {
	for n < maxRun && ended[index+n] {
		n++
	}
	return n
}

// hasEnded reports whether a task is neither waiting nor held.
func hasEnded(t *gatekeeperv1.Task) bool {
	return t.GetState() != gatekeeperv1.TaskState_TASK_STATE_WAITING && t.GetState() != gatekeeperv1.TaskState_TASK_STATE_HELD
}
