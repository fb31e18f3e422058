package gatekeeper

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// authorities holds a cluster's CAs, as `gkctl cert init` creates them.
type authorities struct {
	t            *testing.T
	api, members *authoritytest.Authority
}

func newAuthorities(t *testing.T) *authorities {
	return &authorities{t, authoritytest.New(t), authoritytest.New(t)}
}

// secure gives a server certificates like those from `gkctl cert server` and `gkctl cert peer`.
func (a *authorities) secure(c *Config) {
	c.Admin = "cert:client"
	c.TLS = issueTLS(a.api, authority.Leaf{Name: "server-" + c.ID, Server: true, Hosts: []string{"127.0.0.1"}})
	c.PeerTLS = issueTLS(a.members, authority.Leaf{Name: c.ID, Server: true, Client: true, Hosts: []string{"127.0.0.1"}})
}

func issueTLS(ca *authoritytest.Authority, l authority.Leaf) TLS {
	f := ca.Issue(l)
	return TLS{CertFile: f.Cert, KeyFile: f.Key, CAFile: ca.File}
}

// client returns a dial option with a client certificate that issuer issued at the given time, or without a certificate
// if issuer is nil. The client presents its certificate even if the server requests only certificates from other CAs.
func (a *authorities) client(issuer *authoritytest.Authority, at time.Time, change func(*tls.Config)) grpc.DialOption {
	a.t.Helper()
	cfg := &tls.Config{RootCAs: a.api.Pool(), MinVersion: tls.VersionTLS12}
	if issuer != nil {
		pair := authoritytest.Pair(a.t, issuer.IssueAt(at, authority.Leaf{Name: "client", Client: true}))
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	if change != nil {
		change(cfg)
	}
	return grpc.WithTransportCredentials(credentials.NewTLS(cfg))
}

func TestCluster_TLS_ServesForwardsAndAddsMembers(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	servers := clusterWith(t, a.secure, "gk1", "gk2", "gk3")
	good := a.client(a.api, time.Now(), nil)
	for _, s := range servers {
		newCaller(t, s, good).try(t, "none", "app1") // followers forward the call
	}

	st, err := newCaller(t, servers[0], good).GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{})
	if c := st.GetCertificates(); err != nil || len(c) != 2 || c[0].GetPort() != gatekeeperv1.CertificatePort_CERTIFICATE_PORT_API ||
		!c[0].GetNotAfter().AsTime().After(time.Now()) || c[0].GetError() != "" {
		t.Errorf("Certificates = %v, %v, want one for each port", c, err)
	}
	if w := st.GetLogWrites(); w.GetCount() == 0 || w.GetLongest().AsDuration() < w.GetMedian().AsDuration() || w.GetMedian().AsDuration() <= 0 {
		t.Errorf("LogWrites = %v, want positive and consistent durations", w)
	}

	cfg, _ := testConfig(t, "gk4")
	a.secure(&cfg)
	cfg.Join = []string{servers[0].APIAddress()}
	waitReady(t, open(t, cfg))
}

// Both ports can share a CA if server certificates are valid for client and server authentication.
func TestCluster_OneAuthority_ServesAndForwards(t *testing.T) {
	t.Parallel()
	ca := authoritytest.New(t)
	servers := clusterWith(t, func(c *Config) {
		c.TLS, c.Admin = issueTLS(ca, authority.Leaf{Name: c.ID, Server: true, Client: true}), "cert:client"
	}, "gk1", "gk2", "gk3")
	a := &authorities{t, ca, ca}
	for _, s := range servers {
		newCaller(t, s, a.client(ca, time.Now(), nil)).try(t, "none", "app1")
	}
}

