package move

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
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
