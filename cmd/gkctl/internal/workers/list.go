package workers

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func newList(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use:   "list [SEMAPHORE]",
		Short: "Show workers, and the tasks that they hold",
		Long: `Shows workers, with a line for each task that they hold. FREE is how many more tasks a worker would take. STATE is working, idle (no task
waits), waiting (for a permit: tasks wait), draining, or denied, with the reason.`,
		Example: `  gkctl work list
  gkctl work list resize -o wide`,
		Args:              ui.AtMost(1, "the name of a semaphore"),
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() >= 0 {
				return ui.Usagef("`gkctl work list` lists workers, and takes no command; for a semaphore of that name: gkctl work --semaphore list -- COMMAND")
			}
			semaphore := ""
			if len(args) > 0 {
				semaphore = args[0]
			}
			return f.Ask(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				if err := known(ctx, c, semaphore); err != nil {
					return err
				}
				workers, err := work.Workers(ctx, c, semaphore)
				if err != nil {
					return err
				}
				return f.Print(output, listing(workers))
			})
		},
	}
	output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML)
	return cmd
}

// known returns an error if there is no such semaphore: without workers, a mistyped name would look like one that has none.
func known(ctx context.Context, c *client.Client, semaphore string) error {
	if semaphore == "" {
		return nil
	}
	_, err := c.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: semaphore})
	return err
}

func listing(workers []*gatekeeperv1.Worker) ui.Listing {
	l := ui.Listing{
		Headers: []string{"SEMAPHORE", "GROUP", "ACQUIRER", "STATE", "FREE", "JOB", "TASK", "ATTEMPT", "HELD FOR", "PROGRESS"},
		More:    []string{"TOKEN", "WORKER"},
		Object:  ui.Items(ui.Messages(workers)), Empty: "Nobody works.",
	}
	for _, w := range workers {
		id := w.GetIdentity()
		row := func(task ...string) {
			l.Rows = append(l.Rows, ui.Row{
				Name:  w.GetSemaphore(),
				Cells: append([]string{w.GetSemaphore(), id.GetGroup(), id.GetAcquirer(), state(w), words.Number(w.GetFree())}, task[:5]...),
				More:  []string{task[5], id.GetHolderId()},
			})
		}
		for _, t := range w.GetTasks() {
			row(t.GetJob(), words.Number(t.GetIndex()), words.Number(t.GetAttempts()), words.Ago(t.GetGrantedAt()), words.Progress(t.GetProgress()),
				words.Number(t.GetToken()))
		}
		if len(w.GetTasks()) == 0 {
			row(make([]string, 6)...)
		}
	}
	return l
}

func state(w *gatekeeperv1.Worker) string {
	switch {
	case w.GetDraining():
		return "draining"
	case w.GetDenied() != gatekeeperv1.Reason_REASON_UNSPECIFIED:
		return "denied: " + words.Word(w.GetDenied(), "REASON_")
	case w.GetWaiting():
		return "waiting"
	case len(w.GetTasks()) > 0:
		return "working"
	}
	return "idle"
}
