package move

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

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

func newCordons(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		GroupID: ui.GroupSee,
		Use:     "cordons",
		Short:   "Show which groups and hosts are shut out, until when and why",
		Example: `  gkctl cordons
  gkctl cordons -o name`,
		Args: ui.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Ask(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				r, err := c.Operator().ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{})
				if err != nil {
					return err
				}
				ordered, err := orderedDrains(ctx, c, output, r.GetCordons())
				if err != nil {
					return err
				}
				return f.Print(output, ui.Listing{
					Headers: []string{"ID", "GROUP", "ACQUIRER", "UNTIL", "DRAIN", "BY", "REASON"},
					More:    []string{"CHANGE"},
					Rows:    words.Mapped(r.GetCordons(), func(c *gatekeeperv1.CordonRecord) ui.Row { return cordonRow(c, ordered[c.GetId()]) }),
					Object:  ui.Items(ui.Messages(r.GetCordons())),
					Empty:   "No cordon is in force.",
				})
			})
		},
	}
	output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

// orderedDrains are those of the cordons whose drain is over, by their ids, as far as the journal knows: a record has its drain
// only while it runs.
func orderedDrains(
	ctx context.Context, c *client.Client, output ui.Output, cordons []*gatekeeperv1.CordonRecord,
) (map[string]*durationpb.Duration, error) {
	ordered := make(map[string]*durationpb.Duration)
	if !output.Is(ui.Table) && !output.Is(ui.Wide) {
		return ordered, nil
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
				ordered[cordon.GetId()] = e.GetDrain()
			}
		}
	}
	return ordered, nil
}

// cordonRow is a cordon's; over is its drain when that is over.
func cordonRow(c *gatekeeperv1.CordonRecord, over *durationpb.Duration) ui.Row {
	drain := words.Duration(c.GetDrain())
	if text := words.Duration(over); drain == "" && text != "" {
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
		Long:    "Ends cordons by their ids, which `gkctl cordons` lists. It goes on after one that fails.",
		Example: `  gkctl uncordon acquirer:app7
  gkctl cordons -o name | xargs gkctl uncordon --reason "the works are done"`,
		Args:              ui.AtLeastOne("the ids of cordons: gkctl cordons lists them"),
		ValidArgsFunction: completeCordons(f),
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show which cordons would be ended; do nothing")
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		return f.Ask(cmd.Context(), func(ctx context.Context, c *client.Client) error {
			if dryRun {
				return uncordonDry(ctx, f, c, output, ids)
			}
			var failed []error
			done := []uncordoned{}
			for _, id := range ids {
				r, err := c.Operator().Uncordon(ctx, &gatekeeperv1.UncordonRequest{
					Id: id, Author: f.Global.Who(), Reason: f.Global.Reason, RequestId: client.NewRequestID(),
				})
				if noSuchCordon(err) {
					failed = append(failed, noCordon(ctx, c, id))
					continue
				}
				if err != nil {
					failed = append(failed, change.UnknownOutcome(err, "`gkctl cordons` whether it is in force still."))
					continue
				}
				done = append(done, uncordoned{ID: id, Revision: r.GetRevision()})
			}
			return errors.Join(append(failed, printUncordoned(f, output, done))...)
		})
	}
	return cmd
}

// uncordoned is a cordon that was ended, as -o json has it.
type uncordoned struct {
	ID       string `json:"id"`
	Revision uint64 `json:"revision,string"`
	DryRun   bool   `json:"dry_run,omitempty"`

	cordon *gatekeeperv1.CordonRecord // of a dry run
}

// uncordonDry says which of the cordons would be ended, and which there are not.
func uncordonDry(ctx context.Context, f *conn.Factory, c *client.Client, output ui.Output, ids []string) error {
	r, err := c.Operator().ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{})
	if err != nil {
		return err
	}
	var failed []error
	would := []uncordoned{}
	for _, id := range ids {
		i := slices.IndexFunc(r.GetCordons(), func(c *gatekeeperv1.CordonRecord) bool { return c.GetId() == id })
		if i < 0 {
			failed = append(failed, noCordon(ctx, c, id))
			continue
		}
		would = append(would, uncordoned{ID: id, DryRun: true, cordon: r.GetCordons()[i]})
	}
	return errors.Join(append(failed, printUncordoned(f, output, would))...)
}

func noSuchCordon(err error) bool {
	e, ok := errors.AsType[*client.StatusError](err)
	return ok && e.Reason == "NO_SUCH_CORDON"
}

// noCordon says that there is no cordon of that id, and which was likely meant: ids that gkctl gave begin with what they are of.
func noCordon(ctx context.Context, c *client.Client, id string) error {
	text := fmt.Sprintf("there is no cordon %q", id)
	r, err := c.Operator().ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{})
	if err == nil { // else said without it
		ids := words.Mapped(r.GetCordons(), (*gatekeeperv1.CordonRecord).GetId)
		meant := ""
		for _, of := range []string{"acquirer:", "group:"} {
			if slices.Contains(ids, of+id) {
				meant = of + id
			}
		}
		if meant = cmp.Or(meant, nearest.Word(id, ids)); meant != "" {
			text += fmt.Sprintf("; did you mean %q?", meant)
		}
	}
	return &ui.CodeError{Code: ui.ExitNoSuch, Err: errors.New(text), Hint: "`gkctl cordons` lists them."}
}

func printUncordoned(f *conn.Factory, o ui.Output, done []uncordoned) error {
	if !o.Is(ui.Table) {
		return f.PrintAs(o, ui.Items(done), words.Mapped(done, func(d uncordoned) string { return d.ID }))
	}
	for _, d := range done {
		if d.DryRun {
			fmt.Fprintf(f.Out, "cordon %s, set by %s, would end (dry run)\n", words.CordonText(d.cordon), cmp.Or(d.cordon.GetAuthor(), "somebody"))
			continue
		}
		fmt.Fprintf(f.Out, "cordon %q is ended\n", d.ID)
		change.UndoWith(f.IO, d.Revision)
	}
	return nil
}

// completeCordons completes the ids of cordons.
func completeCordons(f *conn.Factory) cobra.CompletionFunc {
	return f.Complete(func(ctx context.Context, c *client.Client, _ []string, _ string) ([]string, error) {
		r, err := c.Operator().ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{})
		return words.Mapped(r.GetCordons(), (*gatekeeperv1.CordonRecord).GetId), err
	})
}
