package gatekeeper

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// rotation is a cluster whose certificates, CA files and tokens are replaced while clients use it.
type rotation struct {
	*securedCluster
	// certificate and token are the clients' files.
	certificate authority.Files
	token       string
	// ca is the file with the CAs that clients trust.
	ca         string
	iterations []*atomic.Uint64 // iterations that each client has completed
	running    sync.WaitGroup
	conn       *grpc.ClientConn // the administrator's
}

// write replaces a file atomically.
func (r *rotation) write(path string, data []byte) {
	r.t.Helper()
	err := os.WriteFile(path+".new", data, 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// install replaces a certificate and its key with newly issued ones.
func (r *rotation) install(from, to authority.Files) {
	r.t.Helper()
	for _, f := range [][2]string{{from.Key, to.Key}, {from.Cert, to.Cert}} {
		data, err := os.ReadFile(f[0])
		if err != nil {
			r.t.Fatal(err)
		}
		r.write(f[1], data)
	}
}

// renew issues new certificates for all servers and clients.
func (r *rotation) renew(api, members *authoritytest.Authority) {
	r.t.Helper()
	for _, s := range r.servers {
		for _, f := range []struct {
			by    *authoritytest.Authority
			leaf  authority.Leaf
			files TLS
		}{
			{api, authority.Leaf{Name: "server-" + s.cfg.ID, Server: true, Hosts: []string{"127.0.0.1"}}, s.cfg.TLS},
			{members, authority.Leaf{Name: s.cfg.ID, Server: true, Client: true, Hosts: []string{"127.0.0.1"}}, s.cfg.PeerTLS},
		} {
			r.install(f.by.Issue(f.leaf), authority.Files{Cert: f.files.CertFile, Key: f.files.KeyFile})
		}
	}
	r.install(api.Issue(authority.Leaf{Name: "app", Client: true}), r.certificate)
}

// replaceToken creates a new token for the clients and revokes the old one.
func (r *rotation) replaceToken() {
	r.t.Helper()
	ctx := bounded(r.t)
	created, err := withRetry(r.t, r.admin.CreateToken, &gatekeeperv1.CreateTokenRequest{Binding: "app", Reason: "rotation"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(r.token, []byte(created.GetSecret()+"\n"))
	all, err := withRetry(r.t, r.admin.ListBindings, &gatekeeperv1.ListBindingsRequest{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, b := range all.GetBindings() {
		for _, token := range b.GetTokens() {
			if b.GetName() == "app" && token.GetId() != created.GetToken().GetId() {
				if _, err := r.admin.RevokeToken(ctx, &gatekeeperv1.RevokeTokenRequest{Id: token.GetId(), Reason: "rotation"}); err != nil {
					r.t.Fatal(err)
				}
			}
		}
	}
}

// startClient starts a client that acquires and releases permits until the context ends, and holds one more permit
// throughout. If short is set, each iteration uses a new client, and therefore new connections.
func (r *rotation) startClient(ctx context.Context, name string, short bool, opts ...client.Option) {
	r.t.Helper()
	var endpoints []string
	for _, s := range r.servers {
		endpoints = append(endpoints, s.APIAddress())
	}
	dial := func() (*client.Client, error) {
		return client.Dial(bounded(r.t), endpoints, append(opts, client.WithGroup("g"), client.WithAcquirer(name))...)
	}
	kept, err := dial()
	if err != nil {
		r.t.Fatal(err)
	}
	held, err := kept.Semaphore("kept/" + name).TryAcquire(bounded(r.t))
	if err != nil {
		r.t.Fatal(err)
	}
	iterate := func() error {
		c := kept
		if short {
			var err error
			if c, err = dial(); err != nil {
				return err
			}
			defer c.Close()
		}
		p, err := c.Semaphore("pair/" + name).TryAcquire(bounded(r.t))
		if err != nil {
			return fmt.Errorf("acquire: %w", err)
		}
		if err := p.Release(bounded(r.t)); err != nil {
			return fmt.Errorf("release: %w", err)
		}
		if held.Context().Err() != nil {
			return fmt.Errorf("held permit: %w", context.Cause(held.Context()))
		}
		return nil
	}
	done := new(atomic.Uint64)
	r.iterations = append(r.iterations, done)
	r.running.Go(func() {
		defer kept.Close()
		for ctx.Err() == nil {
			if err := iterate(); err != nil {
				r.t.Errorf("%s failed after %d iterations: %v", name, done.Load(), err)
				return
			}
			done.Add(1)
		}
	})
}

// settle transfers leadership, so that servers reconnect, and waits until every client has made progress.
func (r *rotation) settle() {
	r.t.Helper()
	_, err := withRetry(r.t, gatekeeperv1.NewClusterServiceClient(r.conn).TransferLeadership, &gatekeeperv1.TransferLeadershipRequest{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, done := range r.iterations {
		goal := done.Load() + 5
		eventually(r.t, func() bool { return done.Load() >= goal || r.t.Failed() })
	}
}

// Clients authenticate with certificates and tokens, over long-lived and new connections, while all certificates, CAs
// and tokens are replaced. No call may fail, and no permit may be lost.
func TestRotation_UnderLoad_NoCallFails(t *testing.T) {
	t.Parallel()
	r := &rotation{securedCluster: newSecuredCluster(t, func(c *Config) { c.BearerTokens = true })}
	dir := t.TempDir()
	r.token, r.ca = filepath.Join(dir, "token"), filepath.Join(dir, "ca.crt")
	r.certificate = authority.Files{Cert: filepath.Join(dir, "app.crt"), Key: filepath.Join(dir, "app.key")}
	r.write(r.ca, r.a.api.CertPEM())
	r.renew(r.a.api, r.a.members)
	r.bind("app", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER))
	r.replaceToken()
	admin := r.named(0, "client")
	r.conn = admin.conn

	ctx, stop := context.WithCancel(t.Context())
	defer r.running.Wait()
	defer stop()
	byCertificate := client.WithTLS(client.TLS{CAFile: r.ca, CertFile: r.certificate.Cert, KeyFile: r.certificate.Key})
	byToken := client.WithTLS(client.TLS{CAFile: r.ca})
	for name, opts := range map[string][]client.Option{
		"certificate": {byCertificate}, "token": {byToken, client.WithBearerTokenFile(r.token)},
	} {
		for _, kind := range []string{"long-lived", "new"} {
			client := kind + "-" + name
			admin.create(t, "kept/"+client)
			admin.create(t, "pair/"+client)
			r.startClient(ctx, client, kind == "new", opts...)
		}
	}
	for range 2 {
		r.renew(r.a.api, r.a.members)
		r.replaceToken()
		r.settle()
	}
	// To replace the CAs, first accept both, then present new certificates, then drop the old CAs.
	api, members := authoritytest.New(t), authoritytest.New(t)
	for _, next := range []func(){
		func() {
			r.trust([]*authoritytest.Authority{r.a.api, api}, []*authoritytest.Authority{r.a.members, members})
		},
		func() { r.renew(api, members) },
		func() { r.trust([]*authoritytest.Authority{api}, []*authoritytest.Authority{members}) },
		r.replaceToken,
	} {
		next()
		r.settle()
	}
}

// trust configures servers and clients to accept the given CAs.
func (r *rotation) trust(api, members []*authoritytest.Authority) {
	r.t.Helper()
	bundle := func(all []*authoritytest.Authority) (pem []byte) {
		for _, a := range all {
			pem = append(pem, a.CertPEM()...)
		}
		return pem
	}
	r.write(r.a.api.File, bundle(api))
	r.write(r.a.members.File, bundle(members))
	r.write(r.ca, bundle(api))
}
