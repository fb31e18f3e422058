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

// secureListener wraps an HTTP port's listener. Beyond loopback, the port uses the API's TLS, provided that the API
// authenticates clients.
func (s *Server) secureListener(l net.Listener) (net.Listener, error) {
	if l == nil || loopback(l.Addr()) || s.cfg.apiAuthProblem() != "" {
		return l, nil
	}
	cfg, err := certs.Port{Files: s.cfg.TLS.files(), Optional: s.cfg.optionalCerts(), HTTP: true}.Config()
	if err != nil {
		return nil, unusable("TLS", err)
	}
	return tls.NewListener(l, cfg), nil
}

// adminServer returns the HTTP server for the admin port. Beyond loopback, it serves only callers that may see its
// pages. The timeouts prevent clients from holding a connection open indefinitely; the profile pages extend the
// deadlines of their responses.
func (s *Server) adminServer(m *metrics.Metrics) *http.Server {
	pages := metrics.Handler(m, s.Err, s.member().Ready)
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
