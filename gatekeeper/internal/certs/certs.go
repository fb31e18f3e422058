// Package certs reads the PEM files of TLS, for every port and for calls between servers.
//
// Certificates are renewed while servers run, so files are read again at each handshake; see package tlsfiles.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/gatekeeperd/gatekeeper/internal/tlsfiles"
)

// Files names PEM files. The zero Files is no TLS.
type Files struct {
	// Cert and Key are the own certificate and its key.
	Cert, Key string
	// CA holds the authorities by which the other side is verified. Without it the system's verify servers, and clients
	// are not verified.
	CA string
}

// FileError says which file cannot be used, and why.
type FileError = tlsfiles.FileError

// IsZero says that there is no TLS.
func (f Files) IsZero() bool { return f == Files{} }

// Config reads the files now, for TLS 1.3 in either direction: set ServerName before dialing, and ClientAuth before
// serving. The error is a *FileError.
func (f Files) Config() (*tls.Config, error) {
	own, err := tlsfiles.Pair(f.Cert, f.Key)
	if err != nil {
		return nil, err
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}}
	if f.CA == "" {
		return cfg, nil
	}
	pool, err := tlsfiles.Pool(f.CA)
	if err != nil {
		return nil, err
	}
	cfg.RootCAs, cfg.ClientCAs = pool, pool
	return cfg, nil
}

// Server is Config for a port for clients.
func (f Files) Server() (*tls.Config, error) {
	cfg, err := f.Config()
	if err != nil {
		return nil, err
	}
	if err := serves(cfg.Certificates[0].Leaf); err != nil {
		return nil, &FileError{File: f.Cert, Err: err}
	}
	return cfg, nil
}

// serves refuses a certificate that no client takes as that of a server: it states extended key usages, and not
// serverAuth.
func serves(cert *x509.Certificate) error {
	stated := len(cert.ExtKeyUsage)+len(cert.UnknownExtKeyUsage) > 0
	if !stated || slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageServerAuth) || slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageAny) {
		return nil
	}
	return fmt.Errorf("the certificate of %q is for clients only: it lacks the extended key usage serverAuth, so clients refuse the server. "+
		"Give the server one of `gkctl cert server HOST`", cert.Subject)
}

// Issued says why other members will refuse the certificate of Cert, if the files of all members have the same
// authorities. One that has ended passes: it was good once, and its end is shown elsewhere. The error is a *FileError.
func (f Files) Issued() error {
	cfg, err := f.Peer()
	if err != nil {
		return err
	}
	own := cfg.Certificates[0]
	if err := ForClients(own.Leaf); err != nil {
		return &FileError{File: f.Cert, Err: err}
	}
	between := x509.NewCertPool()
	for _, der := range own.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(c)
		}
	}
	at := time.Now()
	if at.After(own.Leaf.NotAfter) {
		at = own.Leaf.NotAfter
	} else if at.Before(own.Leaf.NotBefore) {
		at = own.Leaf.NotBefore
	}
	_, err = own.Leaf.Verify(x509.VerifyOptions{
		Roots: cfg.RootCAs, Intermediates: between, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); err == nil || ok && invalid.Reason == x509.Expired {
		return nil
	}
	return &FileError{File: f.Cert, Err: fmt.Errorf("the authorities in %q have not issued it (%w), and other members would refuse it: "+
		"use the files of one authority, as `gkctl cert peer ID HOST` makes them", f.CA, err)}
}

// Peer is Config for the connections between members, whose certificates are for servers, see ForServers.
func (f Files) Peer() (*tls.Config, error) {
	cfg, err := f.Config()
	if err != nil {
		return nil, err
	}
	if err := ForServers(cfg.Certificates[0].Leaf); err != nil {
		return nil, &FileError{File: f.Cert, Err: err}
	}
	return cfg, nil
}

// ForServers refuses a certificate that does not state the extended key usage serverAuth. Clients may have certificates
// of the authority that members have, and those of clients lack it. One without any extended key usage is refused too,
// although it may be used for everything.
func ForServers(cert *x509.Certificate) error {
	return states(cert, x509.ExtKeyUsageServerAuth, "serverAuth")
}

// ForClients refuses a certificate that does not state the extended key usage clientAuth: with it a member dials the
// others.
func ForClients(cert *x509.Certificate) error {
	return states(cert, x509.ExtKeyUsageClientAuth, "clientAuth")
}

