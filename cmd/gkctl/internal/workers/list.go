package workers

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func newList(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use:   "list [SEMAPHORE]",
		Short: "Show workers and the tasks they hold",
		Long: `Shows workers, with one line for each task they hold. FREE is the number of additional tasks a worker would accept. STATE is working, idle (no
tasks are waiting), waiting (for a permit, while tasks are waiting), draining, denied (with the reason), away (not connected; it keeps its tasks
until their permits end), or lost (its permit has expired; another worker gets the task once the slot has cooled down or an operator has cleared
it).`,
		Example: `  gkctl work list
  gkctl work list resize -o wide`,
		Args:              ui.AtMost(1, "the name of a semaphore"),
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() >= 0 {
				return ui.Usagef("`gkctl work list` lists workers and takes no command. To run a worker for a semaphore named list, use gkctl work --semaphore list -- COMMAND")
			}
			semaphore := ""
			if len(args) > 0 {
				semaphore = args[0]
			}
			return f.Call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				if err := checkSemaphore(ctx, c, semaphore); err != nil {
					return err
				}
				r, err := c.Work().ListWorkers(ctx, &gatekeeperv1.ListWorkersRequest{Semaphore: semaphore})
				if err != nil {
					return err
				}
				return f.Print(output, listing(append(r.GetWorkers(), r.GetAway()...)))
			})
		},
	}
	output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML)
	return cmd
}

// checkSemaphore returns an error if the semaphore does not exist. Without this check, a mistyped name would look like
// a semaphore without workers.
func checkSemaphore(ctx context.Context, c *client.Client, semaphore string) error {
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
		Object:  ui.Items(ui.Messages(workers)), Empty: "No workers are connected.",
	}
	for _, w := range workers {
		id := w.GetIdentity()
		row := func(state string, task ...string) {
			l.Rows = append(l.Rows, ui.Row{
				Name:  w.GetSemaphore(),
				Cells: append([]string{w.GetSemaphore(), id.GetGroup(), id.GetAcquirer(), state, words.Number(w.GetFree())}, task[:5]...),
				More:  []string{task[5], id.GetHolderId()},
			})
		}
		for _, t := range w.GetTasks() {
			row(taskState(w, t), t.GetJob(), words.Number(t.GetIndex()), words.Number(t.GetAttempts()), words.Ago(t.GetGrantedAt()), words.Progress(t.GetProgress()),
				words.Number(t.GetToken()))
		}
		if len(w.GetTasks()) == 0 {
			row(state(w), make([]string, 6)...)
		}
	}
	return l
}

// taskState returns the state to show for a worker's task. A lost worker keeps its task for a while.
func taskState(w *gatekeeperv1.Worker, t *gatekeeperv1.HeldTask) string {
	left := words.Brief(t.GetExpiresIn().AsDuration())
	switch {
	case t.GetState() == gatekeeperv1.PermitState_PERMIT_STATE_HELD:
		return fmt.Sprintf("lost: gkctl clear %d", t.GetToken())
	case t.GetState() == gatekeeperv1.PermitState_PERMIT_STATE_COOLING:
		return "lost: cooling for " + left
	case w.GetAway():
		return "away: held for " + left
	}
	return state(w)
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
