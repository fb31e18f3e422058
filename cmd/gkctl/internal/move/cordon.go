package move

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
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
		Short:   "Temporarily lock a group or a host out of every semaphore",
		Long: `Locks out every caller whose entire group or acquirer matches the pattern. These callers get no new permits and must stop the work covered by
their current permits; --drain gives them time to do so. If both patterns are given, a caller that matches either of them is locked out. With
--for or --until the cordon ends automatically. A cordon with the same id replaces the old one. The default id is derived from the patterns.

It shows the effect and asks for confirmation (in a script, pass --yes) if this would stop a holder or lock out every caller seen in
the last 7 days.`,
		Example: `  gkctl cordon --acquirer app7 --for 30m --drain 2m --reason "kernel update"
  gkctl cordon --group 'zone-b.*' --id zone-b --reason "zone b is losing packets"`,
		Args: ui.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(o, cmd.Context()) },
	}
	cmd.Flags().StringVar(&o.group, "group", "", "pattern for the groups to lock out")
	cmd.Flags().StringVar(&o.acquirer, "acquirer", "", "pattern for the acquirers to lock out")
	cmd.Flags().StringVar(&o.id, "id", "", "id of the cordon; default: derived from the patterns")
	o.ending.Register(cmd, "how long until it ends automatically")
	o.drain.Register(cmd)
	o.AskFlags.Register(cmd, "show who would have to stop")
	f.CompleteGroups(cmd, "group")
	f.CompleteAcquirers(cmd, "acquirer")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *cordonOptions) request() (r *gatekeeperv1.CordonRequest, err error) {
	if o.group == "" && o.acquirer == "" {
		return nil, ui.Usagef("specify --group or --acquirer: a pattern that matches the callers to lock out")
	}
	r = &gatekeeperv1.CordonRequest{
		Id: o.id, GroupPattern: o.group, AcquirerPattern: o.acquirer, Author: o.f.Global.ChangeAuthor(), Reason: o.f.Global.Reason, RequestId: o.RequestID(),
	}
	if r.Drain, err = o.drain.Read(); err != nil {
		return nil, err
	}
	end, err := o.ending.Read(time.Now())
	switch {
	case end.Duration != nil:
		r.End = &gatekeeperv1.CordonRequest_Duration{Duration: end.Duration}
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
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		preview, err := o.Preview(ctx, o.f, c, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Cordon{Cordon: req}},
			change.Proposal{Question: "Continue?", Declined: "no cordon was set"},
			func(*gatekeeperv1.PreviewResponse) string { return fmt.Sprintf("this sets the cordon %q", o.name()) })
		if err != nil {
			return err
		}
		if o.DryRun {
			return o.printDryRun(preview)
		}
		ctx, done := o.f.Bounded(ctx) // the user may have taken a while to answer
		defer done()
		r, err := c.Operator().Cordon(ctx, req)
		if err != nil {
			return o.Unknown(err)
		}
		return o.print(r.GetCordon(), preview)
	})
}

func (o *cordonOptions) printDryRun(preview *gatekeeperv1.PreviewResponse) error {
	if !o.output.Is(ui.Table) {
		return o.f.PrintAs(o.output, preview, change.EffectNames(preview.GetEffects()))
	}
	fmt.Fprintf(o.f.Out, "%s (dry run)\n", change.StopText(preview.GetEffects()))
	return change.PrintPreview(o.f.IO, preview)
}

// The prefixes of the ids that the servers derive from patterns.
const groupID, acquirerID = "group:", "acquirer:"

// name returns the cordon's id or, if none was given, the patterns from which the servers will derive it.
func (o *cordonOptions) name() string {
	var parts []string
	if o.group != "" {
		parts = append(parts, groupID+o.group)
	}
	if o.acquirer != "" {
		parts = append(parts, acquirerID+o.acquirer)
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
	change.PrintUndoCommand(o.f.IO, c.GetRevision())
	return nil
}

func newCordons(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		GroupID: ui.GroupInspect,
		Use:     "cordons",
		Short:   "Show which groups and hosts are locked out, for how long and why",
		Example: `  gkctl cordons
  gkctl cordons -o name`,
		Args: ui.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				r, err := c.Operator().ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{})
				if err != nil {
					return err
				}
				ended, err := endedDrains(ctx, c, output, r.GetCordons())
				if err != nil {
					return err
				}
				return f.Print(output, ui.Listing{
					Headers: []string{"ID", "GROUP", "ACQUIRER", "UNTIL", "DRAIN", "BY", "REASON"},
					More:    []string{"CHANGE"},
					Rows:    words.Map(r.GetCordons(), func(c *gatekeeperv1.CordonRecord) ui.Row { return cordonRow(c, ended[c.GetId()]) }),
					Object:  ui.Items(ui.Messages(r.GetCordons())),
					Empty:   "No cordons are in force.",
				})
			})
		},
	}
	output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

// endedDrains returns the drains that have ended and are still in the journal, by cordon id. A CordonRecord contains
// its drain only until the drain ends.
func endedDrains(
	ctx context.Context, c *client.Client, output ui.Output, cordons []*gatekeeperv1.CordonRecord,
) (map[string]*durationpb.Duration, error) {
	ended := make(map[string]*durationpb.Duration)
	if !output.Is(ui.Table) && !output.Is(ui.Wide) {
		return ended, nil
	}
	for _, cordon := range cordons {
		if cordon.GetDrain() != nil {
			continue
		}
		r, err := c.Operator().ListHistory(ctx, &gatekeeperv1.ListHistoryRequest{Change: cordon.GetChange(), PageSize: 1000})
		if err != nil {
			return nil, err
		}
		for _, e := range r.GetEntries() {
			if e.GetCordon().GetId() == cordon.GetId() && e.GetKind() == gatekeeperv1.EventKind_EVENT_KIND_CORDONED {
				ended[cordon.GetId()] = e.GetDrain()
			}
		}
	}
	return ended, nil
}

