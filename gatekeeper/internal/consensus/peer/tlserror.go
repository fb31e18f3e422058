package peer

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
)

// explain extends a TLS error on an outgoing connection with the names of the settings to compare on the two members.
func (l *Layer) explain(err error) error {
	if l.cfg.TLS.IsZero() {
		return err
	}
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	alert, remote := errors.AsType[*net.OpError](err)
	plain, _ := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case unknown:
		return fmt.Errorf("%w: its certificate was not issued by an authority in %q: compare --peer-tls-ca on both members; all members must use the same one",
			err, l.cfg.TLS.CA)
	case remote && alert.Op == "remote error" && strings.Contains(err.Error(), "unknown certificate authority"):
		return fmt.Errorf("%w: it rejects this server's certificate %q: compare --peer-tls-ca on both members; all members must use the same one",
			err, l.cfg.TLS.Cert)
	case plain.Msg != "":
		return fmt.Errorf("%w: it does not speak TLS: if it is a Gatekeeper server, set --peer-tls-cert on all members", err)
	}
	return err
}

// isClosed reports whether the other side has closed the connection, possibly before it had read everything.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// errClosed returns an error for a connection that was closed without an answer. Several causes are possible, and this
// side cannot tell which one applies.
func (l *Layer) errClosed() error {
	cause := "it uses TLS, and this server does not (--peer-tls-cert)"
	if !l.cfg.TLS.IsZero() {
		cause = fmt.Sprintf("it rejects this server's certificate %q (compare --peer-tls-ca on both members)", l.cfg.TLS.Cert)
	}
	return fmt.Errorf("it closed the connection without answering; if this keeps happening, %s, or it is a different program, or a Gatekeeper server "+
		"whose version does not answer members of a new cluster: stop or upgrade it", cause)
}
