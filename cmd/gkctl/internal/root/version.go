package root

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

func newVersion(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		GroupID: ui.GroupCluster,
		Use:     "version",
		Short:   "Print the version of gkctl; `gkctl cluster status` prints those of the servers",
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

// version is the module's, or the commit that it was built from.
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
