package servers

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/gatekeeperd/gatekeeper/internal/authority"
)

// Secure holds the certificates of a secure cluster, as issued by `gkctl cert`: an authority for the API, a second
// authority for members, a certificate from each authority for each server, and one admin certificate that the callers
// share.
type Secure struct {
	dir          string
	api, members *authority.Pair
	caller       tls.Certificate
}

// certLifetime exceeds the duration of any run.
const certLifetime = 7 * 24 * time.Hour

// NewSecure creates the authorities and the callers' certificate, and writes them to a directory.
func NewSecure(dir string) (s *Secure, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	s = &Secure{dir: dir}
	for name, ca := range map[string]**authority.Pair{"ca": &s.api, "peer-ca": &s.members} {
		if *ca, err = authority.New(name, time.Now(), certLifetime); err != nil {
			return nil, err
		}
		if err := (*ca).Write(s.files(name)); err != nil {
			return nil, err
		}
	}
	client, err := s.issue(s.api, "client", authority.Leaf{Name: "admin", Client: true})
	if err != nil {
		return nil, err
	}
	s.caller = tls.Certificate{Certificate: [][]byte{client.Cert.Raw}, PrivateKey: client.Key, Leaf: client.Cert}
	return s, nil
}

func (s *Secure) files(name string) authority.Files {
	return authority.Files{Cert: filepath.Join(s.dir, name+".crt"), Key: filepath.Join(s.dir, name+".key")}
}

func (s *Secure) issue(ca *authority.Pair, file string, l authority.Leaf) (*authority.Pair, error) {
	l.Lifetime = certLifetime
	p, err := ca.Issue(l, time.Now())
	if err != nil {
		return nil, err
	}
	return p, p.Write(s.files(file))
}

// args issues a server's certificates and returns its flags.
func (s *Secure) args(id string, addresses ...string) ([]string, error) {
	var hosts []string
	for _, address := range append(addresses, "127.0.0.1:0") {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("certificates of %s: %w", id, err)
		}
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if _, err := s.issue(s.api, "server-"+id, authority.Leaf{Name: "server-" + id, Hosts: hosts, Server: true}); err != nil {
		return nil, err
	}
	if _, err := s.issue(s.members, "peer-"+id, authority.Leaf{Name: id, Hosts: hosts, Server: true, Client: true}); err != nil {
		return nil, err
	}
	server, peer := s.files("server-"+id), s.files("peer-"+id)
	return []string{
		"--tls-cert", server.Cert, "--tls-key", server.Key, "--tls-ca", s.files("ca").Cert,
		"--peer-tls-cert", peer.Cert, "--peer-tls-key", peer.Key, "--peer-tls-ca", s.files("peer-ca").Cert,
	}, nil
}

func (s *Secure) config() *tls.Config {
	authorities := x509.NewCertPool()
	authorities.AddCert(s.api.Cert)
	return &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{s.caller}}
}

// Credentials returns the callers' credentials.
func (s *Secure) Credentials() credentials.TransportCredentials {
	return credentials.NewTLS(s.config())
}

// Env returns the environment variables that point the client library to the callers' files.
func (s *Secure) Env() map[string]string {
	client := s.files("client")
	return map[string]string{"GK_TLS_CA": s.files("ca").Cert, "GK_TLS_CERT": client.Cert, "GK_TLS_KEY": client.Key}
}
