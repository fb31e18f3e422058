package edit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// The results of a step, as printed.
const (
	actionCreated   = "created"
	actionReplaced  = "replaced"
	actionDeleted   = "deleted"
	actionUnchanged = "unchanged"
)

// step is one definition before and after a change.
type step struct {
	name   string
	before *gatekeeperv1.DefinitionRecord // nil if it does not exist
	after  *gatekeeperv1.Definition       // nil if it is deleted
	// file and entry say where after is defined. file is nil if after did not come from a file.
	file  *deffile.File
	entry int
}

func (c *step) action() string {
	switch {
	case c.before == nil:
		return actionCreated
	case c.after == nil:
		return actionDeleted
	case words.Equivalent(c.before.GetDefinition(), c.after):
		return actionUnchanged
	}
	return actionReplaced
}

// edit returns the step as an API edit, or nil if there is nothing to change.
func (c *step) edit() *gatekeeperv1.Edit {
	e := &gatekeeperv1.Edit{ExpectedVersion: c.before.GetVersion()}
	switch c.action() {
	case actionCreated:
		e.Change = &gatekeeperv1.Edit_Create{Create: c.after}
	case actionReplaced:
		e.Change = &gatekeeperv1.Edit_Replace{Replace: c.after}
	case actionDeleted:
		e.Change = &gatekeeperv1.Edit_Delete{Delete: c.name}
	default:
		return nil
	}
	return e
}

// unified returns the step as a unified diff, which is empty if nothing changes. Both sides contain all fields, so that
// an explicit default does not count as a difference.
func (c *step) unified() ([]byte, error) {
	side := func(d *gatekeeperv1.Definition) ([]byte, error) {
		if d == nil {
			return nil, nil
		}
		return deffile.Marshal([]*gatekeeperv1.Definition{words.Complete(d)})
	}
	before, err := side(c.before.GetDefinition())
	if err != nil {
		return nil, err
	}
	after, err := side(c.after)
	if err != nil {
		return nil, err
	}
	from, to := "/dev/null", "/dev/null"
	if c.before != nil {
		from = fmt.Sprintf("%s (version %d)", c.name, c.before.GetVersion())
	}
	if c.after != nil {
		to = c.name
		if c.file != nil {
			to += " (" + c.file.Name + ")"
		}
	}
	_, text, _ := bytes.Cut(diff.Diff(from, before, to, after), []byte("\n")) // the first line repeats the names
	return text, nil
}

// planFromFiles compares the files with the current definitions and returns the steps. It returns an error for an entry
// with an outdated version. If prune is set, the plan deletes definitions that match this selector but are in none of
// the files.
func planFromFiles(ctx context.Context, c *client.Client, files []*deffile.File, prune string) ([]step, error) {
	current, err := readCurrent(ctx, c, files)
	if err != nil {
		return nil, err
	}
	var plan []step
	wanted := make(map[string]bool)
	for _, f := range files {
		for i, e := range f.Entries {
			name := e.Definition.GetName()
			wanted[name] = true
			ch := step{name: name, before: current[name], after: e.Definition, file: f, entry: i}
			if e.Version != 0 && e.Version != ch.before.GetVersion() {
				if ch.before, err = recordAt(ctx, c, name, e.Version); err != nil {
					return nil, err
				}
				return nil, stale(ctx, c, &ch, &deffile.Error{
					File: f.Name, Line: e.Line, Column: e.Column, Msg: fmt.Sprintf("%q is no longer at version %d", name, e.Version),
				}, startOverHint)
			}
			plan = append(plan, ch)
		}
	}
	if prune == "" {
		return plan, nil
	}
	for r, err := range c.AllDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{Labels: prune}) {
		if err != nil {
			return nil, err
		}
		if name := r.GetDefinition().GetName(); !wanted[name] {
			plan = append(plan, step{name: name, before: r})
		}
	}
	return plan, nil
}

