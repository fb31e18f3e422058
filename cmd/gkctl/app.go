package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

const long = `gkctl shows and changes what a Gatekeeper cluster knows.

The cluster is that of --endpoints, of GK_ENDPOINTS, or of a context in the file that GK_CONFIG names (` + "`gkctl context`" + `), and
127.0.0.1:7420 when nothing is said. Each flag of a connection is also a variable: --tls-ca is GK_TLS_CA. Names are given as they
are, or as globs: *, ? and [a-z].

-o json prints the API's messages with the API's field names, 64-bit numbers and durations as protobuf's JSON has them ("12", "60s");
a list is {"items": [...]}. -o yaml is the same as YAML, but for definitions, which are the file that apply reads.`

const groupSee, groupChange, groupPermits, groupCluster = "see", "change", "permits", "cluster"

// newRoot is the command line.
func newRoot(a *conn.Factory) *cobra.Command {
	root := &cobra.Command{
		Use:           "gkctl",
		Short:         "The command line of Gatekeeper",
		Long:          long,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          helpOfGroup,
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return refuseAuthor(a, cmd) }
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.AddGroup(
		&cobra.Group{ID: groupSee, Title: "See:"},
		&cobra.Group{ID: groupChange, Title: "Change:"},
		&cobra.Group{ID: groupPermits, Title: "Permits:"},
		&cobra.Group{ID: groupCluster, Title: "Cluster and connection:"},
	)
	for id, commands := range map[string][]*cobra.Command{
		groupSee: {newGet(a), newHolders(a), newWaiters(a), newExplain(a), newPreview(a), newWatch(a), newHistory(a), newCordons(a), newStatus(a), newDiff(a)},
		groupChange: {
			newApply(a), newEdit(a), newSet(a), newDelete(a),
			newMove(a), newPause(a), newResume(a), newCordon(a), newUncordon(a), newFirings(a), newUndo(a),
		},
		groupPermits: {newAcquire(a), newRefresh(a), newVerify(a), newRelease(a), newRevoke(a), newClear(a), newRun(a)},
		groupCluster: {newCluster(a), newBench(a), newContext(a), newCompletion(), newVersion(a)},
	} {
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	root.AddCommand(newRunGuard(a))
	root.SetHelpCommand(newHelp())
	root.SetHelpCommandGroupID(groupCluster)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		help(cmd, args)
		fmt.Fprint(a.Out, exitHelp(cmd))
	})
	a.Global.Register(root)
	a.CompleteFlags(root)
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
func refuseAuthor(a *conn.Factory, cmd *cobra.Command) error {
	name := strings.TrimPrefix(cmd.CommandPath(), "gkctl ")
	for _, flag := range []string{"author", "reason"} {
		if a.Global.Changed(flag) && (!signed(name) || flag == "reason" && name == "history") {
			return ui.Usagef("--%s is for commands that change definitions, permits or cordons: %s changes none", flag, name)
		}
	}
	return nil
}

// helpOfGroup runs a command that only has others below it.
func helpOfGroup(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return ui.Usagef("unknown command %q%s", args[0], suggestion(cmd, args[0]))
	}
	return cmd.Help()
}

func suggestion(cmd *cobra.Command, word string) string {
	cmd.SuggestionsMinimumDistance = 2
	if s := cmd.SuggestionsFor(word); len(s) > 0 {
		return ": did you mean " + strings.Join(s, " or ") + "?"
	}
	return ""
}

// run runs a command line, and returns the exit code.
func run(ctx context.Context, a *conn.Factory, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return ui.ExitInterrupted
	}
	return a.Report(cmd, err)
}
