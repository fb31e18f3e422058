package root

import (
	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

func newCompletion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		GroupID: ui.GroupCluster,
		Use:     "completion bash|zsh|fish|powershell",
		Short:   "Print the script that completes commands and names in a shell",
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
			return ui.Usagef("there is no completion for %q", args[0])
		},
	}
}
