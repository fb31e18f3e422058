package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
)

type applyOptions struct {
	*app
	files  fileFlag
	output outputFlag
	prune  bool
	labels string
	dryRun bool
}

func newApply(a *app) *cobra.Command {
	o := &applyOptions{app: a}
	cmd := &cobra.Command{
		Use:   "apply -f FILE [--prune -l SELECTOR]",
		Short: "Make definitions what files say: all of them in one step, or none",
		Long: `Creates and replaces definitions so that they are what the files say, all in one step, or none. Nothing is changed when somebody
else has changed one of them in between.

An entry with a version, as ` + "`gkctl get -o yaml`" + ` writes it, is refused when the definition has another version now, or is gone; an
entry without one is applied over whatever there is.

--prune also deletes the definitions whose labels match -l and that no file names.`,
		Example: `  gkctl apply -f nightly.yaml --reason "more room for the exports"
  gkctl apply -f definitions/ --prune -l managed-by=git
  gkctl get -o yaml | gkctl apply -f -`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.files.register(cmd)
	cmd.Flags().BoolVar(&o.prune, "prune", false, "also delete what matches -l and is in no file")
	cmd.Flags().StringVarP(&o.labels, "selector", "l", "", "labels of what --prune may delete")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "say what would be done, and do nothing")
	o.output.register(cmd, formatTable, formatJSON, formatYAML, formatName)
	return cmd
}

func (o *applyOptions) run(ctx context.Context) error {
	switch {
	case o.prune && o.labels == "":
		return usagef("--prune needs -l: the labels of what it may delete")
	case !o.prune && o.labels != "":
		return usagef("-l is for --prune")
	}
	files, err := o.files.read(o.in)
	if err != nil {
		return err
	}
	return o.connected(ctx, func(ctx context.Context, c *client.Client) error {
		reading, cancel := o.bounded(ctx)
		defer cancel()
		plan, err := planOf(reading, c, files, o.labels)
		if err != nil {
			return err
		}
		var revision uint64
		if !o.dryRun {
			sending, cancel := o.bounded(ctx)
			defer cancel()
			revision, err = o.send(sending, c, plan, againFromNow)
			if err != nil {
				return err
			}
		}
		return o.told(o.output, plan, revision, o.dryRun)
	})
}

// applied is what was done, as -o json has it.
type applied struct {
	Items    []appliedItem `json:"items"`
	Revision uint64        `json:"revision,string"`
	DryRun   bool          `json:"dry_run,omitempty"`
}

type appliedItem struct {
	Name   string `json:"name"`
	Action string `json:"action"`
	// LivePermits still take slots of a definition that was deleted.
	LivePermits uint32 `json:"live_permits,omitempty"`
}

// told tells what a plan has done, a line each.
func (a *app) told(o outputFlag, plan []change, revision uint64, dryRun bool) error {
	out := applied{Items: []appliedItem{}, Revision: revision, DryRun: dryRun}
	count := make(map[string]int)
	for i := range plan {
		item := appliedItem{Name: plan[i].name, Action: plan[i].action()}
		if item.Action == actionDeleted {
			item.LivePermits = plan[i].before.GetHolders()
		}
		count[item.Action]++
		out.Items = append(out.Items, item)
	}
	switch o.String() {
	case formatJSON, formatYAML:
		return a.printObject(o, out)
	case formatName:
		for _, item := range out.Items {
			fmt.Fprintln(a.out, item.Name)
		}
		return nil
	}
	dry := ""
	if dryRun {
		dry = " (dry run)"
	}
	for _, item := range out.Items {
		fmt.Fprintf(a.out, "%s %s%s%s\n", item.Name, item.Action, liveOn(item.LivePermits), dry)
	}
	if len(out.Items) > 1 && a.errTTY {
		a.say("%d created, %d replaced, %d deleted, %d unchanged%s", count[actionCreated], count[actionReplaced], count[actionDeleted], count[actionUnchanged], dry)
	}
	return nil
}

// liveOn says what becomes of the permits of a definition that is gone.
func liveOn(n uint32) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", 1 permit lives on until it ends"
	}
	return fmt.Sprintf(", %d permits live on until they end", n)
}
