package authority

import (
	"crypto/x509"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func newAuthority(t *testing.T, lifetime time.Duration) *Pair {
	t.Helper()
	a, err := New("test", time.Now(), lifetime)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t *testing.T, a *Pair, l Leaf) *x509.Certificate {
	t.Helper()
	p, err := a.Issue(l, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return p.Cert
}

// verify checks that the certificate is valid for the given use and, unless host is empty, for the host.
func verify(c *x509.Certificate, a *Pair, host string, use x509.ExtKeyUsage) error {
	roots := x509.NewCertPool()
	roots.AddCert(a.Cert)
	_, err := c.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, KeyUsages: []x509.ExtKeyUsage{use}})
	return err
}

func TestIssue_EachUse_IsValidOnlyForThatUse(t *testing.T) {
	a, other := newAuthority(t, time.Hour), newAuthority(t, time.Hour)
	server := Leaf{Name: "gk1", Hosts: []string{"gk1.example.com", "10.0.0.1", "::1"}, Server: true, Lifetime: time.Minute}
	client := Leaf{Name: "orders", Client: true, Lifetime: time.Minute}
	for _, c := range []struct {
		name string
		leaf Leaf
		root *Pair
		host string
		use  x509.ExtKeyUsage
		ok   bool
	}{
		{"server by name", server, a, "gk1.example.com", x509.ExtKeyUsageServerAuth, true},
		{"server by address", server, a, "10.0.0.1", x509.ExtKeyUsageServerAuth, true},
		{"server by IPv6", server, a, "::1", x509.ExtKeyUsageServerAuth, true},
		{"server by common name", server, a, "gk1", x509.ExtKeyUsageServerAuth, false},
		{"server as a client", server, a, "", x509.ExtKeyUsageClientAuth, false},
		{"server from another authority", server, other, "gk1.example.com", x509.ExtKeyUsageServerAuth, false},
		{"client", client, a, "", x509.ExtKeyUsageClientAuth, true},
		{"client as a server", client, a, "", x509.ExtKeyUsageServerAuth, false},
	} {
		if err := verify(issue(t, a, c.leaf), c.root, c.host, c.use); (err == nil) != c.ok {
			t.Errorf("verify() of %s = %v, want valid = %t", c.name, err, c.ok)
		}
	}
}

func TestIssue_Certificate_HasExpectedFields(t *testing.T) {
	a := newAuthority(t, time.Hour)
	uri := &url.URL{Scheme: "spiffe", Host: "example.com", Path: "/orders"}
	c := issue(t, a, Leaf{Name: "orders", URIs: []*url.URL{uri}, Client: true, Lifetime: 48 * time.Hour})
	if !c.NotAfter.Equal(a.Cert.NotAfter) {
		t.Errorf("NotAfter = %s, want the authority's %s", c.NotAfter, a.Cert.NotAfter)
	}
	if early := time.Since(c.NotBefore); early < backdate {
		t.Errorf("NotBefore is %s ago, want at least %s", early, backdate)
	}
	if c.SerialNumber.Sign() <= 0 || c.SerialNumber.BitLen() > 128 || c.SerialNumber.Cmp(a.Cert.SerialNumber) == 0 {
		t.Errorf("got serial number %x, want a positive one of at most 128 bits, different from the authority's", c.SerialNumber)
	}
	if c.IsCA || len(c.URIs) != 1 || c.URIs[0].String() != uri.String() || c.Subject.CommonName != "orders" {
		t.Errorf("got CA %t, URIs %v, subject %s; want no CA, one URI and the name", c.IsCA, c.URIs, c.Subject)
	}
	if c := a.Cert; !c.IsCA || c.MaxPathLen != 0 || !c.MaxPathLenZero || len(c.ExtKeyUsage) != 0 {
		t.Errorf("got authority with CA %t, path length %d, uses %v; want true, 0 and none", c.IsCA, c.MaxPathLen, c.ExtKeyUsage)
	}
	long := strings.Repeat("a", 63) + ".example.com"
	if err := verify(issue(t, a, Leaf{Name: long, Hosts: []string{long}, Server: true, Lifetime: time.Hour}), a, long, x509.ExtKeyUsageServerAuth); err != nil {
		t.Errorf("Issue() with a long host name: %v", err)
	}
}

