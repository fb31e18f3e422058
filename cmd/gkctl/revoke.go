package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func newRevoke(a *app) *cobra.Command {
	return tokenCommand(a, &cobra.Command{
		Use:   "revoke TOKEN... [--reason TEXT]",
		Short: "Tell holders to stop: their refreshes are refused from now on",
		Long: `Tells holders to stop, and refuses their refreshes from now on. The slots stay taken until the holders release them, or until
their permits expire.`,
	}, func(ctx context.Context, c *client.Client, token uint64) error {
		r, err := c.Permits().Revoke(ctx, &gatekeeperv1.RevokeRequest{Token: token, Author: a.global.who(), Reason: a.global.reason})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%d of %s revoked\n", token, r.GetPermit().GetSemaphore())
		return nil
	})
}

// tokenCommand completes a command that does something to each token, and goes on after one that fails.
func tokenCommand(a *app, cmd *cobra.Command, each func(context.Context, *client.Client, uint64) error) *cobra.Command {
	cmd.Args = atLeastOne("the tokens of permits")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		all, err := tokens(args)
		if err != nil {
			return err
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
