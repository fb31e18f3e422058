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
		Short:   "Extend permits by their duration, starting now",
		Long: `Refreshes permits once. Exits with 75 if one of them has ended or its refresh is refused; if so, stop the work that it protects.

The duration is counted from when gkctl starts, not from when it exits.`,
		Example: `  gkctl refresh "$token" || exit
  gkctl refresh 4711 4712 -o json`,
		Args:              ui.AtLeastOne("permit tokens (`gkctl holders` shows them)"),
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

// unknownDuration is sent as the duration of a permit whose actual duration is unknown. It exceeds every real duration,
// so it never shortens the permit.
const unknownDuration = 24 * time.Hour

func (o *refreshOptions) run(ctx context.Context) error {
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		r, err := c.Permits().Refresh(ctx, &gatekeeperv1.RefreshRequest{Tokens: words.Map(o.tokens, func(t uint64) *gatekeeperv1.TokenRefresh {
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
				failed = append(failed, fmt.Sprintf("%d: currently unknown; try again", t.GetToken()))
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

type verifyOptions struct {
	f         *conn.Factory
	output    ui.Output
	semaphore string
	token     uint64
}

func newVerify(f *conn.Factory, run func(*verifyOptions, context.Context) error) *cobra.Command {
	o := &verifyOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupPermits,
		Use:     "verify TOKEN [--semaphore NAME]",
		Short:   "Check whether a token is still valid",
		Long: `Checks whether the permit with this token is live. Exits with 75 if it is not, and prints how it ended; exits with 69 if no server can answer.
A permit whose holder must stop is valid until it ends, and the output shows that it is stopping.

Use it in scripts that write on behalf of another process, which passes its token. The response may be outdated when it arrives: the permit
may end between the response and the write. If the storage itself can compare tokens, use that instead.`,
		Example:           `  gkctl verify "$token" --semaphore nightly-export && cp export.csv /srv/exports/`,
		Args:              ui.Exactly(1, "the token of a permit"),
		ValidArgsFunction: completeTokens(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := ui.Tokens(args)
			if err != nil {
				return err
			}
			o.token = all[0]
			return run(o, cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.semaphore, "semaphore", "", "semaphore that the permit must belong to")
	_ = cmd.RegisterFlagCompletionFunc("semaphore", f.CompleteNames) // fails only if there is no such flag
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func (o *verifyOptions) run(ctx context.Context) error {
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		r, err := c.Permits().Verify(ctx, &gatekeeperv1.VerifyRequest{Semaphore: o.semaphore, Token: o.token})
		if err != nil {
			return err
		}
		if !o.output.Is(ui.Table) {
			if err := o.f.PrintObject(o.output, r); err != nil {
				return err
			}
		}
		p := r.GetPermit()
		switch {
		case !r.GetValid():
			return &client.NotValidError{Semaphore: o.semaphore, Token: o.token, Permit: p, Message: r.GetMessage(), Revision: r.GetRevision()}
		case o.output.Is(ui.Table):
			fmt.Fprintf(o.f.Out, "%d of %s is valid: %s in %s, %s", p.GetToken(), p.GetSemaphore(), p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup(), words.PermitState(p))
			if p.GetExpiresIn() != nil {
				fmt.Fprintf(o.f.Out, ", expires in %s", words.Brief(p.GetExpiresIn().AsDuration()))
			}
			fmt.Fprintln(o.f.Out)
		}
		return nil
	})
}
