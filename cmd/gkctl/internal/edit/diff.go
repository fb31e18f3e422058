package edit

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

type diffOptions struct {
	f      *conn.Factory
	files  fileFlag
	prune  bool
	labels string
	output ui.Output
}

// difference is of one definition, as -o json has it.
type difference struct {
	Name   string `json:"name"`
	Action string `json:"action"`
	Diff   string `json:"diff"`
}

func newDiff(f *conn.Factory, run func(*diffOptions, context.Context) error) *cobra.Command {
	o := &diffOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupSee,
		Use:     "diff -f FILE [--prune -l SELECTOR]",
		Short:   "Show what apply would change; exits with 1 on differences",
		Long: `Shows as a unified diff what ` + "`gkctl apply`" + ` with the same flags would change. Exits with 0 when there is no difference, with 1 when
there is one, with 65 when an entry has a version that is no longer the current one, and with more when it could not be found out.`,
		Example: `  gkctl diff -f nightly.yaml
  gkctl diff -f definitions/ --prune -l managed-by=git`,
		Args: ui.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := run(o, cmd.Context())
			if code, _ := ui.Classify(cmd, err); err != nil && err != errDifferent && code == ui.ExitFailure { //nolint:errorlint // ours, and never wrapped
				_, hint := ui.Classify(cmd, err)
				return &ui.CodeError{Code: ui.ExitLost, Err: err, Hint: hint} // 1 would say that there are differences
			}
			return err
		},
	}
	o.files.register(cmd)
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	cmd.Flags().BoolVar(&o.prune, "prune", false, "as of apply")
	ui.RegisterSelector(cmd, &o.labels, "labels of what --prune may delete")
	return cmd
}

// errDifferent ends diff without a word when there are differences.
var errDifferent error = &ui.CodeError{Code: ui.ExitFailure}

func (o *diffOptions) run(ctx context.Context) error {
	if o.prune != (o.labels != "") {
		return ui.Usagef("--prune and -l are given together")
	}
	files, err := o.files.read(o.f.In)
	if err != nil {
		return err
	}
	return o.f.Ask(ctx, func(ctx context.Context, c *client.Client) error {
		plan, err := planOf(ctx, c, files, o.labels)
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
		return o.f.PrintAs(o.output, ui.Items(found), words.Mapped(found, func(d difference) string { return d.Name }))
	}
	for _, d := range found {
		if _, err := io.WriteString(o.f.Out, d.Diff); err != nil {
			return err
		}
	}
	return nil
}
