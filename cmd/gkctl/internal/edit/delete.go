package edit

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type deleteOptions struct{ chosenOptions }

func newDelete(f *conn.Factory, run func(*deleteOptions, context.Context) error) *cobra.Command {
	o := &deleteOptions{chosenOptions{f: f}}
	cmd := &cobra.Command{
		GroupID:    ui.GroupChange,
		Use:        "delete NAME|GLOB... [-l SELECTOR] [--drain 2m] [--dry-run] [--yes]",
		SuggestFor: []string{"rm", "remove"},
		Short:      "Delete definitions; their permits live on until they end",
		Long: `Deletes definitions, all in one step, or none. Holders are told to stop; their permits take no new slots and live on until they
are released or expire; with --drain holders may go on for so long first.

` + change.AsksText,
		Example: `  gkctl delete nightly-export --reason "it is done elsewhere now"
  gkctl delete -l team=data --drain 2m --dry-run
  gkctl delete 'old-*' --yes`,
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.choose(args); err != nil {
				return err
			}
			return run(o, cmd.Context())
		},
	}
	o.register(cmd)
	return cmd
}

func (o *deleteOptions) run(ctx context.Context) error {
	return o.withChosen(ctx, func(ctx context.Context, c *client.Client, records []*gatekeeperv1.DefinitionRecord) error {
		plan := words.Mapped(records, func(r *gatekeeperv1.DefinitionRecord) step {
			return step{name: r.GetDefinition().GetName(), before: r}
		})
		return carryOut(ctx, o.f, c, plan, o.batchFlags, change.Ending{}, o.output, "Delete again if it is still meant.")
	})
}
