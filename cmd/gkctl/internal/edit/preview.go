package edit

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type previewOptions struct {
	f      *conn.Factory
	args   []string
	files  fileFlag
	prune  bool
	labels string
	drain  change.DrainFlag
	output ui.Output
}

func newPreview(f *conn.Factory, run func(*previewOptions, context.Context) error) *cobra.Command {
	o := &previewOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupSee,
		Use:     "preview -f FILE | NAME|GLOB...|-l SELECTOR FIELD=VALUE...",
		Short:   "Show what an edit would do to holders and callers; changes nothing",
		Long: `Shows what ` + "`gkctl apply -f FILE` or `gkctl set NAME... FIELD=VALUE...`" + ` would do: which holders would be told to stop, and when their
slots would be free at the latest; which of the groups and acquirers that were seen asking would be let in and shut out. It warns
when nobody known would be let in, and names the nearest known group. It says why the change would need --yes.`,
		Example: `  gkctl preview -f nightly.yaml
  gkctl preview 'nightly-*' group_pattern=dr-site --drain 2m`,
		ValidArgsFunction: completeAssignments(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return run(o, cmd.Context())
		},
	}
	o.files.register(cmd)
	cmd.Flags().BoolVar(&o.prune, "prune", false, "as of apply")
	ui.RegisterSelector(cmd, &o.labels, "only those with these labels; with -f the labels of what --prune may delete")
	o.drain.Register(cmd)
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *previewOptions) run(ctx context.Context) error {
	switch args := o.args; {
	case len(o.files.paths) > 0 && len(args) > 0:
		return ui.Usagef("give -f, or names and what to set: one of them")
	case len(o.files.paths) == 0 && len(args) == 0:
		return ui.Usagef("give -f FILE, or names and what to set, as in nightly-export permits=3")
	case o.prune && len(args) > 0:
		return ui.Usagef("--prune is for -f")
	case len(args) == 0 && o.prune != (o.labels != ""):
		return ui.Usagef("--prune and -l are given together")
	}
	drain, err := o.drain.Read()
	if err != nil {
		return err
	}
	planned, err := o.planned()
	if err != nil {
		return err
	}
	return o.f.Ask(ctx, func(ctx context.Context, c *client.Client) error {
		plan, err := planned(ctx, c)
		if err != nil {
			return err
		}
		r, err := preview(ctx, o.f, c, plan, drain, change.Ending{}, againFromNow)
		if err != nil {
			return err
		}
		return o.print(r)
	})
}

// planned is what finds out the plan, once the servers are there.
func (o *previewOptions) planned() (func(context.Context, *client.Client) ([]step, error), error) {
	if len(o.args) == 0 {
		files, err := o.files.read(o.f.In)
		return func(ctx context.Context, c *client.Client) ([]step, error) { return planOf(ctx, c, files, o.labels) }, err
	}
	names, fields, err := assignments(o.args, o.labels)
	return func(ctx context.Context, c *client.Client) ([]step, error) {
		records, err := lookup.Chosen(ctx, c, names, o.labels)
		if err != nil {
			return nil, err
		}
		return assigned(records, fields)
	}, err
}

func (o *previewOptions) print(r *gatekeeperv1.PreviewResponse) error {
	switch {
	case o.output.Is(ui.Name):
		return o.f.Print(o.output, ui.Listing{Rows: words.Mapped(r.GetEffects(), func(e *gatekeeperv1.Effect) ui.Row { return ui.Row{Name: e.GetSemaphore()} })})
	case !o.output.Is(ui.Table):
		if r == nil {
			r = &gatekeeperv1.PreviewResponse{}
		}
		return o.f.PrintObject(o.output, r)
	case len(r.GetEffects()) == 0:
		o.f.Say("Nothing would change.")
		return nil
	}
	stopped := slices.ContainsFunc(r.GetEffects(), func(e *gatekeeperv1.Effect) bool { return len(e.GetStopped()) > 0 })
	if err := change.PrintEffects(o.f.IO, r.GetEffects(), r.GetWarnings(), change.EveryLine); err != nil {
		return err
	}
	change.PrintNeedsYes(o.f.IO, r.GetEffects(), r.GetConfirm())
	if !stopped {
		o.f.Say("No holder would be told to stop.")
	}
	return nil
}
