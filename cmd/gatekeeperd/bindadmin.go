package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
)

const bindAdminLong = `Makes a subject an administrator of the cluster. Use it if all administrators have lost their credentials: the owner of a member's data
directory can always run it. Stop one server, run this command on its data directory as root or as the server's user, and start the server again.

  gatekeeperd bind-admin --data-dir /var/lib/gatekeeper --subject cert:ann

The request remains in the directory until the server has started and a majority of the cluster has carried it out. A server that starts more than a
day later rejects it. The binding "admin", or the one named by --binding, gets the subject and the admin role. If another binding already has
the subject, that binding gets the role. The journal and the server's log record this, with the member's name. No roles are removed: use gkctl auth
unbind and gkctl auth token revoke for credentials that were lost or stolen.

Run it on one server only, which need not be the leader. A certificate for cert:NAME must be issued by a CA in --tls-ca. Environment variables and
configuration files are not read.`

const bindAdminExitCodes = `Exit codes:
  0    done: start the server
  64   bad flag
  73   the directory is damaged or cannot be written
  75   a server is using the directory
  78   the directory does not exist or is not a server's data directory, or its cluster was recovered without it`

func newBindAdmin(env environment) *cobra.Command {
	var cfg gatekeeper.BindAdminConfig
	cmd := &cobra.Command{
		Use:   "bind-admin --data-dir DIR --subject SUBJECT",
		Short: "Make a subject an administrator by using a member's data directory",
		Long:  bindAdminLong,
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := gatekeeper.BindAdmin(cfg)
			if err != nil {
				return explain(err, nil)
			}
			return reportBindAdmin(cmd.OutOrStdout(), cfg, id)
		},
	}
	cmd.SetHelpTemplate("{{.Long}}\n\n{{.UsageString}}\n" + bindAdminExitCodes + "\n")
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&cfg.DataDir, "data-dir", "", "data directory of a stopped server")
	f.StringVar(&cfg.Subject, "subject", "", "the new administrator: cert:NAME (a name in a client certificate), a SPIFFE id, or oidc:CLAIM=VALUE")
	f.StringVar(&cfg.Binding, "binding", "admin", "binding to add the subject to, unless another binding already has it")
	f.StringVar(&cfg.Author, "author", env.author(), "author to record in the journal")
	f.StringVar(&cfg.Reason, "reason", "", "reason to record in the journal")
	return cmd
}

func reportBindAdmin(out io.Writer, cfg gatekeeper.BindAdminConfig, id string) error {
	_, err := fmt.Fprintf(out, "Start server %s on %s: its cluster will then make %s an administrator and record this in the journal.\n", id, cfg.DataDir, cfg.Subject)
	return err
}
