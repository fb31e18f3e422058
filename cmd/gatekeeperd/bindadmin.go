package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
)

const bindAdminLong = `Makes a subject an administrator of the cluster, for the owner of a member's data folder: the way back in when nobody has a credential
of an administrator. Stop one server, run this on its folder as root or the user of the server, and start the server again as before.

  gatekeeperd bind-admin --data-dir /var/lib/gatekeeper --subject cert:ann

The request stays in the folder until the server has started, and the cluster, a majority of it, has carried it out. A server that starts more than a
day later refuses it. The binding "admin" gets
the subject and the role admin, or the one of --binding. A binding that has the subject already gets the role. The journal and the server's log
say so, and name the member. Nobody loses a role: gkctl auth unbind and gkctl auth token revoke take away what is lost or stolen.

One server of a cluster is enough; it need not lead. A certificate with that name must come from an authority of --tls-ca. Environment variables
and configuration files are not read.`

const bindAdminExitCodes = `Exit codes:
  0    done: start the server
  64   bad flag
  73   the folder is damaged, or cannot be written
  75   a server runs on the folder
  78   there is no such folder, it is not the data folder of a server, or its cluster was recovered without it`

func newBindAdmin(env environment) *cobra.Command {
	var cfg gatekeeper.BindAdminConfig
	cmd := &cobra.Command{
		Use:   "bind-admin --data-dir FOLDER --subject SUBJECT",
		Short: "Make a subject an administrator, for the owner of a data folder",
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
	f.StringVar(&cfg.DataDir, "data-dir", "", "data folder of a server that does not run")
	f.StringVar(&cfg.Subject, "subject", "", "who: cert:NAME, a name in a client certificate, a SPIFFE id, or oidc:CLAIM=VALUE")
	f.StringVar(&cfg.Binding, "binding", "admin", "binding that gets the subject, unless another one has it already")
	f.StringVar(&cfg.Author, "author", env.author(), "who does this, for the journal")
	f.StringVar(&cfg.Reason, "reason", "", "why, for the journal")
	return cmd
}

func reportBindAdmin(out io.Writer, cfg gatekeeper.BindAdminConfig, id string) error {
	_, err := fmt.Fprintf(out, "Start server %s on %s: its cluster then makes %s an administrator, and the journal says so.\n", id, cfg.DataDir, cfg.Subject)
	return err
}
