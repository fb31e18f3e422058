package edit

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// chosenOptions are those of a command that edits the definitions which names, globs and labels choose.
type chosenOptions struct {
	f      *conn.Factory
	output ui.Output
	names  []string
	labels string
	batchFlags
}

func (o *chosenOptions) register(cmd *cobra.Command) {
	ui.RegisterSelector(cmd, &o.labels, "only those with these labels")
	o.batchFlags.register(cmd)
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
}

// choose takes the arguments of a command that has nothing but names and globs.
func (o *chosenOptions) choose(args []string) error {
	if len(args) == 0 && o.labels == "" {
		return ui.Usagef("give names, globs or -l")
	}
	o.names = args
	return nil
}

// withChosen calls do with the chosen definitions. ctx is not bounded: a person may take a while.
func (o *chosenOptions) withChosen(
	ctx context.Context, do func(ctx context.Context, c *client.Client, records []*gatekeeperv1.DefinitionRecord) error,
) error {
	if err := o.check(); err != nil {
		return err
	}
	return o.f.Connected(ctx, func(ctx context.Context, c *client.Client) error {
		reading, cancel := o.f.Bounded(ctx)
		defer cancel()
		records, err := lookup.Chosen(reading, c, o.names, o.labels)
		if err != nil {
			return err
		}
		return do(ctx, c, records)
	})
}