func TestIssue_ExpiredAuthority_Fails(t *testing.T) {
	a, err := New("old", time.Now().Add(-2*time.Hour), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Issue(Leaf{Name: "x", Client: true, Lifetime: time.Hour}, time.Now()); err == nil || !strings.Contains(err.Error(), "expired at") {
		t.Errorf("Issue() = %v, want an error containing \"expired at\"", err)
	}
}

func TestRead_AfterWrite_ReturnsPair(t *testing.T) {
	dir := t.TempDir()
	f := Files{filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key")}
	a, b := newAuthority(t, time.Hour), newAuthority(t, time.Hour)
	for _, p := range []*Pair{a, b} { // the second replaces the first
		if err := p.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(f)
	if err != nil || !got.Cert.Equal(b.Cert) {
		t.Fatalf("Read() = %v, %v; want the pair that was written", got, err)
	}
	if err := verify(issue(t, got, Leaf{Name: "x", Client: true, Lifetime: time.Minute}), b, "", x509.ExtKeyUsageClientAuth); err != nil {
		t.Error(err)
	}
	key, err := a.KeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := a.Issue(Leaf{Name: "x", Client: true, Lifetime: time.Minute}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for want, p := range map[string][2][]byte{
		"does not belong to the authority": {b.CertPEM(), key}, "is not a CA certificate": {leaf.CertPEM(), key},
		"no PEM certificate": {key, key}, "not in PEM": {a.CertPEM(), nil},
	} {
		if _, err := Parse(p[0], p[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse() = %v, want an error containing %q", err, want)
		}
	}
}

func TestHost_ReturnsCanonicalFormOrError(t *testing.T) {
	for in, want := range map[string]string{
		"GK1.example.com.": "gk1.example.com", "10.0.0.1": "10.0.0.1", "[::1]": "::1", "2001:DB8::1": "2001:db8::1", "gk_1": "gk_1",
	} {
		if got, err := Host(in); err != nil || got != want {
			t.Errorf("Host(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, bad := range []string{
		"", "gk1:7420", "[::1]:7420", "https://gk1", "*.example.com", "0.0.0.0", "::", "fe80::1%eth0", "a b", "-a", "a..b", "10.0.0.256", "bücher.de",
	} {
		if got, err := Host(bad); err == nil {
			t.Errorf("Host(%q) = %q, want an error", bad, got)
		}
	}
}

func TestNames_Invalid_AreRefused(t *testing.T) {
	for _, bad := range []string{"", "../etc", "a/b", "a b", ".hidden", "-x", "ä", strings.Repeat("a", 65)} {
		if CheckName(bad) == nil {
			t.Errorf("CheckName(%q) = nil, want an error", bad)
		}
	}
	for _, bad := range []string{
		"", "orders", "https://example.com/a", "spiffe://example.com", "spiffe://example.com/", "spiffe://example.com//a", "spiffe://Example.com/a",
		"spiffe://example.com:1/a", "spiffe://u@example.com/a", "spiffe://example.com/a?b", "spiffe://example.com/a#b", "spiffe://example.com/../a", "spiffe://example.com/a%20b",
	} {
		if u, err := SPIFFE(bad); err == nil {
			t.Errorf("SPIFFE(%q) = %s, want an error", bad, u)
		}
	}
	for _, good := range []string{"spiffe://example.com/orders", "spiffe://cluster.local/ns/default/sa/My_App-1.2"} {
		if u, err := SPIFFE(good); err != nil || u.String() != good {
			t.Errorf("SPIFFE(%q) = %v, want no error and the same id", good, err)
		}
	}
	if u, err := AcquirerURI("host-1"); err != nil || u.String() != "gatekeeper:acquirer:host-1" {
		t.Errorf("AcquirerURI() = %v, %v; want gatekeeper:acquirer:host-1", u, err)
	}
	c := issue(t, newAuthority(t, time.Hour), Leaf{Name: "x", Client: true, Lifetime: time.Minute, URIs: []*url.URL{{Scheme: "gatekeeper", Opaque: "acquirer:host-1"}}})
	if !slices.ContainsFunc(c.URIs, func(u *url.URL) bool { return u.String() == "gatekeeper:acquirer:host-1" }) {
		t.Errorf("got URIs %v, want one for the acquirer", c.URIs)
	}
}
