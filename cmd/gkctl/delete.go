package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type deleteOptions struct {
	*app
	output outputFlag
	names  []string
	labels string
	yes    bool
	dryRun bool
}

func newDelete(a *app) *cobra.Command {
	o := &deleteOptions{app: a}
	cmd := &cobra.Command{
		Use:   "delete NAME|GLOB... [-l SELECTOR] [--yes]",
		Short: "Delete definitions; their permits live on until they end",
		Long: `Deletes definitions, all in one step, or none. Holders are told to stop; their permits take no new slots and live on until they
are released or expire. Deleting more than one by a glob or by labels needs --yes, or a yes on a terminal.`,
		ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && o.labels == "" {
				return usagef("give names, globs or -l")
			}
			o.names = args
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVarP(&o.labels, "selector", "l", "", "only those with these labels")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "say what would be done, and do nothing")
	o.output.register(cmd, formatTable, formatJSON, formatYAML, formatName)
	return cmd
}

func (o *deleteOptions) run(ctx context.Context) error {
	return o.connected(ctx, func(ctx context.Context, c *client.Client) error {
		reading, cancel := o.bounded(ctx)
		defer cancel()
		records, err := definitions(reading, c, o.names, o.labels)
		if err != nil {
			return err
		}
		if len(records) == 0 {
			o.say("No definition matches.")
			return nil
		}
		vague := o.labels != "" || anyOf(o.names, isGlob)
		if len(records) > 1 && vague && !o.yes && !o.dryRun {
			if err := o.confirm(records); err != nil {
				return err
			}
		}
		plan := mapped(records, func(r *gatekeeperv1.DefinitionRecord) change {
			return change{name: r.GetDefinition().GetName(), before: r}
		})
		var revision uint64
		if !o.dryRun {
			sending, cancel := o.bounded(ctx)
			defer cancel()
			if revision, err = o.send(sending, c, plan, "Delete again if it is still meant."); err != nil {
				return err
			}
		}
		return o.told(o.output, plan, revision, o.dryRun)
	})
}

// confirm asks a person; without one it refuses.
func (o *deleteOptions) confirm(records []*gatekeeperv1.DefinitionRecord) error {
	const shown = 10
	live := 0
	names := mapped(records, func(r *gatekeeperv1.DefinitionRecord) string {
		live += int(r.GetHolders())
		return r.GetDefinition().GetName()
	})
	list := strings.Join(names[:min(shown, len(names))], ", ")
	if len(names) > shown {
		list += fmt.Sprintf(" and %d more", len(names)-shown)
	}
	question := fmt.Sprintf("this deletes %s, with %s: %s", plural(len(names), "definition", "definitions"), plural(live, "live permit", "live permits"), list)
	if !o.inTTY || !o.errTTY {
		return usagef("%s; give --yes if that is meant", question)
	}
	fmt.Fprintf(o.err, "%s\nDelete them? [y/N] ", question)
	answer, err := bufio.NewReader(o.in).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); err != nil || a != "y" && a != "yes" {
		return &codeError{code: exitFailure, err: fmt.Errorf("nothing was deleted")}
	}
	return nil
}
