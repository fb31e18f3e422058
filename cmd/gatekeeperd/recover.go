package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
)

const recoverLong = `Creates the data directory of a new single-server cluster from what is left of a cluster that has permanently lost its majority. Other
servers then join the new cluster as they would any other.

  gatekeeperd recover --from /var/lib/gatekeeper --data-dir /var/lib/gatekeeper-2 --id gk4

Pass every remaining directory by repeating --from. The directory with the newest entry is used, and none of them is modified. Definitions, pauses,
cordons and the journal are kept. Permits are carried over only if the directories of a majority of the last voters were read. Otherwise the old
cluster may have granted permits that none of these directories contains, and the new cluster grants nothing until all of them have
certainly ended. Definitions can be edited in the meantime.

No server in the old cluster may ever run again: a majority of them would continue as the old cluster and grant permits too. Old servers
that reach the new one stop automatically. They can join it with new ids and empty directories. If a majority can still be started, start it
instead, because then nothing is lost.

Never recover twice from the same directories: that creates two clusters that both grant permits. recover cannot prevent this, because it does not write to
the old directories. It rejects a directory only if its server has been started again and has heard from the new cluster; --again accepts that
directory too.

Environment variables and configuration files are not read, because they belong to the old server.`

const recoverExitCodes = `Exit codes:
  0    done
  64   bad flag
  73   none of the directories can be recovered from, or the new directory is not empty
  75   a server is using one of the directories
  78   a directory is not a data directory, or belongs to a different cluster than the others, or its server stopped because
       its cluster was recovered (see --again)`

type recoverOptions struct {
	from        []string
	dataDir     string
	id          string
	logStore    string
	backup      bool
	again       bool
	longest     time.Duration
	after       time.Duration
	yes         bool
	author      string
	reason      string
	unsafeGrant bool // --unsafe-grant-after was set
}

func newRecover(env environment) *cobra.Command {
	var o recoverOptions
	cmd := &cobra.Command{
		Use:   "recover --from DIR [--from DIR...] --data-dir NEW --id NEWID",
		Short: "Create a new cluster from what is left of one that has permanently lost its majority",
		Long:  recoverLong,
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.unsafeGrant = cmd.Flags().Changed("unsafe-grant-after")
			return o.run(cmd.OutOrStdout())
		},
	}
	cmd.SetHelpTemplate("{{.Long}}\n\n{{.UsageString}}\n" + recoverExitCodes + "\n")
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.from, "from", nil, "data directory of a stopped server in the old cluster; may be repeated")
	f.StringVar(&o.dataDir, "data-dir", "", "data directory to create; it must be empty or not exist")
	f.StringVar(&o.id, "id", "", "name of the new server; it must never have been used in the old cluster")
	f.StringVar(&o.logStore, "log-store", "", "how the new directory stores its log: bolt or wal (default: same as the directory that is used)")
	f.BoolVar(&o.backup, "backup", false, "the directories are older copies: permits are not carried over, regardless of the number of directories")
	f.BoolVar(&o.again, "again", false, "also accept a directory whose server stopped because its cluster was recovered; confirms that the recovered cluster will never run again")
	f.DurationVar(&o.longest, "max-duration", 0, "largest max_duration that the old cluster ever had, if it may have been set after the directories were last written; a larger value is always safe")
	f.DurationVar(&o.after, "unsafe-grant-after", 0, "start granting permits this long after the first start, even if earlier holders may rely on their permits for longer; needs --yes")
	f.BoolVar(&o.yes, "yes", false, "confirms that every holder in the old cluster will have stopped by the end of --unsafe-grant-after")
	f.StringVar(&o.author, "author", env.author(), "author to record in the journal")
	f.StringVar(&o.reason, "reason", "", "reason to record in the journal")
	return cmd
}

// author returns user@host as far as it can be determined.
func (e environment) author() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	name := ""
	if u, err := user.Current(); err == nil { // USER is not set for services
		name = u.Username
	}
	return cmp.Or(e.get("SUDO_USER"), e.get("USER"), name, "unknown") + "@" + host
}

