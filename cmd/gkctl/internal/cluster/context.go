package cluster

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client/contexts"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

func newContext(f *conn.Factory) *cobra.Command {
	cmd := &cobra.Command{
		GroupID: ui.GroupCluster,
		Use:     "context",
		Short:   "List, choose and define contexts: saved connections to clusters",
		Long: `Contexts are stored in the file named by GK_CONFIG, by default ~/.config/gatekeeper/config.yaml:

  current-context: prod
  contexts:
    - name: prod
      endpoints: [gk1.example.com, gk2.example.com, gk3.example.com]
      cluster: 6f0c1d2e3a4b5c6d
      group: prod
      tls: {ca: ca.pem, cert: me.pem, key: me-key.pem}
      bearer-token-file: me.token

Paths in the file are relative to it; ` + "`gkctl context set`" + ` writes absolute ones. Flags and variables take precedence over the context, but --context takes precedence over variables.`,
		Args: cobra.ArbitraryArgs,
		RunE: ui.GroupHelp,
	}
	cmd.AddCommand(newContextList(f), newContextUse(f), newContextSet(f), newContextDelete(f))
	return cmd
}

func newContextList(f *conn.Factory) *cobra.Command {
	var o ui.Output
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the contexts",
		Example: `  gkctl context list`,
		Args:    ui.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			file, path, err := conn.ReadContexts()
			if err != nil {
				return err
			}
			return f.Print(o, ui.Listing{
				Headers: []string{"CURRENT", "NAME", "ENDPOINTS", "GROUP", "TLS"},
				Rows: words.Map(file.Contexts, func(c contexts.Context) ui.Row {
					current, tls := "", "no"
					if c.Name == file.Current {
						current = "*"
					}
					if c.TLS != (contexts.TLS{}) {
						tls = "yes"
					}
					return ui.Row{Name: c.Name, Cells: []string{current, c.Name, strings.Join(c.Endpoints, ","), c.Group, tls}}
				}),
				Object: &contexts.File{Current: file.Current, Contexts: append([]contexts.Context{}, file.Contexts...)}, // [], not null
				Empty:  "There are no contexts in " + path + ".",
			})
		},
	}
	o.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

// changeContexts reads the context file, applies change to it, writes it back, and reports what was done.
func changeContexts(f *conn.Factory, name, done string, change func(*contexts.File) error) error {
	file, path, err := conn.ReadContexts()
	if err != nil {
		return err
	}
	if err := change(file); err != nil {
		return err
	}
	if err := file.Write(path); err != nil {
		return err
	}
	fmt.Fprintf(f.Out, "context %s %s\n", name, done)
	return nil
}

func newContextUse(f *conn.Factory) *cobra.Command {
	return &cobra.Command{
		Use:               "use NAME",
		Short:             "Choose the current context",
		Example:           `  gkctl context use prod`,
		Args:              ui.Exactly(1, "the name of a context"),
		ValidArgsFunction: conn.CompleteContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			return changeContexts(f, args[0], "in use", func(file *contexts.File) error {
				if file.Find(args[0]) == nil {
					return ui.Usagef("there is no context %q: `gkctl context list` shows the existing ones", args[0])
				}
				file.Current = args[0]
				return nil
			})
		},
	}
}

func newContextSet(f *conn.Factory) *cobra.Command {
	var group, acquirer string
	cmd := &cobra.Command{
		Use:   "set NAME --endpoints HOST[:PORT],... [--cluster ID] [--group GROUP] [--tls-ca FILE ...] [--bearer-token-file FILE]",
		Short: "Create a context, or change the specified fields of an existing one",
		Example: `  gkctl context set prod --endpoints gk1.example.com,gk2.example.com,gk3.example.com --tls-ca ca.pem
  gkctl context set prod --group prod`,
		Args: ui.Exactly(1, "the name of a context"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeContexts(f, args[0], "set", func(file *contexts.File) error {
				c := file.Find(args[0])
				if c == nil {
					file.Contexts = append(file.Contexts, contexts.Context{Name: args[0]})
					c = &file.Contexts[len(file.Contexts)-1]
				}
				g := &f.Global
				for _, s := range []struct {
					flag string
					from string
					to   *string
					file bool
				}{
					{"cluster", g.Cluster, &c.Cluster, false}, {"group", group, &c.Group, false}, {"acquirer", acquirer, &c.Acquirer, false},
					{"tls-ca", g.TLS.CAFile, &c.TLS.CA, true}, {"tls-cert", g.TLS.CertFile, &c.TLS.Cert, true}, {"tls-key", g.TLS.KeyFile, &c.TLS.Key, true},
					{"tls-server-name", g.TLS.ServerName, &c.TLS.ServerName, false}, {"bearer-token-file", g.TokenFile, &c.TokenFile, true},
				} {
					if !cmd.Flags().Changed(s.flag) {
						continue
					}
					if s.flag == "bearer-token-file" && (strings.HasPrefix(s.from, "gk_") || strings.HasPrefix(s.from, "eyJ")) {
						return ui.Usagef("--%s takes the name of a file containing the token, not the token itself", s.flag)
					}
					*s.to = s.from
					if s.file && s.from != "" { // gkctl may be run from a different directory later
						abs, err := filepath.Abs(s.from)
						if err != nil {
							return ui.Usagef("--%s: %w", s.flag, err)
						}
						*s.to = abs
					}
				}
				if cmd.Flags().Changed("endpoints") {
					c.Endpoints = g.Endpoints
				}
				if len(c.Endpoints) == 0 {
					return ui.Usagef("the context %q requires --endpoints", args[0])
				}
				if file.Current == "" {
					file.Current = args[0]
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&group, "group", "", "group of this host")
	cmd.Flags().StringVar(&acquirer, "acquirer", "", "acquirer name of this host; default: the host name")
	return cmd
}

func newContextDelete(f *conn.Factory) *cobra.Command {
	return &cobra.Command{
		Use:               "delete NAME",
		Short:             "Delete a context",
		Example:           `  gkctl context delete test`,
		Args:              ui.Exactly(1, "the name of a context"),
		ValidArgsFunction: conn.CompleteContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			return changeContexts(f, args[0], "deleted", func(file *contexts.File) error {
				if file.Find(args[0]) == nil {
					return ui.Usagef("there is no context %q", args[0])
				}
				file.Contexts = slices.DeleteFunc(file.Contexts, func(c contexts.Context) bool { return c.Name == args[0] })
				if file.Current == args[0] {
					file.Current = ""
				}
				return nil
			})
		},
	}
}
