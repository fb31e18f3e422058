package main

import (
	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
)

// clusterCommands are the commands of this package.
func clusterCommands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{
		newCluster(f),
		newContext(f),
		newStatus(f, (*statusOptions).run),
	}
}
