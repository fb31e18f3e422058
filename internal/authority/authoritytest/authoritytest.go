// Package authoritytest issues certificates for tests.
package authoritytest

import (
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/authority"
)

// Authority signs certificates for the duration of a test.
type Authority struct {
	*authority.Pair
	// File is the path of its certificate.
	File string

	t   testing.TB
	dir string
}

// New creates an authority.
func New(t testing.TB) *Authority {
	t.Helper()
	p, err := authority.New("test", time.Now().Add(-2*time.Hour), 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	a := &Authority{Pair: p, t: t, dir: t.TempDir()}
	a.File = filepath.Join(a.dir, "ca.crt")
	a.write(p, authority.Files{Cert: a.File, Key: filepath.Join(a.dir, "ca.key")})
	return a
}

// Pool returns a pool that contains only this authority.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.Cert)
	return pool
}

// Issue writes a certificate and its key to files named after l.Name, overwriting existing ones. By default, server
// certificates are valid for 127.0.0.1.
func (a *Authority) Issue(l authority.Leaf) authority.Files { return a.IssueAt(time.Now(), l) }

// IssueAt is like Issue, but issues the certificate as of the given time.
func (a *Authority) IssueAt(at time.Time, l authority.Leaf) authority.Files {
	a.t.Helper()
	if l.Server && l.Hosts == nil {
		l.Hosts = []string{"127.0.0.1"}
	}
	if l.Lifetime == 0 {
		l.Lifetime = time.Hour
	}
	p, err := a.Pair.Issue(l, at)
	if err != nil {
		a.t.Fatal(err)
	}
	f := authority.Files{Cert: filepath.Join(a.dir, l.Name+".crt"), Key: filepath.Join(a.dir, l.Name+".key")}
	a.write(p, f)
	return f
}

// Pair reads the files that Issue wrote.
func Pair(t testing.TB, f authority.Files) tls.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func (a *Authority) write(p *authority.Pair, f authority.Files) {
	a.t.Helper()
	if err := p.Write(f); err != nil {
		a.t.Fatal(err)
	}
}
