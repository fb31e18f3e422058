package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type statusOptions struct {
	f      *conn.Factory
	output ui.Output
}

func newStatus(f *conn.Factory, run func(*statusOptions, context.Context) error) *cobra.Command {
	o := &statusOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupInspect,
		Use:     "status",
		Short:   "Show a summary of the cluster",
		Long:    "Shows a summary of the cluster, how many definitions are paused, how many are missing expected work, and which semaphores deny every caller. Exits with 69 if there is no leader. `gkctl cluster status` shows each member.",
		Example: `  gkctl status
  gkctl status -o json --timeout 2s`,
		Args: ui.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(o, cmd.Context()) },
	}
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func (o *statusOptions) run(ctx context.Context) error {
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		members, err := c.Members(ctx, &gatekeeperv1.GetStatusRequest{})
		if err != nil {
			return err
		}
		best := conn.LeaderOrNewest(members)
		if best.GetLeaderId() == "" {
			return o.print(best, members, nil)
		}
		blockers, err := countBlockers(ctx, c)
		if e, ok := errors.AsType[*client.UnavailableError](err); ok && (e.NoLeader() || !leaderConfirmed(best, members)) {
			best = proto.CloneOf(best) // the reported leader may be outdated
			best.LeaderId, best.LeaderApiAddress = "", ""
			return o.print(best, members, nil)
		}
		if err != nil {
			blockers = nil // the rest of the summary is known and matters more
			o.f.Logf("gkctl: cannot count pauses, cordons and missed work: %s", ui.ErrorText(err))
		}
		return o.print(best, members, blockers)
	})
}

// blockers counts paused definitions, cordons and missed work, which can explain why few permits are granted even
// though all servers are healthy.
type blockers struct {
	Paused  int `json:"paused"`
	Cordons int `json:"cordons"`
	Missed  int `json:"missed"`
}

func countBlockers(ctx context.Context, c *client.Client) (*blockers, error) {
	s := new(blockers)
	for state, count := range map[gatekeeperv1.DefinitionState]*int{
		gatekeeperv1.DefinitionState_DEFINITION_STATE_PAUSED: &s.Paused, gatekeeperv1.DefinitionState_DEFINITION_STATE_MISSED: &s.Missed,
	} {
		for _, err := range c.AllDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{States: []gatekeeperv1.DefinitionState{state}}) {
			if err != nil {
				return nil, err
			}
			*count++
		}
	}
	r, err := c.Operator().ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{})
	s.Cordons = len(r.GetCordons())
	return s, err
}

// lines returns the counts as lines of the table.
func (s *blockers) lines() [][2]string {
	if s == nil {
		return nil
	}
	return [][2]string{
		{"paused", strconv.Itoa(s.Paused)},
		{"cordons", strconv.Itoa(s.Cordons)},
		{"missed", strconv.Itoa(s.Missed)},
	}
}

// print prints the summary. s is nil if the counts are unknown.
func (o *statusOptions) print(best *gatekeeperv1.GetStatusResponse, members []client.MemberStatus, s *blockers) error {
	var err error
	switch {
	case o.output.Is(ui.Table):
		err = o.printLines(best, members, s)
	case s == nil:
		err = o.f.PrintObject(o.output, best)
	default:
		var data json.RawMessage
		if data, err = ui.Joined(best, s); err == nil {
			err = o.f.PrintObject(o.output, data)
		}
	}
	if err == nil && best.GetLeaderId() == "" {
		return &ui.CodeError{Code: ui.ExitUnreachable, Err: fmt.Errorf("there is no leader: nothing can be acquired or changed"), Hint: "`gkctl cluster status` shows which members are responding."}
	}
	return err
}

