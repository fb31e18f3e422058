package gatekeeper

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/metrics"
)

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
