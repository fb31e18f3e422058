package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type resumeOptions struct {
	*app
	chosen chosen
	dryRun bool
	output outputFlag
}

func newResume(a *app) *cobra.Command {
	o := &resumeOptions{app: a}
	cmd := &cobra.Command{
		Use:   "resume NAME|GLOB...|-l SELECTOR|--all [--reason TEXT]",
		Short: "End pauses",
		Long:  `Ends pauses, all of the chosen in one step. What is not paused is passed over.`,
		Example: `  gkctl resume nightly-export
  gkctl resume -l team=data --dry-run
  gkctl resume --all --reason "it went well"`,
		ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.chosen.names = args
			return o.run(cmd.Context())
		},
	}
	o.chosen.register(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would be resumed; do nothing")
	o.output.register(cmd, formatTable, formatJSON, formatYAML, formatName)
	return cmd
}

func (o *resumeOptions) run(ctx context.Context) error {
	selector, err := o.chosen.selector()
	if err != nil {
		return err
	}
	return o.connected(ctx, func(ctx context.Context, c *client.Client) error {
		ctx, cancel := o.bounded(ctx)
		defer cancel()
		out := &resumed{Names: []string{}, DryRun: o.dryRun}
		if o.dryRun {
			records, err := definitions(ctx, c, o.chosen.names, o.chosen.labels)
			if err != nil {
				return err
			}
			for _, r := range records {
				if r.GetPause() != nil {
					out.Names = append(out.Names, r.GetDefinition().GetName())
				}
			}
		} else {
			r, err := c.Operator().Resume(ctx, &gatekeeperv1.ResumeRequest{Selector: selector, Author: o.global.who(), Reason: o.global.reason})
			if err != nil {
				return err
			}
			out.Names, out.Revision = append(out.Names, r.GetNames()...), r.GetRevision()
		}
		return o.tell(out)
	})
}

// resumed is what was resumed, as -o json has it.
type resumed struct {
	Names    []string `json:"names"`
	Revision uint64   `json:"revision,string"`
	DryRun   bool     `json:"dry_run,omitempty"`
}

func (o *resumeOptions) tell(r *resumed) error {
	switch o.output.String() {
	case formatJSON, formatYAML:
		return o.printObject(o.output, r)
	case formatName:
		return o.printNames(r.Names)
	}
	if len(r.Names) == 0 {
		o.say("None of them is paused.")
		return nil
	}
	dry := ""
	if r.DryRun {
		dry = " (dry run)"
	}
	fmt.Fprintf(o.out, "%s resumed%s\n", someNames(r.Names), dry)
	o.undoWith(r.Revision)
	return nil
}
