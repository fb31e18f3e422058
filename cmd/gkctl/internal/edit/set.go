package edit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type setOptions struct {
	chosenOptions
	fields []assignment
	ending change.EndingFlags
}

// assignment is a parsed FIELD=VALUE, label.KEY=VALUE, or label.KEY- (which removes a label).
type assignment struct {
	key, value string
	remove     bool
}

const labelPrefix = "label."

func newSet(f *conn.Factory, run func(*setOptions, context.Context) error) *cobra.Command {
	o := &setOptions{chosenOptions: chosenOptions{editing: editing{f: f}}}
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "set NAME|GLOB...|-l SELECTOR FIELD=VALUE... [--for 2h] [--drain 2m] [--dry-run] [--yes]",
		Short:   "Change fields of definitions",
		Long: `Changes fields of definitions atomically. The fields are the ones in a definitions file:

  ` + strings.Join(deffile.Keys()[1:], ", ") + `

label.KEY=VALUE sets a label, and label.KEY- removes one.

With --for or --until, the fields automatically revert to their old values at that time, except those that have been set again since.
With --drain, holders that must stop are given that much time.

` + change.ConfirmHelp,
		Example: `  gkctl set nightly-export permits=3 duration=2m
  gkctl set 'nightly-*' group_pattern=dr-site --reason "moving to the other site"
  gkctl set nightly-export label.team=data label.legacy-
  gkctl set -l team=data max_hold=2h --dry-run
  gkctl set builds permits=80 --for 2h --reason "month's end"
  gkctl set nightly-export acquirer_pattern='app[12]' --drain 2m --dry-run`,
		ValidArgsFunction: completeAssignments(f),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.names, o.fields, err = assignments(args, o.labels); err != nil {
				return err
			}
			return run(o, cmd.Context())
		},
	}
	o.ending.Register(cmd, "how long until the fields revert to their old values")
	o.register(cmd)
	return cmd
}

// assignments separates names from assignments. It requires a name unless labels select the definitions.
func assignments(args []string, labels string) (names []string, fields []assignment, err error) {
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		switch {
		case ok && (strings.HasPrefix(key, labelPrefix) || slices.Contains(deffile.Keys()[1:], key) && key != "labels"):
			fields = append(fields, assignment{key: key, value: value})
		case ok && key == "name":
			return nil, nil, ui.Usagef("a name cannot be changed: create a new definition and delete this one")
		case ok && key == "labels":
			return nil, nil, ui.Usagef("labels are set one by one: label.KEY=VALUE")
		case ok:
			return nil, nil, unknownField(key)
		case strings.HasPrefix(arg, labelPrefix) && strings.HasSuffix(arg, "-"):
			fields = append(fields, assignment{key: strings.TrimSuffix(arg, "-"), remove: true})
		default:
			names = append(names, arg)
		}
	}
	if len(names) == 0 && labels == "" || len(fields) == 0 {
		return nil, nil, ui.Usagef("specify names, globs or -l, and fields, as in nightly-export permits=3")
	}
	seen := make(map[string]bool)
	for _, f := range fields {
		if seen[f.key] {
			return nil, nil, ui.Usagef("%s is given twice", f.key)
		}
		seen[f.key] = true
	}
	return names, fields, nil
}

// completeAssignments completes names and, after the first name, also fields.
func completeAssignments(f *conn.Factory) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		names, directive := f.CompleteNames(cmd, args, toComplete)
		if len(args) == 0 {
			return names, directive
		}
		fields := 0
		for _, field := range append(words.Map(deffile.Keys()[1:], func(key string) string { return key + "=" }), labelPrefix) {
			if strings.HasPrefix(field, toComplete) && field != "labels=" {
				names = append(names, field)
				fields++
			}
		}
		if fields == len(names) {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return names, directive
	}
}

func unknownField(key string) error {
	known := append(deffile.Keys()[1:], "label.KEY")
	if suggestion := nearest.Word(key, known); suggestion != "" {
		return ui.Usagef("unknown field %q; did you mean %q?", key, suggestion)
	}
	return ui.Usagef("unknown field %q; the fields are %s", key, strings.Join(known, ", "))
}

func (o *setOptions) run(ctx context.Context) error {
	end, err := o.ending.Read(time.Now())
	if err != nil {
		return err
	}
	return o.withChosen(ctx, func(ctx context.Context, c *client.Client, records []*gatekeeperv1.DefinitionRecord) error {
		plan, err := assigned(records, o.fields)
		if err == nil {
			err = checkNotTemporary(plan, o.fields)
		}
		if err != nil {
			return err
		}
		return o.carryOut(ctx, c, plan, end, "To set it anyway, run the command again.")
	})
}

// checkNotTemporary returns an error if a field already has its assigned value, but only until a temporary edit ends.
// The assignment would have no effect, and the old value would still be restored.
func checkNotTemporary(plan []step, fields []assignment) error {
	for _, c := range plan {
		if c.action() != actionUnchanged {
			continue
		}
		for _, end := range c.before.GetEnds() {
			for _, f := range fields {
				if field := strings.Replace(f.key, labelPrefix, "labels.", 1); slices.Contains(end.GetFields(), field) {
					return &ui.CodeError{
						Code: ui.ExitFailure,
						Err: fmt.Errorf("%s: %s already has that value, from change %d, but only until %s; nothing was changed",
							c.name, f.key, end.GetRevision(), words.When(end.GetUntil())),
						Hint: fmt.Sprintf("Undo that change first with gkctl undo %d, then set the value permanently or until a different time.", end.GetRevision()),
					}
				}
			}
		}
	}
	return nil
}

// assigned applies assignments to definitions and returns the plan.
func assigned(records []*gatekeeperv1.DefinitionRecord, fields []assignment) ([]step, error) {
	var plan []step
	for _, r := range records {
		after := proto.CloneOf(r.GetDefinition())
		for _, f := range fields {
			if err := f.apply(after); err != nil {
				return nil, err
			}
		}
		plan = append(plan, step{name: after.GetName(), before: r, after: after})
	}
	return plan, nil
}

// apply sets the field. It parses the value exactly as in a definitions file.
func (f assignment) apply(d *gatekeeperv1.Definition) error {
	if label, ok := strings.CutPrefix(f.key, labelPrefix); ok {
		d.Labels = maps.Clone(d.GetLabels())
		if f.remove {
			delete(d.Labels, label)
			return nil
		}
		if d.Labels == nil {
			d.Labels = make(map[string]string)
		}
		d.Labels[label] = f.value
		return nil
	}
	value := f.value
	if quoted(f.key) {
		value = strconv.Quote(value)
	}
	file, err := deffile.Parse("", fmt.Appendf(nil, "definitions: [{name: x, %q: %s}]", f.key, value))
	if err != nil {
		text := err.Error()
		if e, ok := errors.AsType[*deffile.Error](err); ok {
			text = e.Msg
		}
		return &ui.CodeError{Code: ui.ExitBadInput, Err: errors.New(text), Hint: "Nothing was changed."}
	}
	given := file.Entries[0].Definition
	given.Name = ""
	field := d.ProtoReflect().Descriptor().Fields().ByTextName(f.key)
	if from := given.ProtoReflect(); from.Has(field) {
		d.ProtoReflect().Set(field, from.Get(field))
	} else {
		d.ProtoReflect().Clear(field) // an explicit default, such as takeover=false, is the same as an absent field
	}
	return nil
}

// quoted reports whether a field is text, which must be quoted in YAML.
func quoted(key string) bool {
	return key == "description" || key == "group_pattern" || key == "acquirer_pattern"
}
