package see

import (
	"context"

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
		GroupID: ui.GroupSee,
		Use:     "waiters [NAME|GLOB...] [-l SELECTOR] [--group GROUP]",
		Short:   "Show who waits for a permit, and at which place",
		Example: `  gkctl waiters
  gkctl waiters 'nightly-*' -o wide`,
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.globs = args
			return run(o, cmd.Context())
		},
	}
	ui.RegisterSelector(cmd, &o.labels, "only of semaphores with these labels")
	cmd.Flags().StringVar(&o.group, "group", "", "only those of this group")
	o.output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *waitersOptions) run(ctx context.Context) error {
	return o.f.Ask(ctx, func(ctx context.Context, c *client.Client) error {
		waiters := []*gatekeeperv1.Waiter{}
		for w, err := range c.AllWaiters(ctx, &gatekeeperv1.ListWaitersRequest{Names: o.globs, Labels: o.labels, Group: o.group}) {
			if err != nil {
				return err
			}
			waiters = append(waiters, w)
		}
		if err := lookup.RefuseUnknown(ctx, c, o.globs, words.Mapped(waiters, (*gatekeeperv1.Waiter).GetSemaphore)); err != nil {
			return err
		}
		return o.f.Print(o.output, ui.Listing{
			Headers: []string{"SEMAPHORE", "PLACE", "GROUP", "ACQUIRER", "WEIGHT", "WAITING"},
			More:    []string{"HOLDER", "REQUEST", "WORKER"},
			Rows: words.Mapped(waiters, func(w *gatekeeperv1.Waiter) ui.Row {
				return ui.Row{
					Name: w.GetSemaphore(),
					Cells: []string{
						w.GetSemaphore(), words.Number(w.GetPlace()), w.GetIdentity().GetGroup(), w.GetIdentity().GetAcquirer(),
						words.Number(w.GetWeight()), words.Brief(w.GetWaiting().AsDuration()),
					},
					More: []string{w.GetIdentity().GetHolderId(), w.GetRequestId(), map[bool]string{true: "yes"}[w.GetWorker()]},
				}
			}),
			Object: ui.Items(ui.Messages(waiters)),
			Empty:  "Nobody waits.",
		})
	})
}
