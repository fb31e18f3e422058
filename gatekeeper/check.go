package gatekeeper

import (
	"errors"
	"log/slog"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/oidc"
	"github.com/gatekeeperd/gatekeeper/internal/tlsfiles"
)

// Check calls Validate and also reads the files that the configuration names. It returns nil if a server with this
// configuration would start, as far as can be determined without its data directory, its ports or other servers. It
// opens no ports and writes only to Logger. Open runs the same checks.
func (c Config) Check() error {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return err
	}
	if err := c.checkFiles(); err != nil {
		return err
	}
	if c.OIDC.KeysFile != "" { // otherwise the keys are fetched over the network
		jwts, err := c.openOIDC(c.Logger)
		if err != nil {
			return err
		}
		if jwts != nil {
			jwts.Close()
		}
	}
	return c.requireAuthentication(c.resolve(), c.Logger)
}

// openOIDC opens the JWT verifier. It returns nil if this server does not accept JWTs. The error is a *ConfigError.
func (c *Config) openOIDC(log *slog.Logger) (*oidc.Verifier, error) {
	o := &c.OIDC
	if o.isZero() || !c.authenticates() {
		return nil, nil //nolint:nilnil // documented
	}
	if o.CAFile != "" {
		if _, err := tlsfiles.Pool(o.CAFile); err != nil {
			return nil, unusable("OIDC.CAFile", err)
		}
	}
	jwts, err := oidc.New(oidc.Config{
		Issuer: o.Issuer, Audience: o.Audience, KeysFile: o.KeysFile, KeysURL: o.KeysURL, CAFile: o.CAFile, Claims: o.Claims, Logger: log,
	})
	if bad, ok := errors.AsType[*oidc.SourceError](err); ok {
		return nil, &ConfigError{"OIDC.KeysFile", bad.From, "cannot be used: " + bad.Err.Error()}
	}
	return jwts, err
}
