package edit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{
		newApply(f, (*applyOptions).run),
		newSet(f, (*setOptions).run),
		newEdit(f, (*editOptions).run),
		newDelete(f, (*deleteOptions).run),
		newUndo(f, (*undoOptions).run),
		newDiff(f, (*diffOptions).run),
		newPreview(f, (*previewOptions).run),
	}
}

// chosenOptions holds the options of a command that edits definitions chosen by name, glob or label.
type chosenOptions struct {
	editing
	names  []string
	labels string
}

func (o *chosenOptions) register(cmd *cobra.Command) {
	ui.RegisterSelector(cmd, &o.labels, "only definitions with these labels")
	o.editing.register(cmd)
}

// choose is the cobra.PositionalArgs of a command that takes only names and globs.
func (o *chosenOptions) choose(_ *cobra.Command, args []string) error {
	if len(args) == 0 && o.labels == "" {
		return ui.Usagef("specify names, globs or -l")
	}
	o.names = args
	return nil
}

// withChosen calls do with the chosen definitions. The ctx passed to do has no deadline, because do may wait for the
// user.
func (o *chosenOptions) withChosen(
	ctx context.Context, do func(ctx context.Context, c *client.Client, records []*gatekeeperv1.DefinitionRecord) error,
) error {
	if err := o.check(); err != nil {
		return err
	}
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		readCtx, cancel := o.f.Bounded(ctx)
		defer cancel()
		records, err := lookup.Chosen(readCtx, c, o.names, o.labels)
		if err != nil {
			return err
		}
		return do(ctx, c, records)
	})
}

type editOptions struct{ chosenOptions }

func newEdit(f *conn.Factory, run func(*editOptions, context.Context) error) *cobra.Command {
	o := &editOptions{chosenOptions{editing: editing{f: f}}}
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "edit NAME|GLOB...|-l SELECTOR [--drain 2m] [--dry-run] [--yes]",
		Short:   "Change definitions in an editor",
		Long: `Opens definitions as YAML in the editor named by GK_EDITOR, VISUAL or EDITOR, and applies the changes in one step. Nothing changes if one of
the definitions was changed concurrently; your edits are then saved in a file, as they are with --dry-run.

` + change.ConfirmHelp,
		Example: `  gkctl edit nightly-export --reason "more room"
  EDITOR=nano gkctl edit 'nightly-*' --drain 2m`,
		Args:              o.choose,
		ValidArgsFunction: f.CompleteNames,
		RunE:              func(cmd *cobra.Command, _ []string) error { return run(o, cmd.Context()) },
	}
	o.register(cmd)
	return cmd
}

func (o *editOptions) run(ctx context.Context) error {
	return o.withChosen(ctx, func(ctx context.Context, c *client.Client, records []*gatekeeperv1.DefinitionRecord) error {
		before, err := editable(records)
		if err != nil {
			return err
		}
		path, err := o.edit(ctx, before)
		if err != nil {
			return err
		}
		after, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Equal(before, after) {
			o.f.Logf("Nothing was changed.")
			return os.Remove(path)
		}
		if err := o.apply(ctx, c, records, path, after); err != nil {
			return withFileHint(err, path)
		}
		if o.dryRun {
			o.f.Logf("Your text is in %s: `gkctl apply -f` applies it.", path)
			return nil
		}
		return os.Remove(path)
	})
}

// withFileHint adds a hint to an error: the file containing the edited text, and how to apply it.
func withFileHint(err error, path string) error {
	code, hint := ui.Classify(nil, err)
	if hint != "" {
		hint += "\n"
	}
	hint += "Your text is in " + path + ": "
	switch {
	case ui.Is[*staleError](err):
		hint += "remove its version lines; then `gkctl diff -f` shows what it would change now, and `gkctl apply -f` overwrites the other change."
	case ui.Is[*ui.UnconfirmedError](err):
		hint += "`gkctl apply -f` with --yes applies it."
	default:
		hint += "`gkctl apply -f` applies it once it is corrected."
	}
	return &ui.CodeError{Code: code, Err: err, Hint: hint}
}

