package cert

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
)

// leafOptions are the options for cert server, peer and client.
type leafOptions struct {
	f      *conn.Factory
	output ui.Output
	certDir
	lifetime

	kind, ca string
	flags    *pflag.FlagSet
	args     []string
	spiffe   string
	acquirer string
}

// newLeaf adds the common parts to a command that issues a certificate.
func newLeaf(f *conn.Factory, cmd *cobra.Command, kind, ca string, run func(*leafOptions) error) (*cobra.Command, *leafOptions) {
	o := &leafOptions{f: f, kind: kind, ca: ca, flags: cmd.Flags()}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		o.args = args
		return run(o)
	}
	o.certDir.register(cmd, "replace the certificate, keeping its additional names unless new ones are given")
	o.lifetime.register(cmd, authority.LeafLifetime, "it is")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd, o
}

func newServer(f *conn.Factory, run func(*leafOptions) error) *cobra.Command {
	cmd, _ := newLeaf(f, &cobra.Command{
		Use:   "server HOST... [--dir DIR]",
		Short: "Issue the certificate that a server presents to clients",
		Long: `Issues the certificate that a server presents to clients, as server-HOST.crt with its key. HOSTs are the names and addresses by which clients and
the other servers reach its API: the host in --advertise-api, and the host of any load balancer. localhost, 127.0.0.1 and ::1 are added.`,
		Example: `  gkctl cert server gk1.example.com 10.0.0.1
  gkctl cert server gk1.example.com gatekeeper.example.com --for 2160h --force`,
		Args: ui.AtLeastOne("the host names and addresses of the server"),
	}, "server", apiCA, run)
	return cmd
}

func newPeer(f *conn.Factory, run func(*leafOptions) error) *cobra.Command {
	cmd, _ := newLeaf(f, &cobra.Command{
		Use:   "peer ID HOST... [--dir DIR]",
		Short: "Issue the certificate that a server presents to the other members",
		Long: `Issues the certificate that a server presents to the other members, as peer-ID.crt with its key. ID is the server's --id. HOSTs are the names and
addresses by which the others reach its peer port: the host in --members or --advertise-peer.`,
		Example: `  gkctl cert peer gk1 gk1.example.com
  gkctl cert peer gk1 10.0.0.1 --force`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return ui.Usagef("specify the id of the server, and the host names and addresses of its peer port")
			}
			return nil
		},
	}, "peer", peerCA, run)
	return cmd
}

func newClient(f *conn.Factory, run func(*leafOptions) error) *cobra.Command {
	cmd, o := newLeaf(f, &cobra.Command{
		Use:   "client NAME [--spiffe ID | --acquirer HOST] [--dir DIR]",
		Short: "Issue a certificate for an application or a person",
		Long: `Issues a certificate for an application or a person, as client-NAME.crt with its key. It is accepted by the API, but never on the peer port.

--acquirer adds the name gatekeeper:acquirer:HOST, which restricts its holder to that acquirer. --spiffe adds a SPIFFE id.`,
		Example: `  gkctl cert client orders
  gkctl cert client host-1 --acquirer host-1
  gkctl cert client orders --spiffe spiffe://example.com/orders`,
		Args: ui.Exactly(1, "the name of the application or person"),
	}, "client", apiCA, run)
	cmd.Flags().StringVar(&o.spiffe, "spiffe", "", "SPIFFE id, spiffe://TRUST-DOMAIN/PATH")
	cmd.Flags().StringVar(&o.acquirer, "acquirer", "", "the only acquirer name that the certificate's holder may use")
	_ = cmd.RegisterFlagCompletionFunc("acquirer", cobra.NoFileCompletions) // fails only if there is no such flag
	return cmd
}

func (o *leafOptions) run() error {
	leaf, err := o.leaf()
	if err != nil {
		return ui.Usagef("%w", err)
	}
	if err := o.check(); err != nil {
		return err
	}
	leaf.Lifetime = o.life
	a, err := o.read(o.ca)
	if err != nil {
		return err
	}
	name := baseName(o.kind, leaf.Name)
	files := o.files(name)
	if err := o.checkNoneExist("the certificate", name); err != nil {
		return err
	}
	notes, err := o.renew(&leaf, files)
	if err != nil {
		return err
	}
	now := time.Now()
	pair, err := a.Issue(leaf, now)
	if ui.Is[*authority.ExpiredError](err) {
		return ui.WithHint(err, "`gkctl cert init --force` creates new authorities; all certificates must then be reissued.")
	}
	if err != nil {
		return err
	}
	if err := pair.Write(files); err != nil {
		return err
	}
	next := append(notes, o.next(files)...)
	if pair.Cert.NotAfter.Before(now.Add(o.life).Truncate(time.Second)) {
		next = append([]string{"It expires with its authority, at " + pair.Cert.NotAfter.Local().Format(time.DateTime) + "."}, next...)
	}
	return report(o.f, o.output, []issued{{o.kind, files, pair}}, next...)
}

