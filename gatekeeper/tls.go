package gatekeeper

import (
	"errors"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
)

func (t TLS) files() certs.Files { return certs.Files{Cert: t.CertFile, Key: t.KeyFile, CA: t.CAFile} }

// checkFiles checks the TLS files of the API and peer ports. The error is a *ConfigError.
func (c *Config) checkFiles() error {
	if c.TLS != (TLS{}) {
		if _, err := c.TLS.files().Server(); err != nil {
			return unusable("TLS", err)
		}
	}
	if c.PeerTLS == (TLS{}) {
		return nil
	}
	check := c.PeerTLS.files().CheckIssuer
	if c.PeerTLS == c.TLS && len(c.Members) < 2 && len(c.Join) == 0 { // it may never have other members
		check = func() error { _, err := c.PeerTLS.files().Peer(); return err }
	}
	if err := check(); err != nil {
		return unusable("PeerTLS", err)
	}
	return nil
}

// joinCredentials returns the credentials for calling the API of the servers in Join. The error is a *ConfigError.
func (c *Config) joinCredentials() (credentials.TransportCredentials, error) {
	if c.TLS == (TLS{}) {
		return insecure.NewCredentials(), nil
	}
	creds, err := certs.ForwardingFiles(c.TLS.files(), c.PeerTLS.files()).Credentials()
	if err != nil {
		return nil, unusable("TLS", err)
	}
	return creds, nil
}

// expiries returns when each port's certificate expires, according to the current files. A zero time means that a
// port's files cannot be used.
func (c *Config) expiries() map[string]time.Time {
	all := make(map[string]time.Time)
	for port, t := range map[string]TLS{"api": c.TLS, "peer": c.PeerTLS} {
		if t != (TLS{}) {
			_, all[port], _ = t.files().Expiry() // GetStatus reports why
		}
	}
	return all
}

func unusable(field string, err error) error {
	if bad, ok := errors.AsType[*certs.FileError](err); ok {
		return &ConfigError{Field: field, Value: bad.File, Rule: "cannot be used: " + bad.Err.Error()}
	}
	return err
}
