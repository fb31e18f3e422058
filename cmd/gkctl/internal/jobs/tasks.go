package jobs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
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

func read(ctx context.Context, c *client.Client, req *gatekeeperv1.ListTasksRequest) ([]*gatekeeperv1.Task, error) {
	tasks := []*gatekeeperv1.Task{}
	for t, err := range work.Tasks(ctx, c, req) {
		if err != nil {
			return nil, refused(err)
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

func newTaskList(f *conn.Factory) *cobra.Command {
	var output ui.Output
	var states []string
	cmd := &cobra.Command{
		Use: "list JOB-ID [--state STATE,...]", Short: "Show the tasks of a job, by index", Example: "  gkctl task list nightly-thumbnails --state failed",
		Args: ui.Exactly(1, "the id of a job"), ValidArgsFunction: firstJob(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, err := enums[gatekeeperv1.TaskState](states, gatekeeperv1.TaskState_value, "TASK_STATE_")
			if err != nil {
				return err
			}
			return f.Ask(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				tasks, err := read(ctx, c, &gatekeeperv1.ListTasksRequest{Job: args[0], States: chosen})
				if err != nil {
					return err
				}
				return f.Print(output, ui.Listing{
					Headers: []string{"INDEX", "STATE", "ATTEMPTS", "WORKER", "PROGRESS", "FAILURE"}, More: []string{"GROUP", "TOKEN"},
					Rows: words.Mapped(tasks, func(t *gatekeeperv1.Task) ui.Row {
						return ui.Row{
							Name: words.Number(t.GetIndex()),
							Cells: []string{
								words.Number(t.GetIndex()), words.Word(t.GetState(), "TASK_STATE_"), words.Number(t.GetAttempts()), t.GetWorker().GetAcquirer(),
								words.Progress(t.GetProgress()), t.GetFailure(),
							},
							More: []string{t.GetWorker().GetGroup(), token(t)},
						}
					}),
					Object: ui.Items(ui.Messages(tasks)), Empty: "No task matches.",
				})
			})
		},
	}
	cmd.Flags().StringSliceVar(&states, "state", nil, "only tasks in one of these `STATES`: waiting, held, done, failed, dropped, cancelled")
	output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func index(arg string) (uint32, error) {
	n, err := strconv.ParseUint(arg, 10, 32)
	if err != nil {
		return 0, ui.Usagef("%q is not the index of a task: `gkctl task list` shows them", arg)
	}
	return uint32(n), nil
}

func newTaskShow(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use: "show JOB-ID INDEX", Short: "Show one task with its payload and its result", Example: "  gkctl task show nightly-thumbnails 17",
		Args: ui.Exactly(2, "the id of a job and the index of a task"), ValidArgsFunction: firstJob(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := index(args[1])
			if err != nil {
				return err
			}
			return f.Ask(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				r, err := c.Work().ListTasks(ctx, &gatekeeperv1.ListTasksRequest{Job: args[0], From: at, PageSize: 1, Payloads: true, Results: true})
				if err != nil {
					return refused(err)
				}
				if len(r.GetTasks()) == 0 || r.GetTasks()[0].GetIndex() != at {
					return &ui.CodeError{Code: ui.ExitNoSuch, Err: fmt.Errorf("job %s has no task %d: it has %d, counted from 0", args[0], at, r.GetJob().GetTasks())}
				}
				t := r.GetTasks()[0]
				if !output.Is(ui.Table) {
					return f.PrintObject(output, t)
				}
				w := tabwriter.NewWriter(f.Out, 0, 8, 2, ' ', 0)
				for _, l := range [][2]string{
					{"state", words.Word(t.GetState(), "TASK_STATE_")}, {"attempts", words.Number(t.GetAttempts())}, {"token", token(t)},
					{"worker", t.GetWorker().GetAcquirer()}, {"progress", words.Progress(t.GetProgress())}, {"failure", t.GetFailure()},
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

// taskChange is what is done to failed tasks.
type taskChange struct {
	name, short, one, many string
	do                     func(context.Context, *client.Client, string, ...uint32) (int, error)
}

func retryTasks() taskChange {
	return taskChange{"retry", "Hand failed tasks out again", "failed task waits again", "failed tasks wait again", work.Retry}
}

func dropTasks() taskChange {
	return taskChange{"drop", "Give failed tasks up; their payloads are removed", "failed task dropped", "failed tasks dropped", work.Drop}
}

func newTaskChange(f *conn.Factory, t taskChange) *cobra.Command {
	return &cobra.Command{
		Use: t.name + " JOB-ID [INDEX...]", Short: t.short, Long: t.short + ": those of the indexes, or without indexes all of the job.",
		Example: "  gkctl task " + t.name + " nightly-thumbnails 17 18",
		Args:    ui.AtLeastOne("the id of a job, and indexes of tasks"), ValidArgsFunction: firstJob(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			indexes := make([]uint32, len(args)-1)
			for i, arg := range args[1:] {
				var err error
				if indexes[i], err = index(arg); err != nil {
					return err
				}
			}
			return f.Ask(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				n, err := t.do(ctx, c, args[0], indexes...)
				if err != nil {
					return refused(err)
				}
				fmt.Fprintln(f.Out, words.Plural(n, t.one, t.many))
				return nil
			})
		},
	}
}

func newResults(f *conn.Factory) *cobra.Command {
	var output ui.Output
	var raw, wait bool
	var dir string
	cmd := &cobra.Command{
		Use: "results ID [--raw|--dir DIR] [--wait]", Short: "Print the results of a job in the order of its tasks",
		Long: `Prints the results of a job in the order of its tasks, one per line; with --raw as they are, one behind the other; with --dir each into
a file with the task's index as its name. It ends with 1 if a task has no result.`,
		Example: "  gkctl job results nightly-thumbnails\n  gkctl job results nightly-thumbnails --dir thumbnails --wait",
		Args:    ui.Exactly(1, "the id of a job"), ValidArgsFunction: firstJob(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			if raw && dir != "" {
				return ui.Usagef("--raw does not go with --dir")
			}
			return f.Connected(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				if wait {
					if _, err := work.Wait(ctx, c, args[0]); err != nil {
						return refused(err)
					}
				}
				tasks, err := read(ctx, c, &gatekeeperv1.ListTasksRequest{Job: args[0], Results: true})
				if err == nil && dir != "" {
					err = os.MkdirAll(dir, 0o777)
				}
				if err != nil {
					return err
				}
				lacking := 0
				for _, t := range tasks {
					switch result, err := work.Result(args[0], t); {
					case err != nil:
						lacking++
						f.Say("gkctl: %s", words.Cell(err.Error()))
					case !output.Is(ui.Table):
					case dir != "":
						if err := os.WriteFile(filepath.Join(dir, words.Number(t.GetIndex())), result, 0o666); err != nil {
							return err
						}
					default:
						if n := len(result); !raw && (n == 0 || result[n-1] != '\n') {
							result = append(result, '\n')
						}
						if _, err := f.Out.Write(result); err != nil {
							return err
						}
					}
				}
				if !output.Is(ui.Table) {
					if err := f.PrintObject(output, ui.Items(ui.Messages(tasks))); err != nil {
						return err
					}
				}
				if lacking > 0 {
					return ui.WithHint(fmt.Errorf("%s of job %s", words.Plural(lacking, "task has no result", "tasks have no result"), args[0]),
						"--wait waits until the job is over; `gkctl task list %s` shows its tasks.", words.ShellWord(args[0]))
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&raw, "raw", false, "print results as they are, one behind the other")
	cmd.Flags().StringVar(&dir, "dir", "", "write each result into a file of this `FOLDER`")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the job is over")
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}
