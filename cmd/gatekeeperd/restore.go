package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
)

const restoreLong = `Creates the data directory of a new single-server cluster from a backup made with gkctl snapshot save. Other servers then join the new
cluster as they would any other.

  gatekeeperd restore gatekeeper.backup --data-dir /var/lib/gatekeeper

First stop every server in the old cluster permanently. The new cluster has a different seed, so the two clusters reject each other's servers and
clients, and both would grant permits. If servers in the old cluster can still be started, start them instead. If some data directories
survive, use gatekeeperd recover, which loses less.

Changes since the backup are lost. Live permits are not carried over, and nothing is granted until the longest permit that the old cluster may have
granted has certainly ended. Definitions can be edited in the meantime. New tokens are larger than all tokens ever granted. Bindings and bearer tokens
are restored as of the backup: any that have been revoked since then must be revoked again.

Environment variables and configuration files are not read.`

const restoreExitCodes = `Exit codes:
  0    done
  64   bad flag
  65   the file cannot be read, is not a backup, is damaged, or was written by a newer version; or this
       machine's clock is behind the backup
  73   the new directory is not empty, or cannot be created`

type restoreOptions struct {
	cfg      gatekeeper.RestoreConfig
	logStore string
	after    time.Duration
	yes      bool
}

func newRestore(env environment) *cobra.Command {
	var o restoreOptions
	var unsafeGrant bool
	cmd := &cobra.Command{
		Use:   "restore FILE --data-dir NEW [--id ID]",
		Short: "Create a new cluster from a backup",
		Long:  restoreLong,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("specify one file, the backup to restore")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.cfg.File = args[0]
			unsafeGrant = cmd.Flags().Changed("unsafe-grant-after")
			return o.run(cmd.OutOrStdout(), unsafeGrant)
		},
	}
	cmd.SetHelpTemplate("{{.Long}}\n\n{{.UsageString}}\n" + restoreExitCodes + "\n")
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.cfg.DataDir, "data-dir", "", "data directory to create; it must be empty or not exist")
	f.StringVar(&o.cfg.ID, "id", gatekeeper.DefaultID, "name of the new server")
	f.StringVar(&o.logStore, "log-store", string(gatekeeper.LogStoreBolt), "how the new directory stores its log: bolt or wal")
	f.DurationVar(&o.cfg.MaxDuration, "max-duration", 0, "largest max_duration that the old cluster ever had, if it was set after the backup, for example 6h; a larger value is always safe")
	f.DurationVar(&o.after, "unsafe-grant-after", 0, "start granting permits this long after the first start, for example 5m, even if earlier holders may rely on their permits for longer; needs --yes")
	f.BoolVar(&o.yes, "yes", false, "confirms that every holder in the old cluster will have stopped by the end of --unsafe-grant-after")
	f.StringVar(&o.cfg.Author, "author", env.author(), "author to record in the journal")
	f.StringVar(&o.cfg.Reason, "reason", "", "reason to record in the journal")
	return cmd
}

func (o *restoreOptions) run(out io.Writer, unsafeGrant bool) error {
	o.cfg.LogStore = gatekeeper.LogStore(o.logStore)
	if unsafeGrant {
		if !o.yes {
			return usage("--unsafe-grant-after %v may let two holders rely on the same permit, unless every holder in the old cluster "+
				"has stopped by then: make sure of that, and add --yes", o.after)
		}
		o.cfg.UnsafeGrantAfter = &o.after
	}
	r, err := gatekeeper.Restore(o.cfg)
	if err != nil {
		return explain(err, nil)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Backup: %s, taken at %s. Every change made since then is lost.\n%s\n\n", o.cfg.File, r.TakenAt.Local().Format(time.DateTime), permits(r, unsafeGrant))
	fmt.Fprintf(&b, "Created: %s, cluster %s of one server, %s, with %s. It replaces cluster %s.\n\n",
		o.cfg.DataDir, r.ClusterID, o.cfg.ID, count(r.Definitions, "definition"), r.OldClusterID)
	fmt.Fprintf(&b, `Next:
  1. Make sure that no server in the old cluster runs or starts again.
  2. Start the new one, with its addresses and certificates:
       gatekeeperd --id %s --data-dir %s%s
     If all administrators have lost their credentials: gatekeeperd bind-admin --help.
  3. Restart clients that are bound to the old cluster: they refuse this one. Any bindings and tokens revoked since the backup must be revoked again.
  4. Let other servers join, with empty directories:
       gatekeeperd --id ANOTHER --join ADDRESS --data-dir EMPTY%s
`, o.cfg.ID, o.cfg.DataDir, clusterFlag(r), clusterFlag(r))
	_, err = io.WriteString(out, b.String())
	return err
}
