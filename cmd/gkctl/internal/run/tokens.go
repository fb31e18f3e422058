package run

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// tokenResult is the result for one permit in JSON output.
type tokenResult struct {
	Token uint64 `json:"token,string"`
	// Semaphore is empty if the response does not contain it.
	Semaphore string `json:"semaphore,omitempty"`
	// Action is revoked, cleared or released. If the servers refused, it is empty and Error contains the reason.
	Action   string `json:"action,omitempty"`
	Revision uint64 `json:"revision,string,omitempty"`
	Error    string `json:"error,omitempty"`

	// text is the line for the table.
	text string
}

// tokenCommand sets up a command that processes several tokens and continues after a failure. If first is not nil, it
// is called beforehand; if it returns an error, no tokens are processed.
func tokenCommand(
	f *conn.Factory, cmd *cobra.Command, first func(context.Context) error, each func(context.Context, *client.Client, uint64) (tokenResult, error),
) *cobra.Command {
	var output ui.Output
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	cmd.Args = ui.AtLeastOne("permit tokens (`gkctl holders` shows them)")
	cmd.ValidArgsFunction = completeTokens(f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		all, err := ui.Tokens(args)
		if err != nil {
			return err
		}
		if first != nil {
			if err := first(cmd.Context()); err != nil {
				return err
			}
		}
		return f.Call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
			return change.Each(ctx, f.IO, output, all, func(t uint64) (change.ItemResult, error) {
				d, err := each(ctx, c, t)
				if d.Token = t; err != nil {
					d.Error = ui.ErrorText(err)
				}
				return change.ItemResult{Object: d, Name: words.Number(t), Text: d.text}, err
			})
		})
	}
	return cmd
}

// actionIf returns the action if err is nil.
func actionIf(err error, action string) string {
	if err != nil {
		return ""
	}
	return action
}

// completeTokens completes permit tokens, with their holders as descriptions.
func completeTokens(f *conn.Factory) cobra.CompletionFunc {
	return f.Complete(func(ctx context.Context, c *client.Client, _ []string, _ string) ([]string, error) {
		r, err := c.Permits().ListHolders(ctx, &gatekeeperv1.ListHoldersRequest{PageSize: conn.CompletionPage})
		return words.Map(r.GetPermits(), func(p *gatekeeperv1.Permit) string {
			return fmt.Sprintf("%d\t%s of %s in %s", p.GetToken(), p.GetSemaphore(), p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup())
		}), err
	})
}

type releaseOptions struct {
	notRun   bool
	cutShort bool
	failed   bool
	f        *conn.Factory
}

func newRelease(f *conn.Factory) *cobra.Command {
	o := &releaseOptions{f: f}
	cmd := tokenCommand(f, &cobra.Command{
		GroupID:    ui.GroupPermits,
		Use:        "release TOKEN... [--not-run|--cut-short|--failed [--reason TEXT]]",
		SuggestFor: []string{"unlock", "free"},
		Short:      "Release permits",
		Long:       `Releases permits. The work that they cover must have stopped. Exits with 1 if one of them had already ended, and prints how it ended.`,
		Example: `  gkctl release 4711
  gkctl release 4711 --not-run
  gkctl release 4711 --failed --reason "no space left"`,
	}, o.check, o.release)
	cmd.Flags().BoolVar(&o.notRun, "not-run", false, "nothing ran: the firing may be claimed again")
	cmd.Flags().BoolVar(&o.cutShort, "cut-short", false, "the work was stopped early: the definition's firing_on_loss decides what happens to the firing")
	cmd.Flags().BoolVar(&o.failed, "failed", false, "the work ended with an error: the firing is marked as failed, and --reason is stored with it")
	return cmd
}

func (o *releaseOptions) check(context.Context) error {
	if o.notRun && o.cutShort {
		return ui.Usagef("--not-run and --cut-short cannot be combined: work that was cut short has run")
	}
	if o.f.Global.Changed("reason") && !o.failed {
		return ui.Usagef("--reason needs --failed")
	}
	if o.failed && (o.notRun || o.cutShort) {
		return ui.Usagef("--failed cannot be combined with --not-run or --cut-short: work that failed has run to completion")
	}
	return nil
}

