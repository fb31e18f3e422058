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
		Short:      "Tell holders to stop: their refreshes are refused from now on",
		Long: `Tells holders to stop, and refuses their refreshes from now on, with --drain after so long. The slots stay taken until the holders
release them, or until their permits expire.

--unsafe-now frees the slots at once. A holder that is alive still believes in its permit until it hears, or until its deadline:
two may then run at the same time, and only a fencing token keeps the older one from writing. It is for a holder of which you
know that it is gone for good. It asks; in a script give --yes.`,
		Example: `  gkctl revoke 4711 --reason "it hangs"
  gkctl revoke 4711 --drain 2m
  gkctl revoke $(gkctl holders nightly-export -o name) --unsafe-now --yes --reason "its host burned down"`,
	}, func(ctx context.Context) error { return o.check(ctx) }, func(ctx context.Context, c *client.Client, token uint64) (tokenDone, error) {
		return o.revoke(ctx, c, token)
	})
	o.drain.Register(cmd)
	cmd.Flags().BoolVar(&o.unsafe, "unsafe-now", false, "free the slots at once, although their holders may still run")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return cmd
}

// check refuses what contradicts itself, and asks before something unsafe.
func (o *revokeOptions) check(ctx context.Context) error {
	if _, err := o.drain.Read(); err != nil {
		return err
	}
	switch {
	case o.unsafe && o.drain.Drain > 0:
		return ui.Usagef("--drain lets the holder go on, --unsafe-now waits for nothing: they contradict each other")
	case o.unsafe && !o.yes:
		return o.f.Confirm(ctx, "--unsafe-now frees a slot while its holder may still run: two may then run at the same time, "+
			"and only the fencing token keeps the older one from writing",
			"Is every holder known to be gone?", "nothing was revoked")
	}
	return nil
}

func (o *revokeOptions) revoke(ctx context.Context, c *client.Client, token uint64) (tokenDone, error) {
	drain, err := o.drain.Read()
	if err != nil {
		return tokenDone{}, err
	}
	r, err := c.Permits().Revoke(ctx, &gatekeeperv1.RevokeRequest{
		Token: token, Author: o.f.Global.Who(), Reason: o.f.Global.Reason, Drain: drain, UnsafeNow: o.unsafe,
	})
	if err != nil {
		return tokenDone{}, err
	}
	how := ""
	switch {
	case o.unsafe:
		how = ", and its slot freed at once; its holder may still run"
	case drain != nil:
		how = ", its holder may go on for " + words.Duration(drain)
	}
	name := r.GetPermit().GetSemaphore()
	return tokenDone{
		Semaphore: name, Action: "revoked", Revision: r.GetRevision(), text: fmt.Sprintf("%d of %s revoked%s", token, name, how),
	}, nil
}
