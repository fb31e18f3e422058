package client

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// plainText is what an error says to a person: what a server of Gatekeeper wrote as it is, and what gRPC, TLS and the
// system wrote in words that say what is wrong and where to look. Nothing is decided on it.
func plainText(err error) string {
	if c, ok := errors.AsType[*CertificateError](err); ok {
		return c.plain()
	}
	s, ok := grpcStatus(err)
	switch {
	case ok && info(s) != nil:
		return s.Message()
	case ok && s.Code() == codes.Unimplemented && !strings.Contains(s.Message(), "HTTP"):
		return "the server does not know this call: it is older than this client, or is not Gatekeeper"
	case ok && s.Message() != "":
		return plainWords(s.Message())
	case errors.Is(err, context.DeadlineExceeded):
		return plainTooLate
	}
	return plainWords(err.Error())
}

// grpcStatus is the status of an error that came through gRPC.
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
	plainTooLate = "no answer in time"
	plainCut     = "the connection was cut"
	plainForeign = "what listens there does not speak gRPC: is it another port?"
	plainNoTLS   = "what listens there does not speak TLS, which this client uses"

	plainUntrusted      = "the server's certificate is not trusted"
	plainBadCertificate = "the server does not accept the client certificate"
	plainNoCertificate  = "the server wants a client certificate by TLS: give one with its key"
)

// plainTable is what people call the troubles of a connection. The first line that is part of a text wins, so the
// outermost trouble of a chain comes first.
var plainTable = []struct{ part, words string }{ //nolint:gochecknoglobals // a table, never changed
	{"looked like an HTTP/1.1 header", plainForeign},
	{"missing selected ALPN property", plainForeign},
	{"unexpected HTTP status code", plainForeign},
	{"malformed header", plainForeign},
	{"does not look like a TLS handshake", plainNoTLS},
	{"error reading server preface", "the connection was cut immediately: does the server want TLS, which this client does not use, or is it another port?"},
	{"certificate required", plainNoCertificate},
	{"bad certificate", plainBadCertificate},
	{"connection refused", "nothing listens there"},
	{"produced zero addresses", "no host has that name"},
	{"no such host", "no host has that name"},
	{"server misbehaving", "the name cannot be looked up now"},
	{"no route to host", "there is no way to that host"},
	{"network is unreachable", "there is no way to that network"},
	{"connection reset by peer", plainCut},
	{"broken pipe", plainCut},
	{"EOF", plainCut},
	{"transport is closing", plainCut},
	{"connection is draining", plainCut},
	{"i/o timeout", plainTooLate + ": is the host down, or a firewall between?"},
	{"deadline exceeded", plainTooLate},
	{"context canceled", "given up"},
}

// plainWords puts what gRPC, TLS or the system wrote into words; what it does not know it leaves as it is, without what
// is put around it.
func plainWords(text string) string {
	if _, inner, ok := strings.Cut(text, `desc = "`); ok {
		text = strings.TrimSuffix(inner, `"`)
	}
	if reason, ok := strings.CutPrefix(text, "transport: authentication handshake failed: tls: failed to verify certificate: "); ok {
		return plainUntrusted + ": " + strings.TrimPrefix(reason, "x509: ")
	}
	for _, t := range plainTable {
		if strings.Contains(text, t.part) {
			return t.words
		}
	}
	for _, around := range []string{"transport: Error while dialing: ", "transport: authentication handshake failed: ", "rpc error: "} {
		text = strings.TrimPrefix(text, around)
	}
	return text
}

// leaderless says whether an error is the word of a server that knows no leader, or only one that leads no more.
func leaderless(err error) bool {
	s, ok := grpcStatus(err)
	if !ok {
		return false
	}
	reason := info(s).GetReason()
	return reason == reasonNoLeader || reason == reasonNotLeader
}