// cordonRow returns the row for a cordon. endedDrain is its drain if the drain has ended, and nil otherwise.
func cordonRow(c *gatekeeperv1.CordonRecord, endedDrain *durationpb.Duration) ui.Row {
	drain := words.Duration(c.GetDrain())
	if text := words.Duration(endedDrain); drain == "" && text != "" {
		drain = text + ", over"
	}
	return ui.Row{
		Name: c.GetId(),
		Cells: []string{
			c.GetId(), c.GetGroupPattern(), c.GetAcquirerPattern(), words.When(c.GetUntil()), drain, c.GetAuthor(), c.GetReason(),
		},
		More: []string{words.Number(c.GetRevision())},
	}
}

func newUncordon(f *conn.Factory) *cobra.Command {
	var output ui.Output
	var dryRun bool
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "uncordon ID... [--dry-run] [--reason TEXT]",
		Short:   "End cordons",
		Long:    "Ends cordons by id; `gkctl cordons` lists the ids. If one cannot be ended, gkctl still ends the others.",
		Example: `  gkctl uncordon acquirer:app7
  gkctl cordons -o name | xargs gkctl uncordon --reason "maintenance is done"`,
		Args:              ui.AtLeastOne("cordon ids (`gkctl cordons` lists the cordons)"),
		ValidArgsFunction: completeCordons(f),
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show which cordons would end without changing anything")
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		return f.Call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
			if dryRun {
				return uncordonDryRun(ctx, f, c, output, ids)
			}
			var failed []error
			done := []uncordoned{}
			for _, id := range ids {
				r, err := c.Operator().Uncordon(ctx, &gatekeeperv1.UncordonRequest{
					Id: id, Author: f.Global.ChangeAuthor(), Reason: f.Global.Reason, RequestId: client.NewRequestID(),
				})
				switch {
				case ui.Is[*client.NoSuchCordonError](err):
					failed = append(failed, noCordon(err))
				case err != nil:
					failed = append(failed, change.UnknownOutcome(err, "`gkctl cordons` shows whether it is still in force."))
				default:
					done = append(done, uncordoned{ID: id, Revision: r.GetRevision()})
				}
			}
			return errors.Join(append(failed, printUncordoned(f, output, done))...)
		})
	}
	return cmd
}

// uncordoned is a removed cordon in JSON output.
type uncordoned struct {
	ID       string `json:"id"`
	Revision uint64 `json:"revision,string"`
	DryRun   bool   `json:"dry_run,omitempty"`

	cordon *gatekeeperv1.CordonRecord // set by a dry run
}

// uncordonDryRun prints the cordons that would be removed and returns an error for unknown ids. It only reads, because
// an older server would ignore a dry-run field in UncordonRequest and remove the cordon.
func uncordonDryRun(ctx context.Context, f *conn.Factory, c *client.Client, output ui.Output, ids []string) error {
	r, err := c.Operator().ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{})
	if err != nil {
		return err
	}
	known := words.Map(r.GetCordons(), (*gatekeeperv1.CordonRecord).GetId)
	var failed []error
	matched := []uncordoned{}
	for _, id := range ids {
		if i := slices.Index(known, id); i >= 0 {
			matched = append(matched, uncordoned{ID: id, DryRun: true, cordon: r.GetCordons()[i]})
			continue
		}
		text := fmt.Sprintf("there is no cordon %q", id)
		if suggestion := nearest.Prefixed(id, known, acquirerID, groupID); suggestion != "" {
			text += fmt.Sprintf("; did you mean %q?", suggestion)
		}
		failed = append(failed, noCordon(errors.New(text)))
	}
	return errors.Join(append(failed, printUncordoned(f, output, matched))...)
}

// noCordon adds a hint to the error for an unknown cordon id.
func noCordon(err error) error {
	return &ui.CodeError{Code: ui.ExitNoSuch, Err: err, Hint: "`gkctl cordons` lists the cordons."}
}

func printUncordoned(f *conn.Factory, o ui.Output, done []uncordoned) error {
	if !o.Is(ui.Table) {
		return f.PrintAs(o, ui.Items(done), words.Map(done, func(d uncordoned) string { return d.ID }))
	}
	for _, d := range done {
		if d.DryRun {
			fmt.Fprintf(f.Out, "cordon %s, set by %s, would end (dry run)\n", words.CordonText(d.cordon), cmp.Or(d.cordon.GetAuthor(), "an unknown author"))
			continue
		}
		fmt.Fprintf(f.Out, "cordon %q ended\n", d.ID)
		change.PrintUndoCommand(f.IO, d.Revision)
	}
	return nil
}

// completeCordons completes cordon ids.
func completeCordons(f *conn.Factory) cobra.CompletionFunc {
	return f.Complete(func(ctx context.Context, c *client.Client, _ []string, _ string) ([]string, error) {
		r, err := c.Operator().ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{})
		return words.Map(r.GetCordons(), (*gatekeeperv1.CordonRecord).GetId), err
	})
}
