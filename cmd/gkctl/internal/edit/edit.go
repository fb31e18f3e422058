package edit

import (
	"bytes"
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
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type editOptions struct{ chosenOptions }

func newEdit(f *conn.Factory, run func(*editOptions, context.Context) error) *cobra.Command {
	o := &editOptions{chosenOptions{f: f}}
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "edit NAME|GLOB...|-l SELECTOR [--drain 2m] [--dry-run] [--yes]",
		Short:   "Change definitions in an editor",
		Long: `Opens definitions as YAML in the editor of GK_EDITOR, VISUAL or EDITOR, and applies what was changed in one step. Nothing is changed
when somebody else has changed one of them meanwhile; what was written is then kept in a file.

` + change.AsksText,
		Example: `  gkctl edit nightly-export --reason "more room"
  EDITOR=nano gkctl edit 'nightly-*' --drain 2m`,
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
			o.f.Say("Nothing was changed.")
			return os.Remove(path)
		}
		if err := o.apply(ctx, c, records, path, after); err != nil {
			return kept(err, path)
		}
		return os.Remove(path)
	})
}

// kept adds to an error where the edited text is, and how to apply it.
func kept(err error, path string) error {
	code, hint := ui.Classify(nil, err)
	if hint != "" {
		hint += "\n"
	}
	hint += "What you wrote is kept in " + path + ": "
	switch {
	case ui.Is[*staleError](err):
		hint += "take the version lines out of it, then `gkctl diff -f` shows what it would change now, and `gkctl apply -f` applies it over the other change."
	case ui.Is[*ui.UnconfirmedError](err):
		hint += "`gkctl apply -f` with --yes applies it."
	default:
		hint += "`gkctl apply -f` applies it once it is corrected."
	}
	return &ui.CodeError{Code: code, Err: err, Hint: hint}
}

// editable is what the editor shows.
func editable(records []*gatekeeperv1.DefinitionRecord) ([]byte, error) {
	data, err := deffile.MarshalRecords(records)
	if err != nil {
		return nil, err
	}
	const head = "# Save and leave to apply this in one step. Leave without a change to change nothing.\n"
	return append([]byte(head), data...), nil
}

// edit has a person edit a file, and returns its path.
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
		if e := os.Getenv(name); e != "" {
			editor = e
		}
	}
	words := strings.Fields(editor) // an editor may have flags: "code --wait"
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], f.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.f.In, o.f.Out, o.f.Err
	if err := cmd.Run(); err != nil {
		return "", errors.Join(fmt.Errorf("nothing was changed: the editor %q: %w", editor, err), os.Remove(f.Name()))
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
			return file.Errorf(i, "name", "%q was not there before: edit neither adds nor renames definitions, apply does", name)
		}
		if e.Version != 0 && e.Version != seen[name].GetVersion() {
			return file.Errorf(i, "version", "%q: the version cannot be edited: it says which one this started from, %d", name, seen[name].GetVersion())
		}
		plan = append(plan, step{name: name, before: seen[name], after: e.Definition, file: file, entry: i})
	}
	if len(plan) < len(records) {
		return &deffile.Error{File: path, Msg: "a definition is missing: edit deletes none, `gkctl delete` does"}
	}
	return carryOut(ctx, o.f, c, plan, o.batchFlags, change.Ending{}, o.output, "Edit again to start from what it is now.")
}
