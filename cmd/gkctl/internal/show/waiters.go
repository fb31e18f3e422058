package show

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type waitersOptions struct {
	f      *conn.Factory
	output ui.Output
	globs  []string
	labels string
	group  string
}

func newWaiters(f *conn.Factory, run func(*waitersOptions, context.Context) error) *cobra.Command {
	o := &waitersOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupInspect,
		Use:     "waiters [NAME|GLOB...] [-l SELECTOR] [--group GROUP]",
		Short:   "Show the queue for permits and the tasks waiting for a worker",
		Long: `Shows the queues for permits, and below them the jobs with tasks waiting for a worker, in the order in which they will be handed out. A
worker's slots share one line, which shows the first slot's place in the queue. Slots with no task available are idle and have no
place in the queue. gkctl explain NAME shows why tasks are waiting.`,
		Example: `  gkctl waiters
  gkctl waiters 'nightly-*' -o wide`,
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.globs = args
			return run(o, cmd.Context())
		},
	}
	ui.RegisterSelector(cmd, &o.labels, "only semaphores with these labels")
	cmd.Flags().StringVar(&o.group, "group", "", "only callers in this group")
	o.output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

// waitersJSON is the JSON output: waiting callers and workers, and waiting tasks.
type waitersJSON struct {
	Items []ui.Message `json:"items"`
	Tasks []ui.Message `json:"tasks"`
}

func (o *waitersOptions) run(ctx context.Context) error {
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		req := &gatekeeperv1.ListWaitersRequest{Names: o.globs, Labels: o.labels, Group: o.group}
		waiters := []*gatekeeperv1.Waiter{}
		for w, err := range c.AllWaiters(ctx, req) {
			if err != nil {
				return err
			}
			waiters = append(waiters, w)
		}
		tasks, err := c.WaitingTasks(ctx, req)
		if err != nil {
			return err
		}
		found := append(words.Map(waiters, (*gatekeeperv1.Waiter).GetSemaphore), words.Map(tasks, (*gatekeeperv1.WaitingTasks).GetSemaphore)...)
		if err := lookup.CheckDefined(ctx, c, o.globs, found); err != nil {
			return err
		}
		return o.print(waiters, tasks)
	})
}

// print prints each list as a table, unless it is empty.
func (o *waitersOptions) print(waiters []*gatekeeperv1.Waiter, tasks []*gatekeeperv1.WaitingTasks) error {
	list := ui.Listing{
		Headers: []string{"SEMAPHORE", "PLACE", "GROUP", "ACQUIRER", "WEIGHT", "WAITING"},
		More:    []string{"HOLDER", "REQUEST", "WORKER"},
		Rows:    words.Map(mergeSlots(waiters), (*waiting).row),
		Object:  waitersJSON{ui.Messages(waiters), ui.Messages(tasks)},
		Empty:   "No callers are waiting.",
	}
	asTable := o.output.Is(ui.Table) || o.output.Is(ui.Wide)
	if len(tasks) == 0 || !asTable {
		return o.f.Print(o.output, list)
	}
	if len(waiters) > 0 {
		if err := o.f.Print(o.output, list); err != nil {
			return err
		}
		fmt.Fprintln(o.f.Out)
	}
	return o.f.Print(o.output, ui.Listing{
		Headers: []string{"SEMAPHORE", "JOB", "PRIORITY", "TASKS"},
		Rows: words.Map(tasks, func(t *gatekeeperv1.WaitingTasks) ui.Row {
			return ui.Row{Cells: []string{t.GetSemaphore(), t.GetJob(), strconv.Itoa(int(t.GetPriority())), words.Number(t.GetTasks())}}
		}),
	})
}

// waiting is a waiting caller, or the slots of a worker that are either all waiting or all idle. For a worker, Waiter
// is the first of these slots.
type waiting struct {
	*gatekeeperv1.Waiter
	slots int
}

// mergeSlots merges each worker's waiting slots into one entry and its idle slots into another.
func mergeSlots(waiters []*gatekeeperv1.Waiter) []*waiting {
	type key struct {
		semaphore, group, acquirer, holder string
		idle                               bool
	}
	var out []*waiting
	workers := make(map[key]*waiting)
	for _, w := range waiters {
		if !w.GetWorker() {
			out = append(out, &waiting{w, 1})
			continue
		}
		k := key{w.GetSemaphore(), w.GetIdentity().GetGroup(), w.GetIdentity().GetAcquirer(), workerID(w), w.GetPlace() == 0}
		if workers[k] == nil {
			workers[k] = &waiting{Waiter: w}
			out = append(out, workers[k])
		}
		workers[k].slots++
	}
	return out
}

// workerID returns a worker's holder id: its slot's holder id without the random suffix.
func workerID(w *gatekeeperv1.Waiter) string {
	id := w.GetIdentity().GetHolderId()
	if i := strings.LastIndexByte(id, '/'); w.GetWorker() && i >= 0 {
		return id[:i]
	}
	return id
}

// who returns the acquirer's name and, for a worker, the number of slots.
func (w *waiting) who() string {
	who := w.GetIdentity().GetAcquirer()
	if w.GetWorker() {
		who = fmt.Sprintf("worker %s (%s)", who, words.Plural(w.slots, "slot", "slots"))
	}
	return who
}

// place returns the place in the queue. For a worker, it is the place of the first slot.
func (w *waiting) place() string {
	if w.GetPlace() == 0 {
		return "idle"
	}
	return words.Number(w.GetPlace())
}

func (w *waiting) row() ui.Row {
	worker := ""
	if w.GetWorker() {
		worker = "yes"
	}
	return ui.Row{
		Name: w.GetSemaphore(),
		Cells: []string{
			w.GetSemaphore(), w.place(), w.GetIdentity().GetGroup(), w.who(), words.Number(w.GetWeight()), words.Brief(w.GetWaiting().AsDuration()),
		},
		More: []string{workerID(w.Waiter), w.GetRequestId(), worker},
	}
}
