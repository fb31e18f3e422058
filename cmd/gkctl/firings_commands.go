package main

import (
	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
)

// firingsCommands are the commands of this package.
func firingsCommands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{newFirings(f)}
}
