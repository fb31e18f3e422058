package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/internal/tlsfiles"
)

// CertificateError reports that a connection failed because of a certificate: the client rejected the server's, or the
// server rejected the client's. errors.As finds it in the *UnavailableError of a call, or of Members.
//
// An endpoint with a certificate error is treated like an unreachable one: the other endpoints are tried. If all
// endpoints fail this way and the Client has never reached a server, its configuration is probably wrong, so a call
// fails after one round instead of retrying until its context ends. A Client that has reached a server before retries
// as it would in any outage, because certificates expire and are renewed.
type CertificateError struct {
	Endpoint string
	// ByServer is set if the server rejected the client's certificate, or requires one that the client did not send.
	// Otherwise the client rejected the server's certificate.
	ByServer bool
	// Err is the error from package tls: a *tls.CertificateVerificationError, which wraps a more precise error from
	// package x509, or the server's alert if ByServer is set.
	Err error
}

func (e *CertificateError) Error() string { return e.Endpoint + ": " + e.plain() }

// Unwrap returns Err.
func (e *CertificateError) Unwrap() error { return e.Err }

// GRPCStatus makes the error usable with gRPC's status package.
func (e *CertificateError) GRPCStatus() *status.Status {
	return status.New(codes.Unavailable, e.plain())
}

// plain describes the error without the endpoint.
func (e *CertificateError) plain() string {
	text := e.Err.Error()
	if !e.ByServer {
		if v, ok := errors.AsType[*tls.CertificateVerificationError](e.Err); ok {
			text = v.Err.Error()
		}
		return plainUntrusted + ": " + strings.TrimPrefix(text, "x509: ")
	}
	if tlsAlert, ok := alert(e.Err); ok && tlsAlert == alertCertificateRequired {
		return plainNoCertificate
	}
	return plainBadCertificate + ": " + strings.TrimPrefix(text, "remote error: ")
}

// alertCertificateRequired is the alert sent to a client without a certificate (RFC 8446, 6.2).
const alertCertificateRequired tls.AlertError = 116

// alert returns the alert that the peer sent when it rejected a certificate. Package tls identifies an alert in a
// connection's errors only by its text, which is the same as AlertError's.
func alert(err error) (tls.AlertError, bool) {
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "remote error" || op.Err == nil {
		return 0, false
	}
	for _, a := range []tls.AlertError{
		42, // bad_certificate
		43, // unsupported_certificate
		44, // certificate_revoked
		45, // certificate_expired
		46, // certificate_unknown
		48, // unknown_ca
		alertCertificateRequired,
	} {
		if a.Error() == op.Err.Error() {
			return a, true
		}
	}
	return 0, false
}

// handshakes are the TLS credentials for the connections to one endpoint. They record the certificate error of the last
// handshake, because gRPC returns only its text.
type handshakes struct {
	credentials.TransportCredentials
	endpoint      string
	everConnected *atomic.Bool // set after data has been received from a server
	last          *lastHandshake
}

// lastHandshake is shared by the clones of a handshakes value.
type lastHandshake struct {
	mu      sync.Mutex // guards the field below
	certErr *CertificateError
}

func newHandshakes(endpoint string, files *tlsfiles.Latest, everConnected *atomic.Bool) *handshakes {
	return &handshakes{TransportCredentials: files.Credentials(), endpoint: endpoint, everConnected: everConnected, last: new(lastHandshake)}
}

// ClientHandshake records an error if the client rejects the server's certificate. If the server rejects the client's,
// the error is returned by the first read: in TLS 1.3, the client finishes its handshake before the server has checked
// the certificate.
func (h *handshakes) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := h.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		h.record(err)
		return nil, nil, err
	}
	return &firstRead{Conn: conn, handshakes: h}, info, nil
}

// Clone implements credentials.TransportCredentials.
func (h *handshakes) Clone() credentials.TransportCredentials {
	clone := *h
	clone.TransportCredentials = h.TransportCredentials.Clone()
	return &clone
}

// record records a certificate error, or clears it if err is nil or a different kind of error.
func (h *handshakes) record(err error) {
	var certErr *CertificateError
	if _, refused := errors.AsType[*tls.CertificateVerificationError](err); refused {
		certErr = &CertificateError{Endpoint: h.endpoint, Err: err}
	} else if _, refused := alert(err); refused {
		certErr = &CertificateError{Endpoint: h.endpoint, ByServer: true, Err: err}
	}
	h.last.mu.Lock()
	defer h.last.mu.Unlock()
	h.last.certErr = certErr
}

// explain returns the last handshake's certificate error if it caused err, and err otherwise. err is an attempt's
// error. The connection may have failed for a different reason since then, so err must contain the certificate error's
// text. gRPC includes the full text of a cause.
func (h *handshakes) explain(err error) error {
	if h == nil {
		return err
	}
	h.last.mu.Lock()
	certErr := h.last.certErr
	h.last.mu.Unlock()
	if certErr == nil {
		return err
	}
	text := certErr.Err.Error()
	quoted := strconv.Quote(text) // as gRPC does
	if s, ok := grpcStatus(err); ok && (strings.Contains(s.Message(), text) || strings.Contains(s.Message(), quoted[1:len(quoted)-1])) {
		return certErr
	}
	return err
}

// alertTimeout bounds the read of the server's last message on a failed connection.
const alertTimeout = time.Second

// firstRead is a connection that records the result of its first read.
type firstRead struct {
	net.Conn
	handshakes *handshakes
	done       atomic.Bool // the first read is done
	succeeded  atomic.Bool // the first read succeeded
}

func (c *firstRead) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.done.CompareAndSwap(false, true) {
		c.handshakes.record(err)
		if err == nil {
			c.succeeded.Store(true)
			c.handshakes.everConnected.Store(true)
		}
	}
	return n, err
}

// Write returns the server's alert if a write fails because of it. A server that rejects the client's certificate
// closes the connection while the client is writing its first message, so the write fails with an error that does not
// state the reason.
func (c *firstRead) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err == nil || c.succeeded.Load() {
		return n, err
	}
	_ = c.SetReadDeadline(time.Now().Add(alertTimeout)) // if this fails, the read fails too
	_, readErr := c.Conn.Read(make([]byte, 1))
	if _, refused := alert(readErr); refused {
		c.handshakes.record(readErr)
		return n, readErr
	}
	return n, err
}