func TestAPI_InvalidCertificate_IsRejectedWithReason(t *testing.T) {
	t.Parallel()
	a, otherCA := newAuthorities(t), authoritytest.New(t)
	cfg, _ := testConfig(t, "gk1")
	a.secure(&cfg)
	s := open(t, cfg)
	waitReady(t, s)
	now := time.Now()
	for name, c := range map[string]struct {
		option grpc.DialOption
		text   string
	}{
		"no certificate":              {a.client(nil, now, nil), "certificate required"},
		"issued by another CA":        {a.client(otherCA, now, nil), "unknown certificate authority"},
		"expired":                     {a.client(a.api, now.Add(-90*time.Minute), nil), "expired certificate"},
		"not yet valid":               {a.client(a.api, now.Add(time.Hour), nil), "expired certificate"}, // TLS has no separate alert for this
		"issued by the members' CA":   {a.client(a.members, now, nil), "bad certificate"},
		"a server in another cluster": {a.client(a.api, now, func(c *tls.Config) { c.RootCAs = otherCA.Pool() }), "unknown authority"},
		"an older TLS version":        {a.client(a.api, now, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), "protocol version not supported"},
		"no TLS":                      {grpc.WithTransportCredentials(insecure.NewCredentials()), ""},
	} {
		eventually(t, func() bool { // a client that is still writing may only see a closed connection
			_, err := newCaller(t, s, c.option).GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{})
			if status.Code(err) != codes.Unavailable {
				t.Fatalf("%s: GetStatus() = %v, want Unavailable", name, err)
			}
			return strings.Contains(err.Error(), c.text)
		})
	}
	if _, err := newCaller(t, s, a.client(a.api, now, nil)).GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{}); err != nil {
		t.Errorf("call with a valid certificate: %v", err)
	}
}

func TestPeerPort_InvalidCertificate_IsRejectedWithReason(t *testing.T) {
	t.Parallel()
	a, otherCA := newAuthorities(t), authoritytest.New(t)
	cfg, _ := testConfig(t, "gk1")
	a.secure(&cfg)
	s := open(t, cfg)
	waitReady(t, s)
	member := authority.Leaf{Name: "gk2", Server: true, Client: true}
	for name, c := range map[string]struct {
		issuer *authoritytest.Authority
		at     time.Time
		leaf   authority.Leaf
		text   string
	}{
		"no certificate":                {nil, time.Now(), member, "certificate required"},
		"a client":                      {a.api, time.Now(), authority.Leaf{Name: "client", Client: true}, "unknown certificate authority"},
		"issued by the API's CA":        {a.api, time.Now(), authority.Leaf{Name: "server-gk2", Server: true}, "unknown certificate authority"},
		"a member from another cluster": {otherCA, time.Now(), member, "unknown certificate authority"},
		"a member, expired":             {a.members, time.Now().Add(-90 * time.Minute), member, "expired certificate"},
		"a member, not yet valid":       {a.members, time.Now().Add(time.Hour), member, "expired certificate"},
		"a member without both usages":  {a.members, time.Now(), authority.Leaf{Name: "gk2", Server: true}, "bad certificate"},
	} {
		dial := &tls.Config{RootCAs: a.members.Pool(), ServerName: "127.0.0.1"}
		if c.issuer != nil {
			pair := authoritytest.Pair(t, c.issuer.IssueAt(c.at, c.leaf))
			dial.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
		conn, err := tls.Dial("tcp", s.PeerAddress(), dial)
		if err == nil {
			_, err = conn.Read(make([]byte, 1)) // in TLS 1.3, the client's handshake can succeed before it is rejected
			conn.Close()
		}
		if refused, ok := errors.AsType[*net.OpError](err); !ok || !strings.Contains(refused.Error(), c.text) {
			t.Errorf("%s: got %v, want an error containing %q", name, err, c.text)
		}
	}
}

func TestOpen_JoinerWithServerCertificate_IsRejected(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	server := authority.Leaf{Name: "server-gk1", Server: true}
	cfg, _ := testConfig(t, "gk1")
	cfg.TLS = issueTLS(a.api, server)
	single := open(t, cfg) // a single server does not dial others
	waitReady(t, single)

	cfg, _ = testConfig(t, "gk2")
	cfg.TLS, cfg.Join = issueTLS(a.api, server), []string{single.APIAddress()}
	_, err := Open(bounded(t), cfg)
	if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != "PeerTLS" || !strings.Contains(e.Rule, "lacks the extended key usage clientAuth") {
		t.Errorf("Open() = %v, want a ConfigError for PeerTLS", err)
	}
}

// Without this check, a server with an unusable certificate would start, but all connections to it would fail.
func TestOpen_UnusableCertificate_ReportsFile(t *testing.T) {
	t.Parallel()
	a, client := newAuthorities(t), authority.Leaf{Name: "ann", Client: true, Hosts: []string{"127.0.0.1"}}
	for name, test := range map[string]struct {
		change func(c *Config)
		field  string
		file   func(c *Config) string
		text   string
	}{
		"API: only for clients":  {func(c *Config) { c.TLS = issueTLS(a.api, client) }, "TLS", func(c *Config) string { return c.TLS.CertFile }, "serverAuth"},
		"peer: only for clients": {func(c *Config) { c.PeerTLS = issueTLS(a.members, client) }, "PeerTLS", func(c *Config) string { return c.PeerTLS.CertFile }, "serverAuth"},
		"peer: only for servers": {func(c *Config) { c.PeerTLS = issueTLS(a.members, authority.Leaf{Name: "gk1", Server: true}) }, "PeerTLS", func(c *Config) string { return c.PeerTLS.CertFile }, "clientAuth"},
		"peer: from another CA":  {func(c *Config) { c.PeerTLS.CAFile = a.api.File }, "PeerTLS", func(c *Config) string { return c.PeerTLS.CertFile }, a.api.File},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := testConfig(t, "gk1")
			a.secure(&cfg)
			test.change(&cfg)
			_, err := Open(bounded(t), cfg)
			e, ok := errors.AsType[*ConfigError](err)
			if !ok || e.Field != test.field || e.Value != test.file(&cfg) || !strings.Contains(e.Rule, test.text) {
				t.Errorf("Open() = %v, want a ConfigError for the file", err)
			}
			if checked, ok := errors.AsType[*ConfigError](cfg.Check()); !ok || *checked != *e {
				t.Errorf("Check() = %v, want the same ConfigError", checked)
			}
		})
	}
}