func (o *recoverOptions) run(out io.Writer) error {
	cfg := gatekeeper.RecoverConfig{
		From: o.from, DataDir: o.dataDir, ID: o.id, LogStore: gatekeeper.LogStore(o.logStore), Backup: o.backup, Again: o.again, MaxDuration: o.longest, Author: o.author, Reason: o.reason,
	}
	if o.unsafeGrant {
		if !o.yes {
			return usage("--unsafe-grant-after %v may let two holders rely on the same permit, unless every holder in the old cluster "+
				"has stopped by then: make sure of that, and add --yes", o.after)
		}
		cfg.UnsafeGrantAfter = &o.after
	}
	found, err := gatekeeper.Recover(cfg)
	if err != nil {
		return explain(err, nil)
	}
	return o.report(out, found)
}

// report prints the result and the next steps.
func (o *recoverOptions) report(out io.Writer, r *gatekeeper.Recovery) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "DIRECTORY\tMEMBER\tLAST ENTRY\tUSED")
	for _, f := range r.DataDirs {
		switch {
		case f.Err != nil:
			fmt.Fprintf(w, "%s\t-\tcounts as lost\t%v\n", f.Dir, f.Err)
		case f.Chosen:
			fmt.Fprintf(w, "%s\t%s\t%d of term %d\tyes\n", f.Dir, f.MemberID, f.LastIndex, f.LastTerm)
		default:
			fmt.Fprintf(w, "%s\t%s\t%d of term %d\tno\n", f.Dir, f.MemberID, f.LastIndex, f.LastTerm)
		}
	}
	_ = w.Flush() // cannot fail: it writes to memory
	fmt.Fprintf(&b, "\nRead: %d of %d voters. %s\n", r.VotersRead, r.Voters, completeness(r, o.backup))
	fmt.Fprintf(&b, "%s\n\n", permits(r, o.unsafeGrant))
	fmt.Fprintf(&b, "Created: %s, cluster %s of one server, %s, with %s. It replaces cluster %s.\n\n",
		o.dataDir, r.ClusterID, o.id, count(r.Definitions, "definition"), r.OldClusterID)
	fmt.Fprintf(&b, `Next:
  1. Make sure that no old server (%s) starts again: disable their units and move their directories out of the way.
  2. Start the new one, with its addresses and certificates:
       gatekeeperd --id %s --data-dir %s%s
  3. Let other servers join, with new ids and empty directories:
       gatekeeperd --id NEWID --join ADDRESS --data-dir EMPTY%s
`, strings.Join(r.Retired, ", "), o.id, o.dataDir, clusterFlag(r), clusterFlag(r))
	_, err := io.WriteString(out, b.String())
	return err
}

func completeness(r *gatekeeper.Recovery, backup bool) string {
	switch {
	case backup:
		return "Backups: all changes made since they were taken are lost."
	case r.PermitsKept:
		return "A majority: every committed change is included."
	}
	return "No majority: changes that only the missing voters had are lost."
}

func permits(r *gatekeeper.Recovery, unsafeGrant bool) string {
	var s string
	switch {
	case r.PermitsKept:
		s = fmt.Sprintf("Permits: %s carried over, each renewed for its full duration.", count(r.Permits, "permit"))
		if unsafeGrant {
			s += " --unsafe-grant-after was not needed and is ignored."
		}
	default:
		s = fmt.Sprintf("Permits: %s lost, %d kept because they are held for an operator.", count(r.PermitsLost, "permit"), r.Permits)
		if r.PermitsCooled > 0 {
			s += fmt.Sprintf(" %d had already ended but were still occupying their slots.", r.PermitsCooled)
		}
	}
	switch {
	case r.Quarantine == 0 && !r.PermitsKept:
		s += fmt.Sprintf("\nUNSAFE: permits will be granted immediately; waiting %v would be safe.", r.FullQuarantine)
	case r.Quarantine > 0 && r.Quarantine < r.FullQuarantine && !r.PermitsKept:
		s += fmt.Sprintf("\nUNSAFE: no permits will be granted for %v after the first start; waiting %v would be safe.", r.Quarantine, r.FullQuarantine)
	case r.Quarantine > 0:
		s += fmt.Sprintf("\nNo permits will be granted for %v after the first start: holders may rely on earlier permits for that long.", r.Quarantine)
	}
	return s
}

func clusterFlag(r *gatekeeper.Recovery) string {
	if r.ClusterName == gatekeeper.DefaultClusterName {
		return ""
	}
	return " --cluster-name " + r.ClusterName
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
