package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// completeGroups and completeAcquirers complete a flag by who was seen asking.
func (a *app) completeGroups(cmd *cobra.Command, flag string) {
	a.completeKnown(cmd, flag, (*gatekeeperv1.Caller).GetGroup)
}

func (a *app) completeAcquirers(cmd *cobra.Command, flag string) {
	a.completeKnown(cmd, flag, (*gatekeeperv1.Caller).GetAcquirer)
}

func (a *app) completeKnown(cmd *cobra.Command, flag string, name func(*gatekeeperv1.Caller) string) {
	complete := func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		var names []string
		_ = a.connected(cmd.Context(), func(ctx context.Context, c *client.Client) error { // a shell shows no errors here
			ctx, cancel := context.WithTimeout(ctx, min(a.global.timeout, client.DefaultAttemptTimeout))
			defer cancel()
			// One page is more than a person looks through.
			r, err := c.Operator().ListKnown(ctx, &gatekeeperv1.ListKnownRequest{PageSize: 1000})
			for _, caller := range r.GetCallers() {
				if n := name(caller); strings.HasPrefix(n, begun) {
					names = append(names, n)
				}
			}
			return err
		})
		slices.Sort(names)
		return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
	}
	_ = cmd.RegisterFlagCompletionFunc(flag, complete) // its only error: no such flag
}
