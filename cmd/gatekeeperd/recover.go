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

const recoverLong = `Makes the data folder of a new cluster of one server from what is left of a cluster that has lost its majority for good. Others
then join the new server as they join any.

  gatekeeperd recover --from /var/lib/gatekeeper --data-dir /var/lib/gatekeeper-2 --id gk4

Give every folder that is left: --from can be repeated. The folder with the newest entry is taken, and none is written to. Definitions,
pauses, cordons and the journal are kept. Permits are carried over only when the folders of a majority of the last voters were
read; otherwise the old cluster may have granted permits that nobody here knows of, and the new one grants nothing until the longest
of them has certainly ended. Definitions can be edited meanwhile.

No server of the old cluster may run, now or later: a majority of them would go on as the old cluster, and grant too. Old servers
that reach the new one stop by themselves, and come back under new ids with empty folders. While a majority can still be
started, start it instead: nothing is lost then.

Nothing keeps you from recovering twice from the same folder. It makes two clusters, and both grant. recover does not write to the
old folders, so it cannot see that they were recovered from. It refuses a folder only if the server of that folder was started again and
heard from the new cluster; --again takes such a folder too.

Environment variables and configuration files say nothing here: they are those of the old server.`

const recoverExitCodes = `Exit codes:
  0    done
  64   bad flag
  73   none of the folders can be recovered from, or the new one is not empty
  75   a server runs on one of the folders
  78   a folder is no data folder, or belongs to another cluster than the others, or its server left because it
       heard that its cluster was recovered (see --again)`

type recoverOptions struct {
	from     []string
	dataDir  string
	id       string
	logStore string
	backup   bool
	again    bool
	longest  time.Duration
	after    time.Duration
	yes      bool
	author   string
	reason   string
	unsafely bool // --unsafe-grant-after was given
}

func newRecover(env environment) *cobra.Command {
	var o recoverOptions
	cmd := &cobra.Command{
		Use:   "recover --from FOLDER [--from FOLDER...] --data-dir NEW --id NEWID",
		Short: "Make a new cluster of what is left of one that has lost its majority for good",
		Long:  recoverLong,
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.unsafely = cmd.Flags().Changed("unsafe-grant-after")
			return o.run(cmd.OutOrStdout())
		},
	}
	cmd.SetHelpTemplate("{{.Long}}\n\n{{.UsageString}}\n" + recoverExitCodes + "\n")
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.from, "from", nil, "data folder of a server of the old cluster, which does not run; can be repeated")
	f.StringVar(&o.dataDir, "data-dir", "", "data folder to make; empty, or not there")
	f.StringVar(&o.id, "id", "", "name of the new server; no member of the old cluster ever had it")
	f.StringVar(&o.logStore, "log-store", "", "how the new folder keeps its log: bolt or wal (default: as the folder that is taken)")
	f.BoolVar(&o.backup, "backup", false, "the folders are copies made some time ago: permits are not carried over, however many folders there are")
	f.BoolVar(&o.again, "again", false, "also a folder whose server heard that its cluster was recovered: the recovered cluster is gone for good, I know")
	f.DurationVar(&o.longest, "max-duration", 0, "largest max_duration that the old cluster ever had, if it may have been set after the folders were written; longer waiting is always safe")
	f.DurationVar(&o.after, "unsafe-grant-after", 0, "grant so long after the first start although earlier permits may be believed in for longer; needs --yes")
	f.BoolVar(&o.yes, "yes", false, "every holder of the old cluster has stopped by the end of --unsafe-grant-after, I know")
	f.StringVar(&o.author, "author", env.author(), "who does this, for the journal")
	f.StringVar(&o.reason, "reason", "", "why, for the journal")
	return cmd
}

// author is user@host, as far as the environment tells.
func (e environment) author() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	name := ""
	if u, err := user.Current(); err == nil { // a service's environment has no USER
		name = u.Username
	}
	return cmp.Or(e.get("SUDO_USER"), e.get("USER"), name, "unknown") + "@" + host
}

