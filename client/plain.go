package client

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// plainText returns an error's message for display. Messages from Gatekeeper's servers are unchanged. Messages from
// gRPC, TLS and the system are replaced by text that explains what is wrong and where to look. No code depends on the
// exact text.
func plainText(err error) string {
	if c, ok := errors.AsType[*CertificateError](err); ok {
		return c.plain()
	}
	s, ok := grpcStatus(err)
	switch {
	case ok && info(s) != nil:
		return s.Message()
	case ok && s.Code() == codes.Unimplemented && !strings.Contains(s.Message(), "HTTP"):
		return "the server does not support this call: it is older than this client, or is not Gatekeeper"
	case ok && s.Message() != "":
		return plainMessage(s.Message())
	case errors.Is(err, context.DeadlineExceeded):
		return plainTimeout
	}
	return plainMessage(err.Error())
}

// grpcStatus returns the gRPC status that an error carries.
func grpcStatus(err error) (*status.Status, bool) {
	e, ok := errors.AsType[interface {
		error
		GRPCStatus() *status.Status
	}](err)
	if !ok {
		return nil, false
	}
	return e.GRPCStatus(), true
}

const (
	plainTimeout = "timed out waiting for a response"
	plainClosed  = "the connection was closed"
	plainNotGRPC = "the server at that address does not speak gRPC: is it the wrong port?"
	plainNoTLS   = "the server at that address does not speak TLS, but this client requires it"

	plainUntrusted      = "the server's certificate is not trusted"
	plainBadCertificate = "the server does not accept the client certificate"
	plainNoCertificate  = "the server requires a client certificate: configure a certificate and its key"
)

// plainTable maps substrings of error messages to plain messages. The first entry found in a message wins, so the
// outermost errors of a chain come first.
var plainTable = []struct{ part, text string }{ //nolint:gochecknoglobals // a table that never changes
	{"looked like an HTTP/1.1 header", plainNotGRPC},
	{"missing selected ALPN property", plainNotGRPC},
	{"unexpected HTTP status code", plainNotGRPC},
	{"malformed header", plainNotGRPC},
	{"does not look like a TLS handshake", plainNoTLS},
	{"error reading server preface", "the connection was closed immediately: does the server require TLS, which this client does not use, or is it the wrong port?"},
	{"certificate required", plainNoCertificate},
	{"bad certificate", plainBadCertificate},
	{"connection refused", "nothing is listening there"},
	{"produced zero addresses", "host not found"},
	{"no such host", "host not found"},
	{"server misbehaving", "the name cannot be resolved at the moment"},
	{"no route to host", "there is no route to that host"},
	{"network is unreachable", "there is no route to that network"},
	{"connection reset by peer", plainClosed},
	{"broken pipe", plainClosed},
	{"EOF", plainClosed},
	{"transport is closing", plainClosed},
	{"connection is draining", plainClosed},
	{"i/o timeout", plainTimeout + ": is the host down, or is a firewall blocking the connection?"},
	{"deadline exceeded", plainTimeout},
	{"context canceled", "cancelled"},
}

// plainMessage replaces a message from gRPC, TLS or the system with a plain one. It returns unknown messages unchanged,
// except for removing the prefixes that gRPC adds.
func plainMessage(text string) string {
	if _, inner, ok := strings.Cut(text, `desc = "`); ok {
		text = strings.TrimSuffix(inner, `"`)
	}
	if reason, ok := strings.CutPrefix(text, "transport: authentication handshake failed: tls: failed to verify certificate: "); ok {
		return plainUntrusted + ": " + strings.TrimPrefix(reason, "x509: ")
	}
	for _, t := range plainTable {
		if strings.Contains(text, t.part) {
			return t.text
		}
	}
	for _, prefix := range []string{"transport: Error while dialing: ", "transport: authentication handshake failed: ", "rpc error: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// leaderless reports whether an error comes from a server that is not the leader, whether or not it knows the leader.
func leaderless(err error) bool {
	s, ok := grpcStatus(err)
	if !ok {
		return false
	}
	reason := info(s).GetReason()
	return reason == reasonNoLeader || reason == reasonNotLeader
}
