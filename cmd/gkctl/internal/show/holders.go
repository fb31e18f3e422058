package show

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type holdersOptions struct {
	f      *conn.Factory
	output ui.Output
	globs  []string
	labels string
	group  string
	at     string
	past   bool // whether --at was given, even if empty
}

func newHolders(f *conn.Factory, run func(*holdersOptions, context.Context) error) *cobra.Command {
	o := &holdersOptions{f: f}
	cmd := &cobra.Command{
		GroupID:    ui.GroupInspect,
		Use:        "holders [NAME|GLOB...] [-l SELECTOR] [--group GROUP] [--at TIME]",
		SuggestFor: []string{"locks", "permits", "ps"},
		Short:      "Show who holds permits, or held them at a given time",
		Long: `Shows who holds permits. With --at it shows who held them at that time, according to the leaders' clocks and as far back as the journal goes, and when
the journal begins.`,
		Example: `  gkctl holders 'nightly-*'
  gkctl holders nightly-export --at 03:12
  gkctl holders -l team=data
  gkctl holders --group prod
  gkctl holders --at 10m`,
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.globs = args
			o.past = cmd.Flags().Changed("at")
			return run(o, cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.at, "at", "", "show who held permits at this time: 2026-01-31T02:00:00Z, 02:00 for the most recent 02:00 local time, or 10m for 10 minutes ago")
	ui.RegisterSelector(cmd, &o.labels, "only semaphores with these labels")
	cmd.Flags().StringVar(&o.group, "group", "", "only callers in this group")
	o.output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *holdersOptions) run(ctx context.Context) error {
	if o.past {
		return o.runAt(ctx, time.Now())
	}
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		permits := []*gatekeeperv1.Permit{}
		for p, err := range c.AllHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: o.globs, Labels: o.labels, Group: o.group}) {
			if err != nil {
				return err
			}
			permits = append(permits, p)
		}
		if err := lookup.CheckDefined(ctx, c, o.globs, words.Map(permits, (*gatekeeperv1.Permit).GetSemaphore)); err != nil {
			return err
		}
		return o.f.Print(o.output, ui.Listing{
			Headers: []string{"SEMAPHORE", "GROUP", "ACQUIRER", "WEIGHT", "TOKEN", "STATE", "SINCE", "EXPIRES IN"},
			More:    []string{"HOLDER", "DURATION", "FIRING", "METADATA"},
			Rows:    words.Map(permits, permitRow),
			Object:  ui.Items(ui.Messages(permits)),
			Empty:   "No permits are held.",
		})
	})
}

func permitRow(p *gatekeeperv1.Permit) ui.Row {
	expires := ""
	if p.GetExpiresIn() != nil {
		expires = words.Brief(p.GetExpiresIn().AsDuration())
	}
	return ui.Row{
		Name: words.Number(p.GetToken()),
		Cells: []string{
			p.GetSemaphore(), p.GetIdentity().GetGroup(), p.GetIdentity().GetAcquirer(), words.Number(p.GetWeight()), words.Number(p.GetToken()),
			words.PermitState(p), words.Ago(p.GetGrantedAt()), expires,
		},
		More: []string{p.GetIdentity().GetHolderId(), words.Duration(p.GetDuration()), words.Firing(p.GetFiring()), words.Pairs(p.GetMetadata())},
	}
}

// heldAt is the JSON output of --at: the permits held at that time.
type heldAt struct {
	Items []ui.Message `json:"items"`
	At    string       `json:"at"`
	// HistoryBegins is the time from which the journal is complete for all selected semaphores. It is absent if the
	// journal has never dropped an entry about them.
	HistoryBegins string `json:"history_begins,omitempty"`
}

// runAt prints the permits that were held at a given time.
func (o *holdersOptions) runAt(ctx context.Context, now time.Time) error {
	at, err := ui.ParseTime("--at", o.at, now, ui.Past)
	if err != nil {
		return err
	}
	if at.After(now) {
		return ui.Usagef("--at %s is in the future: the local time is %s", o.at, now.Format(time.RFC3339))
	}
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		permits, begins, err := pastHolders(ctx, c, &gatekeeperv1.ListHoldersRequest{Names: o.globs, Labels: o.labels, Group: o.group, At: timestamppb.New(at), PageSize: 1000})
		if err != nil {
			return err
		}
		if err := lookup.CheckRecorded(ctx, c, o.globs, words.Map(permits, (*gatekeeperv1.Permit).GetSemaphore)); err != nil {
			return err
		}
		out := heldAt{Items: ui.Messages(permits), At: at.UTC().Format(time.RFC3339)}
		if begins != nil {
			out.HistoryBegins = begins.AsTime().Format(time.RFC3339Nano)
		}
		err = o.f.Print(o.output, ui.Listing{
			Headers: []string{"SEMAPHORE", "GROUP", "ACQUIRER", "WEIGHT", "TOKEN", "SINCE", "ENDED", "HOW"},
			More:    []string{"HOLDER", "DURATION", "FIRING", "METADATA"},
			Rows:    words.Map(permits, pastRow),
			Object:  out,
			Empty:   "No permits are known to have been held at " + words.When(timestamppb.New(at)) + ".",
		})
		if err == nil && begins != nil && begins.AsTime().After(at) {
			o.f.Logf("The journal for these semaphores begins at %s: earlier holders may be missing.", words.When(begins))
		}
		return err
	})
}

// pastHolders reads all pages. begins is the time at which the journal begins.
func pastHolders(
	ctx context.Context, c *client.Client, req *gatekeeperv1.ListHoldersRequest,
) (permits []*gatekeeperv1.Permit, begins *timestamppb.Timestamp, err error) {
	for {
		r, err := c.Permits().ListHolders(ctx, req)
		if err != nil {
			return nil, nil, err
		}
		permits = append(permits, r.GetPermits()...)
		if b := r.GetHistoryBegins(); b != nil && (begins == nil || b.AsTime().After(begins.AsTime())) {
			begins = b
		}
		if req.PageToken = r.GetNextPageToken(); req.PageToken == "" {
			return permits, begins, nil
		}
	}
}

func pastRow(p *gatekeeperv1.Permit) ui.Row {
	return ui.Row{
		Name: words.Number(p.GetToken()),
		Cells: []string{
			p.GetSemaphore(), p.GetIdentity().GetGroup(), p.GetIdentity().GetAcquirer(), words.Number(p.GetWeight()), words.Number(p.GetToken()),
			words.When(p.GetGrantedAt()), words.When(p.GetEndedAt()), words.Word(p.GetEnded(), "PERMIT_END_"),
		},
		More: []string{p.GetIdentity().GetHolderId(), words.Duration(p.GetDuration()), words.Firing(p.GetFiring()), words.Pairs(p.GetMetadata())},
	}
}
