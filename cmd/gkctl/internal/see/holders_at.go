package see

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// heldAt is who held permits at a time, as -o json has it.
type heldAt struct {
	Items []ui.Message `json:"items"`
	At    string       `json:"at"`
	// HistoryBegins is from when on the journal of all chosen semaphores is whole; absent when it is from their beginning on.
	HistoryBegins string `json:"history_begins,omitempty"`
}

// runAt shows who held permits at a time.
func (o *holdersOptions) runAt(ctx context.Context, now time.Time) error {
	at, err := ui.ParseTime("--at", o.at, now, ui.Back)
	if err != nil {
		return err
	}
	if at.After(now) {
		return ui.Usagef("--at %s lies ahead: it is %s here", o.at, now.Format(time.RFC3339))
	}
	return o.f.Ask(ctx, func(ctx context.Context, c *client.Client) error {
		permits, begins, err := pastHolders(ctx, c, &gatekeeperv1.ListHoldersRequest{Names: o.globs, Labels: o.labels, Group: o.group, At: timestamppb.New(at), PageSize: 1000})
		if err != nil {
			return err
		}
		if err := lookup.RefuseUnheardOf(ctx, c, o.globs, words.Mapped(permits, (*gatekeeperv1.Permit).GetSemaphore)); err != nil {
			return err
		}
		out := heldAt{Items: ui.Messages(permits), At: at.UTC().Format(time.RFC3339)}
		if begins != nil {
			out.HistoryBegins = begins.AsTime().Format(time.RFC3339Nano)
		}
		err = o.f.Print(o.output, ui.Listing{
			Headers: []string{"SEMAPHORE", "GROUP", "ACQUIRER", "WEIGHT", "TOKEN", "SINCE", "ENDED", "HOW"},
			More:    []string{"HOLDER", "DURATION", "FIRING", "METADATA"},
			Rows:    words.Mapped(permits, pastRow),
			Object:  out,
			Empty:   "Nobody is known to have held a permit at " + words.When(timestamppb.New(at)) + ".",
		})
		if err == nil && begins != nil && begins.AsTime().After(at) {
			o.f.Say("The history of what was asked for begins at %s: of what was before, holders may be missing here.", words.When(begins))
		}
		return err
	})
}

// pastHolders reads all pages, and where the history begins.
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