func states(cert *x509.Certificate, usage x509.ExtKeyUsage, name string) error {
	if !slices.Contains(cert.ExtKeyUsage, usage) {
		return fmt.Errorf("the certificate of %q lacks the extended key usage %s: a member needs serverAuth and clientAuth, as `gkctl cert peer ID HOST` gives them", cert.Subject, name)
	}
	return nil
}

// Member says why the first certificate of a chain is not one of a member by these files: their authorities have not
// issued it, be it through the rest of the chain, or not for servers and clients.
func (f Files) Member(chain []*x509.Certificate) error {
	cert := chain[0]
	if err := ForServers(cert); err != nil {
		return err
	}
	pool, err := tlsfiles.Pool(f.CA)
	if err != nil {
		return err
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err = cert.Verify(x509.VerifyOptions{Roots: pool, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err
}

// Expiry is when the certificate ends, and its subject. The error is a *FileError, also for a certificate that is not
// for servers.
func (f Files) Expiry() (subject string, end time.Time, err error) {
	own, err := tlsfiles.Pair(f.Cert, f.Key)
	if err != nil {
		return "", time.Time{}, err
	}
	if err := serves(own.Leaf); err != nil {
		return "", time.Time{}, &FileError{File: f.Cert, Err: err}
	}
	return own.Leaf.Subject.String(), own.Leaf.NotAfter, nil
}

// Hop are the files by which a server calls the API of another one: it verifies it as a client does, and shows its
// certificate as a member.
func Hop(api, peer Files) Files {
	if !api.IsZero() && !peer.IsZero() {
		api.Cert, api.Key = peer.Cert, peer.Key
	}
	return api
}

// Credentials are those of connections that this server makes, from the files as they are at each handshake. The error
// is that of Config.
func (f Files) Credentials() (credentials.TransportCredentials, error) {
	latest, err := tlsfiles.New(f.Config)
	if err != nil {
		return nil, err
	}
	return latest.Credentials(), nil
}

// Port is the TLS of a port for clients.
type Port struct {
	Files
	// Members names the authorities of members, which show the certificates of their peer ports when they pass calls
	// on. Optional.
	Members string
	// Optional lets clients in that show no certificate. Without CA nobody needs one.
	Optional bool
	// HTTP: the port speaks HTTP/2 and HTTP/1.1, and else gRPC.
	HTTP bool
}

// Config returns a configuration for a port that reads the files again at each handshake. The error is that of
// Files.Config.
func (p Port) Config() (*tls.Config, error) {
	latest, err := tlsfiles.New(p.read)
	if err != nil {
		return nil, err
	}
	cfg := latest.Config().Clone()
	cfg.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return latest.Config(), nil }
	return cfg, nil
}

func (p Port) read() (*tls.Config, error) {
	cfg, err := p.Files.Server()
	if err != nil {
		return nil, err
	}
	cfg.NextProtos = []string{"h2"}
	if p.HTTP {
		cfg.NextProtos = append(cfg.NextProtos, "http/1.1")
	}
	switch {
	case p.CA == "" && p.Members == "":
		return cfg, nil
	case p.CA == "" || p.Optional:
		cfg.ClientAuth = tls.VerifyClientCertIfGiven
	default:
		cfg.ClientAuth = tls.RequireAndVerifyClientCert
	}
	if p.Members == "" || p.Members == p.CA {
		return cfg, nil
	}
	clients, both := x509.NewCertPool(), []string{p.Members}
	if p.CA != "" {
		clients, both = cfg.ClientCAs, append(both, p.CA)
	}
	if cfg.ClientCAs, err = tlsfiles.Pool(both...); err != nil {
		return nil, err
	}
	cfg.VerifyConnection = func(c tls.ConnectionState) error { return memberOrClient(c, clients) }
	return cfg, nil
}

// memberOrClient refuses a certificate that the authorities of members have signed for something else than a member.
func memberOrClient(c tls.ConnectionState, clients *x509.CertPool) error {
	if len(c.PeerCertificates) == 0 || ForServers(c.PeerCertificates[0]) == nil {
		return nil
	}
	between := x509.NewCertPool()
	for _, cert := range c.PeerCertificates[1:] {
		between.AddCert(cert)
	}
	_, err := c.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots: clients, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err
}
