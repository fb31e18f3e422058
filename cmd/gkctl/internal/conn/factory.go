package conn

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/contexts"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A Factory is passed to every command. It holds the streams and connects to the servers.
type Factory struct {
	*ui.IO
	// Dial connects to a cluster.
	Dial func(ctx context.Context, endpoints []string, opts ...client.Option) (*client.Client, error)

	Global Global
}

// New returns a Factory with the given streams. Global.Register adds its flags to a command.
func New(in, out, err *os.File) *Factory {
	return &Factory{IO: ui.New(in, out, err), Dial: client.Dial}
}

// Connect connects to the cluster, calls do, and closes the connection. It adds explanations to the error returned
// by do.
func (f *Factory) Connect(ctx context.Context, do func(context.Context, *client.Client) error, opts ...client.Option) error {
	endpoints, settings, err := f.Global.Connection()
	if err != nil {
		return err
	}
	c, err := f.Dial(ctx, endpoints, append(settings, opts...)...)
	if err != nil {
		return ui.Usagef("%s", err)
	}
	defer func() { _ = c.Close() }() // always nil
	return f.Global.explainExpired(lookup.Annotate(ctx, c, do(ctx, c)), time.Now())
}

// Call is like Connect, for a command with a single step: ctx is limited by --timeout.
func (f *Factory) Call(ctx context.Context, do func(context.Context, *client.Client) error, opts ...client.Option) error {
	return f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		ctx, cancel := f.Bounded(ctx)
		defer cancel()
		return do(ctx, c)
	}, opts...)
}

// Bounded returns a context for one step of a command, limited by --timeout.
func (f *Factory) Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, f.Global.Timeout)
}

// Global holds the flags shared by all commands.
type Global struct {
	context   string
	Endpoints []string
	Cluster   string
	TLS       client.TLS
	TokenFile string // file with the bearer token
	Timeout   time.Duration
	Author    string
	Reason    string

	flags *pflag.FlagSet
}

// Register adds the flags to the root command, and thus to every command.
func (o *Global) Register(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringSliceVar(&o.Endpoints, "endpoints", nil, "API addresses, `HOST:PORT,...`, of the members, or of a load balancer (GK_ENDPOINTS)")
	f.StringVar(&o.Cluster, "cluster", "", "id of the cluster, or the part of it before the dot; servers in other clusters are refused (GK_CLUSTER)")
	f.StringVar(&o.context, "context", "", "context in the file named by GK_CONFIG (GK_CONTEXT)")
	f.StringVar(&o.TLS.CAFile, "tls-ca", "", "PEM file with the CA certificates that verify the servers (GK_TLS_CA)")
	f.StringVar(&o.TLS.CertFile, "tls-cert", "", "PEM file with your certificate (GK_TLS_CERT)")
	f.StringVar(&o.TLS.KeyFile, "tls-key", "", "PEM file with its key (GK_TLS_KEY)")
	f.StringVar(&o.TLS.ServerName, "tls-server-name", "", "name required in the servers' certificates (GK_TLS_SERVER_NAME)")
	f.StringVar(&o.TokenFile, "bearer-token-file", "", "`FILE` with your bearer token (GK_BEARER_TOKEN_FILE, or the token in GK_BEARER_TOKEN)")
	f.DurationVar(&o.Timeout, "timeout", 10*time.Second, "how long to keep trying")
	f.StringVar(&o.Author, "author", "", "author of a change (GK_AUTHOR; default: user@host)")
	f.StringVar(&o.Reason, "reason", "", "reason for a change")
	o.flags = f
}

// Connection returns the endpoints and the options for the client.
func (o *Global) Connection() (endpoints []string, opts []client.Option, err error) {
	if o.Timeout <= 0 {
		return nil, nil, ui.Usagef("--timeout must be greater than 0")
	}
	if o.Changed("context") && o.context == "" {
		return nil, nil, ui.Usagef("--context is empty: name one of the contexts in `gkctl context list`, or omit the flag")
	}
	saved, err := o.saved()
	if err != nil {
		return nil, nil, err
	}
	if e := o.pick("endpoints", strings.Join(o.Endpoints, ","), strings.Join(saved.Endpoints, ",")); e != "" {
		endpoints = strings.Split(e, ",")
	}
	tls := o.tls(&saved)
	if tls == (client.TLS{}) {
		opts = append(opts, client.WithPlaintext()) // a flag with an empty value overrides a variable
	} else {
		opts = append(opts, client.WithTLS(tls))
	}
	token := o.bearer(&saved)
	if token != nil && tls == (client.TLS{}) {
		return nil, nil, ui.Usagef("a bearer token is only sent over TLS, because others could otherwise read it in transit: pass --tls-ca, or remove the token")
	}
	opts = append(opts, cmp.Or(token, client.WithBearerToken(nil))) // a flag with an empty value overrides a variable
	if id := o.pick("cluster", o.Cluster, saved.Cluster); id != "" {
		opts = append(opts, client.WithCluster(id))
	}
	if g := o.pick("group", "", saved.Group); g != "" {
		opts = append(opts, client.WithGroup(g))
	}
	if q := o.pick("acquirer", "", saved.Acquirer); q != "" {
		opts = append(opts, client.WithAcquirer(q))
	}
	return endpoints, append(opts, client.WithAttemptTimeout(min(o.Timeout, client.DefaultAttemptTimeout))), nil
}

func (o *Global) tls(saved *contexts.Context) client.TLS {
	return client.TLS{
		CAFile:     o.pick("tls-ca", o.TLS.CAFile, saved.TLS.CA),
		CertFile:   o.pick("tls-cert", o.TLS.CertFile, saved.TLS.Cert),
		KeyFile:    o.pick("tls-key", o.TLS.KeyFile, saved.TLS.Key),
		ServerName: o.pick("tls-server-name", o.TLS.ServerName, saved.TLS.ServerName),
	}
}

