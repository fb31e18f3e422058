package run

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type releaseOptions struct {
	notRun bool
	cut    bool
}

func newRelease(f *conn.Factory) *cobra.Command {
	o := &releaseOptions{}
	cmd := tokenCommand(f, &cobra.Command{
		GroupID:    ui.GroupPermits,
		Use:        "release TOKEN... [--not-run|--cut-short]",
		SuggestFor: []string{"unlock", "free"},
		Short:      "Give permits back",
		Long:       `Gives permits back. What ran under them must have stopped. Exits with 1 when one of them had ended before, and says how.`,
		Example: `  gkctl release 4711
  gkctl release 4711 --not-run`,
	}, o.check, o.release)
	cmd.Flags().BoolVar(&o.notRun, "not-run", false, "nothing ran: the firing may be claimed again")
	cmd.Flags().BoolVar(&o.cut, "cut-short", false, "what ran was stopped before its end: firing_on_loss of the definition decides about the firing")
	return cmd
}

func (o *releaseOptions) check(context.Context) error {
	if o.notRun && o.cut {
		return ui.Usagef("--not-run does not go with --cut-short: what was cut short has run")
	}
	return nil
}

func (o *releaseOptions) release(ctx context.Context, c *client.Client, token uint64) (tokenDone, error) {
	outcome := gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE
	switch {
	case o.notRun:
		outcome = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN
	case o.cut:
		outcome = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT
	}
	r, err := c.Permits().Release(ctx, &gatekeeperv1.ReleaseRequest{Token: token, Outcome: outcome})
	if err == nil && !r.GetReleased() {
		err = &client.EndedError{Token: token, Ended: r.GetEnded(), Message: r.GetMessage()}
	}
	return tokenDone{Action: actionIf(err, "released"), Revision: r.GetRevision(), text: fmt.Sprintf("%d released", token)}, err
}
