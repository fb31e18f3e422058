package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func newCordons(a *app) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use:   "cordons",
		Short: "Show which groups and hosts are shut out, until when and why",
		Example: `  gkctl cordons
  gkctl cordons -o name`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.connected(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				ctx, cancel := a.bounded(ctx)
				defer cancel()
				r, err := c.Operator().ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{})
				if err != nil {
					return err
				}
				return a.print(output, listing{
					headers: []string{"ID", "GROUP", "ACQUIRER", "UNTIL", "DRAIN", "BY", "REASON"},
					more:    []string{"CHANGE"},
					rows:    mapped(r.GetCordons(), cordonRow),
					object:  items[*gatekeeperv1.CordonRecord]{r.GetCordons()},
					empty:   "No cordon is in force.",
				})
			})
		},
	}
	output.register(cmd, formatTable, formatWide, formatJSON, formatYAML, formatName)
	return cmd
}

func cordonRow(c *gatekeeperv1.CordonRecord) row {
	return row{
		name: c.GetId(),
		cells: []string{
			c.GetId(), c.GetGroupPattern(), c.GetAcquirerPattern(), when(c.GetUntil()), duration(c.GetDrain()), c.GetAuthor(), c.GetReason(),
		},
		more: []string{number(c.GetRevision())},
	}
}