// A failed renewal must not keep a server from restarting.
func TestOpen_PeerCertificateExpired_Starts(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	cfg, _ := testConfig(t, "gk1")
	a.secure(&cfg)
	f := a.members.IssueAt(time.Now().Add(-90*time.Minute), authority.Leaf{Name: "gk1", Server: true, Client: true})
	cfg.PeerTLS.CertFile, cfg.PeerTLS.KeyFile = f.Cert, f.Key
	waitReady(t, open(t, cfg))
}

// The port keeps the previous certificate, and GetStatus reports the unusable file.
func TestAPI_CertificateReplacedWithClientCertificate_KeepsOldOne(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	cfg, _ := testConfig(t, "gk1")
	a.secure(&cfg)
	s := open(t, cfg)
	waitReady(t, s)
	a.api.Issue(authority.Leaf{Name: "server-gk1", Client: true, Hosts: []string{"127.0.0.1"}})
	st, err := newCaller(t, s, a.client(a.api, time.Now(), nil)).GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{})
	if c := st.GetCertificates(); err != nil || len(c) != 2 || !strings.Contains(c[0].GetError(), "serverAuth") || !strings.Contains(c[0].GetError(), cfg.TLS.CertFile) {
		t.Errorf("Certificates = %v, %v, want the previous one with an error for the new file", c, err)
	}
}

func TestMetrics_CertificateExpiry_FollowsFiles(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	cfg, _ := testConfig(t, "gk1")
	a.secure(&cfg)
	cfg.Registerer = prometheus.NewRegistry()
	waitReady(t, open(t, cfg))
	gatherExpiries := func() map[string]time.Time {
		families, err := cfg.Registerer.(*prometheus.Registry).Gather()
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]time.Time{}
		for _, f := range families {
			if f.GetName() != "gatekeeper_certificate_expiry_timestamp_seconds" {
				continue
			}
			for _, m := range f.GetMetric() {
				all[m.GetLabel()[0].GetValue()] = time.Unix(int64(m.GetGauge().GetValue()), 0)
			}
		}
		return all
	}
	leafExpiry := func(t TLS) time.Time {
		_, end, err := t.files().Expiry()
		if err != nil {
			a.t.Fatal(err)
		}
		return end
	}
	if got := gatherExpiries(); !got["api"].Equal(leafExpiry(cfg.TLS)) || !got["peer"].Equal(leafExpiry(cfg.PeerTLS)) {
		t.Errorf("certificate expiries = %v, want the expiry times in both certificates", got)
	}
	a.api.Issue(authority.Leaf{Name: "server-gk1", Server: true, Lifetime: 3 * time.Hour})
	if got := gatherExpiries(); !got["api"].Equal(leafExpiry(cfg.TLS)) || !got["api"].After(got["peer"]) {
		t.Errorf("certificate expiries after renewal = %v, want the new certificate's expiry time", got)
	}
	if err := os.Remove(cfg.PeerTLS.CertFile); err != nil {
		t.Fatal(err)
	}
	if got := gatherExpiries(); got["peer"].Unix() != 0 {
		t.Errorf("certificate expiries with a missing file = %v, want 0 for the peer port", got)
	}
}
