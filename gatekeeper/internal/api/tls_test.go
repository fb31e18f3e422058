package api

import (
	"context"
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// issue issues a certificate and returns its files, with the issuing authority as the CA.
func issue(ca *authoritytest.Authority, l authority.Leaf) certs.Files {
	f := ca.Issue(l)
	return certs.Files{Cert: f.Cert, Key: f.Key, CA: ca.File}
}

// clientCreds returns credentials for a client that trusts ca. If own is not nil, it issues the client's certificate.
func clientCreds(t *testing.T, ca, own *authoritytest.Authority, change func(*tls.Config)) grpc.DialOption {
	t.Helper()
	c := &tls.Config{RootCAs: ca.Pool(), MinVersion: tls.VersionTLS12}
	if own != nil {
		c.Certificates = []tls.Certificate{authoritytest.Pair(t, own.Issue(authority.Leaf{Name: "client", Client: true}))}
	}
	if change != nil {
		change(c)
	}
	return grpc.WithTransportCredentials(credentials.NewTLS(c))
}

func TestTLS_APIAndForwarding_RequireTrustedCertificates(t *testing.T) {
	ca, members, untrusted := authoritytest.New(t), authoritytest.New(t), authoritytest.New(t)
	secured := func(id string) func(*Config) {
		return func(c *Config) {
			c.ID = id
			c.TLS = issue(ca, authority.Leaf{Name: id, Server: true}) // cannot be used for forwarding, which needs a member certificate
			c.PeerTLS = issue(members, authority.Leaf{Name: id, Server: true, Client: true})
		}
	}
	leader, follower := open(t, secured("gk1")), open(t, secured("gk2"))
	lenient := open(t, secured("gk3"), func(c *Config) { c.OptionalClientCerts = true })
	for _, s := range []*gate{follower, lenient} {
		s.consensus.follow(consensus.Leader{ID: "gk1", APIAddress: leader.address, Term: 1})
	}
	leader.keeper.tryAcquire = func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) {
		return keeper.Answer{Outcome: semaphore.Granted, Permit: &semaphore.Permit{Token: 7}}, nil
	}
	for name, c := range map[string]struct {
		server *gate
		option grpc.DialOption
		ok     bool
	}{
		"valid client certificate":                     {follower, clientCreds(t, ca, ca, nil), true},
		"no client certificate":                        {follower, clientCreds(t, ca, nil, nil), false},
		"untrusted client certificate":                 {follower, clientCreds(t, ca, untrusted, nil), false},
		"client certificate issued by the members' CA": {follower, clientCreds(t, ca, members, nil), false},
		"TLS 1.2":                     {follower, clientCreds(t, ca, ca, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), false},
		"plain text":                  {follower, insecureCreds(), false},
		"untrusted server CA":         {follower, clientCreds(t, untrusted, ca, nil), false},
		"optional client certificate": {lenient, clientCreds(t, ca, nil, nil), true},
	} {
		t.Run(name, func(t *testing.T) {
			client := gatekeeperv1.NewPermitServiceClient(dial(t, c.server.address, c.option))
			reply, err := client.TryAcquire(ctx(t), plainRequest)
			if c.ok && (err != nil || reply.GetGrant().GetPermit().GetToken() != 7) {
				t.Errorf("TryAcquire() = %v, %v; want token 7", reply, err)
			}
			if !c.ok && status.Code(err) != codes.Unavailable {
				t.Errorf("TryAcquire() = %v, %v; want Unavailable", reply, err)
			}
		})
	}
}

func TestNew_UnusableTLSFiles_AreReported(t *testing.T) {
	ca := authoritytest.New(t)
	good := issue(ca, authority.Leaf{Name: "gk1", Server: true})
	other := ca.Issue(authority.Leaf{Name: "gk2", Server: true})
	noPEM := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(noPEM, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for wantErr, files := range map[string]certs.Files{
		"specify both files":                    {Cert: good.Cert},
		"requires both a certificate and a key": {CA: good.CA},
		"missing.pem":                           {Cert: "missing.pem", Key: good.Key},
		"missing-ca.pem":                        {Cert: good.Cert, Key: good.Key, CA: "missing-ca.pem"},
		"contains no PEM":                       {Cert: good.Cert, Key: good.Key, CA: noPEM},
		"private key does not ma":               {Cert: good.Cert, Key: other.Key},
	} {
		if _, err := New(Config{TLS: files}); err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("New() with %+v: got %v, want an error containing %q", files, err, wantErr)
		}
	}
}
