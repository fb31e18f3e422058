package edit

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

type applyOptions struct {
	f      *conn.Factory
	files  fileFlag
	output ui.Output
	prune  bool
	labels string
	batchFlags
}

func newApply(f *conn.Factory, run func(*applyOptions, context.Context) error) *cobra.Command {
	o := &applyOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "apply -f FILE [--prune -l SELECTOR] [--drain 2m] [--dry-run] [--yes]",
		Short:   "Make definitions what files say: all of them in one step, or none",
		Long: `Creates and replaces definitions so that they are what the files say, all in one step, or none. Nothing is changed when somebody
else has changed one of them in between.

An entry with a version, as ` + "`gkctl get -o yaml`" + ` writes it, is refused when the definition has another version now, or is gone; an
entry without one is applied over whatever there is.

--dry-run shows what would change, and what that would do: which holders would be told to stop, who would be let in and shut out.

--prune also deletes the definitions whose labels match -l and that no file names.

` + change.AsksText + ` A new definition that lets in nobody known only warns.`,
		Example: `  gkctl apply -f nightly.yaml --reason "more room for the exports"
  gkctl apply -f definitions/ --prune -l managed-by=git --yes
  gkctl get -o yaml | gkctl apply -f -`,
		Args: ui.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(o, cmd.Context()) },
	}
	o.files.register(cmd)
	cmd.Flags().BoolVar(&o.prune, "prune", false, "also delete what matches -l and is in no file")
	ui.RegisterSelector(cmd, &o.labels, "labels of what --prune may delete")
	o.batchFlags.register(cmd)
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *applyOptions) run(ctx context.Context) error {
	switch {
	case o.prune && o.labels == "":
		return ui.Usagef("--prune needs -l: the labels of what it may delete")
	case !o.prune && o.labels != "":
		return ui.Usagef("-l is for --prune")
	}
	if err := o.check(); err != nil {
		return err
	}
	files, err := o.files.read(o.f.In)
	if err != nil {
		return err
	}
	return o.f.Connected(ctx, func(ctx context.Context, c *client.Client) error {
		reading, cancel := o.f.Bounded(ctx)
		defer cancel()
		plan, err := planOf(reading, c, files, o.labels)
		if err != nil {
			return err
		}
		return carryOut(ctx, o.f, c, plan, o.batchFlags, change.Ending{}, o.output, againFromNow)
	})
}
