package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
)

func filesOf(f authority.Files) Files { return Files{Cert: f.Cert, Key: f.Key} }

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// handshake runs both sides of a handshake, and returns the client's view of the connection. The error is the server's.
func handshake(t *testing.T, server, client *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	a, b := net.Pipe()
	failed := make(chan error, 1)
	go func() {
		defer a.Close()
		failed <- tls.Server(a, server).Handshake()
	}()
	client = client.Clone()
	client.InsecureSkipVerify, client.NextProtos = true, []string{"h2"} // these tests cover only verification by the server
	c := tls.Client(b, client)
	defer b.Close()
	if err := c.Handshake(); err == nil {
		_, _ = c.Read(make([]byte, 1)) // in TLS 1.3, the server may reject the client after the client's handshake has returned
	}
	err := <-failed
	return c.ConnectionState(), err
}

// servedSerial returns the serial number of the certificate that the server presents in the next handshake.
func servedSerial(t *testing.T, cfg *tls.Config) string {
	t.Helper()
	state, err := handshake(t, cfg, &tls.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return state.PeerCertificates[0].SerialNumber.String()
}

func TestPort_FilesRenewed_NextHandshakeUsesThem(t *testing.T) {
	ca := authoritytest.New(t)
	leaf := authority.Leaf{Name: "gk1", Server: true}
	f := filesOf(ca.Issue(leaf))
	cfg, err := Port{Files: f}.Config()
	if err != nil {
		t.Fatal(err)
	}
	first := servedSerial(t, cfg)
	ca.Issue(leaf)
	second := servedSerial(t, cfg)
	if second == first {
		t.Fatal("the old certificate was served after the renewal")
	}
	write(t, f.Cert, []byte("half writ"))
	if n := servedSerial(t, cfg); n != second {
		t.Fatalf("got certificate %s with an unusable file, want %s", n, second)
	}
}

// The client CA can be replaced while the server is running, like the server's own certificate.
func TestPort_CAFileRenewed_NextHandshakeUsesIt(t *testing.T) {
	before, after := authoritytest.New(t), authoritytest.New(t)
	f := filesOf(before.Issue(authority.Leaf{Name: "gk1", Server: true}))
	f.CA = before.File
	cfg, err := Port{Files: f}.Config()
	if err != nil {
		t.Fatal(err)
	}
	with := func(a *authoritytest.Authority) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{authoritytest.Pair(t, a.Issue(authority.Leaf{Name: "client", Client: true}))}}
	}
	if _, err := handshake(t, cfg, with(before)); err != nil {
		t.Fatal(err)
	}
	write(t, before.File, after.CertPEM())
	if _, err := handshake(t, cfg, with(before)); err == nil {
		t.Error("a client with a certificate from the old CA was accepted")
	}
	if _, err := handshake(t, cfg, with(after)); err != nil {
		t.Error(err)
	}
}

