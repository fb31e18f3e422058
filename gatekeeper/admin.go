package gatekeeper

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/metrics"
)

// secured is how a port for HTTP is served: beyond loopback by the TLS of the API, if that authenticates clients.
func (s *Server) secured(l net.Listener) (net.Listener, error) {
	if l == nil || loopback(l.Addr()) || s.cfg.apiTrouble() != "" {
		return l, nil
	}
	cfg, err := certs.Port{Files: s.cfg.TLS.files(), Optional: s.cfg.optionalCerts(), HTTP: true}.Config()
	if err != nil {
		return nil, unusable("TLS", err)
	}
	return tls.NewListener(l, cfg), nil
}

// adminServer serves the admin port, beyond loopback to those who may see its pages. Nobody may hold a connection for
// ever; a profile extends the time for its own answer.
func (s *Server) adminServer(measures *metrics.Metrics) *http.Server {
	pages := metrics.Handler(measures, s.Err, s.member().Ready)
	if !loopback(s.listeners.Admin.Addr()) {
		pages = s.api.AdminPort(pages)
	}
	return &http.Server{
		Handler:           pages,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}
