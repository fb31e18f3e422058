package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type getOptions struct {
	*app
	output outputFlag
	globs  []string
	labels string
}

func newGet(a *app) *cobra.Command {
	o := &getOptions{app: a}
	cmd := &cobra.Command{
		Use:   "get [NAME|GLOB...] [-l SELECTOR]",
		Short: "Show definitions, and how much of them is taken",
		Long: `Shows definitions, all of them unless names, globs or labels select some.

-o yaml writes the file that ` + "`gkctl apply`" + ` reads, with the version of each definition: apply refuses it when somebody has changed
one of them since. -o json writes the API's records, with version and state.`,
		Example: `  gkctl get
  gkctl get 'nightly-*' -o wide
  gkctl get -l team=data,tier!=test -o yaml > data.yaml`,
		ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.globs = args
			return o.run(cmd.Context())
		},
	}
	o.output.register(cmd, formatTable, formatWide, formatJSON, formatYAML, formatName)
	cmd.Flags().StringVarP(&o.labels, "selector", "l", "", `labels, as in "team=data,tier!=test,zone in (a,b),critical,!legacy"`)
	return cmd
}

func (o *getOptions) run(ctx context.Context) error {
	return o.connected(ctx, func(ctx context.Context, c *client.Client) error {
		ctx, cancel := o.bounded(ctx)
		defer cancel()
		records, err := definitions(ctx, c, o.globs, o.labels)
		if err != nil {
			return err
		}
		if o.output.is(formatYAML) {
			data, err := deffile.MarshalRecords(records)
			if err != nil {
				return err
			}
			_, err = o.out.Write(data)
			return err
		}
		return o.print(o.output, listing{
			headers: []string{"NAME", "GROUP", "ACQUIRER", "USED", "PERMITS", "DURATION", "STATE"},
			more:    []string{"MAX HOLD", "MIN HOLD", "LOSS DELAY", "VERSION", "CHANGED", "BY", "REASON", "LABELS", "SILENCE"},
			rows:    mapped(records, definitionRow),
			object:  items[*gatekeeperv1.DefinitionRecord]{records},
			empty:   "No definition matches.",
		})
	})
}

func definitionRow(r *gatekeeperv1.DefinitionRecord) row {
	d := r.GetDefinition()
	return row{
		name: d.GetName(),
		cells: []string{
			d.GetName(), d.GetGroupPattern(), d.GetAcquirerPattern(), number(r.GetUsed()), number(d.GetPermits()),
			duration(d.GetDuration()), definitionState(r),
		},
		more: []string{
			duration(d.GetMaxHold()), duration(d.GetMinHold()), duration(d.GetLossDelay()), number(r.GetVersion()),
			ago(r.GetUpdatedAt()), r.GetUpdatedBy(), r.GetReason(), pairs(d.GetLabels()), silence(r.GetSilence()),
		},
	}
}

// definitionState is what stands in the way of grants, beside permits, and what ends by itself.
func definitionState(r *gatekeeperv1.DefinitionRecord) string {
	var states []string
	if r.GetDisabled() != "" {
		states = append(states, "disabled: "+r.GetDisabled())
	}
	if p := r.GetPause(); p != nil {
		s := "paused"
		if p.GetStop() {
			s += ", holders stop"
		}
		if p.GetDrain() != nil {
			s += ", draining"
		}
		if p.GetReason() != "" {
			s += ": " + p.GetReason()
		}
		if p.GetUntil() != nil {
			s += " until " + when(p.GetUntil())
		}
		states = append(states, s)
	}
	for _, e := range r.GetEnds() {
		states = append(states, fmt.Sprintf("%s until %s", strings.Join(e.GetFields(), ", "), when(e.GetUntil())))
	}
	return strings.Join(states, "; ")
}

// silence says what is known of expected work that is not heard of.
func silence(s *gatekeeperv1.Silence) string {
	if s == nil {
		return ""
	}
	text := word(s.GetKind(), "SILENCE_KIND_") + " for " + ago(s.GetSince())
	if why := word(s.GetReason(), "REASON_"); why != "" {
		text += " (" + why + ")"
	}
	if s.GetText() != "" {
		text += ": " + s.GetText()
	}
	return text
}
