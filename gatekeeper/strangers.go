package gatekeeper

import (
	"log/slog"
	"net"

	"github.com/gatekeeperd/gatekeeper/internal/tlsfiles"
)

// requireAuthentication returns a *ConfigError if other machines can reach a port that does not authenticate callers.
// With Insecure, it logs a warning instead.
func (c *Config) requireAuthentication(at addresses, log *slog.Logger) error {
	if c.Insecure {
		log.Warn("INSECURE: started with --insecure, so ports that other machines can reach may accept any caller")
	}
	if c.authenticates() && c.TLS.CAFile != "" && c.sameAuthority() {
		log.Warn("the same CA verifies clients and members: a client can impersonate a member if its certificate is also valid for servers and contains the member's host",
			slog.String("file", c.TLS.CAFile), slog.String("remedy", "give members certificates from a different CA: `gkctl cert init` creates one, and `gkctl cert peer ID HOST` uses it"))
	}
	for _, port := range []struct {
		what, field string
		address     net.Addr
		authProblem string // why it does not authenticate callers; empty if it does
	}{
		{"API", "APIAddress", at.api, c.apiAuthProblem()},
		{"peer", "PeerAddress", at.peer, c.PeerTLS.authProblem()},
		{"HTTP", "HTTPAddress", at.http, c.apiAuthProblem()}, // the HTTP and admin ports use the API's TLS configuration
		{"admin", "AdminAddress", at.admin, c.apiAuthProblem()},
	} {
		if port.address == nil || loopback(port.address) || port.authProblem == "" {
			continue
		}
		if !c.Insecure {
			return &ConfigError{port.field, port.address.String(), "can be reached by other machines, and " + port.authProblem + ": " + remedy +
				", or allow it with --insecure if all of those machines may have full access"}
		}
		log.Warn("a port that other machines can reach does not authenticate callers", slog.String("port", port.what), slog.String("address", port.address.String()),
			slog.String("reason", port.authProblem), slog.String("remedy", remedy))
	}
	return nil
}

const remedy = "create certificates with `gkctl cert init`, `gkctl cert server HOST` and `gkctl cert peer ID HOST` and give them to the server, or listen on loopback"

// sameAuthority reports whether the API and peer ports verify certificates with the same CAs.
func (c *Config) sameAuthority() bool {
	if c.PeerTLS == (TLS{}) || c.PeerTLS.CAFile == c.TLS.CAFile {
		return true
	}
	clients, err := tlsfiles.Pool(c.TLS.CAFile)
	if err != nil {
		return false // opening the port reports the error
	}
	members, err := tlsfiles.Pool(c.PeerTLS.CAFile)
	return err == nil && clients.Equal(members)
}

// apiAuthProblem returns the reason why the API, HTTP and admin ports do not authenticate callers, or "" if they do. On
// these ports, tokens can replace client certificates.
func (c *Config) apiAuthProblem() string {
	if c.TLS.CertFile != "" && c.optionalCerts() {
		return ""
	}
	return c.TLS.authProblem()
}

// authProblem returns the reason why a port with this configuration does not authenticate callers, or "" if it does.
func (t TLS) authProblem() string {
	switch {
	case t == TLS{}:
		return "it does not use TLS"
	case t.CAFile == "":
		return "its TLS configuration has no CA file for verifying clients"
	}
	return ""
}