// Certificate returns the client certificate and its file. cert is nil if there is none or it cannot be read.
func (o *Global) Certificate() (file string, cert *x509.Certificate) {
	saved, err := o.saved()
	if err != nil {
		return "", nil
	}
	file = o.tls(&saved).CertFile
	data, err := os.ReadFile(file)
	if err != nil {
		return file, nil
	}
	certs, err := authority.ParseCerts(data)
	if err != nil {
		return file, nil
	}
	return file, certs[0]
}

// explainExpired adds an explanation if the servers rejected the client certificate and it has expired. They send the
// same error for every certificate that is not currently valid, and the error does not name the certificate.
func (o *Global) explainExpired(err error, now time.Time) error {
	if refused, ok := errors.AsType[*client.CertificateError](err); !ok || !refused.ByServer {
		return err
	}
	file, cert := o.Certificate()
	if cert == nil || now.Before(cert.NotAfter) {
		return err
	}
	return &ui.CodeError{
		Code: ui.ExitNotAllowed,
		Err:  fmt.Errorf("unauthenticated: the client certificate %s expired at %s: %w", file, cert.NotAfter.Local().Format(time.DateTime), err),
		Hint: "Renew it with `gkctl cert client NAME --force` on the machine that holds its CA, and copy it here.",
	}
}

// bearer returns the option for the bearer token, from the flag's file or from contexts.Context.Bearer. It returns nil
// if there is no token.
func (o *Global) bearer(saved *contexts.Context) client.Option {
	file, token := saved.Bearer(o.Changed("context"))
	if o.Changed("bearer-token-file") {
		file, token = o.TokenFile, ""
	}
	switch {
	case token != "":
		return client.WithBearerToken(func(context.Context) (string, error) { return token, nil })
	case file != "":
		return client.WithBearerTokenFile(file)
	}
	return nil
}

// pick returns the value of a setting: the flag's value if the flag was given, and otherwise the value returned by
// contexts.Setting.
func (o *Global) pick(name, flag, saved string) string {
	if o.Changed(name) {
		return flag
	}
	return contexts.Setting(name, saved, o.Changed("context"))
}

// Changed reports whether a global flag was given.
func (o *Global) Changed(name string) bool {
	if o.flags == nil { // the zero Global
		return false
	}
	f := o.flags.Lookup(name)
	return f != nil && f.Changed
}

// ChangeAuthor returns the author of changes, by default user@host.
func (o *Global) ChangeAuthor() string {
	if a := o.pick("author", o.Author, ""); a != "" {
		return a
	}
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + "@" + host
}

// IdentityFlags holds the flags that identify the caller.
type IdentityFlags struct{ Group, Acquirer, HolderID string }

// Register adds all of the flags.
func (f *IdentityFlags) Register(cmd *cobra.Command) {
	f.RegisterCaller(cmd)
	cmd.Flags().StringVar(&f.HolderID, "holder-id", "", "holder id; a caller with the same id takes over its earlier permit, with a new token")
}

// RegisterCaller adds all of the flags except --holder-id, for a command that uses a new holder id for each permit.
func (f *IdentityFlags) RegisterCaller(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Group, "group", "", "group of the caller (GK_GROUP; default: "+client.DefaultGroup+")")
	cmd.Flags().StringVar(&f.Acquirer, "acquirer", "", "acquirer name of the caller (GK_ACQUIRER; default: the host name)")
}

// Options returns the client options for the flags that were given.
func (f *IdentityFlags) Options() []client.Option {
	var opts []client.Option
	if f.Group != "" {
		opts = append(opts, client.WithGroup(f.Group))
	}
	if f.Acquirer != "" {
		opts = append(opts, client.WithAcquirer(f.Acquirer))
	}
	return opts
}

// Identity returns the caller's complete identity, with defaults for the flags that were not given.
func (f *IdentityFlags) Identity(g *Global) (*gatekeeperv1.Identity, error) {
	saved, err := g.saved()
	if err != nil {
		return nil, err
	}
	id := &gatekeeperv1.Identity{
		Group: cmp.Or(f.Group, g.pick("group", "", saved.Group), client.DefaultGroup), Acquirer: cmp.Or(f.Acquirer, g.pick("acquirer", "", saved.Acquirer)),
		HolderId: f.HolderID,
	}
	if id.Acquirer == "" {
		if id.Acquirer, err = os.Hostname(); err != nil {
			return nil, ui.Usagef("specify --acquirer: the host name is unknown: %w", err)
		}
	}
	return id, nil
}

// CountResponding returns how many of the members listed in best have responded, and how many are listed. Each member
// counts once, even if it responded at more than one address.
func CountResponding(best *gatekeeperv1.GetStatusResponse, members []client.MemberStatus) (reached, known int) {
	for _, m := range best.GetMembers() {
		if slices.ContainsFunc(members, func(s client.MemberStatus) bool { return s.Status != nil && s.ID() == m.GetId() }) {
			reached++
		}
	}
	return reached, len(best.GetMembers())
}

// LeaderOrNewest returns the status of a member with the highest term, preferably the leader's. At least one member
// must have responded.
func LeaderOrNewest(members []client.MemberStatus) *gatekeeperv1.GetStatusResponse {
	var best *gatekeeperv1.GetStatusResponse
	for _, m := range members {
		s := m.Status
		if s == nil {
			continue
		}
		isLeader := s.GetRole() == gatekeeperv1.ServerRole_SERVER_ROLE_LEADER
		switch {
		case best == nil, s.GetTerm() > best.GetTerm(), s.GetTerm() == best.GetTerm() && isLeader:
			best = s
		}
	}
	return best
}
