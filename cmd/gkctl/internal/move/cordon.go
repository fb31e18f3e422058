package move

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type cordonOptions struct {
	f               *conn.Factory
	id              string
	group, acquirer string
	ending          change.EndingFlags
	drain           change.DrainFlag
	change.AskFlags
	output ui.Output
}

func newCordon(f *conn.Factory, run func(*cordonOptions, context.Context) error) *cobra.Command {
	o := &cordonOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "cordon --group PATTERN|--acquirer PATTERN [--for 2h] [--drain 2m] [--reason TEXT] [--yes]",
		Short:   "Shut a group or a host out of every semaphore, for a time",
		Long: `Shuts out whoever comes from a group, or is an acquirer, that the pattern matches whole: they are granted nothing, and what they hold
is told to stop; with --drain they may go on for so long first. With --for or --until it ends by itself. With both patterns a
caller is caught when one of them matches. A cordon with the same id, which is drawn from the patterns when none is given, is replaced.

It shows the effect and asks, or in a script needs --yes, when it stops a holder, or shuts out everybody who asked within 7 days.`,
		Example: `  gkctl cordon --acquirer app7 --for 30m --drain 2m --reason "kernel update"
  gkctl cordon --group 'zone-b.*' --id zone-b --reason "zone b loses packets"`,
		Args: ui.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(o, cmd.Context()) },
	}
	cmd.Flags().StringVar(&o.group, "group", "", "pattern of groups")
	cmd.Flags().StringVar(&o.acquirer, "acquirer", "", "pattern of acquirers")
	cmd.Flags().StringVar(&o.id, "id", "", "name of the cordon, default: what it catches")
	o.ending.Register(cmd, "when it ends by itself")
	o.drain.Register(cmd)
	o.AskFlags.Register(cmd, "show who would be told to stop")
	f.CompleteGroups(cmd, "group")
	f.CompleteAcquirers(cmd, "acquirer")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *cordonOptions) request() (r *gatekeeperv1.CordonRequest, err error) {
	if o.group == "" && o.acquirer == "" {
		return nil, ui.Usagef("give --group or --acquirer: the pattern of whom to shut out")
	}
	r = &gatekeeperv1.CordonRequest{
		Id: o.id, GroupPattern: o.group, AcquirerPattern: o.acquirer, Author: o.f.Global.Who(), Reason: o.f.Global.Reason, RequestId: o.RequestID(),
	}
	if r.Drain, err = o.drain.Read(); err != nil {
		return nil, err
	}
	end, err := o.ending.Read(time.Now())
	switch {
	case end.Lasts != nil:
		r.End = &gatekeeperv1.CordonRequest_Lasts{Lasts: end.Lasts}
	case end.Until != nil:
		r.End = &gatekeeperv1.CordonRequest_Until{Until: end.Until}
	}
	return r, err
}

func (o *cordonOptions) run(ctx context.Context) error {
	req, err := o.request()
	if err != nil {
		return err
	}
	return o.f.Connected(ctx, func(ctx context.Context, c *client.Client) error {
		preview, err := o.Preview(ctx, o.f, c, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Cordon{Cordon: req}},
			change.Proposal{Question: "Go on?", Declined: "no cordon was set"},
			func(*gatekeeperv1.PreviewResponse) string { return fmt.Sprintf("this sets the cordon %q", o.name()) })
		if err != nil {
			return err
		}
		if o.DryRun {
			return o.printDry(preview)
		}
		ctx, done := o.f.Bounded(ctx) // the person may have taken a while
		defer done()
		r, err := c.Operator().Cordon(ctx, req)
		if err != nil {
			return o.Unknown(err)
		}
		return o.print(r.GetCordon(), preview)
	})
}

func (o *cordonOptions) printDry(preview *gatekeeperv1.PreviewResponse) error {
	if !o.output.Is(ui.Table) {
		return o.f.PrintAs(o.output, preview, change.EffectNames(preview.GetEffects()))
	}
	fmt.Fprintf(o.f.Out, "%s (dry run)\n", change.StopText(preview.GetEffects()))
	if err := change.PrintEffects(o.f.IO, preview.GetEffects(), preview.GetWarnings(), change.EveryLine); err != nil {
		return err
	}
	change.PrintNeedsYes(o.f.IO, preview.GetEffects(), preview.GetConfirm())
	return nil
}

// name is the cordon's id, or the patterns from which the servers will make one.
func (o *cordonOptions) name() string {
	var parts []string
	if o.group != "" {
		parts = append(parts, "group:"+o.group)
	}
	if o.acquirer != "" {
		parts = append(parts, "acquirer:"+o.acquirer)
	}
	return cmp.Or(o.id, strings.Join(parts, " "))
}

func (o *cordonOptions) print(c *gatekeeperv1.CordonRecord, preview *gatekeeperv1.PreviewResponse) error {
	if !o.output.Is(ui.Table) {
		return o.f.PrintAs(o.output, c, []string{c.GetId()})
	}
	until := ""
	if c.GetUntil() != nil {
		until = " until " + words.When(c.GetUntil())
	}
	fmt.Fprintf(o.f.Out, "cordon %q is in force%s; %s\n", c.GetId(), until, change.StopText(preview.GetEffects()))
	for _, w := range preview.GetWarnings() {
		fmt.Fprintln(o.f.Out, "warning: "+words.Cell(w))
	}
	fmt.Fprintf(o.f.Out, "end it with: gkctl uncordon %s\n", words.ShellWord(c.GetId()))
	change.UndoWith(o.f.IO, c.GetRevision())
	return nil
}
