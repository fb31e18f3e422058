package cluster

import (
	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
)

// Commands are the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{
		newCluster(f),
		newContext(f),
		newStatus(f, (*statusOptions).run),
	}
}