func (o *recoverOptions) run(out io.Writer) error {
	cfg := gatekeeper.RecoverConfig{
		From: o.from, DataDir: o.dataDir, ID: o.id, LogStore: gatekeeper.LogStore(o.logStore), Backup: o.backup, Again: o.again, MaxDuration: o.longest, Author: o.author, Reason: o.reason,
	}
	if o.unsafely {
		if !o.yes {
			return usage("--unsafe-grant-after %v lets two holders believe in the same permit, unless every holder that the old cluster granted one to "+
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

// report tells what was done, and what to do next.
func (o *recoverOptions) report(out io.Writer, r *gatekeeper.Recovery) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "FOLDER\tMEMBER\tLAST ENTRY\tUSED")
	for _, f := range r.Folders {
		switch {
		case f.Err != nil:
			fmt.Fprintf(w, "%s\t-\tcounts as lost\t%v\n", f.Dir, f.Err)
		case f.Chosen:
			fmt.Fprintf(w, "%s\t%s\t%d of term %d\tyes\n", f.Dir, f.MemberID, f.LastIndex, f.LastTerm)
		default:
			fmt.Fprintf(w, "%s\t%s\t%d of term %d\tno\n", f.Dir, f.MemberID, f.LastIndex, f.LastTerm)
		}
	}
	_ = w.Flush() // into memory
	fmt.Fprintf(&b, "\nRead: %d of %d voters. %s\n", r.VotersRead, r.Voters, completeness(r, o.backup))
	fmt.Fprintf(&b, "%s\n\n", permits(r, o.unsafely))
	fmt.Fprintf(&b, "Made: %s, cluster %s of one server, %s, with %s. It was cluster %s.\n\n",
		o.dataDir, r.ClusterID, o.id, count(r.Definitions, "definition"), r.OldClusterID)
	fmt.Fprintf(&b, `Next:
  1. Make sure that no old server (%s) starts again: disable their units, move their folders away.
  2. Start the new one, with its own addresses and certificates:
       gatekeeperd --id %s --data-dir %s%s
  3. Have others join, under new ids and with empty folders:
       gatekeeperd --id NEWID --join ADDRESS --data-dir EMPTY%s
`, strings.Join(r.Retired, ", "), o.id, o.dataDir, clusterFlag(r), clusterFlag(r))
	_, err := io.WriteString(out, b.String())
	return err
}

func completeness(r *gatekeeper.Recovery, backup bool) string {
	switch {
	case backup:
		return "Backups: every change made since them is lost."
	case r.PermitsKept:
		return "A majority: every change that was committed is here."
	}
	return "No majority: changes that only the others had are lost."
}

func permits(r *gatekeeper.Recovery, unsafely bool) string {
	var s string
	switch {
	case r.PermitsKept:
		s = fmt.Sprintf("Permits: %s carried over, each for its full duration again.", count(r.Permits, "permit"))
		if unsafely {
			s += " --unsafe-grant-after was not needed and says nothing."
		}
	default:
		s = fmt.Sprintf("Permits: %s lost, %d kept because they are held for an operator.", count(r.PermitsLost, "permit"), r.Permits)
		if r.PermitsCooled > 0 {
			s += fmt.Sprintf(" %d had ended already and kept their slots for a while.", r.PermitsCooled)
		}
	}
	switch {
	case r.Quarantine == 0 && !r.PermitsKept:
		s += fmt.Sprintf("\nUNSAFE: permits are granted at once, where %v would be safe.", r.FullQuarantine)
	case r.Quarantine > 0 && r.Quarantine < r.FullQuarantine && !r.PermitsKept:
		s += fmt.Sprintf("\nUNSAFE: nothing is granted for %v after the first start, where %v would be safe.", r.Quarantine, r.FullQuarantine)
	case r.Quarantine > 0:
		s += fmt.Sprintf("\nNothing is granted for %v after the first start: earlier permits may be believed in for so long.", r.Quarantine)
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
