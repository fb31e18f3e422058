package peer

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Files name the PEM files of mutual TLS. The zero value means no TLS.
type Files struct {
	Cert, Key string
	// CA holds the authorities whose certificates the other side may show.
	CA string
}

// IsZero says that there is no TLS.
func (f Files) IsZero() bool { return f == Files{} }

// Config reads the files. It serves both directions: set ServerName before dialing.
func (f Files) Config() (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("peer: certificate %q with key %q: %w", f.Cert, f.Key, err)
	}
	pem, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, fmt.Errorf("peer: certificate authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("peer: %q holds no certificate", f.CA)
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{cert},
		RootCAs:      pool,
		ClientCAs:    pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
	}, nil
}
