package root

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/bench"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/cluster"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/edit"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/firings"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/move"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/run"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/see"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

const long = `gkctl shows and changes what a Gatekeeper cluster knows.

The cluster is that of --endpoints, of GK_ENDPOINTS, or of a context in the file that GK_CONFIG names (` + "`gkctl context`" + `), and
127.0.0.1:7420 when nothing is said. Each flag of a connection is also a variable: --tls-ca is GK_TLS_CA. Names are given as they
are, or as globs: *, ? and [a-z].

-o json prints the API's messages with the API's field names, 64-bit numbers and durations as protobuf's JSON has them ("12", "60s");
a list is {"items": [...]}. -o yaml is the same as YAML, but for definitions, which are the file that apply reads.`

// newRoot is the command line.
func newRoot(f *conn.Factory) *cobra.Command {
	root := &cobra.Command{
		Use:           "gkctl",
		Short:         "The command line of Gatekeeper",
		Long:          long,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          ui.HelpOfGroup,
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return refuseAuthor(f, cmd) }
	root.SetIn(f.In)
	root.SetOut(f.Out)
	root.SetErr(f.Err)
	root.AddGroup(
		&cobra.Group{ID: ui.GroupSee, Title: "See:"},
		&cobra.Group{ID: ui.GroupChange, Title: "Change:"},
		&cobra.Group{ID: ui.GroupPermits, Title: "Permits:"},
		&cobra.Group{ID: ui.GroupCluster, Title: "Cluster and connection:"},
	)
	for _, commands := range []func(*conn.Factory) []*cobra.Command{
		see.Commands, edit.Commands, move.Commands, firings.Commands, run.Commands, cluster.Commands, bench.Commands,
	} {
		root.AddCommand(commands(f)...)
	}
	root.AddCommand(newCompletion(), newVersion(f))
	root.SetHelpCommand(newHelp())
	root.SetHelpCommandGroupID(ui.GroupCluster)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		help(cmd, args)
		fmt.Fprint(f.Out, exitHelp(cmd))
	})
	f.Global.Register(root)
	f.CompleteFlags(root)
	return root
}

// signed says whether the journal names an author of what a command does; history looks for one.
func signed(command string) bool {
	switch command {
	case "apply", "edit", "set", "delete", "move", "pause", "resume", "cordon", "uncordon", "undo", "firings forget", "revoke", "clear", "cluster settings",
		"preview", "history", "bench":
		return true
	}
	return false
}

// refuseAuthor refuses --author and --reason where they would say nothing: a listing that takes them seems to look for them. The variable
// GK_AUTHOR stands for every command.
func refuseAuthor(f *conn.Factory, cmd *cobra.Command) error {
	name := strings.TrimPrefix(cmd.CommandPath(), "gkctl ")
	for _, flag := range []string{"author", "reason"} {
		if f.Global.Changed(flag) && (!signed(name) || flag == "reason" && name == "history") {
			return ui.Usagef("--%s is for commands that change definitions, permits or cordons: %s changes none", flag, name)
		}
	}
	return nil
}

// Execute runs a command line, and returns the exit code.
func Execute(ctx context.Context, f *conn.Factory, args []string) int {
	root := newRoot(f)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return ui.ExitInterrupted
	}
	return f.Report(cmd, err)
}
