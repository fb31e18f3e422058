package peer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
)

// authority is a certificate authority for tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert: cert, key: key, file: writePEM(t, "CERTIFICATE", der)}
}

// issue returns files with a certificate for ip.
func (a *authority) issue(t *testing.T, ip string) certs.Files {
	return a.issueFor(t, ip, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth)
}

func (a *authority) issueFor(t *testing.T, ip string, usages ...x509.ExtKeyUsage) certs.Files {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "peer"}, IPAddresses: []net.IP{net.ParseIP(ip)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: usages,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return certs.Files{Cert: writePEM(t, "CERTIFICATE", der), Key: writePEM(t, "PRIVATE KEY", keyDER), CA: a.file}
}

func writePEM(t *testing.T, kind string, der []byte) string {
	path := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func withTLS(f certs.Files) func(*Config) { return func(c *Config) { c.TLS = f } }

func TestTLS_SameAuthority_Connects(t *testing.T) {
	ca := newAuthority(t)
	a, b := newHost(t, "a", withTLS(ca.issue(t, "127.0.0.1"))), newHost(t, "b", withTLS(ca.issue(t, "127.0.0.1")))
	exchangeMessages(t, a, b, "b")
}

func TestTLS_BothSidesAreVerified(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	good := ca.issue(t, "127.0.0.1")
	b := newHost(t, "b", withTLS(good))
	untrusted := other.issue(t, "127.0.0.1")
	untrusted.CA = ca.file // trusts b, but b does not trust it
	for name, files := range map[string]certs.Files{
		"a client without TLS":                               {},
		"a client with a certificate from another authority": untrusted,
	} {
		if _, err := dial(newHost(t, "a", withTLS(files)), "b", b); err == nil {
			t.Errorf("%s was accepted", name)
		}
		<-b.rejected
	}
	wrongName := newHost(t, "c", withTLS(ca.issue(t, "127.0.0.2")))
	a := newHost(t, "a", withTLS(good))
	if _, err := dial(a, "c", wrongName); err == nil {
		t.Error("a server with a certificate for another name was accepted")
	}
	plain := newHost(t, "d", nil)
	if _, err := dial(a, "d", plain); err == nil {
		t.Error("a server without TLS was accepted")
	}

	// Clients without a certificate or with an old protocol version are refused too.
	for name, cfg := range map[string]*tls.Config{
		"a client without a certificate": {InsecureSkipVerify: true},
		"a client with TLS 1.2":          {InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, Certificates: certificates(t, good)},
	} {
		conn, err := tls.Dial("tcp", b.addr, cfg)
		if err == nil {
			_ = writeHello(conn, hello{Cluster: "c1", From: "a", To: "b"})
			if _, err = readHello(conn); err == nil {
				t.Errorf("%s was accepted", name)
			}
			conn.Close()
		}
		<-b.rejected
	}
}

// By default, the peer port trusts the same authorities as the API, which also sign client certificates.
func TestTLS_ClientCertificate_IsRefused(t *testing.T) {
	ca := newAuthority(t)
	b := newHost(t, "b", withTLS(ca.issue(t, "127.0.0.1")))
	for name, files := range map[string]certs.Files{
		"clientAuth only": ca.issueFor(t, "127.0.0.1", x509.ExtKeyUsageClientAuth),
		"any usage":       ca.issueFor(t, "127.0.0.1", x509.ExtKeyUsageAny),
		"no usage":        ca.issueFor(t, "127.0.0.1"),
	} {
		if _, err := files.Peer(); err == nil || !strings.Contains(err.Error(), "serverAuth") {
			t.Errorf("%s: Peer() = %v, want an error that mentions serverAuth", name, err)
		}
		conn, err := tls.Dial("tcp", b.addr, &tls.Config{InsecureSkipVerify: true, Certificates: certificates(t, files)})
		if err != nil {
			t.Fatal(err)
		}
		if err := writeHello(conn, hello{Cluster: "c1", From: "a", To: "b"}); err != nil {
			t.Fatal(err)
		}
		if _, err := readHello(conn); err == nil || !strings.Contains(err.Error(), "serverAuth") {
			t.Errorf("%s: got error %v, want a refusal that mentions serverAuth", name, err)
		}
		conn.Close()
		<-b.rejected
	}
	if !strings.Contains(b.logged(), "serverAuth") {
		t.Errorf("logged %q, want it to mention serverAuth", b.logged())
	}
}

func certificates(t *testing.T, f certs.Files) []tls.Certificate {
	cert, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		t.Fatal(err)
	}
	return []tls.Certificate{cert}
}

func TestTLS_FilesReplaced_NextHandshakeUsesThem(t *testing.T) {
	first, second := newAuthority(t), newAuthority(t)
	files := first.issue(t, "127.0.0.1")
	a, b := newHost(t, "a", withTLS(files)), newHost(t, "b", withTLS(files))
	exchangeMessages(t, a, b, "b")
	renewed := second.issue(t, "127.0.0.1")
	for from, to := range map[string]string{renewed.Cert: files.Cert, renewed.Key: files.Key, renewed.CA: files.CA} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exchangeMessages(t, a, b, "b")
	c := newHost(t, "c", withTLS(renewed))
	exchangeMessages(t, c, b, "b")

	if err := os.WriteFile(files.Cert, []byte("half writ"), 0o600); err != nil {
		t.Fatal(err)
	}
	exchangeMessages(t, a, b, "b") // both keep using the last valid files
}
