package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{
		newCluster(f),
		newContext(f),
		newStatus(f, (*statusOptions).run),
	}
}

func newCluster(f *conn.Factory) *cobra.Command {
	cmd := &cobra.Command{
		GroupID: ui.GroupCluster,
		Use:     "cluster",
		Short:   "Show and change the cluster's members and settings",
		Args:    cobra.ArbitraryArgs,
		RunE:    ui.GroupHelp,
	}
	cmd.AddCommand(newClusterStatus(f, (*clusterStatusOptions).run), newClusterAdd(f), newClusterRemove(f, (*clusterRemoveOptions).run),
		newClusterTransfer(f), newClusterSettings(f, (*settingsOptions).run))
	return cmd
}

type clusterStatusOptions struct {
	f         *conn.Factory
	output    ui.Output
	stateHash bool
}

func newClusterStatus(f *conn.Factory, run func(*clusterStatusOptions, context.Context) error) *cobra.Command {
	o := &clusterStatusOptions{f: f}
	cmd := &cobra.Command{
		Use:   "status [--state-hash]",
		Short: "Show the state of each member",
		Long: `Queries each member directly. Members with the same index have the same state; --state-hash verifies this, but reads the whole state
of each member, which takes a while on a large cluster. Exits with 69 if a member does not respond.`,
		Example: `  gkctl cluster status -o wide
  gkctl cluster status --state-hash`,
		Args: ui.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(o, cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.stateHash, "state-hash", false, "also show the hash of each member's state")
	o.output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

// memberJSON is a member's status in the output, or the error if it did not respond.
type memberJSON struct {
	Endpoint string     `json:"endpoint,omitempty"`
	Member   ui.Message `json:"member,omitzero"`
	Status   ui.Message `json:"status,omitzero"`
	Error    string     `json:"error,omitempty"`
}

func (o *clusterStatusOptions) run(ctx context.Context) error {
	var opts []client.Option
	if o.stateHash {
		opts = append(opts, client.WithAttemptTimeout(o.f.Global.Timeout))
	}
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		members, err := c.Members(ctx, &gatekeeperv1.GetStatusRequest{StateHash: o.stateHash})
		if err != nil {
			return err
		}
		l := ui.Listing{
			Headers: []string{"ID", "ROLE", "API", "TERM", "APPLIED", "COMMITTED", "VERSION", "UP"},
			More:    []string{"PEER", "VOTER", "REVISION", "DEFINITIONS", "PERMITS", "WAITERS", "FEATURES", "WRITES", "SNAPSHOT"},
			Object:  ui.Items(words.Map(members, toMemberJSON)),
		}
		if o.stateHash {
			l.Headers = append(l.Headers, "STATE HASH", "AT INDEX")
		}
		var silent []string
		for _, m := range members {
			l.Rows = append(l.Rows, o.row(&m))
			if m.Err != nil {
				silent = append(silent, strings.TrimSpace(m.ID()+" "+m.Endpoint)+": "+ui.ErrorText(m.Err))
			}
		}
		if err := o.f.Print(o.output, l); err != nil {
			return err
		}
		if len(silent) > 0 {
			return &ui.CodeError{Code: ui.ExitUnreachable, Err: fmt.Errorf("no response from %s", strings.Join(silent, "; "))}
		}
		return nil
	}, opts...)
}

func (o *clusterStatusOptions) row(m *client.MemberStatus) ui.Row {
	s := m.Status
	if s == nil {
		r := ui.Row{Name: m.ID(), Cells: []string{m.ID(), "no response", m.Endpoint, "", "", "", "", ""}, More: []string{m.Member.GetPeerAddress(), voter(m.Member), "", "", "", "", "", "", ""}}
		if o.stateHash {
			r.Cells = append(r.Cells, "", "")
		}
		return r
	}
	r := ui.Row{
		Name: s.GetId(),
		Cells: []string{
			s.GetId(), role(m), cmp.Or(m.Member.GetApiAddress(), m.Endpoint), words.Number(s.GetTerm()), words.Number(s.GetAppliedIndex()), words.Number(s.GetCommitIndex()),
			s.GetVersion(), words.Brief(s.GetUptime().AsDuration()),
		},
		More: []string{
			m.Member.GetPeerAddress(), voter(m.Member), words.Number(s.GetRevision()), words.Number(s.GetDefinitions()), words.Number(s.GetPermits()),
			words.Number(s.GetWaiters()), words.Number(s.GetFeatureLevel()), writesText(s.GetLogWrites()), words.Ago(s.GetLastSnapshot().GetTakenAt()),
		},
	}
	if o.stateHash {
		r.Cells = append(r.Cells, s.GetStateHash(), words.Number(s.GetStateHashIndex()))
	}
	return r
}