func TestPort_ClientCertificates_AcceptedOrRefused(t *testing.T) {
	api, members, unknownCA := authoritytest.New(t), authoritytest.New(t), authoritytest.New(t)
	own := filesOf(api.Issue(authority.Leaf{Name: "gk1", Server: true}))
	withCA := own
	withCA.CA = api.File
	client, member := authority.Leaf{Name: "client", Client: true}, authority.Leaf{Name: "gk2", Server: true, Client: true}
	required, optional := Port{Files: withCA, Members: members.File}, Port{Files: withCA, Members: members.File, Optional: true}
	sharedCA := Port{Files: withCA, Members: api.File}
	withoutClientCA := Port{Files: own, Members: members.File}
	for _, c := range []struct {
		name   string
		port   Port
		issuer *authoritytest.Authority // nil: no certificate
		leaf   authority.Leaf
		ok     bool
	}{
		{"client", required, api, client, true},
		{"member", required, members, member, true},
		{"client from the members' CA", required, members, client, false},
		{"client from an unknown CA", required, unknownCA, client, false},
		{"member from an unknown CA", required, unknownCA, member, false},
		{"server from the API's CA", required, api, authority.Leaf{Name: "gk2", Server: true}, false},
		{"no certificate", required, nil, client, false},
		{"no certificate, optional", optional, nil, client, true},
		{"client, optional", optional, api, client, true},
		{"client from an unknown CA, optional", optional, unknownCA, client, false},
		{"client from the members' CA, optional", optional, members, client, false},
		{"client, one CA for both", sharedCA, api, client, true},
		{"member, one CA for both", sharedCA, api, member, true},
		{"no certificate, one CA for both", sharedCA, nil, client, false},
		{"no certificate, without a client CA", withoutClientCA, nil, client, true},
		{"member, without a client CA", withoutClientCA, members, member, true},
		{"client from the members' CA, without a client CA", withoutClientCA, members, client, false},
	} {
		cfg, err := c.port.Config()
		if err != nil {
			t.Fatal(err)
		}
		clientConfig := &tls.Config{}
		if c.issuer != nil {
			pair := authoritytest.Pair(t, c.issuer.Issue(c.leaf))
			clientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
		if _, err := handshake(t, cfg, clientConfig); (err == nil) != c.ok {
			t.Errorf("%s: handshake error = %v, want accepted = %t", c.name, err, c.ok)
		}
	}
}

func TestConfig_UnusableFile_ReturnsFileError(t *testing.T) {
	dir := t.TempDir()
	f := Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	_, err := f.Config()
	if bad, ok := errors.AsType[*FileError](err); !ok || bad.File != f.Cert {
		t.Fatalf("Config() = %v, want a FileError for %s", err, f.Cert)
	}
	f = filesOf(authoritytest.New(t).Issue(authority.Leaf{Name: "gk1", Server: true}))
	f.CA = filepath.Join(dir, "ca.pem")
	write(t, f.CA, nil)
	_, err = f.Config()
	if bad, ok := errors.AsType[*FileError](err); !ok || bad.File != f.CA {
		t.Fatalf("Config() = %v, want a FileError for %s", err, f.CA)
	}
}

// Member certificates may be issued by an intermediate CA.
func TestVerifyMember_IntermediateCA_FollowsTheChain(t *testing.T) {
	other, dir := authoritytest.New(t), t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	issue := func(serial int64, c x509.Certificate, issuer *x509.Certificate, with crypto.Signer) *x509.Certificate {
		t.Helper()
		c.SerialNumber, c.Subject.CommonName = big.NewInt(serial), "cert "+strconv.FormatInt(serial, 10)
		c.NotBefore, c.NotAfter, c.BasicConstraintsValid = time.Now().Add(-time.Minute), time.Now().Add(time.Hour), true
		der, err := x509.CreateCertificate(rand.Reader, &c, issuer, key.Public(), with)
		if err != nil {
			t.Fatal(err)
		}
		return must(x509.ParseCertificate(der))(t)
	}
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	ca := x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign}
	root := issue(1, ca, &ca, key)
	intermediate := issue(2, ca, root, key)
	member := issue(3, x509.Certificate{ExtKeyUsage: both}, intermediate, key)
	client := issue(4, x509.Certificate{ExtKeyUsage: both[1:]}, intermediate, key)
	files := Files{CA: filepath.Join(dir, "ca.crt")}
	write(t, files.CA, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Raw}))
	if err := files.VerifyMember([]*x509.Certificate{member, intermediate, root}); err != nil {
		t.Errorf("VerifyMember() of a member with its chain: %v", err)
	}
	for name, chain := range map[string][]*x509.Certificate{
		"member without the intermediate certificate": {member}, "client certificate": {client, intermediate},
	} {
		if files.VerifyMember(chain) == nil {
			t.Errorf("%s: VerifyMember() = nil, want an error", name)
		}
	}
	if (Files{CA: other.File}).VerifyMember([]*x509.Certificate{member, intermediate, root}) == nil {
		t.Error("VerifyMember() accepted a member with a certificate from another CA")
	}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
