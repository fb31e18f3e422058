package move

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type pauseOptions struct {
	f      *conn.Factory
	chosen chosen
	ending change.EndingFlags
	stop   bool
	drain  change.DrainFlag
	change.AskFlags
	// replace: with --all, replace the pauses of paused semaphores too.
	replace bool
	output  ui.Output
}

func newPause(f *conn.Factory, run func(*pauseOptions, context.Context) error) *cobra.Command {
	o := &pauseOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "pause NAME|GLOB...|-l SELECTOR|--all [--for 2h] [--stop [--drain 2m]] [--reason TEXT] [--yes]",
		Short:   "Let nobody in any more, for a time; what runs goes on, or is told to stop",
		Long: `Pauses semaphores, all of the chosen in one step: they grant no new permits. With --for or --until they resume automatically. What
runs goes on to its end; with --stop its holders must stop, and --drain gives them time for it.

A semaphore that is paused already gets the new pause, also its end; undo brings the old one back. Only --all leaves paused
semaphores as they are, unless --replace is given.

It shows the effect and asks, or in a script needs --yes, when it stops a holder or pauses more than 20 semaphores.`,
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
	o.ending.Register(cmd, "when it resumes automatically")
	cmd.Flags().BoolVar(&o.stop, "stop", false, "also tell holders to stop")
	o.drain.Register(cmd)
	cmd.Flags().BoolVar(&o.replace, "replace", false, "with --all: replace the pauses of what is paused already")
	o.AskFlags.Register(cmd, "show what would be paused and who would be told to stop")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *pauseOptions) request() (r *gatekeeperv1.PauseRequest, end change.Ending, err error) {
	r = &gatekeeperv1.PauseRequest{
		Author: o.f.Global.Who(), Reason: o.f.Global.Reason, Stop: o.stop, RequestId: o.RequestID(), KeepPaused: o.chosen.all && !o.replace,
	}
	if r.Selector, err = o.chosen.selector(); err != nil {
		return nil, end, err
	}
	if r.Drain, err = o.drain.Read(); err != nil {
		return nil, end, err
	}
	if o.replace && !o.chosen.all {
		return nil, end, ui.Usagef("--replace is for --all: names, globs and -l always replace pauses")
	}
	if r.Drain != nil && !o.stop {
		return nil, end, ui.Usagef("--drain is for --stop: without it what runs goes on to its end")
	}
	if end, err = o.ending.Read(time.Now()); err != nil {
		return nil, end, err
	}
	switch {
	case end.Lasts != nil:
		r.End = &gatekeeperv1.PauseRequest_Lasts{Lasts: end.Lasts}
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
	return o.f.Connected(ctx, func(ctx context.Context, c *client.Client) error {
		// What runs is counted beforehand: the answer to a pause does not say.
		preview, err := o.Preview(ctx, o.f, c, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Pause{Pause: req}},
			change.Proposal{Question: "Go on?", Declined: "nothing was paused"},
			func(r *gatekeeperv1.PreviewResponse) string {
				return "this pauses " + words.SomeNames(change.EffectNames(r.GetEffects()))
			})
		if err != nil {
			return err
		}
		ctx, done := o.f.Bounded(ctx) // the person may have taken a while
		defer done()
		out := &paused{preview: preview, end: end, DryRun: o.DryRun}
		out.Stopped, out.GoOn = change.StopCount(preview.GetEffects())
		if !o.DryRun {
			req.Expected = preview.GetDigest()
			r, err := c.Operator().Pause(ctx, req)
			if err != nil {
				return o.Unknown(o.chosen.meant(ctx, c, err))
			}
			out.Names, out.Revision = r.GetNames(), r.GetRevision()
		} else {
			out.Names = change.EffectNames(preview.GetEffects())
			if len(out.Names) == 0 && len(preview.GetWarnings()) == 0 { // else all of them stay as they are
				return lookup.NothingChosen(ctx, c, o.chosen.names, o.chosen.labels)
			}
		}
		return o.print(out)
	})
}

// paused is what was paused or resumed, as -o json has it.
type paused struct {
	Names    []string `json:"names"`
	Revision uint64   `json:"revision,string"`
	// Stopped holders must stop, or have less time for it; GoOn permits continue, as far as was seen just before.
	Stopped int  `json:"stopped"`
	GoOn    int  `json:"go_on"`
	DryRun  bool `json:"dry_run,omitempty"`

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
	if p.GoOn > 0 {
		fmt.Fprintf(o.f.Out, "%s on\n", words.Plural(p.GoOn, "running permit goes", "running permits go"))
	}
	if p.DryRun {
		if err := change.PrintEffects(o.f.IO, p.preview.GetEffects(), p.preview.GetWarnings(), change.EveryLine); err != nil {
			return err
		}
		change.PrintNeedsYes(o.f.IO, p.preview.GetEffects(), p.preview.GetConfirm())
		return nil
	}
	for _, w := range change.EffectWarnings(p.preview.GetEffects(), p.preview.GetWarnings(), change.SomeOf) {
		fmt.Fprintln(o.f.Out, "warning: "+words.Cell(w))
	}
	change.UndoWith(o.f.IO, p.Revision)
	return nil
}
