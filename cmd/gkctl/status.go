package main

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type statusOptions struct {
	*app
	output outputFlag
}

func newStatus(a *app) *cobra.Command {
	o := &statusOptions{app: a}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show in a few lines how the cluster is",
		Long:  "Shows in a few lines how the cluster is. It exits with 69 when no server leads. `gkctl cluster status` shows each member.",
		Example: `  gkctl status
  gkctl status -o json --timeout 2s`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.output.register(cmd, formatTable, formatJSON, formatYAML)
	return cmd
}

func (o *statusOptions) run(ctx context.Context) error {
	return o.connected(ctx, func(ctx context.Context, c *client.Client) error {
		ctx, cancel := o.bounded(ctx)
		defer cancel()
		members, err := c.Members(ctx, &gatekeeperv1.GetStatusRequest{})
		if err != nil {
			return err
		}
		best := leaderOrNewest(members)
		if !o.output.is(formatTable) {
			return o.printObject(o.output, best)
		}
		reached, known := answering(best, members)
		w := tabwriter.NewWriter(o.out, 0, 8, 2, ' ', 0)
		leader := best.GetLeaderId()
		if leader == "" {
			leader = "none"
		}
		for _, l := range [][2]string{
			{"cluster", best.GetClusterId()},
			{"leader", fmt.Sprintf("%s, term %d", leader, best.GetTerm())},
			{"members", fmt.Sprintf("%d of %d answer", reached, known)},
			{"revision", number(best.GetRevision())},
			{"definitions", number(best.GetDefinitions())},
			{"permits", number(best.GetPermits())},
			{"waiters", number(best.GetWaiters())},
			{"version", best.GetVersion()},
		} {
			fmt.Fprintf(w, "%s:\t%s\n", l[0], cell(l[1]))
		}
		if wait := best.GetRecoveryWait(); wait != nil {
			fmt.Fprintf(w, "recovering:\tnothing is granted for %v, until every permit of before has ended\n", wait.AsDuration().Round(time.Second))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if best.GetLeaderId() == "" {
			return &codeError{code: exitUnreachable, err: fmt.Errorf("no server leads: nothing can be acquired or changed"), hint: "`gkctl cluster status` shows which members answer."}
		}
		return nil
	})
}

// answering counts the members that best knows, and those of them that answered: each once, by whatever address it was asked.
func answering(best *gatekeeperv1.GetStatusResponse, members []client.MemberStatus) (reached, known int) {
	for _, m := range best.GetMembers() {
		if slices.ContainsFunc(members, func(s client.MemberStatus) bool { return s.Status != nil && s.ID() == m.GetId() }) {
			reached++
		}
	}
	return reached, len(best.GetMembers())
}

// leaderOrNewest is the status of the leader, or of who has seen the highest term. At least one member has answered.
func leaderOrNewest(members []client.MemberStatus) *gatekeeperv1.GetStatusResponse {
	var best *gatekeeperv1.GetStatusResponse
	for _, m := range members {
		s := m.Status
		if s == nil {
			continue
		}
		leads := s.GetRole() == "leader"
		switch {
		case best == nil, s.GetTerm() > best.GetTerm(), s.GetTerm() == best.GetTerm() && leads:
			best = s
		}
	}
	return best
}