// readCurrent reads the current versions of the definitions in the files. The map is keyed by name.
func readCurrent(ctx context.Context, c *client.Client, files []*deffile.File) (map[string]*gatekeeperv1.DefinitionRecord, error) {
	var names []string
	for _, f := range files {
		for _, d := range f.Definitions() {
			names = append(names, d.GetName())
		}
	}
	current := make(map[string]*gatekeeperv1.DefinitionRecord, len(names))
	if len(names) == 0 {
		return current, nil
	}
	// A few definitions are requested by name. If there are many names, or names that the servers would reject or treat
	// as globs, all definitions are read.
	req := new(gatekeeperv1.ListDefinitionsRequest)
	if len(names) <= lookup.MaxNames && !slices.ContainsFunc(names, func(n string) bool { return n == "" || lookup.IsGlob(n) }) {
		req.Names = names
	}
	for r, err := range c.AllDefinitions(ctx, req) {
		if err != nil {
			return nil, err
		}
		current[r.GetDefinition().GetName()] = r
	}
	return current, nil
}

// startOverHint is the hint for a file refused as outdated.
const startOverHint = "Start from the current definitions, which `gkctl get -o yaml` prints. Or remove the version from the file: then `gkctl diff -f` " +
	"shows the change, and `gkctl apply -f` applies it."

// staleError is returned for a change that was based on an outdated version.
type staleError struct{ err error }

func (e *staleError) Error() string { return e.err.Error() }
func (e *staleError) Unwrap() error { return e.err }

// recordAt returns a definition at an older version. Its Definition is nil if the journal no longer has that version.
func recordAt(ctx context.Context, c *client.Client, name string, version uint64) (*gatekeeperv1.DefinitionRecord, error) {
	out := &gatekeeperv1.DefinitionRecord{Version: version}
	r, err := c.Operator().ListHistory(ctx, &gatekeeperv1.ListHistoryRequest{Names: []string{name}, Change: version})
	for _, e := range r.GetEntries() {
		if e.GetSemaphore() == name && e.GetAfter() != nil {
			out.Definition = e.GetAfter()
		}
	}
	return out, err
}

// stale returns an error that describes how a definition has changed since it was read: which fields, by whom, when and
// why. If the current definition cannot be read, it wraps refused. staleHint is appended to the error's hint.
func stale(ctx context.Context, c *client.Client, ch *step, refused error, staleHint string) error {
	hint := "Nothing was changed. " + staleHint
	r, err := c.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: ch.name})
	switch {
	case ui.Is[*client.NoSuchDefinitionError](err) && ch.before != nil:
		return &staleError{ui.WithHint(fmt.Errorf("%s has been deleted since you read it", ch.name), "%s", hint)}
	case err != nil:
		return &staleError{ui.WithHint(refused, "%s", hint)}
	}
	now := r.GetRecord()
	if ch.before == nil {
		return &staleError{ui.WithHint(fmt.Errorf("%s was created in the meantime and last %s", ch.name, lastChangeText(now)), "%s", hint)}
	}
	lines := []string{fmt.Sprintf("%s has been changed since you read it: you read version %d, and it is now version %d, %s",
		ch.name, ch.before.GetVersion(), now.GetVersion(), lastChangeText(now))}
	old := ch.before.GetDefinition()
	if old == nil {
		old = ch.after
		lines = append(lines, "its old fields are no longer known; differences between your file and its current fields:")
	}
	lines = append(lines, words.FieldChanges(old, now.GetDefinition())...)
	return &staleError{ui.WithHint(errors.New(strings.Join(lines, "\n  ")), "%s", hint)}
}

// lastChangeText describes who last changed a definition, when and why.
func lastChangeText(r *gatekeeperv1.DefinitionRecord) string {
	text := "changed by " + cmp.Or(r.GetUpdatedBy(), "an unknown author")
	if t := r.GetUpdatedAt(); t != nil {
		text += " at " + words.When(t)
	}
	if r.GetReason() != "" {
		text += " (" + r.GetReason() + ")"
	}
	return text
}
