// Package certs reads the PEM files that configure TLS on all ports and for calls between servers.
//
// Certificates are renewed while servers run, so files are reread at each handshake; see package tlsfiles.
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

// Files holds the paths of PEM files. The zero Files means no TLS.
type Files struct {
	// Cert and Key are this side's certificate and private key.
	Cert, Key string
	// CA contains the CA certificates that verify the other side. Without it, the system's CA certificates verify
	// servers, and clients are not verified.
	CA string
}

// FileError reports which file cannot be used, and why.
type FileError = tlsfiles.FileError

// IsZero reports whether TLS is off.
func (f Files) IsZero() bool { return f == Files{} }

// Config reads the files and returns a configuration for TLS 1.3 in either direction: set ServerName before dialing,
// and ClientAuth before serving. The error is a *FileError.
func (f Files) Config() (*tls.Config, error) {
	pair, err := tlsfiles.Pair(f.Cert, f.Key)
	if err != nil {
		return nil, err
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}
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

// Server is like Config, but for a port that serves clients.
func (f Files) Server() (*tls.Config, error) {
	cfg, err := f.Config()
	if err != nil {
		return nil, err
	}
	if err := checkServerCert(cfg.Certificates[0].Leaf); err != nil {
		return nil, &FileError{File: f.Cert, Err: err}
	}
	return cfg, nil
}

// checkServerCert returns an error for a certificate that clients do not accept from a server, because it lists
// extended key usages but not serverAuth.
func checkServerCert(cert *x509.Certificate) error {
	restricted := len(cert.ExtKeyUsage)+len(cert.UnknownExtKeyUsage) > 0
	if !restricted || slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageServerAuth) || slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageAny) {
		return nil
	}
	return fmt.Errorf("the certificate of %q is for clients only: it lacks the extended key usage serverAuth, so clients will reject the server. "+
		"Create one for the server with `gkctl cert server HOST`", cert.Subject)
}

// CheckIssuer returns an error if the other members would refuse the certificate in Cert, assuming that all members
// have the same CA file. An expired certificate passes, since its expiry is reported elsewhere. The error is a
// *FileError.
func (f Files) CheckIssuer() error {
	cfg, err := f.Peer()
	if err != nil {
		return err
	}
	pair := cfg.Certificates[0]
	if err := CheckClientUsage(pair.Leaf); err != nil {
		return &FileError{File: f.Cert, Err: err}
	}
	intermediates := x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			intermediates.AddCert(c)
		}
	}
	verifyAt := time.Now()
	if verifyAt.After(pair.Leaf.NotAfter) {
		verifyAt = pair.Leaf.NotAfter
	} else if verifyAt.Before(pair.Leaf.NotBefore) {
		verifyAt = pair.Leaf.NotBefore
	}
	_, err = pair.Leaf.Verify(x509.VerifyOptions{
		Roots: cfg.RootCAs, Intermediates: intermediates, CurrentTime: verifyAt, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); err == nil || ok && invalid.Reason == x509.Expired {
		return nil
	}
	return &FileError{File: f.Cert, Err: fmt.Errorf("it was not issued by a CA in %q (%w), and other members would refuse it: "+
		"use certificates issued by the same CA, such as those created by `gkctl cert peer ID HOST`", f.CA, err)}
}

// Peer is like Config, but for connections between members, whose certificates must satisfy CheckServerUsage.
func (f Files) Peer() (*tls.Config, error) {
	cfg, err := f.Config()
	if err != nil {
		return nil, err
	}
	if err := CheckServerUsage(cfg.Certificates[0].Leaf); err != nil {
		return nil, &FileError{File: f.Cert, Err: err}
	}
	return cfg, nil
}

// CheckServerUsage returns an error for a certificate that does not list the extended key usage serverAuth. Clients and
// members may have certificates from the same CA, but client certificates lack this usage. A certificate without any
// extended key usages is also refused, even though it is valid for every purpose.
func CheckServerUsage(cert *x509.Certificate) error {
	return requireUsage(cert, x509.ExtKeyUsageServerAuth, "serverAuth")
}

