package edit

import (
	"context"
	"io"
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

type applyOptions struct {
	editing
	files fileFlags
}

func newApply(f *conn.Factory, run func(*applyOptions, context.Context) error) *cobra.Command {
	o := &applyOptions{editing: editing{f: f}}
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "apply -f FILE [--prune -l SELECTOR] [--drain 2m] [--dry-run] [--yes]",
		Short:   "Create and replace definitions from files atomically",
		Long: `Creates and replaces definitions atomically so that they match the files. Nothing changes if one of them was changed
concurrently.

An entry that has a version, as in the output of ` + "`gkctl get -o yaml`" + `, is rejected if the definition now has a different version
or was deleted. An entry without a version overwrites the definition.

--dry-run shows what would change, which holders would have to stop, and which callers would be admitted or locked out.

--prune also deletes definitions whose labels match -l and that are not in any of the files.

` + change.ConfirmHelp + ` A new definition that admits no known caller causes only a warning.`,
		Example: `  gkctl apply -f nightly.yaml --reason "more room for the exports"
  gkctl apply -f definitions/ --prune -l managed-by=git --yes
  gkctl get -o yaml | gkctl apply -f -`,
		Args: ui.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(o, cmd.Context()) },
	}
	o.files.register(cmd, "also delete definitions that match -l and are not in any of the files", "labels of the definitions that --prune may delete")
	o.editing.register(cmd)
	return cmd
}

func (o *applyOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	files, err := o.files.read(o.f.In)
	if err != nil {
		return err
	}
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		readCtx, cancel := o.f.Bounded(ctx)
		defer cancel()
		plan, err := planFromFiles(readCtx, c, files, o.files.labels)
		if err != nil {
			return err
		}
		return o.carryOut(ctx, c, plan, change.Ending{}, startOverHint)
	})
}

type diffOptions struct {
	f      *conn.Factory
	files  fileFlags
	output ui.Output
}

// difference is a definition's diff in JSON output.
type difference struct {
	Name   string `json:"name"`
	Action string `json:"action"`
	Diff   string `json:"diff"`
}

func newDiff(f *conn.Factory, run func(*diffOptions, context.Context) error) *cobra.Command {
	o := &diffOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupInspect,
		Use:     "diff -f FILE [--prune -l SELECTOR]",
		Short:   "Show what apply would change; exits with 1 if there are differences",
		Long: `Shows what ` + "`gkctl apply`" + ` would change with the same flags, as a unified diff. Exits with 0 if nothing would change, with 1 if
something would, with 65 if an entry's version is outdated, and with a higher code if the comparison failed.`,
		Example: `  gkctl diff -f nightly.yaml
  gkctl diff -f definitions/ --prune -l managed-by=git`,
		Args: ui.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := run(o, cmd.Context())
			if code, _ := ui.Classify(cmd, err); err != nil && err != errDifferent && code == ui.ExitFailure { //nolint:errorlint // never wrapped
				_, hint := ui.Classify(cmd, err)
				return &ui.CodeError{Code: ui.ExitLost, Err: err, Hint: hint} // 1 would mean that there are differences
			}
			return err
		},
	}
	o.files.register(cmd, "as for apply", "labels of the definitions that --prune may delete")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

// errDifferent makes diff exit with 1, without a message, if there are differences.
var errDifferent error = &ui.CodeError{Code: ui.ExitFailure}

func (o *diffOptions) run(ctx context.Context) error {
	files, err := o.files.read(o.f.In)
	if err != nil {
		return err
	}
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		plan, err := planFromFiles(ctx, c, files, o.files.labels)
		if ui.Is[*staleError](err) {
			_, hint := ui.Classify(nil, err)
			return &ui.CodeError{Code: ui.ExitBadInput, Err: err, Hint: hint}
		}
		if err != nil {
			return err
		}
		found := []difference{}
		for i := range plan {
			if plan[i].action() == actionUnchanged {
				continue
			}
			text, err := plan[i].unified()
			if err != nil {
				return err
			}
			found = append(found, difference{plan[i].name, plan[i].action(), string(text)})
		}
		if err := o.print(found); err != nil || len(found) == 0 {
			return err
		}
		return errDifferent
	})
}

