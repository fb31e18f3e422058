package cert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
)

// The base names of the authorities' files.
const (
	apiCA  = "ca"      // signs certificates for the API's servers and clients
	peerCA = "peer-ca" // signs certificates for members, which they use to connect to each other
)

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	cmd := &cobra.Command{
		GroupID: ui.GroupCluster,
		Use:     "cert",
		Short:   "Create a cluster's certificates, with a simple authority for trials and small teams",
		Long: `Creates a cluster's certificates, using a certificate authority in a directory. Setting up TLS takes three commands:

  gkctl cert init                                  the authorities, and a certificate for the operator admin
  gkctl cert server gk1.example.com                once for each server: the certificate for clients
  gkctl cert peer gk1 gk1.example.com              once for each server: the certificate for the other members

and one more for each application or person:

  gkctl cert client orders

There are two authorities. One signs certificates for servers and clients of the API, the other for members of the cluster, so that a client's
certificate is never accepted on the peer port. Anyone who can read their keys, ca.key and peer-ca.key, can become an operator or a member. Keep
the keys where you create the certificates, and do not copy them to a server.

The same command with --force renews a certificate. It keeps the additional names, the SPIFFE id and the acquirer of the old one unless you pass
others. Servers and clients reread their files at each handshake.`,
		Args: cobra.ArbitraryArgs,
		RunE: ui.GroupHelp,
	}
	cmd.AddCommand(newInit(f, (*initOptions).run), newServer(f, (*leafOptions).run), newPeer(f, (*leafOptions).run), newClient(f, (*leafOptions).run), newShow(f))
	return []*cobra.Command{cmd}
}

// certDir holds the flags for the certificate directory.
type certDir struct {
	dir   string
	force bool
}

func (o *certDir) register(cmd *cobra.Command, force string) {
	cmd.Flags().StringVar(&o.dir, "dir", "certs", "`DIR` that holds the authorities and certificates")
	cmd.Flags().BoolVar(&o.force, "force", false, force)
	_ = cmd.MarkFlagDirname("dir") // fails only if there is no such flag
}

func (o *certDir) files(name string) authority.Files {
	return authority.Files{Cert: filepath.Join(o.dir, name+".crt"), Key: filepath.Join(o.dir, name+".key")}
}

// checkNoneExist returns an error if any of the files exists, unless --force was given. what describes the files.
func (o *certDir) checkNoneExist(what string, names ...string) error {
	if o.force {
		return nil
	}
	for _, n := range names {
		err := o.files(n).EnsureAbsent()
		if _, exists := errors.AsType[*authority.ExistsError](err); exists {
			return ui.WithHint(fmt.Errorf("%w: nothing was written", err), "--force replaces %s.", what)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads an authority created by gkctl cert init.
func (o *certDir) read(name string) (*authority.Pair, error) {
	f := o.files(name)
	a, err := authority.Read(f)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		var missing *fs.PathError
		errors.As(err, &missing)
		return nil, ui.WithHint(fmt.Errorf("there is no authority in %s: %s is missing", o.dir, missing.Path), "`gkctl cert init` creates one; --dir names the directory of an existing one.")
	case err != nil:
		return nil, err
	}
	return a, nil
}

// issued is a certificate and the files it was written to.
type issued struct {
	kind  string
	files authority.Files
	pair  *authority.Pair
}

// report prints the certificates and, in table format, the next steps.
func report(f *conn.Factory, o ui.Output, all []issued, next ...string) error {
	l := listing()
	var items []certInfo
	for _, i := range all {
		s := describe(i.files.Cert, i.pair.Cert)
		s.Kind, s.Key = i.kind, i.files.Key
		items = append(items, s)
		l.Rows = append(l.Rows, s.row())
	}
	l.Object = ui.Items(items)
	if err := f.Print(o, l); err != nil {
		return err
	}
	if o.Is(ui.Table) && len(next) > 0 {
		f.Logf("\n%s", strings.Join(next, "\n"))
	}
	return nil
}

// lifetime is the value of --for.
type lifetime struct{ life time.Duration }

func (l *lifetime) register(cmd *cobra.Command, life time.Duration, what string) {
	cmd.Flags().DurationVar(&l.life, "for", life, "how long "+what+" valid, for example 720h")
}

func (l *lifetime) check() error {
	if l.life < time.Minute {
		return ui.Usagef("--for %s must be at least 1m", deffile.FormatDuration(l.life))
	}
	return nil
}

type initOptions struct {
	f      *conn.Factory
	output ui.Output
	certDir
	lifetime
	admin string
}

func newInit(f *conn.Factory, run func(*initOptions) error) *cobra.Command {
	o := &initOptions{f: f}
	cmd := &cobra.Command{
		Use:   "init [--dir DIR] [--admin OPERATOR]",
		Short: "Create a cluster's two authorities and its first operator's certificate",
		Long: `Creates two authorities in a directory: ca.crt with ca.key for servers and clients, and peer-ca.crt with peer-ca.key for connections between
members. The first operator's certificate is client-admin.crt, or client-OPERATOR.crt with --admin OPERATOR.

With --force it replaces all of them. Servers using the new authorities no longer accept certificates from the old ones.`,
		Example: `  gkctl cert init
  gkctl cert init --dir /etc/gatekeeper/certs --admin alice`,
		Args: ui.NoArgs,
		RunE: func(*cobra.Command, []string) error { return run(o) },
	}
	o.certDir.register(cmd, "replace existing authorities, which invalidates their certificates")
	o.lifetime.register(cmd, authority.Lifetime, "the authorities are")
	cmd.Flags().StringVar(&o.admin, "admin", "admin", "name of the first `OPERATOR`")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *initOptions) run() error {
	if err := authority.CheckName(o.admin); err != nil {
		return ui.Usagef("--admin: %w", err)
	}
	if err := o.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return err
	}
	adminFile := baseName("client", o.admin)
	if err := o.checkNoneExist("the authorities; all of their certificates must then be reissued", apiCA, peerCA, adminFile); err != nil {
		return err
	}
	now := time.Now()
	api, err := authority.New("Gatekeeper API", now, o.life)
	if err != nil {
		return err
	}
	peers, err := authority.New("Gatekeeper members", now, o.life)
	if err != nil {
		return err
	}
	admin, err := api.Issue(authority.Leaf{Name: o.admin, Client: true, Lifetime: authority.LeafLifetime}, now)
	if err != nil {
		return err
	}
	all := []issued{{"authority", o.files(apiCA), api}, {"authority", o.files(peerCA), peers}, {"client", o.files(adminFile), admin}}
	for _, i := range all {
		if err := i.pair.Write(i.files); err != nil {
			return err
		}
	}
	dir := ""
	if o.dir != "certs" {
		dir = " --dir " + o.dir
	}
	return report(o.f, o.output, all,
		"Keep "+o.files(apiCA).Key+" and "+o.files(peerCA).Key+" here: servers do not need them. Next, for each server:",
		"  gkctl cert server"+dir+" HOST...",
		"  gkctl cert peer"+dir+" ID HOST...",
	)
}

// baseName returns the base name of a certificate's files.
func baseName(kind, name string) string { return kind + "-" + strings.ReplaceAll(name, ":", "-") }
