package firings

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type firingsForgetOptions struct {
	f        *conn.Factory
	name     string
	firings  []string
	after    string
	ahead    bool
	keepMark bool
	change.AskFlags
	output ui.Output
}

func newFiringsForget(f *conn.Factory, run func(*firingsForgetOptions, context.Context) error) *cobra.Command {
	o := &firingsForgetOptions{f: f}
	cmd := &cobra.Command{
		Use:   "forget NAME [FIRING...] [--after TIME|--ahead] [--keep-mark] [--dry-run] [--reason TEXT] [--yes]",
		Short: "Forget firings claimed by a host with a wrong clock",
		Long: `Forgets firings so they can be claimed again: the named ones, or all that are due after a given time. With --ahead it forgets all that are due
further ahead of the leader's clock than firing_max_ahead allows (or 10m if it is off). --after and --ahead also lower the time up to which firings
count as forgotten: --after to the given time, --ahead to the leader's clock; --keep-mark leaves it unchanged. Nothing is forgotten while a permit for one of
these firings occupies a slot. One call forgets at most 1000 firings.

A forgotten firing may run again, even if it has already run. The command shows what would be forgotten and asks for confirmation; in a script, pass
--yes.`,
		Example: `  gkctl firings forget nightly-export --ahead --dry-run
  gkctl firings forget nightly-export --ahead --yes --reason "app7 was a year ahead"
  gkctl firings forget nightly-export nightly@2026-06-01T02:00:00Z`,
		Args:              ui.AtLeastOne("the name of a semaphore, then firings, --after or --ahead"),
		ValidArgsFunction: completeFirings(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name, o.firings = args[0], args[1:]
			return run(o, cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.after, "after", "", "all firings due after this time: 2026-01-31T02:00:00Z, or 02:00 for the next 02:00 local time")
	flags.BoolVar(&o.ahead, "ahead", false, "all firings due too far ahead of the leader's clock")
	flags.BoolVar(&o.keepMark, "keep-mark", false, "keep the time up to which firings count as forgotten")
	o.AskFlags.Register(cmd, "show what would be forgotten")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *firingsForgetOptions) request() (*gatekeeperv1.ForgetFiringsRequest, error) {
	r := &gatekeeperv1.ForgetFiringsRequest{
		Semaphore: o.name, Ahead: o.ahead, KeepMark: o.keepMark, Author: o.f.Global.ChangeAuthor(), Reason: o.f.Global.Reason, RequestId: o.RequestID(),
	}
	given := 0
	for _, set := range []bool{len(o.firings) > 0, o.after != "", o.ahead} {
		if set {
			given++
		}
	}
	if given != 1 {
		return nil, ui.Usagef("specify firings, --after or --ahead, but only one of the three")
	}
	for _, arg := range o.firings {
		f, err := ui.FiringArg(arg)
		if err != nil {
			return nil, err
		}
		r.Firings = append(r.Firings, f)
	}
	if o.after != "" {
		after, err := ui.ParseTime("--after", o.after, time.Now(), ui.Future)
		if err != nil {
			return nil, err
		}
		r.After = timestamppb.New(after)
	}
	return r, nil
}

func (o *firingsForgetOptions) run(ctx context.Context) error {
	req, err := o.request()
	if err != nil {
		return err
	}
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		forget := change.PlannedChange[*gatekeeperv1.ForgetFiringsResponse]{
			Call: func(ctx context.Context, dryRun bool, plan string) (*gatekeeperv1.ForgetFiringsResponse, error) {
				req.DryRun, req.Plan = dryRun, plan
				return c.Operator().ForgetFirings(ctx, req)
			},
			WithHint: o.withHint,
			Settled: func(r *gatekeeperv1.ForgetFiringsResponse) bool {
				return r.GetRevision() != 0 || nothingForgotten(r) // a revision means that an earlier call with this id made the change
			},
			Proposal: func(r *gatekeeperv1.ForgetFiringsResponse) *change.Proposal {
				return &change.Proposal{
					What: "this changes which firings " + o.name + " remembers", Question: "Forget them?", Declined: "nothing was forgotten",
					Confirm: r.GetConfirm(), Notes: o.lines(r, change.MaxShown),
				}
			},
		}
		r, err := forget.Run(ctx, o.f, &o.AskFlags)
		if err != nil {
			return err
		}
		return o.print(r)
	})
}

// withHint adds a hint to an error.
func (o *firingsForgetOptions) withHint(err error) error {
	if e, ok := errors.AsType[*client.StatusError](err); ok && e.Reason == "FIRING_CONFLICT" {
		return ui.WithHint(err, "`gkctl firings list %s` shows who claimed each firing.", words.ShellWord(o.name))
	}
	return noSuchFiring(err, o.name)
}

func nothingForgotten(r *gatekeeperv1.ForgetFiringsResponse) bool {
	return len(r.GetChange().GetFirings()) == 0 && !words.ForgottenUpToChanged(r.GetChange())
}

// lines describes the first forgotten firings, up to a limit, one line each, followed by the number of lines left out.
func (o *firingsForgetOptions) lines(r *gatekeeperv1.ForgetFiringsResponse, limit int) []string {
	firings := r.GetChange().GetFirings()
	lines := words.Map(firings[:min(limit, len(firings))], func(f *gatekeeperv1.FiringClaim) string { return firingText(f, nil) })
	if more := len(firings) - limit; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

func (o *firingsForgetOptions) print(r *gatekeeperv1.ForgetFiringsResponse) error {
	firings := r.GetChange().GetFirings()
	switch o.output.String() {
	case ui.JSON, ui.YAML:
		return change.PrintPlanned(o.f.IO, o.output, r)
	case ui.Name:
		return o.f.PrintNames(words.Map(firings, func(f *gatekeeperv1.FiringClaim) string { return words.Firing(f.GetFiring()) }))
	}
	if nothingForgotten(r) {
		fmt.Fprintf(o.f.Out, "%s has no firings to forget\n", o.name)
		return nil
	}
	if r.GetRevision() == 0 {
		for _, line := range o.lines(r, change.AllLines) {
			fmt.Fprintln(o.f.Out, words.Cell(line))
		}
		fmt.Fprintf(o.f.Out, "%s: %s (dry run)\n", o.name, words.ForgottenText(r.GetChange(), "would be forgotten"))
		change.PrintNeedsYes(o.f.IO, nil, r.GetConfirm())
		return nil
	}
	fmt.Fprintf(o.f.Out, "%s: %s\n", o.name, words.ForgottenText(r.GetChange(), "forgotten"))
	change.PrintUndoCommand(o.f.IO, r.GetRevision())
	return nil
}
