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

func newClear(f *conn.Factory) *cobra.Command {
	return tokenCommand(f, &cobra.Command{
		GroupID: ui.GroupPermits,
		Use:     "clear TOKEN... [--reason TEXT]",
		Short:   "Free permits that expired and are held for an operator",
		Long: `Frees permits of semaphores with on_expiry: hold, which expired and take their slots until somebody has looked. Make sure
first that what ran under them has stopped.`,
		Example: `  gkctl clear 4711 --reason "the host was switched off"
  gkctl clear 4711 4712 -o json`,
	}, nil, func(ctx context.Context, c *client.Client, token uint64) (tokenDone, error) {
		r, err := c.Permits().Clear(ctx, &gatekeeperv1.ClearRequest{Token: token, Author: f.Global.Who(), Reason: f.Global.Reason})
		return tokenDone{Action: actionIf(err, "cleared"), Revision: r.GetRevision(), text: fmt.Sprintf("%d cleared", token)}, err
	})
}