// CheckClientUsage returns an error for a certificate that does not list the extended key usage clientAuth, which a
// member needs to dial the others.
func CheckClientUsage(cert *x509.Certificate) error {
	return requireUsage(cert, x509.ExtKeyUsageClientAuth, "clientAuth")
}

func requireUsage(cert *x509.Certificate, usage x509.ExtKeyUsage, name string) error {
	if !slices.Contains(cert.ExtKeyUsage, usage) {
		return fmt.Errorf("the certificate of %q lacks the extended key usage %s: a member needs serverAuth and clientAuth, which `gkctl cert peer ID HOST` sets", cert.Subject, name)
	}
	return nil
}

// VerifyMember returns an error if the first certificate in a chain is not a member's: it must be valid for servers and
// clients, and a CA in f.CA must have issued it, directly or through the rest of the chain.
func (f Files) VerifyMember(chain []*x509.Certificate) error {
	cert := chain[0]
	if err := CheckServerUsage(cert); err != nil {
		return err
	}
	pool, err := tlsfiles.Pool(f.CA)
	if err != nil {
		return err
	}
	intermediates := x509.NewCertPool()
	for _, c := range chain[1:] {
		intermediates.AddCert(c)
	}
	_, err = cert.Verify(x509.VerifyOptions{Roots: pool, Intermediates: intermediates, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err
}

// Expiry returns the subject of the certificate and the time at which it expires. It returns a *FileError if the files
// cannot be used or the certificate is not valid for servers.
func (f Files) Expiry() (subject string, end time.Time, err error) {
	pair, err := tlsfiles.Pair(f.Cert, f.Key)
	if err != nil {
		return "", time.Time{}, err
	}
	if err := checkServerCert(pair.Leaf); err != nil {
		return "", time.Time{}, &FileError{File: f.Cert, Err: err}
	}
	return pair.Leaf.Subject.String(), pair.Leaf.NotAfter, nil
}

// ForwardingFiles returns the files that a server uses to call another server's API: it verifies that server as a
// client would, and presents its member certificate.
func ForwardingFiles(api, peer Files) Files {
	if !api.IsZero() && !peer.IsZero() {
		api.Cert, api.Key = peer.Cert, peer.Key
	}
	return api
}

// Credentials returns credentials for outgoing connections, which read the files at each handshake. It returns the same
// error as Config.
func (f Files) Credentials() (credentials.TransportCredentials, error) {
	latest, err := tlsfiles.New(f.Config)
	if err != nil {
		return nil, err
	}
	return latest.Credentials(), nil
}

// Port configures TLS on a port for clients.
type Port struct {
	Files
	// Members is the CA file for members, which present their peer certificates when they forward calls. Optional.
	Members string
	// Optional accepts clients without a certificate. Without CA, no client needs a certificate.
	Optional bool
	// HTTP enables HTTP/2 and HTTP/1.1 on the port, instead of gRPC.
	HTTP bool
}

// Config returns the port's configuration, which rereads the files at each handshake. It returns the same error as
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
	clients, caFiles := x509.NewCertPool(), []string{p.Members}
	if p.CA != "" {
		clients, caFiles = cfg.ClientCAs, append(caFiles, p.CA)
	}
	if cfg.ClientCAs, err = tlsfiles.Pool(caFiles...); err != nil {
		return nil, err
	}
	cfg.VerifyConnection = func(c tls.ConnectionState) error { return memberOrClient(c, clients) }
	return cfg, nil
}

// memberOrClient refuses a certificate that the members' CA issued to anything other than a member.
func memberOrClient(c tls.ConnectionState, clients *x509.CertPool) error {
	if len(c.PeerCertificates) == 0 || CheckServerUsage(c.PeerCertificates[0]) == nil {
		return nil
	}
	intermediates := x509.NewCertPool()
	for _, cert := range c.PeerCertificates[1:] {
		intermediates.AddCert(cert)
	}
	_, err := c.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots: clients, Intermediates: intermediates, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err
}
