package move

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{
		newMove(f, (*moveOptions).run),
		newPause(f, (*pauseOptions).run),
		newResume(f, (*resumeOptions).run),
		newCordon(f, (*cordonOptions).run),
		newCordons(f),
		newUncordon(f),
	}
}

// chosen holds the options that select definitions: names and globs, labels, or --all.
type chosen struct {
	names  []string
	labels string
	all    bool
}

func (c *chosen) register(cmd *cobra.Command) {
	ui.RegisterSelector(cmd, &c.labels, `only definitions with these labels, as in "team=data,tier!=test"`)
	cmd.Flags().BoolVar(&c.all, "all", false, "every definition")
}

// selector converts the options to an API selector. It returns an error for contradictory options.
func (c *chosen) selector() (*gatekeeperv1.Selector, error) {
	switch some := len(c.names) > 0 || c.labels != ""; {
	case c.all && some:
		return nil, ui.Usagef("--all cannot be combined with names, globs or -l")
	case !c.all && !some:
		return nil, ui.Usagef("specify names, globs, -l or --all")
	}
	return &gatekeeperv1.Selector{Names: c.names, Labels: c.labels, All: c.all}, nil
}

type pauseOptions struct {
	f      *conn.Factory
	chosen chosen
	ending change.EndingFlags
	stop   bool
	drain  change.DrainFlag
	change.AskFlags
	// replace makes --all also replace existing pauses.
	replace bool
	output  ui.Output
}

func newPause(f *conn.Factory, run func(*pauseOptions, context.Context) error) *cobra.Command {
	o := &pauseOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "pause NAME|GLOB...|-l SELECTOR|--all [--for 2h] [--stop [--drain 2m]] [--reason TEXT] [--yes]",
		Short:   "Temporarily stop granting permits, and optionally stop the holders",
		Long: `Pauses the chosen semaphores in one step: they grant no new permits. With --for or --until they resume automatically. Current holders
continue; with --stop they must stop, and --drain gives them time to do so.

If a semaphore is already paused, the new pause replaces the old one, including its end; undo restores the old one. Only --all leaves
paused semaphores as they are, unless --replace is given.

It shows the effect and asks for confirmation (in a script, pass --yes) when it stops a holder or pauses more than 20 semaphores.`,
		Example: `  gkctl pause nightly-export --for 2h --reason "the disks are being replaced"
  gkctl pause -l team=data --until 06:00 --reason maintenance
  gkctl pause --all --stop --drain 2m --reason "the database is broken"`,
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.chosen.names = args
			return run(o, cmd.Context())
		},
	}
	o.chosen.register(cmd)
	o.ending.Register(cmd, "how long until the semaphores resume automatically")
	cmd.Flags().BoolVar(&o.stop, "stop", false, "also stop the current holders")
	o.drain.Register(cmd)
	cmd.Flags().BoolVar(&o.replace, "replace", false, "with --all: also replace existing pauses")
	o.AskFlags.Register(cmd, "show what would be paused and who would have to stop")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *pauseOptions) request() (r *gatekeeperv1.PauseRequest, end change.Ending, err error) {
	r = &gatekeeperv1.PauseRequest{
		Author: o.f.Global.ChangeAuthor(), Reason: o.f.Global.Reason, Stop: o.stop, RequestId: o.RequestID(), KeepPaused: o.chosen.all && !o.replace,
	}
	if r.Selector, err = o.chosen.selector(); err != nil {
		return nil, end, err
	}
	if r.Drain, err = o.drain.Read(); err != nil {
		return nil, end, err
	}
	if o.replace && !o.chosen.all {
		return nil, end, ui.Usagef("--replace needs --all: names, globs and -l always replace pauses")
	}
	if r.Drain != nil && !o.stop {
		return nil, end, ui.Usagef("--drain needs --stop: without --stop, current holders continue")
	}
	if end, err = o.ending.Read(time.Now()); err != nil {
		return nil, end, err
	}
	switch {
	case end.Duration != nil:
		r.End = &gatekeeperv1.PauseRequest_Duration{Duration: end.Duration}
	case end.Until != nil:
		r.End = &gatekeeperv1.PauseRequest_Until{Until: end.Until}
	}
	return r, end, nil
}

