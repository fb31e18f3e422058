package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type revokeOptions struct {
	*app
	drain  drainFlag
	unsafe bool
	yes    bool
}

func newRevoke(a *app) *cobra.Command {
	o := &revokeOptions{app: a}
	cmd := tokenCommand(a, &cobra.Command{
		Use:   "revoke TOKEN... [--drain 2m] [--unsafe-now] [--reason TEXT]",
		Short: "Tell holders to stop: their refreshes are refused from now on",
		Long: `Tells holders to stop, and refuses their refreshes from now on, with --drain after so long. The slots stay taken until the holders
release them, or until their permits expire.

--unsafe-now frees the slots at once. A holder that is alive still believes in its permit until it hears, or until its deadline:
two may then run at the same time, and only a fencing token keeps the older one from writing. It is for a holder of which you
know that it is gone for good. It asks; in a script give --yes.`,
	}, func(ctx context.Context) error { return o.check(ctx) }, func(ctx context.Context, c *client.Client, token uint64) error {
		return o.revoke(ctx, c, token)
	})
	o.drain.register(cmd)
	cmd.Flags().BoolVar(&o.unsafe, "unsafe-now", false, "free the slots at once, although their holders may still run")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return cmd
}

// check refuses what contradicts itself, and asks before something unsafe.
func (o *revokeOptions) check(ctx context.Context) error {
	if _, err := o.drain.read(); err != nil {
		return err
	}
	switch {
	case o.unsafe && o.drain.drain > 0:
		return usagef("--drain lets the holder go on, --unsafe-now waits for nothing: they contradict each other")
	case o.unsafe && !o.yes:
		return o.confirm(ctx, "--unsafe-now frees a slot while its holder may still run: two may then run at the same time, "+
			"and only the fencing token keeps the older one from writing",
			"Is every holder known to be gone?", "nothing was revoked")
	}
	return nil
}

func (o *revokeOptions) revoke(ctx context.Context, c *client.Client, token uint64) error {
	drain, err := o.drain.read()
	if err != nil {
		return err
	}
	r, err := c.Permits().Revoke(ctx, &gatekeeperv1.RevokeRequest{
		Token: token, Author: o.global.who(), Reason: o.global.reason, Drain: drain, UnsafeNow: o.unsafe,
	})
	if err != nil {
		return err
	}
	how := ""
	switch {
	case o.unsafe:
		how = ", and its slot freed at once; its holder may still run"
	case drain != nil:
		how = ", its holder may go on for " + duration(drain)
	}
	fmt.Fprintf(o.out, "%d of %s revoked%s\n", token, r.GetPermit().GetSemaphore(), how)
	return nil
}

// tokenCommand completes a command that does something to each token, and goes on after one that fails. first, unless it is nil, may
// refuse before anything is done.
func tokenCommand(
	a *app, cmd *cobra.Command, first func(context.Context) error, each func(context.Context, *client.Client, uint64) error,
) *cobra.Command {
	cmd.Args = atLeastOne("the tokens of permits")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		all, err := tokens(args)
		if err != nil {
			return err
		}
		if first != nil {
			if err := first(cmd.Context()); err != nil {
				return err
			}
		}
		return a.connected(cmd.Context(), func(ctx context.Context, c *client.Client) error {
			ctx, cancel := a.bounded(ctx)
			defer cancel()
			var failed []error
			for _, t := range all {
				failed = append(failed, each(ctx, c, t))
			}
			return errors.Join(failed...)
		})
	}
	return cmd
}
