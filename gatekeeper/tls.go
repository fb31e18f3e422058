package gatekeeper

import (
	"errors"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
)

func (t TLS) files() certs.Files { return certs.Files{Cert: t.CertFile, Key: t.KeyFile, CA: t.CAFile} }

// checkFiles reads the files of both ports. The error is a *ConfigError.
func (c *Config) checkFiles() error {
	if c.TLS != (TLS{}) {
		if _, err := c.TLS.files().Config(); err != nil {
			return unusable("TLS", err)
		}
	}
	if c.PeerTLS == (TLS{}) {
		return nil
	}
	cfg, err := c.PeerTLS.files().Peer()
	if err != nil {
		return unusable("PeerTLS", err)
	}
	if len(c.Members) > 1 || len(c.Join) > 0 {
		if err := certs.ForClients(cfg.Certificates[0].Leaf); err != nil {
			return unusable("PeerTLS", &certs.FileError{File: c.PeerTLS.CertFile, Err: err})
		}
	}
	return nil
}

// joinCredentials are those by which this server calls the API of one that it joins. The error is a *ConfigError.
func (c *Config) joinCredentials() (credentials.TransportCredentials, error) {
	if c.TLS == (TLS{}) {
		return insecure.NewCredentials(), nil
	}
	creds, err := certs.Hop(c.TLS.files(), c.PeerTLS.files()).Credentials()
	if err != nil {
		return nil, unusable("TLS", err)
	}
	return creds, nil
}

// expiries are when the certificates of the ports end, as the files are now; zero: they cannot be used.
func (c *Config) expiries() map[string]time.Time {
	all := make(map[string]time.Time)
	for port, t := range map[string]TLS{"api": c.TLS, "peer": c.PeerTLS} {
		if t != (TLS{}) {
			_, all[port], _ = t.files().Expiry() // GetStatus says why
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
