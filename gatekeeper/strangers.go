package gatekeeper

import (
	"log/slog"
	"net"

	"github.com/gatekeeperd/gatekeeper/internal/tlsfiles"
)

// refuseStrangers refuses ports that other machines reach and that authenticate nobody. With Insecure it warns of them
// instead. The error is a *ConfigError.
func (c *Config) refuseStrangers(at addresses, log *slog.Logger) error {
	if c.Insecure {
		log.Warn("INSECURE: started with --insecure, so ports that other machines reach may let everybody in")
	}
	if c.authenticates() && c.TLS.CAFile != "" && c.sameAuthority() {
		log.Warn("the same authority verifies clients and members: a client whose certificate is also for servers, and names a member's host, can pass as that member",
			slog.String("file", c.TLS.CAFile), slog.String("remedy", "give members certificates of another authority: `gkctl cert init` makes one, and `gkctl cert peer ID HOST` uses it"))
	}
	for _, port := range []struct {
		what, field string
		address     net.Addr
		trouble     string // what is wrong with it where strangers reach it; empty: nothing
	}{
		{"API", "APIAddress", at.api, c.apiTrouble()},
		{"peer", "PeerAddress", at.peer, c.PeerTLS.trouble()},
		{"HTTP", "HTTPAddress", at.http, c.apiTrouble()}, // it and the admin port are served with the TLS of the API
		{"admin", "AdminAddress", at.admin, c.apiTrouble()},
	} {
		if port.address == nil || loopback(port.address) || port.trouble == "" {
			continue
		}
		if !c.Insecure {
			return &ConfigError{port.field, port.address.String(), "is reached by other machines, and " + port.trouble + ": " + remedy +
				", or allow it by --insecure if all of them may do everything"}
		}
		log.Warn("a port that other machines reach lets everybody in", slog.String("port", port.what), slog.String("address", port.address.String()),
			slog.String("reason", port.trouble), slog.String("remedy", remedy))
	}
	return nil
}

const remedy = "make certificates with `gkctl cert init`, `gkctl cert server HOST` and `gkctl cert peer ID HOST` and give them to the server, listen on loopback"

// sameAuthority reports whether the API and the peer port verify by the same certificates.
func (c *Config) sameAuthority() bool {
	if c.PeerTLS == (TLS{}) || c.PeerTLS.CAFile == c.TLS.CAFile {
		return true
	}
	clients, err := tlsfiles.Pool(c.TLS.CAFile)
	if err != nil {
		return false // who opens the port says so
	}
	members, err := tlsfiles.Pool(c.PeerTLS.CAFile)
	return err == nil && clients.Equal(members)
}

// apiTrouble is that of the API, the HTTP and the admin port, where tokens may stand for client certificates.
func (c *Config) apiTrouble() string {
	if c.TLS.CertFile != "" && c.optionalCerts() {
		return ""
	}
	return c.TLS.trouble()
}

// trouble says why a port with these files authenticates nobody; empty if it does.
func (t TLS) trouble() string {
	switch {
	case t == TLS{}:
		return "it has no TLS"
	case t.CAFile == "":
		return "its TLS has no authorities to verify clients by"
	}
	return ""
}
