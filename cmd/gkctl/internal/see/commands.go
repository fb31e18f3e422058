package see

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
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

// maxDeniedLines is how many denied callers get and history name.
const maxDeniedLines = 10

// sayDenied prints, below a listing, the callers that are denied until somebody acts.
func sayDenied(ctx context.Context, f *conn.Factory, c *client.Client, names []string, labels string) {
	if len(names) == 0 && labels == "" || len(names) > lookup.Max {
		return // of everything there can be many: standbys are denied by design
	}
	r := lookup.Remembered(ctx, c, &gatekeeperv1.ListDeniedRequest{Names: names, Labels: labels})
	lines := lookup.DeniedLines(r.GetCallers(), maxDeniedLines)
	for _, line := range append(lines, lookup.MisspelledLines(r)...) {
		f.Say("%s", line)
	}
	if len(lines) > 0 {
		f.Say("%s", "`gkctl explain "+words.ShellWord(r.GetCallers()[0].GetSemaphore())+"` shows how that is decided.")
	}
}