func (o *diffOptions) print(found []difference) error {
	if !o.output.Is(ui.Table) {
		return o.f.PrintAs(o.output, ui.Items(found), words.Map(found, func(d difference) string { return d.Name }))
	}
	for _, d := range found {
		if _, err := io.WriteString(o.f.Out, d.Diff); err != nil {
			return err
		}
	}
	return nil
}

type previewOptions struct {
	f      *conn.Factory
	args   []string
	files  fileFlags
	drain  change.DrainFlag
	output ui.Output
}

func newPreview(f *conn.Factory, run func(*previewOptions, context.Context) error) *cobra.Command {
	o := &previewOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupInspect,
		Use:     "preview -f FILE | NAME|GLOB...|-l SELECTOR FIELD=VALUE...",
		Short:   "Show how an edit would affect holders and callers, without making it",
		Long: `Shows what ` + "`gkctl apply -f FILE` or `gkctl set NAME... FIELD=VALUE...`" + ` would do: which holders would have to stop and by when
their slots would be free, and which known groups and acquirers would be admitted or locked out. It warns if no known caller would be
admitted, and names the nearest known group. It also says why the change would need --yes.`,
		Example: `  gkctl preview -f nightly.yaml
  gkctl preview 'nightly-*' group_pattern=dr-site --drain 2m`,
		ValidArgsFunction: completeAssignments(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return run(o, cmd.Context())
		},
	}
	o.files.register(cmd, "as for apply", "only definitions with these labels; with -f, the labels of the definitions that --prune may delete")
	o.drain.Register(cmd)
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *previewOptions) run(ctx context.Context) error {
	switch args := o.args; {
	case len(o.files.paths) > 0 && len(args) > 0:
		return ui.Usagef("specify either -f, or names and fields")
	case len(o.files.paths) == 0 && len(args) == 0:
		return ui.Usagef("specify -f FILE, or names and fields, as in nightly-export permits=3")
	case o.files.prune && len(args) > 0:
		return ui.Usagef("--prune requires -f")
	}
	drain, err := o.drain.Read()
	if err != nil {
		return err
	}
	planned, err := o.planned()
	if err != nil {
		return err
	}
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		plan, err := planned(ctx, c)
		if err != nil {
			return err
		}
		b, err := newBatch(o.f, c, plan, drain, change.Ending{}, startOverHint)
		if err != nil {
			return err
		}
		r, err := b.preview(ctx)
		if err != nil {
			return err
		}
		return o.print(r)
	})
}

// planned returns a function that computes the plan once gkctl is connected.
func (o *previewOptions) planned() (func(context.Context, *client.Client) ([]step, error), error) {
	if len(o.args) == 0 {
		files, err := o.files.read(o.f.In)
		return func(ctx context.Context, c *client.Client) ([]step, error) {
			return planFromFiles(ctx, c, files, o.files.labels)
		}, err
	}
	names, fields, err := assignments(o.args, o.files.labels)
	return func(ctx context.Context, c *client.Client) ([]step, error) {
		records, err := lookup.Chosen(ctx, c, names, o.files.labels)
		if err != nil {
			return nil, err
		}
		return assigned(records, fields)
	}, err
}

func (o *previewOptions) print(r *gatekeeperv1.PreviewResponse) error {
	switch {
	case o.output.Is(ui.Name):
		return o.f.Print(o.output, ui.Listing{Rows: words.Map(r.GetEffects(), func(e *gatekeeperv1.Effect) ui.Row { return ui.Row{Name: e.GetSemaphore()} })})
	case !o.output.Is(ui.Table):
		if r == nil {
			r = &gatekeeperv1.PreviewResponse{}
		}
		return o.f.PrintObject(o.output, r)
	case len(r.GetEffects()) == 0:
		o.f.Logf("Nothing would change.")
		return nil
	}
	stopped := slices.ContainsFunc(r.GetEffects(), func(e *gatekeeperv1.Effect) bool { return len(e.GetStopped()) > 0 })
	if err := change.PrintPreview(o.f.IO, r); err != nil {
		return err
	}
	if !stopped {
		o.f.Logf("No holder would have to stop.")
	}
	return nil
}
