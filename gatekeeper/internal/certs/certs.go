// Package certs reads the PEM files of TLS, for every port and for calls between servers.
//
// Certificates are renewed while servers run. So files are read again at each handshake, and what is half written at that
// moment is passed over: the last ones that could be used go on serving.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
)

// Files names PEM files. The zero Files is no TLS.
type Files struct {
	// Cert and Key are the own certificate and its key.
	Cert, Key string
	// CA holds the authorities by which the other side is verified. Without it the system's verify servers, and clients are not verified.
	CA string
}

// FileError says which file cannot be used, and why.
type FileError struct {
	File string
	Err  error
}

func (e *FileError) Error() string { return fmt.Sprintf("TLS file %q: %v", e.File, e.Err) }

func (e *FileError) Unwrap() error { return e.Err }

// IsZero says that there is no TLS.
func (f Files) IsZero() bool { return f == Files{} }

// Config reads the files now, for TLS 1.3 in either direction: set ServerName before dialing, and ClientAuth before serving.
// The error is a *FileError.
func (f Files) Config() (*tls.Config, error) {
	own, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, &FileError{f.Cert, fmt.Errorf("with key %q: %w", f.Key, err)}
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}}
	if f.CA == "" {
		return cfg, nil
	}
	pem, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, &FileError{f.CA, err}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, &FileError{f.CA, errors.New("holds no PEM certificate")}
	}
	cfg.RootCAs, cfg.ClientCAs = pool, pool
	return cfg, nil
}

// Peer is Config for the connections between members, whose certificates are for servers, see ForServers.
func (f Files) Peer() (*tls.Config, error) {
	cfg, err := f.Config()
	if err != nil {
		return nil, err
	}
	if err := ForServers(cfg.Certificates[0].Leaf); err != nil {
		return nil, &FileError{f.Cert, err}
	}
	return cfg, nil
}

// ForServers refuses a certificate that does not state the extended key usage serverAuth. Clients may have certificates of the authority
// that members have, and those of clients lack it. One without any extended key usage is refused too, although it may be used for everything.
func ForServers(cert *x509.Certificate) error {
	if !slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageServerAuth) {
		return fmt.Errorf("the certificate of %q lacks the extended key usage serverAuth: a member needs serverAuth and clientAuth", cert.Subject)
	}
	return nil
}

// Server returns a configuration for a gRPC port that reads the files again at each handshake. Client certificates are
// verified when they are given, if there is a CA. The error is that of Config.
func (f Files) Server() (*tls.Config, error) {
	var usable atomic.Pointer[tls.Config]
	read := func() error {
		cfg, err := f.Config()
		if err != nil {
			return err
		}
		cfg.NextProtos = []string{"h2"}
		if f.CA != "" {
			cfg.ClientAuth = tls.VerifyClientCertIfGiven
		}
		usable.Store(cfg)
		return nil
	}
	if err := read(); err != nil {
		return nil, err
	}
	port := usable.Load().Clone()
	port.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		_ = read() // what cannot be used now is passed over
		return usable.Load(), nil
	}
	return port, nil
}
