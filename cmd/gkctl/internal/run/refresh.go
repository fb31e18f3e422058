package run

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type refreshOptions struct {
	f      *conn.Factory
	output ui.Output
	tokens []uint64
}

func newRefresh(f *conn.Factory, run func(*refreshOptions, context.Context) error) *cobra.Command {
	o := &refreshOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupPermits,
		Use:     "refresh TOKEN...",
		Short:   "Keep permits alive for their duration from now on",
		Long: `Refreshes permits once. Exits with 75 when one of them is refused or gone: then stop what runs under it.

The duration counts from when gkctl was started, not from when it ends.`,
		Example: `  gkctl refresh "$token" || exit
  gkctl refresh 4711 4712 -o json`,
		Args:              ui.AtLeastOne("the tokens of permits: `gkctl holders` shows them"),
		ValidArgsFunction: completeTokens(f),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.tokens, err = ui.Tokens(args); err != nil {
				return err
			}
			return run(o, cmd.Context())
		},
	}
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

// unknownDuration is stated for a permit whose duration gkctl does not know: it asks for nothing shorter than there is.
const unknownDuration = 24 * time.Hour

func (o *refreshOptions) run(ctx context.Context) error {
	return o.f.Ask(ctx, func(ctx context.Context, c *client.Client) error {
		r, err := c.Permits().Refresh(ctx, &gatekeeperv1.RefreshRequest{Tokens: words.Mapped(o.tokens, func(t uint64) *gatekeeperv1.TokenRefresh {
			return &gatekeeperv1.TokenRefresh{Token: t, Duration: durationpb.New(unknownDuration)}
		})})
		if err != nil {
			return err
		}
		if !o.output.Is(ui.Table) {
			if err := o.f.PrintObject(o.output, r); err != nil {
				return err
			}
		}
		var failed []string
		code := ui.ExitNotAcquired
		for _, t := range r.GetResults() {
			switch t.GetStatus() {
			case gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED:
				if o.output.Is(ui.Table) {
					fmt.Fprintf(o.f.Out, "%d refreshed for %s\n", t.GetToken(), words.Duration(t.GetDuration()))
				}
			case gatekeeperv1.RefreshStatus_REFRESH_STATUS_RETRY:
				code = ui.ExitUnreachable
				failed = append(failed, fmt.Sprintf("%d: not known now, try again", t.GetToken()))
			default:
				failed = append(failed, fmt.Sprintf("%d: %s", t.GetToken(), refusal(t)))
			}
		}
		if len(failed) > 0 {
			return &ui.CodeError{Code: code, Err: fmt.Errorf("not refreshed: %s", strings.Join(failed, "; "))}
		}
		return nil
	})
}

func refusal(t *gatekeeperv1.TokenResult) string {
	text := words.Word(t.GetStatus(), "REFRESH_STATUS_")
	if cause := words.Word(t.GetStop(), "STOP_CAUSE_"); cause != "" {
		text += ", " + cause
	}
	if t.GetMessage() != "" {
		text += ": " + t.GetMessage()
	}
	return text
}
