package gatekeeper

import (
	"errors"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
)

// client returns the credentials by which this server calls another one's API. Reading the files, it finds out whether they are any
// good; the error is a *ConfigError of that field.
func (t TLS) client(field string) (credentials.TransportCredentials, error) {
	if t == (TLS{}) {
		return insecure.NewCredentials(), nil
	}
	cfg, err := certs.Files(t).Config()
	if bad, ok := errors.AsType[*certs.FileError](err); ok {
		return nil, &ConfigError{Field: field, Value: bad.File, Rule: "cannot be used: " + bad.Err.Error()}
	}
	return credentials.NewTLS(cfg), err
}
