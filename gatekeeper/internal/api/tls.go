package api

import (
	"crypto/tls"
	"errors"
	"fmt"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
)

// portTLS is the TLS of the API port; nil when it is off.
func portTLS(files certs.Files) (*tls.Config, error) {
	if files.IsZero() {
		return nil, nil //nolint:nilnil // off, and nothing wrong
	}
	if files.Cert == "" || files.Key == "" {
		return nil, errors.New("api: TLS needs a certificate and a key: name both files, or none and no CA")
	}
	cfg, err := files.Server()
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	return cfg, nil
}

// hopCredentials are those by which this server calls the leader's API, from the files as they are now.
func hopCredentials(files certs.Files) (credentials.TransportCredentials, error) {
	if files.IsZero() {
		return insecure.NewCredentials(), nil
	}
	cfg, err := files.Config()
	if err != nil {
		return nil, err
	}
	return credentials.NewTLS(cfg), nil
}
