package jobs

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client/fence"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
)

// write is a write that reached the store.
type write struct {
	job      string
	token    uint64
	step     int
	at       time.Duration
	accepted bool
}

// store is the store that the applications write to. Each job is a resource, fenced by its permits' tokens. The store
// records every write.
type store struct {
	address string
	server  *http.Server

	mu     sync.Mutex // guards writes
	writes []write
}

// openStore serves on a loopback port until close is called.
func openStore(ctx context.Context) (*store, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &store{address: l.Addr().String()}
	fenced := fence.Handler(http.HandlerFunc(s.accept), fence.WithResource(jobOf))
	s.server = &http.Server{Handler: s.recordRefusals(fenced), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(l) }() // returns after close
	return s, nil
}

func (s *store) close() { _ = s.server.Close() }

func jobOf(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, "/") }

// accept handles a request that passed the fence.
func (s *store) accept(w http.ResponseWriter, r *http.Request) {
	if s.record(r, true) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	http.Error(w, "a step number is required", http.StatusBadRequest)
}

// recordRefusals wraps the fence and records the requests that it refuses.
func (s *store) recordRefusals(fenced http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := &statusWriter{ResponseWriter: w}
		fenced.ServeHTTP(status, r)
		if status.code == http.StatusPreconditionFailed {
			s.record(r, false)
		}
	})
}

type statusWriter struct {
	http.ResponseWriter
	code int
}

func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// record records a write. It returns false if the request was invalid.
func (s *store) record(r *http.Request, accepted bool) bool {
	body, err := io.ReadAll(io.LimitReader(r.Body, 100))
	if err != nil {
		return false
	}
	step, err := strconv.Atoi(string(body))
	if err != nil {
		return false
	}
	token, err := strconv.ParseUint(r.Header.Get(fence.Header), 10, 64)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, write{job: jobOf(r), token: token, step: step, at: boottime.Now(), accepted: accepted})
	return true
}

// history returns the recorded writes, in order of arrival.
func (s *store) history() []write {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes[:len(s.writes):len(s.writes)]
}

// has reports whether a matching write has arrived.
func (s *store) has(match func(write) bool) bool {
	for _, w := range s.history() {
		if match(w) {
			return true
		}
	}
	return false
}