func (o *pauseOptions) run(ctx context.Context) error {
	req, end, err := o.request()
	if err != nil {
		return err
	}
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		// Count the holders beforehand, because the response to a pause does not include the count.
		preview, err := o.Preview(ctx, o.f, c, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Pause{Pause: req}},
			change.Proposal{Question: "Continue?", Declined: "nothing was paused"},
			func(r *gatekeeperv1.PreviewResponse) string {
				return "this pauses " + words.SomeNames(change.EffectNames(r.GetEffects()))
			})
		if err != nil {
			return err
		}
		ctx, done := o.f.Bounded(ctx) // the user may have taken a while to answer
		defer done()
		out := &paused{preview: preview, end: end, DryRun: o.DryRun}
		out.Stopped, out.Continuing = change.StopCount(preview.GetEffects())
		if !o.DryRun {
			req.Expected = preview.GetDigest()
			r, err := c.Operator().Pause(ctx, req)
			if err != nil {
				return o.Unknown(err)
			}
			out.Names, out.Revision = r.GetNames(), r.GetRevision()
		} else {
			out.Names = change.EffectNames(preview.GetEffects())
		}
		return o.print(out)
	})
}

// paused is the result of a pause in JSON output.
type paused struct {
	Names    []string `json:"names"`
	Revision uint64   `json:"revision,string"`
	// Stopped counts the holders that must stop or have less time to stop. Continuing counts the permits that continue.
	// Both come from the preview just before the pause.
	Stopped    int  `json:"stopped"`
	Continuing int  `json:"continuing"`
	DryRun     bool `json:"dry_run,omitempty"`

	end     change.Ending
	preview *gatekeeperv1.PreviewResponse
}

func (o *pauseOptions) print(p *paused) error {
	if !o.output.Is(ui.Table) {
		return o.f.PrintAs(o.output, p, p.Names)
	}
	end := p.end.Text()
	if !p.end.Given() {
		end = " until it is resumed"
		if len(p.Names) > 1 {
			end = " until they are resumed"
		}
	}
	dry := ""
	if p.DryRun {
		dry = " (dry run)"
	}
	if len(p.Names) == 0 {
		fmt.Fprintf(o.f.Out, "nothing to pause%s\n", dry)
	} else {
		fmt.Fprintf(o.f.Out, "%s paused%s%s\n", words.SomeNames(p.Names), end, dry)
	}
	if p.Stopped > 0 {
		fmt.Fprintf(o.f.Out, "%s\n", change.StopText(p.preview.GetEffects()))
	}
	if p.Continuing > 0 {
		fmt.Fprintf(o.f.Out, "%s\n", words.Plural(p.Continuing, "current permit remains valid", "current permits remain valid"))
	}
	if p.DryRun {
		return change.PrintPreview(o.f.IO, p.preview)
	}
	for _, w := range change.EffectWarnings(p.preview.GetEffects(), p.preview.GetWarnings(), change.MaxShown) {
		fmt.Fprintln(o.f.Out, "warning: "+words.Cell(w))
	}
	change.PrintUndoCommand(o.f.IO, p.Revision)
	return nil
}

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
		Long: `Ends the pauses of the chosen semaphores in one step, no matter who set them. Semaphores that are not paused are skipped. With --change
it ends only the pauses that this change set, if they are still in force. ` + "`gkctl undo CHANGE`" + ` also restores the pauses that they replaced.

It asks for confirmation (in a script, pass --yes) when it resumes more than 20 semaphores.`,
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
	cmd.Flags().Uint64Var(&o.change, "change", 0, "only semaphores that are still paused by this change")
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
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		req := &gatekeeperv1.ResumeRequest{
			Selector: selector, Author: o.f.Global.ChangeAuthor(), Reason: o.f.Global.Reason, Change: o.change, RequestId: o.RequestID(),
		}
		preview, err := o.Preview(ctx, o.f, c, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Resume{Resume: req}},
			change.Proposal{Question: "Continue?", Declined: "nothing was resumed"},
			func(r *gatekeeperv1.PreviewResponse) string {
				return "this resumes " + words.SomeNames(change.EffectNames(r.GetEffects()))
			})
		if err != nil {
			return err
		}
		out := &resumed{Names: []string{}, DryRun: o.DryRun, preview: preview}
		ctx, done := o.f.Bounded(ctx) // the user may have taken a while to answer
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
		return o.print(out)
	})
}

// resumed is the result of resume in JSON output.
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
			o.f.Logf("None of the chosen semaphores is paused by change %d.", o.change)
			return nil
		}
		o.f.Logf("None of the chosen semaphores is paused.")
		return nil
	}
	if r.DryRun {
		fmt.Fprintf(o.f.Out, "%s would be resumed (dry run)\n", words.SomeNames(r.Names))
		change.PrintNeedsYes(o.f.IO, r.preview.GetEffects(), r.preview.GetConfirm())
		return nil
	}
	fmt.Fprintf(o.f.Out, "%s resumed\n", words.SomeNames(r.Names))
	change.PrintUndoCommand(o.f.IO, r.Revision)
	return nil
}
