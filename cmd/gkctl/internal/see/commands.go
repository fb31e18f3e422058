package see

import (
	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
)

// Commands are the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{
		newGet(f, (*getOptions).run),
		newHolders(f, (*holdersOptions).run),
		newWaiters(f, (*waitersOptions).run),
		newExplain(f, (*explainOptions).run),
		newWatch(f, (*watchOptions).run),
		newHistory(f, (*historyOptions).run),
	}
}
