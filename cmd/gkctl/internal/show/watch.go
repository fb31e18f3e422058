package show

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type watchOptions struct {
	f       *conn.Factory
	output  ui.Output
	globs   []string
	permits bool
	from    uint64
	count   int
}

func newWatch(f *conn.Factory, run func(*watchOptions, context.Context) error) *cobra.Command {
	o := &watchOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupInspect,
		Use:     "watch [NAME|GLOB...] [--permits] [--from REVISION]",
		Short:   "Follow changes, one line each, until interrupted",
		Long: `Follows edits, and with --permits also grants, releases and losses, one line each, until it is interrupted. If a server fails, it
continues with another one. -o json prints each API event on its own line.`,
		Example: `  gkctl watch
  gkctl watch 'nightly-*' --permits
  gkctl watch --from 1234 -o json | jq .semaphore`,
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.globs = args
			return run(o, cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.permits, "permits", false, "also show permit events")
	cmd.Flags().Uint64Var(&o.from, "from", 0, "start at this `REVISION`; default: the next one")
	cmd.Flags().IntVarP(&o.count, "count", "n", 0, "exit after `N` events")
	o.output.Register(cmd, ui.Table, ui.JSON)
	return cmd
}

func (o *watchOptions) run(ctx context.Context) error {
	if o.count < 0 {
		return ui.Usagef("-n %d must not be negative: without -n, the watch runs until it is interrupted", o.count)
	}
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		noteUnknownNames(ctx, o.f, c, o.globs)
		o.noteFutureRevision(ctx, c)
		printed := 0
		for r, err := range c.Watch(ctx, &gatekeeperv1.WatchRequest{FromRevision: o.from, Names: o.globs, Permits: o.permits}) {
			if err != nil {
				return err
			}
			if r.GetMissed() {
				o.f.Logf("gkctl: events up to revision %d were missed, because this server no longer has them: `gkctl history` shows the edits among them", r.GetRevision())
			}
			for _, e := range r.GetEvents() {
				if err := o.printEvent(e); err != nil {
					return err
				}
				if printed++; printed == o.count {
					return nil
				}
			}
		}
		return nil // interrupted, which is not an error
	})
}

// noteFutureRevision prints a note if the first revision is in the future, because the watch prints nothing until then.
func (o *watchOptions) noteFutureRevision(ctx context.Context, c *client.Client) {
	if o.from == 0 {
		return
	}
	ctx, cancel := o.f.Bounded(ctx)
	defer cancel()
	r, err := c.Operator().ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{}) // a short response with the leader's revision
	if err != nil || o.from <= r.GetRevision()+1 {
		return // the watch reports the error
	}
	o.f.Logf("gkctl: revision %d is in the future; the cluster is at %d. No events will be shown until then. --from %d shows the next event.",
		o.from, r.GetRevision(), r.GetRevision()+1)
}

func (o *watchOptions) printEvent(e *gatekeeperv1.Event) error {
	if o.output.Is(ui.JSON) {
		data, err := ui.MessageJSON(e)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(o.f.Out, "%s\n", data)
		return err
	}
	line := []string{words.Number(e.GetRevision()), words.Word(e.GetKind(), "EVENT_KIND_")}
	if e.GetSemaphore() != "" {
		line = append(line, e.GetSemaphore())
	}
	if detail := eventDetail(e); detail != "" {
		line = append(line, detail)
	}
	if p := e.GetPermit(); p != nil {
		line = append(line, words.PermitText(p))
		if p.GetWeight() > 1 {
			line = append(line, "weight "+words.Number(p.GetWeight()))
		}
		if p.GetFiring() != nil {
			line = append(line, "firing "+words.Firing(p.GetFiring()))
		}
	}
	if e.GetAuthor() != "" {
		line = append(line, "by "+e.GetAuthor())
	}
	if why := cmp.Or(e.GetReason(), eventEnd(e)); why != "" && e.GetCordon() == nil {
		line = append(line, "("+why+")")
	}
	_, err := fmt.Fprintln(o.f.Out, words.Cell(strings.Join(line, "  ")))
	return err
}

// eventEnd returns how the permit of a cooling slot ended. It returns an empty string for other kinds of events, which
// already show how the permit ended.
func eventEnd(e *gatekeeperv1.Event) string {
	if e.GetKind() != gatekeeperv1.EventKind_EVENT_KIND_COOLING {
		return ""
	}
	return words.Word(e.GetEnded(), "PERMIT_END_")
}

// eventDetail describes the subject of an event, unless it is a permit.
func eventDetail(e *gatekeeperv1.Event) string {
	if c := e.GetCordon(); c != nil {
		text := words.CordonText(c)
		if c.GetReason() != "" {
			text += " (" + c.GetReason() + ")"
		}
		return text
	}
	switch e.GetKind() {
	case gatekeeperv1.EventKind_EVENT_KIND_PAUSED:
		return words.PauseText(e.GetDefinition().GetPause())
	case gatekeeperv1.EventKind_EVENT_KIND_DRAINED:
		if e.GetPermit() == nil {
			return "the drain is over: locked-out holders are refused from now on"
		}
	case gatekeeperv1.EventKind_EVENT_KIND_QUARANTINE_ENDED:
		return "permits are granted again"
	}
	return ""
}

// noteUnknownNames prints a note for each name without a definition, and suggests the most similar name. This is not an
// error, because a watch may be started before the definition is created. It ignores errors from the servers.
func noteUnknownNames(ctx context.Context, f *conn.Factory, c *client.Client, names []string) {
	ctx, cancel := f.Bounded(ctx)
	defer cancel()
	unknown, err := lookup.Unknown(ctx, c, names, nil)
	if err != nil {
		return
	}
	for _, e := range unknown {
		f.Logf("gkctl: %s", lookup.WithCallers(ctx, c, e))
	}
}
