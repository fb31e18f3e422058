package root

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/audit"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/auth"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/bench"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/cert"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/cluster"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/edit"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/firings"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/jobs"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/move"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/run"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/show"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/snapshot"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/workers"
)

const long = `gkctl shows and changes the state of a Gatekeeper cluster.

The server addresses come from --endpoints, GK_ENDPOINTS, or a context in the file named by GK_CONFIG (` + "`gkctl context`" + `).
The default is 127.0.0.1:7420. Each connection flag also has an environment variable, such as GK_TLS_CA for --tls-ca. A name may be a glob
with *, ? and [a-z].

-o json prints API messages with the API's field names. 64-bit numbers and durations are strings, as in protobuf's JSON ("12", "60s").
A list is {"items": [...]}. -o yaml prints the same as YAML. For definitions it prints a file that apply can read.`

// newRoot returns the root command with all its subcommands.
func newRoot(f *conn.Factory) *cobra.Command {
	root := &cobra.Command{
		Use:           "gkctl",
		Short:         "Command-line client for Gatekeeper",
		Long:          long,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          ui.GroupHelp,
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return checkAuthorFlags(f, cmd) }
	root.SetIn(f.In)
	root.SetOut(f.Out)
	root.SetErr(f.Err)
	root.AddGroup(
		&cobra.Group{ID: ui.GroupInspect, Title: "Inspect:"},
		&cobra.Group{ID: ui.GroupChange, Title: "Change:"},
		&cobra.Group{ID: ui.GroupPermits, Title: "Permits:"},
		&cobra.Group{ID: ui.GroupWork, Title: "Work:"},
		&cobra.Group{ID: ui.GroupCluster, Title: "Cluster and connection:"},
	)
	for _, commands := range []func(*conn.Factory) []*cobra.Command{
		show.Commands, edit.Commands, move.Commands, firings.Commands, run.Commands, jobs.Commands, workers.Commands, cluster.Commands, snapshot.Commands, cert.Commands, auth.Commands, audit.Commands, bench.Commands,
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

// acceptsAuthor reports whether --author applies to a command: the journal records the author, or history filters by
// it.
func acceptsAuthor(command string) bool {
	switch command {
	case "apply", "edit", "set", "delete", "move", "pause", "resume", "cordon", "uncordon", "undo", "firings forget", "revoke", "clear", "cluster settings",
		"preview", "history", "bench", "job submit", "job cancel":
		return true
	}
	return false
}

// acceptsReason reports whether --reason applies to a command: the reason is recorded in the journal or with the firing
// of a failed job.
func acceptsReason(command string) bool {
	switch command {
	case "auth bind", "auth unbind", "auth token create", "auth token revoke": // their author is the caller's principal
		return true
	}
	return command == "release" || acceptsAuthor(command) && command != "history" && command != "job submit"
}

// checkAuthorFlags returns an error for --author and --reason where they have no effect. If a listing accepted them, it
// would seem to filter by them. GK_AUTHOR is accepted, because it may be set for every command.
func checkAuthorFlags(f *conn.Factory, cmd *cobra.Command) error {
	name := strings.TrimPrefix(cmd.CommandPath(), "gkctl ")
	refused := ""
	switch {
	case f.Global.Changed("author") && !acceptsAuthor(name):
		refused = "author"
	case f.Global.Changed("reason") && !acceptsReason(name):
		refused = "reason"
	}
	if refused != "" {
		return ui.Usagef("--%s applies to commands that change definitions, permits or cordons; %s changes none of them", refused, name)
	}
	return nil
}

// Execute runs the command line and returns the exit code.
func Execute(ctx context.Context, f *conn.Factory, args []string) int {
	root := newRoot(f)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return ui.ExitInterrupted
	}
	return f.Report(cmd, err)
}

func newCompletion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		GroupID: ui.GroupCluster,
		Use:     "completion bash|zsh|fish|powershell",
		Short:   "Print a shell script that completes commands and names",
		Example: `  source <(gkctl completion bash)
  gkctl completion zsh > "${fpath[1]}/_gkctl"`,
		ValidArgs: shells,
		Args:      ui.Exactly(1, "the name of a shell: bash, zsh, fish or powershell"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return ui.Usagef("no completion is available for %q", args[0])
		},
	}
}

func newVersion(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		GroupID: ui.GroupCluster,
		Use:     "version",
		Short:   "Print the version of gkctl; `gkctl cluster status` prints the servers' versions",
		Example: `  gkctl version`,
		Args:    ui.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if !output.Is(ui.Table) {
				return f.PrintObject(output, struct {
					Version string `json:"version"`
					Go      string `json:"go"`
					System  string `json:"system"`
				}{version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := fmt.Fprintf(f.Out, "gkctl %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

// version returns the version of the module, or the commit that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(len(s.Value), 12)]
		}
	}
	return "devel"
}
