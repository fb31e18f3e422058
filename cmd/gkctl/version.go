package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of gkctl; `gkctl cluster status` prints those of the servers",
		Example: `  gkctl version`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if !output.is(formatTable) {
				return a.printObject(output, struct {
					Version string `json:"version"`
					Go      string `json:"go"`
					System  string `json:"system"`
				}{version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := fmt.Fprintf(a.out, "gkctl %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	output.register(cmd, formatTable, formatJSON, formatYAML)
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