func (o *releaseOptions) release(ctx context.Context, c *client.Client, token uint64) (tokenResult, error) {
	outcome, failure := gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE, ""
	switch {
	case o.failed:
		outcome, failure = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED, o.f.Global.Reason
	case o.notRun:
		outcome = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN
	case o.cutShort:
		outcome = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT
	}
	r, err := c.Permits().Release(ctx, &gatekeeperv1.ReleaseRequest{Token: token, Outcome: outcome, Failure: failure})
	if err == nil && !r.GetReleased() {
		err = &client.EndedError{Token: token, Ended: r.GetEnded(), Message: r.GetMessage()}
	}
	return tokenResult{Action: actionIf(err, "released"), Revision: r.GetRevision(), text: fmt.Sprintf("%d released", token)}, err
}

type revokeOptions struct {
	f      *conn.Factory
	drain  change.DrainFlag
	unsafe bool
	yes    bool
}

func newRevoke(f *conn.Factory) *cobra.Command {
	o := &revokeOptions{f: f}
	cmd := tokenCommand(f, &cobra.Command{
		GroupID:    ui.GroupPermits,
		Use:        "revoke TOKEN... [--drain 2m] [--unsafe-now] [--reason TEXT]",
		SuggestFor: []string{"kill", "stop"},
		Short:      "Revoke permits: their holders must stop",
		Long: `Revokes permits: their holders must stop. Refreshes are refused from now on or, with --drain, after that time. The slots remain taken until the
holders release them, or until their permits expire.

--unsafe-now frees the slots immediately. A holder that is alive still relies on its permit until it is notified, or until its deadline. Two holders
may then run at the same time, and only a fencing token keeps the older one from writing. Use it for a holder that you know is permanently
gone. It asks for confirmation; in a script, pass --yes.`,
		Example: `  gkctl revoke 4711 --reason "the job is hung"
  gkctl revoke 4711 --drain 2m
  gkctl revoke $(gkctl holders nightly-export -o name) --unsafe-now --yes --reason "its host burned down"`,
	}, o.check, o.revoke)
	o.drain.Register(cmd)
	cmd.Flags().BoolVar(&o.unsafe, "unsafe-now", false, "free the slots immediately, even though their holders may still be running")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

// check rejects contradictory flags and asks for confirmation of --unsafe-now.
func (o *revokeOptions) check(ctx context.Context) error {
	if _, err := o.drain.Read(); err != nil {
		return err
	}
	switch {
	case o.unsafe && o.drain.Drain > 0:
		return ui.Usagef("--drain and --unsafe-now cannot be combined: one allows the holder time to stop, the other does not wait")
	case o.unsafe && !o.yes:
		return o.f.Confirm(ctx, "--unsafe-now frees a slot while its holder may still be running: two holders may then run at the same time, "+
			"and only the fencing token keeps the older one from writing",
			"Are you sure that every holder is gone?", "nothing was revoked")
	}
	return nil
}

func (o *revokeOptions) revoke(ctx context.Context, c *client.Client, token uint64) (tokenResult, error) {
	drain, err := o.drain.Read()
	if err != nil {
		return tokenResult{}, err
	}
	r, err := c.Permits().Revoke(ctx, &gatekeeperv1.RevokeRequest{
		Token: token, Author: o.f.Global.ChangeAuthor(), Reason: o.f.Global.Reason, Drain: drain, UnsafeNow: o.unsafe,
	})
	if err != nil {
		return tokenResult{}, err
	}
	how := ""
	switch {
	case o.unsafe:
		how = ", and its slot freed immediately; its holder may still be running"
	case drain != nil:
		how = ", its holder may continue for " + words.Duration(drain)
	}
	name := r.GetPermit().GetSemaphore()
	return tokenResult{
		Semaphore: name, Action: "revoked", Revision: r.GetRevision(), text: fmt.Sprintf("%d of %s revoked%s", token, name, how),
	}, nil
}

func newClear(f *conn.Factory) *cobra.Command {
	return tokenCommand(f, &cobra.Command{
		GroupID: ui.GroupPermits,
		Use:     "clear TOKEN... [--reason TEXT]",
		Short:   "Free permits that expired and are held for an operator",
		Long: `Frees permits of semaphores with on_expiry: hold. They have expired, but keep their slots until an operator clears them. First make sure that
the work they covered has stopped.`,
		Example: `  gkctl clear 4711 --reason "the host was switched off"
  gkctl clear 4711 4712 -o json`,
	}, nil, func(ctx context.Context, c *client.Client, token uint64) (tokenResult, error) {
		r, err := c.Permits().Clear(ctx, &gatekeeperv1.ClearRequest{Token: token, Author: f.Global.ChangeAuthor(), Reason: f.Global.Reason})
		return tokenResult{Action: actionIf(err, "cleared"), Revision: r.GetRevision(), text: fmt.Sprintf("%d cleared", token)}, err
	})
}
