package gatekeeper

import (
	"errors"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
)

func (t TLS) files() certs.Files { return certs.Files{Cert: t.CertFile, Key: t.KeyFile, CA: t.CAFile} }

// client returns the credentials by which this server calls another one's API. Reading the files, it finds out whether they are any
// good; the error is a *ConfigError of that field.
func (t TLS) client(field string) (credentials.TransportCredentials, error) {
	if t == (TLS{}) {
		return insecure.NewCredentials(), nil
	}
	cfg, err := t.files().Config()
	if err != nil {
		return nil, unusable(field, err)
	}
	return credentials.NewTLS(cfg), nil
}

// peer finds out whether the files are good for the peer port; the error is a *ConfigError.
func (t TLS) peer() error {
	if t == (TLS{}) {
		return nil
	}
	_, err := t.files().Peer()
	return unusable("PeerTLS", err)
}

func unusable(field string, err error) error {
	if bad, ok := errors.AsType[*certs.FileError](err); ok {
		return &ConfigError{Field: field, Value: bad.File, Rule: "cannot be used: " + bad.Err.Error()}
	}
	return err
}
