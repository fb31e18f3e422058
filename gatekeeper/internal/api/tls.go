package api

import (
	"crypto/tls"
	"errors"
	"fmt"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
)

// portTLS returns the TLS configuration of the API port, or nil if TLS is off.
func portTLS(cfg *Config) (*tls.Config, error) {
	if cfg.TLS.IsZero() {
		return nil, nil //nolint:nilnil // TLS is off, which is valid
	}
	if cfg.TLS.Cert == "" || cfg.TLS.Key == "" {
		return nil, errors.New("api: TLS requires both a certificate and a key: specify both files, or omit both and the CA")
	}
	port, err := certs.Port{Files: cfg.TLS, Members: cfg.PeerTLS.CA, Optional: cfg.OptionalClientCerts}.Config()
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	return port, nil
}

// hopCredentials returns the credentials for forwarding calls to the leader.
func hopCredentials(files certs.Files) (credentials.TransportCredentials, error) {
	if files.IsZero() {
		return insecure.NewCredentials(), nil
	}
	return files.Credentials()
}