// editable returns the text for the editor.
func editable(records []*gatekeeperv1.DefinitionRecord) ([]byte, error) {
	data, err := deffile.MarshalRecords(records)
	if err != nil {
		return nil, err
	}
	const head = "# Save and exit to apply the changes in one step. Exit without saving to cancel.\n"
	return append([]byte(head), data...), nil
}

// edit opens an editor on a temporary file containing text, and returns the file's path.
func (o *editOptions) edit(ctx context.Context, text []byte) (path string, err error) {
	f, err := os.CreateTemp("", "gkctl-*.yaml")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL", "GK_EDITOR"} {
		editor = cmp.Or(strings.TrimSpace(os.Getenv(name)), editor)
	}
	words := strings.Fields(editor) // an editor may have flags, as in "code --wait"
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], f.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.f.In, o.f.Out, o.f.Err
	if err := cmd.Run(); err != nil {
		return "", errors.Join(fmt.Errorf("nothing was changed: the editor %q failed: %w", editor, err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

func (o *editOptions) apply(ctx context.Context, c *client.Client, records []*gatekeeperv1.DefinitionRecord, path string, text []byte) error {
	file, err := deffile.Parse(path, text)
	if err != nil {
		return err
	}
	seen := make(map[string]*gatekeeperv1.DefinitionRecord, len(records))
	for _, r := range records {
		seen[r.GetDefinition().GetName()] = r
	}
	var plan []step
	for i, e := range file.Entries {
		name := e.Definition.GetName()
		if seen[name] == nil {
			return file.Errorf(i, "name", "%q is new: edit does not add or rename definitions; use apply for that", name)
		}
		if e.Version != 0 && e.Version != seen[name].GetVersion() {
			return file.Errorf(i, "version", "%q: the version cannot be edited; you started from version %d", name, seen[name].GetVersion())
		}
		plan = append(plan, step{name: name, before: seen[name], after: e.Definition, file: file, entry: i})
	}
	if len(plan) < len(records) {
		return &deffile.Error{File: path, Msg: "a definition is missing: edit does not delete definitions; use `gkctl delete` for that"}
	}
	return o.carryOut(ctx, c, plan, change.Ending{}, "Edit again to start from the current definition.")
}

type deleteOptions struct{ chosenOptions }

func newDelete(f *conn.Factory, run func(*deleteOptions, context.Context) error) *cobra.Command {
	o := &deleteOptions{chosenOptions{editing: editing{f: f}}}
	cmd := &cobra.Command{
		GroupID:    ui.GroupChange,
		Use:        "delete NAME|GLOB... [-l SELECTOR] [--drain 2m] [--dry-run] [--yes]",
		SuggestFor: []string{"rm", "remove"},
		Short:      "Delete definitions; their holders must stop",
		Long: `Deletes definitions atomically. Their holders must stop; --drain gives them time to do so. A slot remains taken until its holder
has released it or the permit has expired, even if a definition with the same name is created in the meantime.

` + change.ConfirmHelp,
		Example: `  gkctl delete nightly-export --reason "it moved to another cluster"
  gkctl delete -l team=data --drain 2m --dry-run
  gkctl delete 'old-*' --yes`,
		Args:              o.choose,
		ValidArgsFunction: f.CompleteNames,
		RunE:              func(cmd *cobra.Command, _ []string) error { return run(o, cmd.Context()) },
	}
	o.register(cmd)
	return cmd
}

func (o *deleteOptions) run(ctx context.Context) error {
	return o.withChosen(ctx, func(ctx context.Context, c *client.Client, records []*gatekeeperv1.DefinitionRecord) error {
		plan := words.Map(records, func(r *gatekeeperv1.DefinitionRecord) step {
			return step{name: r.GetDefinition().GetName(), before: r}
		})
		return o.carryOut(ctx, c, plan, change.Ending{}, "To delete it anyway, run the command again.")
	})
}