// renew copies the additional names from the old certificate unless new ones were given: clients may need them, and a
// pinned acquirer must not be dropped silently. The notes list which names were kept and which were dropped.
func (o *leafOptions) renew(leaf *authority.Leaf, files authority.Files) (notes []string, err error) {
	old, err := readCerts(files.Cert)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return []string{"No names were kept from the old certificate: " + err.Error() + "."}, nil //nolint:nilerr // replaced anyway
	}
	hosts := slices.Clone(old[0].DNSNames)
	for _, ip := range old[0].IPAddresses {
		hosts = append(hosts, ip.String())
	}
	dropped := slices.DeleteFunc(hosts, func(h string) bool { return slices.Contains(leaf.Hosts, h) })
	var kept []string
	if o.kind == "server" && len(o.args) == 1 {
		leaf.Hosts = append(leaf.Hosts, dropped...)
		kept, dropped = dropped, nil
	}
	keepURIs := o.kind == "client" && !o.flags.Changed("spiffe") && !o.flags.Changed("acquirer")
	for _, u := range old[0].URIs {
		switch {
		case keepURIs:
			leaf.URIs = append(leaf.URIs, u)
			kept = append(kept, u.String())
		case !slices.ContainsFunc(leaf.URIs, func(v *url.URL) bool { return v.String() == u.String() }):
			dropped = append(dropped, u.String())
		}
	}
	if len(kept) > 0 {
		notes = append(notes, "Kept from the old certificate: "+strings.Join(kept, ", ")+".")
	}
	if len(dropped) > 0 {
		notes = append(notes, "Not kept from the old certificate:")
	}
	for _, name := range dropped {
		notes = append(notes, "- "+name)
	}
	return notes, nil
}

// leaf returns the certificate described by the arguments.
func (o *leafOptions) leaf() (l authority.Leaf, err error) {
	hosts := o.args
	switch o.kind {
	case "server":
		l.Server = true
	case "peer":
		l.Name, hosts, l.Server, l.Client = o.args[0], o.args[1:], true, true
		err = authority.CheckName(l.Name)
	case "client":
		l.Name, hosts, l.Client = o.args[0], nil, true
		err = authority.CheckName(l.Name)
	}
	if err != nil {
		return l, err
	}
	for _, h := range hosts {
		host, err := authority.Host(h)
		if err != nil {
			return l, err
		}
		l.Hosts = append(l.Hosts, host)
	}
	if o.kind == "server" {
		l.Name = l.Hosts[0]
		l.Hosts = append(l.Hosts, "localhost", "127.0.0.1", "::1")
	}
	l.Hosts = distinct(l.Hosts)
	l.URIs, err = o.uris()
	return l, err
}

func (o *leafOptions) uris() ([]*url.URL, error) {
	switch {
	case o.spiffe != "" && o.acquirer != "":
		return nil, fmt.Errorf("--spiffe and --acquirer cannot be combined: a certificate with a SPIFFE id has no other URI")
	case o.spiffe != "":
		u, err := authority.SPIFFE(o.spiffe)
		return []*url.URL{u}, err
	case o.acquirer != "":
		u, err := authority.AcquirerURI(o.acquirer)
		return []*url.URL{u}, err
	}
	return nil, nil
}

func distinct(all []string) (out []string) {
	for _, s := range all {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// next returns instructions for using the files.
func (o *leafOptions) next(files authority.Files) []string {
	ca := o.files(o.ca).Cert
	switch o.kind {
	case "server":
		return []string{
			"Copy " + strings.Join([]string{files.Cert, files.Key, ca}, ", ") + " to the server, and start it with",
			fmt.Sprintf("  --tls-cert %s --tls-key %s --tls-ca %s", files.Cert, files.Key, ca),
		}
	case "peer":
		return []string{
			"Copy " + strings.Join([]string{files.Cert, files.Key, ca}, ", ") + " to the server, and start it with",
			fmt.Sprintf("  --peer-tls-cert %s --peer-tls-key %s --peer-tls-ca %s", files.Cert, files.Key, ca),
		}
	}
	return []string{
		"To let gkctl and applications find them:",
		fmt.Sprintf("  export GK_TLS_CERT=%s GK_TLS_KEY=%s GK_TLS_CA=%s", files.Cert, files.Key, ca),
	}
}
