package gatekeeper

import (
	"log/slog"
	"net"
)

// refuseStrangers refuses ports that other machines reach and that authenticate nobody. With Insecure it warns of them instead. The error
// is a *ConfigError.
func (s *Server) refuseStrangers() error {
	if s.cfg.Insecure {
		s.log.Warn("INSECURE: started with --insecure, so ports that other machines reach may let everybody in")
	}
	for _, port := range []struct {
		what, field string
		listener    net.Listener
		trouble     string // what is wrong with it where strangers reach it; empty: nothing
	}{
		{"API", "APIAddress", s.listeners.API, s.cfg.TLS.trouble()},
		{"peer", "PeerAddress", s.listeners.Peer, s.cfg.PeerTLS.trouble()},
		{"admin", "AdminAddress", s.listeners.Admin, s.cfg.TLS.trouble()}, // it is served with the TLS of the API
	} {
		if port.listener == nil || loopback(port.listener.Addr()) || port.trouble == "" {
			continue
		}
		if !s.cfg.Insecure {
			return &ConfigError{port.field, address(port.listener), "is reached by other machines, and " + port.trouble + ": " + remedy +
				", or allow it with Insecure (--insecure) if all of them may do everything"}
		}
		s.log.Warn("a port that other machines reach lets everybody in", slog.String("port", port.what), slog.String("address", address(port.listener)),
			slog.String("reason", port.trouble), slog.String("remedy", remedy))
	}
	return nil
}

const remedy = "make certificates with `gkctl cert init`, `gkctl cert server HOST` and `gkctl cert peer ID HOST` and give them to the server, listen on loopback"

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