func (o *statusOptions) printLines(best *gatekeeperv1.GetStatusResponse, members []client.MemberStatus, s *blockers) error {
	reached, known := conn.CountResponding(best, members)
	w := tabwriter.NewWriter(o.f.Out, 0, 8, 2, ' ', 0)
	lines := [][2]string{
		{"cluster", best.GetClusterId()},
		{"leader", fmt.Sprintf("%s, term %d", cmp.Or(best.GetLeaderId(), "none"), best.GetTerm())},
		{"members", fmt.Sprintf("%d of %d responding", reached, known)},
		{"revision", words.Number(best.GetRevision())},
		{"definitions", words.Number(best.GetDefinitions())},
		{"permits", words.Number(best.GetPermits())},
		{"waiters", words.Number(best.GetWaiters())},
	}
	if best.GetLeaderId() == "" && best.GetRevision() == 0 { // a restarted server that has not yet heard from a leader
		for i := range lines[3:] {
			lines[3+i][1] = "unknown"
		}
	}
	for _, l := range slices.Concat(lines, s.lines(), [][2]string{{"version", best.GetVersion()}}) {
		fmt.Fprintf(w, "%s:\t%s\n", l[0], words.Cell(l[1]))
	}
	if best.GetWorkBytes() > 0 {
		fmt.Fprintf(w, "stored for jobs:\t%d of %d bytes\n", best.GetWorkBytes(), best.GetMaxWorkBytes())
	}
	for _, s := range best.GetWork()[:min(len(best.GetWork()), maxStatusSemaphores)] {
		fmt.Fprintf(w, "stored for jobs:\t%s\n", words.Cell(fmt.Sprintf("%d of %d bytes for %s: %s, %d tasks waiting, %d held",
			s.GetBytes(), best.GetMaxSemaphoreWorkBytes(), s.GetSemaphore(), words.Plural(int(s.GetJobs()), "job", "jobs"), s.GetWaiting(), s.GetHeld())))
	}
	for _, m := range members {
		if m.Status.GetInsecure() {
			fmt.Fprintf(w, "insecure:\t%s\n", words.Cell(m.ID()+" was started with --insecure: its ports may accept any caller"))
		}
	}
	for _, c := range best.GetMemberClocks() {
		fmt.Fprintf(w, "clock off:\t%s\n", words.Cell(fmt.Sprintf("member %s's clock is %s the other members'", c.GetId(), offsetText(c.GetAhead().AsDuration()))))
	}
	for _, m := range members {
		for _, c := range m.Status.GetCertificates() {
			if text := certificateText(c, time.Now()); text != "" {
				fmt.Fprintf(w, "certificate:\t%s\n", words.Cell(m.ID()+", "+words.Word(c.GetPort(), "CERTIFICATE_PORT_")+" port: "+text))
			}
		}
	}
	if text := ownCertificate(&o.f.Global, time.Now()); text != "" {
		fmt.Fprintf(w, "certificate:\t%s\n", words.Cell(text))
	}
	for _, c := range best.GetHostClocks() {
		fmt.Fprintf(w, "clock off:\t%s\n", words.Cell(fmt.Sprintf("the clock of %s in %s is %s the leader's", c.GetAcquirer(), c.GetGroup(), offsetText(c.GetAhead().AsDuration()))))
	}
	denied := best.GetDenied()[:min(len(best.GetDenied()), maxStatusSemaphores)]
	for _, d := range denied {
		fmt.Fprintf(w, "denied:\t%s\n", words.Cell(d.GetText()))
	}
	if more := int(best.GetDeniedSemaphores()) - len(denied); more > 0 {
		fmt.Fprintf(w, "denied:\t%s\n", words.Plural(more, "more semaphore", "more semaphores"))
	}
	if wait := best.GetRecoveryWait(); wait != nil {
		fmt.Fprintf(w, "recovering:\tno permits will be granted for %v, until every earlier permit has ended\n", wait.AsDuration().Round(time.Second))
	}
	return w.Flush()
}

// certificateText describes a problem with a certificate, or its imminent expiry. It returns an empty string if the
// certificate is fine.
func certificateText(c *gatekeeperv1.Certificate, now time.Time) string {
	left := c.GetNotAfter().AsTime().Sub(now)
	switch {
	case c.GetError() != "":
		return "its files cannot be used: " + c.GetError()
	case left <= 0:
		return fmt.Sprintf("the certificate for %s expired at %s", c.GetSubject(), words.When(c.GetNotAfter()))
	case left < authority.ExpiryWarning:
		return fmt.Sprintf("the certificate for %s expires in %s, at %s", c.GetSubject(), words.Brief(left), words.When(c.GetNotAfter()))
	}
	return ""
}

// ownCertificate returns certificateText for the caller's certificate, which the servers do not warn about.
func ownCertificate(g *conn.Global, now time.Time) string {
	file, cert := g.Certificate()
	if cert == nil {
		return ""
	}
	text := certificateText(&gatekeeperv1.Certificate{Subject: cert.Subject.String(), NotAfter: timestamppb.New(cert.NotAfter)}, now)
	if text == "" {
		return ""
	}
	return "yours, " + file + ": " + text
}

// maxStatusSemaphores is the maximum number of semaphores that the summary lists as denying every caller. The list of
// semaphores with stored jobs has the same limit.
const maxStatusSemaphores = 5

// offsetText describes how far a clock is ahead of or behind another.
func offsetText(ahead time.Duration) string {
	if ahead < 0 {
		return fmt.Sprintf("%v behind", ahead.Abs().Round(time.Second))
	}
	return fmt.Sprintf("%v ahead of", ahead.Round(time.Second))
}

// leaderConfirmed reports whether the leader named in best has responded and considers itself the leader.
func leaderConfirmed(best *gatekeeperv1.GetStatusResponse, members []client.MemberStatus) bool {
	return slices.ContainsFunc(members, func(m client.MemberStatus) bool {
		return m.Status.GetId() == best.GetLeaderId() && m.Status.GetRole() == gatekeeperv1.ServerRole_SERVER_ROLE_LEADER
	})
}
