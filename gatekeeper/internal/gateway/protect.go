package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// maxBody is the maximum size of a body in bytes, the same as for a message to the API.
const maxBody = 4 << 20

// maxCredential is the maximum size of a bearer token in a request, in bytes. The API refuses larger ones.
const maxCredential = 8 << 10

// writeTimeout bounds one write to a slow client.
const writeTimeout = 30 * time.Second

// admit refuses requests that a browser sends on behalf of another site, and reads the body. The context of the
// returned request identifies the caller.
func (g *Gateway) admit(w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	protect(w.Header())
	if err := g.crossOrigin.Check(r); err != nil {
		return r, &httpError{http.StatusForbidden, codes.PermissionDenied, "the request comes from a page on another site: " + err.Error()}
	}
	if !g.cfg.Authenticate && !isSafeHost(r.Host) {
		return r, &httpError{http.StatusMisdirectedRequest, codes.InvalidArgument, "this server does not authenticate callers, so it accepts requests only for localhost, a name without a dot, or an IP address, not for " + r.Host}
	}
	size := 0
	for _, text := range r.Header.Values("Authorization") {
		size += len(text)
	}
	if size > maxCredential {
		return r, &httpError{http.StatusRequestHeaderFieldsTooLarge, codes.InvalidArgument, "the authorization header is too large for a bearer token"}
	}
	if err := readBody(w, r); err != nil {
		return r, err
	}
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, g.callerMetadata(r))), nil
}

// protect sets a response's security headers. A page may load only what this server serves, and no other page may embed
// it.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "+
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// isSafeHost reports whether a host is safe from DNS rebinding: a name that another site controls contains a dot.
// Servers that authenticate callers do not need this check, because a browser binds credentials to the host name.
func isSafeHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || !strings.Contains(host, ".")
}

// readBody reads the whole body, so that a body that is too large or arrives too slowly is rejected here.
func readBody(w http.ResponseWriter, r *http.Request) error {
	if hasBody(r) {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return &httpError{http.StatusUnsupportedMediaType, codes.InvalidArgument, "the body must be JSON: send Content-Type: application/json"}
		}
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return &httpError{http.StatusRequestEntityTooLarge, codes.InvalidArgument, "the body is larger than 4 MiB"}
	}
	if status.Code(err) == codes.ResourceExhausted {
		return err // from countedBody
	}
	if err != nil {
		return &httpError{http.StatusBadRequest, codes.InvalidArgument, "cannot read the body: " + err.Error()}
	}
	if !hasBody(r) && len(data) > 0 {
		return invalid("", "the fields of a "+r.Method+" request belong in its query: omit the body")
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	// From here on, the connection is read only to detect a disconnect.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return nil
}

// writer sets a deadline for each write.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
}

func newWriter(w http.ResponseWriter) *writer { return &writer{w, http.NewResponseController(w)} }

// Unwrap implements the interface that http.ResponseController uses.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) WriteHeader(status int) {
	w.extend()
	w.ResponseWriter.WriteHeader(status)
}

// Write does not report errors, because the library would log every client that disconnects. A stream gets the error
// when it flushes.
func (w *writer) Write(data []byte) (int, error) {
	w.extend()
	_, _ = w.ResponseWriter.Write(data)
	return len(data), nil
}

// extend sets the deadline for the next write. It fails only for the recorders in tests, which have no deadlines.
func (w *writer) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(writeTimeout)) }
