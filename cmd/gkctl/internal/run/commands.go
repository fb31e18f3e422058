package run

import (
	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
)

// Commands are the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{
		newAcquire(f, (*acquireOptions).run),
		newRefresh(f, (*refreshOptions).run),
		newVerify(f, (*verifyOptions).run),
		newRelease(f),
		newRevoke(f),
		newClear(f),
		newRun(f, (*runOptions).run),
		newRunGuard(f),
	}
}