// writesText returns the median and the maximum duration of a member's recent writes to its log.
func writesText(w *gatekeeperv1.LogWrites) string {
	if w == nil {
		return ""
	}
	return fmt.Sprintf("%s, at most %s", w.GetMedian().AsDuration().Round(10*time.Microsecond), w.GetLongest().AsDuration().Round(10*time.Microsecond))
}

// role returns a member's role. It returns "non-voter" for a follower without a vote, which does not count towards a
// majority.
func role(m *client.MemberStatus) string {
	if m.Member != nil && !m.Member.GetVoter() {
		return "non-voter"
	}
	return words.Word(m.Status.GetRole(), "SERVER_ROLE_")
}

func voter(m *gatekeeperv1.Member) string {
	switch {
	case m == nil:
		return ""
	case m.GetVoter():
		return "yes"
	}
	return "no"
}

func toMemberJSON(m client.MemberStatus) memberJSON {
	out := memberJSON{Endpoint: m.Endpoint}
	if m.Member != nil {
		out.Member.Message = m.Member
	}
	if m.Status != nil {
		out.Status.Message = m.Status
	}
	if m.Err != nil {
		out.Error = ui.ErrorText(m.Err)
	}
	return out
}

func newClusterAdd(f *conn.Factory) *cobra.Command {
	var nonVoter bool
	var output ui.Output
	cmd := &cobra.Command{
		Use:   "add ID PEER-ADDRESS [--non-voter]",
		Short: "Add a server, which is promoted to a voter once it has caught up",
		Long: `Adds a server as a non-voter, and promotes it once it has caught up. A server started with a new --id, and with --join and the API addresses
of the cluster, is added automatically and does not need this command.

With --non-voter, the server replicates but does not vote, so it never leads; start it with --non-voter too. To promote it later, run this command
again without --non-voter, and restart the server without it.`,
		Example: `  gkctl cluster add gk4 10.0.0.4:7421
  gkctl cluster add gk5 10.0.0.5:7421 --non-voter`,
		Args: ui.Exactly(2, "the id of the server, and the address of its peer port"),
	}
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	cmd.Flags().BoolVar(&nonVoter, "non-voter", false, "add it as a non-voter: it replicates, but never votes or leads")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return onCluster(cmd.Context(), f, args[0], func(ctx context.Context, c *client.Client) error {
			r, err := c.Cluster().AddMember(ctx, &gatekeeperv1.AddMemberRequest{Id: args[0], PeerAddress: args[1], NonVoter: nonVoter})
			if err == nil && !output.Is(ui.Table) {
				return f.PrintObject(output, r)
			}
			if err == nil {
				fmt.Fprintf(f.Out, "%s added to cluster %s, which has %s\n", args[0], r.GetClusterId(), words.Plural(len(r.GetMembers()), "member", "members"))
			}
			return err
		})
	}
	return cmd
}

// onCluster calls do, which changes the cluster or the member with the given id. It adds a hint if the outcome is
// unknown.
func onCluster(ctx context.Context, f *conn.Factory, id string, do func(context.Context, *client.Client) error) error {
	return f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		err := do(ctx, c)
		if errors.Is(err, client.ErrOutcomeUnknown) {
			return &ui.CodeError{Code: ui.ExitUnreachable, Err: err, Hint: "`gkctl cluster status` shows whether the change was made."}
		}
		return explainMemberError(ctx, c, id, err)
	})
}

// explainMemberError rewords an error from the servers. If no member has the given id, it suggests the member with the
// most similar id.
func explainMemberError(ctx context.Context, c *client.Client, id string, err error) error {
	e, ok := errors.AsType[*client.StatusError](err)
	if !ok || e.Reason == "" {
		return err
	}
	if e.Reason != "NO_SUCH_MEMBER" || id == "" {
		return err
	}
	text := fmt.Sprintf("there is no member %q", id)
	if r, err := c.Cluster().GetStatus(ctx, new(gatekeeperv1.GetStatusRequest)); err == nil {
		if suggestion := nearest.Word(id, words.Map(r.GetMembers(), (*gatekeeperv1.Member).GetId)); suggestion != "" {
			text += fmt.Sprintf("; did you mean %q?", suggestion)
		}
	}
	return ui.WithHint(errors.New(text), "`gkctl cluster status` lists the members.")
}

// completeMembers completes member ids.
func completeMembers(f *conn.Factory) cobra.CompletionFunc {
	return f.Complete(func(ctx context.Context, c *client.Client, _ []string, _ string) ([]string, error) {
		r, err := c.Cluster().GetStatus(ctx, &gatekeeperv1.GetStatusRequest{})
		return words.Map(r.GetMembers(), (*gatekeeperv1.Member).GetId), err
	})
}
