package gatekeeper

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// client returns the credentials by which this server calls another one's API. Reading the files, it finds out whether they are any
// good; the error is a *ConfigError of that field.
func (t TLS) client(field string) (credentials.TransportCredentials, error) {
	if t == (TLS{}) {
		return insecure.NewCredentials(), nil
	}
	own, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, &ConfigError{Field: field, Value: t.Cert, Rule: fmt.Sprintf("cannot be used with key %q: %v", t.Key, err)}
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}}
	if t.CA == "" {
		return credentials.NewTLS(cfg), nil // the other server is verified by the system's authorities
	}
	pem, err := os.ReadFile(t.CA)
	if err != nil {
		return nil, &ConfigError{Field: field, Value: t.CA, Rule: fmt.Sprintf("cannot be read: %v", err)}
	}
	cfg.RootCAs = x509.NewCertPool()
	if !cfg.RootCAs.AppendCertsFromPEM(pem) {
		return nil, &ConfigError{Field: field, Value: t.CA, Rule: "holds no PEM certificate"}
	}
	return credentials.NewTLS(cfg), nil
}
