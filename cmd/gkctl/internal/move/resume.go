package move

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type resumeOptions struct {
	f      *conn.Factory
	chosen chosen
	change uint64
	change.AskFlags
	output ui.Output
}

func newResume(f *conn.Factory, run func(*resumeOptions, context.Context) error) *cobra.Command {
	o := &resumeOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "resume NAME|GLOB...|-l SELECTOR|--all|--change CHANGE [--reason TEXT] [--yes]",
		Short:   "End pauses",
		Long: `Ends pauses, all of the chosen in one step, whoever set them. What is not paused is passed over. With --change it ends only what is still
paused by that change, and leaves the pauses of others; ` + "`gkctl undo CHANGE`" + ` does so too, and brings back what was paused before it.

It asks, or in a script needs --yes, when it resumes more than 20 semaphores.`,
		Example: `  gkctl resume nightly-export
  gkctl resume -l team=data --dry-run
  gkctl resume --all --reason "it went well"
  gkctl resume --change 1234`,
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.chosen.names = args
			return run(o, cmd.Context())
		},
	}
	o.chosen.register(cmd)
	cmd.Flags().Uint64Var(&o.change, "change", 0, "only what this change paused, and is paused by it still")
	o.AskFlags.Register(cmd, "show what would be resumed")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *resumeOptions) run(ctx context.Context) error {
	if o.change != 0 && len(o.chosen.names) == 0 && o.chosen.labels == "" {
		o.chosen.all = true
	}
	selector, err := o.chosen.selector()
	if err != nil {
		return err
	}
	return o.f.Connected(ctx, func(ctx context.Context, c *client.Client) error {
		req := &gatekeeperv1.ResumeRequest{
			Selector: selector, Author: o.f.Global.Who(), Reason: o.f.Global.Reason, Change: o.change, RequestId: o.RequestID(),
		}
		preview, err := o.Preview(ctx, o.f, c, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Resume{Resume: req}},
			change.Proposal{Question: "Go on?", Declined: "nothing was resumed"},
			func(r *gatekeeperv1.PreviewResponse) string {
				return "this resumes " + words.SomeNames(change.EffectNames(r.GetEffects()))
			})
		if err != nil {
			return err
		}
		out := &resumed{Names: []string{}, DryRun: o.DryRun, preview: preview}
		ctx, done := o.f.Bounded(ctx) // the person may have taken a while
		defer done()
		if o.DryRun {
			out.Names = append(out.Names, change.EffectNames(preview.GetEffects())...)
		} else {
			req.Expected = preview.GetDigest()
			r, err := c.Operator().Resume(ctx, req)
			if err != nil {
				return o.Unknown(err)
			}
			out.Names, out.Revision = append(out.Names, r.GetNames()...), r.GetRevision()
		}
		if len(out.Names) == 0 && !o.chosen.all { // nothing was paused, or nothing chosen, which is most likely a slip
			if some, err := lookup.Definitions(ctx, c, o.chosen.names, o.chosen.labels); err == nil && len(some) == 0 {
				return lookup.NothingChosen(ctx, c, o.chosen.names, o.chosen.labels)
			}
		}
		return o.print(out)
	})
}

// resumed is what was resumed, as -o json has it.
type resumed struct {
	Names    []string `json:"names"`
	Revision uint64   `json:"revision,string"`
	DryRun   bool     `json:"dry_run,omitempty"`

	preview *gatekeeperv1.PreviewResponse
}

func (o *resumeOptions) print(r *resumed) error {
	if !o.output.Is(ui.Table) {
		return o.f.PrintAs(o.output, r, r.Names)
	}
	if len(r.Names) == 0 {
		if o.change != 0 {
			o.f.Say("None of them is paused by change %d.", o.change)
			return nil
		}
		o.f.Say("None of them is paused.")
		return nil
	}
	if r.DryRun {
		fmt.Fprintf(o.f.Out, "%s would be resumed (dry run)\n", words.SomeNames(r.Names))
		change.PrintNeedsYes(o.f.IO, r.preview.GetEffects(), r.preview.GetConfirm())
		return nil
	}
	fmt.Fprintf(o.f.Out, "%s resumed\n", words.SomeNames(r.Names))
	change.UndoWith(o.f.IO, r.Revision)
	return nil
}
