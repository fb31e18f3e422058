package main

import (
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/gatekeeperd/gatekeeper/internal/authority"
)

// secured is what servers and callers on this machine need to talk by TLS: one certificate for all of them.
type secured struct {
	args    []string // gatekeeperd's flags
	callers credentials.TransportCredentials
}

// newSecured writes the certificate, its key and its authority to dir.
func newSecured(dir string) (*secured, error) {
	now := time.Now()
	ca, err := authority.New("bench", now, 24*time.Hour)
	if err != nil {
		return nil, err
	}
	own, err := ca.Issue(authority.Leaf{Name: "bench", Hosts: []string{"127.0.0.1"}, Server: true, Client: true, Life: 24 * time.Hour}, now)
	if err != nil {
		return nil, err
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	for name, p := range map[string]*authority.Pair{"ca": ca, "tls": own} {
		if err := p.Write(authority.Files{Cert: file(name + ".crt"), Key: file(name + ".key")}); err != nil {
			return nil, err
		}
	}
	authorities := x509.NewCertPool()
	authorities.AddCert(ca.Cert)
	return &secured{
		args: []string{"--tls-cert", file("tls.crt"), "--tls-key", file("tls.key"), "--tls-ca", file("ca.crt")},
		callers: credentials.NewTLS(&tls.Config{
			RootCAs: authorities, MinVersion: tls.VersionTLS13,
			Certificates: []tls.Certificate{{Certificate: [][]byte{own.Cert.Raw}, PrivateKey: own.Key, Leaf: own.Cert}},
		}),
	}, nil
}
