package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type setOptions struct {
	*app
	output outputFlag
	names  []string
	fields []assignment
	dryRun bool
}

// assignment is FIELD=VALUE, label.KEY=VALUE, or label.KEY- to remove a label.
type assignment struct {
	key, value string
	remove     bool
}

const labelPrefix = "label."

func newSet(a *app) *cobra.Command {
	o := &setOptions{app: a}
	cmd := &cobra.Command{
		Use:   "set NAME|GLOB... FIELD=VALUE...",
		Short: "Change fields of definitions",
		Long: `Changes fields of definitions, all in one step, or none. Fields are those of the definitions file:

  ` + strings.Join(deffile.Keys()[1:], ", ") + `

label.KEY=VALUE sets a label, label.KEY- removes one.`,
		Example: `  gkctl set nightly-export permits=3 duration=2m
  gkctl set 'nightly-*' group_pattern=dr-site --reason "moving to the other site"
  gkctl set nightly-export label.team=data label.legacy-`,
		ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.names, o.fields, err = assignments(args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "say what would be done, and do nothing")
	o.output.register(cmd, formatTable, formatJSON, formatYAML, formatName)
	return cmd
}

// assignments tells names from assignments.
func assignments(args []string) (names []string, fields []assignment, err error) {
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		switch {
		case ok && (strings.HasPrefix(key, labelPrefix) || slices.Contains(deffile.Keys()[1:], key) && key != "labels"):
			fields = append(fields, assignment{key: key, value: value})
		case ok && key == "name":
			return nil, nil, usagef("a name cannot be changed: create another definition, and delete this one")
		case ok && key == "labels":
			return nil, nil, usagef("labels are set one by one: label.KEY=VALUE")
		case ok:
			return nil, nil, usagef("unknown field %q: known are %s and label.KEY", key, strings.Join(deffile.Keys()[1:], ", "))
		case strings.HasPrefix(arg, labelPrefix) && strings.HasSuffix(arg, "-"):
			fields = append(fields, assignment{key: strings.TrimSuffix(arg, "-"), remove: true})
		default:
			names = append(names, arg)
		}
	}
	if len(names) == 0 || len(fields) == 0 {
		return nil, nil, usagef("give names or globs, and what to set, as in nightly-export permits=3")
	}
	return names, fields, nil
}

func (o *setOptions) run(ctx context.Context) error {
	return o.connected(ctx, func(ctx context.Context, c *client.Client) error {
		reading, cancel := o.bounded(ctx)
		defer cancel()
		records, err := definitions(reading, c, o.names, "")
		if err != nil {
			return err
		}
		var plan []change
		for _, r := range records {
			after := proto.CloneOf(r.GetDefinition())
			for _, f := range o.fields {
				if err := f.apply(after); err != nil {
					return err
				}
			}
			plan = append(plan, change{name: after.GetName(), before: r, after: after})
		}
		if len(plan) == 0 {
			o.say("No definition matches.")
			return nil
		}
		var revision uint64
		if !o.dryRun {
			sending, cancel := o.bounded(ctx)
			defer cancel()
			if revision, err = o.send(sending, c, plan, "Set again if it is still meant."); err != nil {
				return err
			}
		}
		return o.told(o.output, plan, revision, o.dryRun)
	})
}

// apply sets the field. Values are read exactly as in the definitions file.
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
		return &codeError{code: exitBadInput, err: errors.New(text), hint: "Nothing was changed."}
	}
	given := file.Entries[0].Definition
	given.Name = ""
	field := d.ProtoReflect().Descriptor().Fields().ByTextName(f.key)
	if from := given.ProtoReflect(); from.Has(field) {
		d.ProtoReflect().Set(field, from.Get(field))
	} else {
		d.ProtoReflect().Clear(field) // as written, it is the same as nothing: takeover=false
	}
	return nil
}

// quoted says whether a field is text, which a shell's word is as it stands.
func quoted(key string) bool {
	return key == "description" || key == "group_pattern" || key == "acquirer_pattern"
}
