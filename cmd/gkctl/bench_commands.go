package main

import (
	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
)

// benchCommands are the commands of this package.
func benchCommands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{newBench(f, (*benchOptions).run)}
}
