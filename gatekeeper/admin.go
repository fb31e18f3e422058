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

// adminListener is where the admin port is served: beyond loopback to those who show a certificate of the API's authorities, if there
// are any.
func (s *Server) adminListener() (net.Listener, error) {
	l := s.listeners.Admin
	if l == nil || loopback(l.Addr()) || s.cfg.TLS.trouble() != "" {
		return l, nil
	}
	cfg, err := certs.Port{Files: s.cfg.TLS.files(), HTTP1: true}.Config()
	if err != nil {
		return nil, unusable("TLS", err)
	}
	return tls.NewListener(l, cfg), nil
}

// adminServer serves the admin port. Nobody may hold a connection for ever; a profile extends the time for its own answer.
func (s *Server) adminServer(measures *metrics.Metrics) *http.Server {
	return &http.Server{
		Handler:           metrics.Handler(measures, s.Err, s.member().Ready),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}
