package api

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"google.golang.org/grpc/credentials"
)

// TLS names PEM files. The zero TLS is off.
type TLS struct {
	// Cert and Key are the server's own.
	Cert, Key string
	// CA signs the clients whose certificates are accepted, and the other servers. Without one no client's certificate is
	// asked for, and other servers are verified by the system's roots.
	CA string
}

// credentialsPair is what one set of files is good for.
type credentialsPair struct {
	server credentials.TransportCredentials
	hop    credentials.TransportCredentials
}

// load reads the files; nil when TLS is off.
func (t TLS) load() (*credentialsPair, error) {
	if t == (TLS{}) {
		return nil, nil //nolint:nilnil // off, and nothing wrong
	}
	if t.Cert == "" || t.Key == "" {
		return nil, errors.New("api: TLS needs a certificate and a key: name both files, or none and no CA")
	}
	own, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("api: TLS certificate %s with key %s: %w", t.Cert, t.Key, err)
	}
	server := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}}
	hop := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("api: TLS CA: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("api: TLS CA %s holds no PEM certificate", t.CA)
		}
		server.ClientCAs, server.ClientAuth = roots, tls.VerifyClientCertIfGiven
		hop.RootCAs = roots
	}
	return &credentialsPair{server: credentials.NewTLS(server), hop: credentials.NewTLS(hop)}, nil
}
