package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type clusterRemoveOptions struct {
	f                  *conn.Factory
	id                 string
	output             ui.Output
	dryRun, yes, force bool
}

func newClusterRemove(f *conn.Factory, run func(*clusterRemoveOptions, context.Context) error) *cobra.Command {
	o := &clusterRemoveOptions{f: f}
	cmd := &cobra.Command{
		Use:   "remove ID [--dry-run] [--yes] [--force]",
		Short: "Remove a server permanently; its id can never be used again",
		Long: `Removes a server from the cluster permanently: it stops, and a replacement needs a new id and an empty data directory.

The command shows the remaining members and asks for confirmation; in a script, pass --yes. The servers refuse a removal if fewer
than a majority of the remaining voters respond, because the cluster would stop. Bring back the voters named in the error, or remove them first.
--force removes the server anyway; use it only if it is acceptable for the cluster to stop until they are back.

Removing a server that has already been removed changes nothing and exits with 0.`,
		Example: `  gkctl cluster remove gk3 --dry-run
  gkctl cluster remove gk3 --yes`,
		Args:              ui.Exactly(1, "the id of the server"),
		ValidArgsFunction: completeMembers(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.id = args[0]
			return run(o, cmd.Context())
		},
	}
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show which members would remain and whether the servers would refuse, without changing anything")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&o.force, "force", false, "remove it even if fewer than a majority of the remaining voters respond")
	return cmd
}

func (o *clusterRemoveOptions) run(ctx context.Context) error {
	id := o.id
	return onCluster(ctx, o.f, id, func(ctx context.Context, c *client.Client) error {
		plan, err := c.Cluster().RemoveMember(ctx, &gatekeeperv1.RemoveMemberRequest{Id: id, DryRun: true})
		if err != nil {
			return err
		}
		if o.dryRun || plan.GetAlreadyRemoved() {
			return o.report(id, plan)
		}
		if refusal := plan.GetRefusal(); refusal != "" && !o.force {
			return ui.WithHint(fmt.Errorf("%s", refusal), "--force removes it anyway, but the cluster will then stop until they are back.")
		}
		if !o.yes {
			about := fmt.Sprintf("%s will be removed permanently, leaving %s: %s", id, words.Plural(len(plan.GetMembers()), "member", "members"), memberList(plan))
			if plan.GetRefusal() != "" {
				about += "\n" + plan.GetRefusal()
			}
			if err := o.f.Confirm(ctx, about, "Remove "+id+"?", id+" was not removed"); err != nil {
				return err
			}
		}
		done, err := c.Cluster().RemoveMember(ctx, &gatekeeperv1.RemoveMemberRequest{Id: id, Force: o.force})
		if err != nil {
			return err
		}
		return o.report(id, done)
	})
}

func (o *clusterRemoveOptions) report(id string, r *gatekeeperv1.RemoveMemberResponse) error {
	if !o.output.Is(ui.Table) {
		return o.f.PrintObject(o.output, r)
	}
	switch {
	case r.GetAlreadyRemoved():
		fmt.Fprintf(o.f.Out, "%s was already removed: nothing to do\n", id)
	case o.dryRun:
		fmt.Fprintf(o.f.Out, "%s would be removed, leaving %s: %s\n", id, words.Plural(len(r.GetMembers()), "member", "members"), memberList(r))
		if r.GetRefusal() != "" {
			fmt.Fprintf(o.f.Out, "refused without --force: %s\n", r.GetRefusal())
		}
	default:
		fmt.Fprintf(o.f.Out, "%s removed, leaving %s: %s\n", id, words.Plural(len(r.GetMembers()), "member", "members"), memberList(r))
	}
	return nil
}

// memberList lists the remaining members, and marks those that are not responding or have no vote.
func memberList(r *gatekeeperv1.RemoveMemberResponse) string {
	return strings.Join(words.Map(r.GetMembers(), func(m *gatekeeperv1.Member) string {
		switch {
		case slices.Contains(r.GetSilent(), m.GetId()):
			return m.GetId() + " (not responding)"
		case !m.GetVoter():
			return m.GetId() + " (non-voter)"
		}
		return m.GetId()
	}), ", ")
}

func newClusterTransfer(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use:   "transfer [ID]",
		Short: "Transfer leadership to a voter, by default to the most up-to-date one",
		Example: `  gkctl cluster transfer
  gkctl cluster transfer gk2`,
		Args:              ui.AtMost(1, "at most one id: the new leader's"),
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
	_, err := fmt.Fprintf(f.Out, "%s is the leader\n", id)
	return err
}

// transferToAny lets the leader choose its successor, and prints the new leader. It polls the members until one of them
// leads a newer term, because the response may still name the old leader.
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
				Code: ui.ExitUnreachable, Err: fmt.Errorf("leadership was transferred, but no member reported being the leader within --timeout"),
				Hint: "`gkctl status` shows the leader.",
			}
		}
	}
}
