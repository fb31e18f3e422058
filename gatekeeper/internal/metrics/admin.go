package metrics

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler returns the handler of the admin port:
//
//	/metrics        the metrics of g, in Prometheus formats
//	/healthz        200 while healthy returns nil, else 503 with the error: the process should be replaced
//	/readyz         200 while ready returns nil, else 503 with the error: calls should go elsewhere
//	/debug/pprof/   profiles of the process, for use with go tool pprof
//
// A nil function is treated as if it returned nil. The handler does not authenticate callers: anyone who can reach the
// port can read everything on it and take profiles, so bind it where only operators can reach it. The caller sets the
// timeouts. A profile extends the write timeout of its response.
func Handler(g prometheus.Gatherer, healthy, ready func() error) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(g, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.Handle("GET /healthz", check(healthy))
	mux.Handle("GET /readyz", check(ready))
	mux.HandleFunc("GET /debug/pprof/{$}", listProfiles)
	mux.HandleFunc("GET /debug/pprof/{name}", serveProfile)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		writeText(w, http.StatusOK, "/metrics\n/healthz\n/readyz\n/debug/pprof/\n")
	})
	return mux
}

func check(f func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if f != nil {
			if err := f(); err != nil {
				writeText(w, http.StatusServiceUnavailable, err.Error()+"\n")
				return
			}
		}
		writeText(w, http.StatusOK, "ok\n")
	}
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, text) // the client may have disconnected
}
