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

// CertificateError says that no connection came about because of a certificate: of a server's, which was refused here,
// or of the client's own, which the server refused. It is found by errors.As in the *UnavailableError of a call, or of
// Members.
//
// An endpoint with such a trouble is one that does not answer, and the others are asked. When all have it and the
// Client has never got through to a server, it was set up wrongly, and a call fails after one round instead of going on
// until its context ends. A Client that has got through before goes on as in any outage: certificates expire and are
// renewed.
type CertificateError struct {
	Endpoint string
	// ByServer: the server refused the client's certificate, or that it showed none. Otherwise the server's was refused
	// here.
	ByServer bool
	// Err is what package tls said: a *tls.CertificateVerificationError, which wraps an error of package x509 that says
	// more; or the server's alert, if ByServer.
	Err error
}

func (e *CertificateError) Error() string { return e.Endpoint + ": " + e.plain() }

// Unwrap returns Err.
func (e *CertificateError) Unwrap() error { return e.Err }

// GRPCStatus lets gRPC's own package understand the error.
func (e *CertificateError) GRPCStatus() *status.Status {
	return status.New(codes.Unavailable, e.plain())
}

// plain says what is wrong, without the endpoint.
func (e *CertificateError) plain() string {
	text := e.Err.Error()
	if !e.ByServer {
		if v, ok := errors.AsType[*tls.CertificateVerificationError](e.Err); ok {
			text = v.Err.Error()
		}
		return plainUntrusted + ": " + strings.TrimPrefix(text, "x509: ")
	}
	if said, ok := alert(e.Err); ok && said == alertCertificateRequired {
		return plainNoCertificate
	}
	return plainBadCertificate + ": " + strings.TrimPrefix(text, "remote error: ")
}

// alertCertificateRequired is what a server says to a client that shows no certificate (RFC 8446, 6.2).
const alertCertificateRequired tls.AlertError = 116

// alert returns the alert by which the other side refused a certificate. Package tls has no other way to tell alerts of
// a connection apart than by their text, and AlertError gives the same text.
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

// handshakes are TLS credentials of the connections to one endpoint. They remember which certificate the last one
// failed by: gRPC hands on the text of that alone.
type handshakes struct {
	credentials.TransportCredentials
	endpoint string
	through  *atomic.Bool // set when a server was heard
	last     *lastHandshake
}

// lastHandshake is shared by clones.
type lastHandshake struct {
	mu      sync.Mutex // guards trouble
	trouble *CertificateError
}

func newHandshakes(endpoint string, files *tlsfiles.Latest, through *atomic.Bool) *handshakes {
	return &handshakes{TransportCredentials: files.Credentials(), endpoint: endpoint, through: through, last: new(lastHandshake)}
}

// ClientHandshake notes a certificate that is refused here. One that the server refuses is heard of with the first
// read: by TLS 1.3 the client's side of the handshake is over before the server has seen it.
func (h *handshakes) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := h.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		h.note(err)
		return nil, nil, err
	}
	return &firstRead{Conn: conn, handshakes: h}, info, nil
}

// Clone is that of credentials.TransportCredentials.
func (h *handshakes) Clone() credentials.TransportCredentials {
	clone := *h
	clone.TransportCredentials = h.TransportCredentials.Clone()
	return &clone
}

// note keeps the trouble if it is one of certificates; nil: there is none any more.
func (h *handshakes) note(err error) {
	var trouble *CertificateError
	if _, refused := errors.AsType[*tls.CertificateVerificationError](err); refused {
		trouble = &CertificateError{Endpoint: h.endpoint, Err: err}
	} else if _, refused := alert(err); refused {
		trouble = &CertificateError{Endpoint: h.endpoint, ByServer: true, Err: err}
	}
	h.last.mu.Lock()
	defer h.last.mu.Unlock()
	h.last.trouble = trouble
}

// explain returns the trouble of the last handshake if it is what the error of an attempt is about, and else that
// error. The connection may have failed since by something else, so the error must tell of it: gRPC puts the whole text
// of one error into the other.
func (h *handshakes) explain(err error) error {
	if h == nil {
		return err
	}
	h.last.mu.Lock()
	trouble := h.last.trouble
	h.last.mu.Unlock()
	if trouble == nil {
		return err
	}
	text := trouble.Err.Error()
	quoted := strconv.Quote(text) // as gRPC does
	if s, ok := grpcStatus(err); ok && (strings.Contains(s.Message(), text) || strings.Contains(s.Message(), quoted[1:len(quoted)-1])) {
		return trouble
	}
	return err
}

// lastWords bounds how long a connection that failed is asked for what the server said last.
const lastWords = time.Second

// firstRead is a connection of which the server has said nothing yet.
type firstRead struct {
	net.Conn
	handshakes *handshakes
	over       atomic.Bool // the first read
	heard      atomic.Bool // and it was no error
}

func (c *firstRead) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.over.CompareAndSwap(false, true) {
		c.handshakes.note(err)
		if err == nil {
			c.heard.Store(true)
			c.handshakes.through.Store(true)
		}
	}
	return n, err
}

// Write fails by what the server said, if that was a refusal: a server that refuses the client's certificate closes the
// connection while the client writes its first message, so that the write fails too, and says nothing.
func (c *firstRead) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err == nil || c.heard.Load() {
		return n, err
	}
	_ = c.SetReadDeadline(time.Now().Add(lastWords)) // the read fails all the same
	_, said := c.Conn.Read(make([]byte, 1))
	if _, refused := alert(said); refused {
		c.handshakes.note(said)
		return n, said
	}
	return n, err
}
