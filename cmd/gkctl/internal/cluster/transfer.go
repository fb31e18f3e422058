package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func newClusterTransfer(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use:   "transfer [ID]",
		Short: "Hand leadership to a voter, or to the one furthest on",
		Example: `  gkctl cluster transfer
  gkctl cluster transfer gk2`,
		Args:              ui.AtMost(1, "one id at most: that of the server which is to lead"),
		ValidArgsFunction: completeMembers(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return onCluster(cmd.Context(), f, args[0], func(ctx context.Context, c *client.Client) error {
					_, err := c.Cluster().TransferLeadership(ctx, &gatekeeperv1.TransferLeadershipRequest{Id: args[0]})
					if err == nil {
						err = printLeader(f, output, args[0])
					}
					return err
				})
			}
			return onCluster(cmd.Context(), f, "", func(ctx context.Context, c *client.Client) error { return transferToAny(ctx, f, c, output) })
		},
	}
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func printLeader(f *conn.Factory, o ui.Output, id string) error {
	if !o.Is(ui.Table) {
		return f.PrintObject(o, &gatekeeperv1.TransferLeadershipResponse{LeaderId: id})
	}
	_, err := fmt.Fprintf(f.Out, "%s leads\n", id)
	return err
}

// transferToAny lets the leader choose, and says who leads now: the one that hands over cannot know yet.
func transferToAny(ctx context.Context, f *conn.Factory, c *client.Client, output ui.Output) error {
	before, err := c.Members(ctx, new(gatekeeperv1.GetStatusRequest))
	if err != nil {
		return err
	}
	term := conn.LeaderOrNewest(before).GetTerm()
	if _, err := c.Cluster().TransferLeadership(ctx, new(gatekeeperv1.TransferLeadershipRequest)); err != nil {
		return err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if now, err := c.Members(ctx, new(gatekeeperv1.GetStatusRequest)); err == nil {
			if s := conn.LeaderOrNewest(now); s.GetRole() == gatekeeperv1.ServerRole_SERVER_ROLE_LEADER && s.GetTerm() > term {
				return printLeader(f, output, s.GetId())
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return &ui.CodeError{
				Code: ui.ExitUnreachable, Err: fmt.Errorf("leadership was handed over, and no member said within --timeout that it leads now"),
				Hint: "`gkctl status` shows who leads.",
			}
		}
	}
}
