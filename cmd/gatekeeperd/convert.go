package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
)

const convertLong = `Converts a data directory from an earlier build to this build's format. Stop its server first.

  gatekeeperd convert --data-dir /var/lib/gatekeeper

It writes the new files next to the old ones, reads them back and compares their contents. It then renames the old files to names that end
in .old. Remove them once the server is working. If the machine crashes during the conversion, run the command again.

It does not change the log store, because a data directory keeps the one it was created with. To change the log store of a single server,
create a new data directory with a new id:

  gatekeeperd recover --from OLD --data-dir NEW --id NEWID --log-store wal

In a cluster, add a new server with a new id, --log-store and an empty directory, and then remove the old member.

Environment variables and configuration files are not read.`

const convertExitCodes = `Exit codes:
  0    done, or the directory is already in this build's format
  64   bad flag
  73   the directory is damaged or cannot be written
  75   a server is using the directory
  78   the directory does not exist, or is not a server's data directory`

func newConvert() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "convert --data-dir DIR",
		Short: "Convert a data directory from an earlier build to this build's format",
		Long:  convertLong,
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return usage("specify --data-dir, the directory to convert")
			}
			kept, err := gatekeeper.ConvertDataDir(dir)
			if err != nil {
				return err
			}
			return reportConverted(cmd.OutOrStdout(), dir, kept)
		},
	}
	cmd.SetHelpTemplate("{{.Long}}\n\n{{.UsageString}}\n" + convertExitCodes + "\n")
	cmd.Flags().StringVar(&dir, "data-dir", "", "data directory of a stopped server")
	return cmd
}

func reportConverted(out io.Writer, dir string, kept []string) (err error) {
	if len(kept) == 0 {
		_, err = fmt.Fprintf(out, "%s is already in this build's format: nothing to convert.\n", dir)
	} else {
		_, err = fmt.Fprintf(out, "Converted: %s. The old files were renamed to %s: remove them once the server is working.\n", dir, strings.Join(kept, " and "))
	}
	return err
}
