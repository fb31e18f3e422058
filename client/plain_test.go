package client

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// listen starts a listener and returns its address. The listener accepts connections until the test ends, and passes
// them to serve.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			serve(c)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String()
}

// Error messages from gRPC, TLS and the operating system vary between versions. This package's messages must not.
func TestUnavailable_ConnectionErrors_HavePlainText(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	grpcServer := grpc.NewServer()
	l := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	serving := make(chan error, 1)
	go func() { serving <- grpcServer.Serve(l) }()
	t.Cleanup(func() {
		grpcServer.Stop()
		<-serving
	})
	cut := listen(t, func(c net.Conn) { c.Close() })
	silent := listen(t, func(net.Conn) {})
	web := listen(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") })
	for _, c := range []struct {
		name, endpoint string
		tls            bool
		want           string
	}{
		{"no server", "127.0.0.1:1", false, "nothing is listening there"},
		{"unknown host", "nobody.invalid:7420", false, ""},             // the text depends on the system's name resolution
		{"connection closed", cut, false, "the connection was closed"}, // before or after the preface
		{"silent server", silent, false, "timed out waiting for a response"},
		{"web server", web, false, "the server at that address does not speak gRPC"},
		{"web server, TLS client", web, true, "the server at that address does not speak TLS"},
		{"TLS server, plaintext client", secure.Listener.Addr().String(), false, "the connection was closed"},
		{"unknown authority", secure.Listener.Addr().String(), true, "the server's certificate is not trusted: certificate signed by unknown authority"},
		{"other service", l.Addr().String(), false, "the server does not support this call: it is older than this client, or is not Gatekeeper"},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := []Option{WithAttemptTimeout(time.Second), WithGRPC(grpc.WithNoProxy())}
			if c.tls {
				opts = append(opts, WithTLS(TLS{}))
			}
			dialled := must(Dial(t.Context(), []string{c.endpoint}, opts...))(t)
			defer dialled.Close()
			_, err := dialled.Members(t.Context(), &gatekeeperv1.GetStatusRequest{})
			if err == nil || !strings.HasPrefix(err.Error(), "no server responded: "+c.endpoint+": "+c.want) {
				t.Errorf("Members() error = %v, want %q", err, c.want)
			}
			for _, raw := range []string{"rpc error", "code =", "desc =", "dial tcp", "transport:", "context deadline exceeded", "(Un"} {
				if strings.Contains(err.Error(), raw) {
					t.Errorf("error %q contains %q, want plain text only", err, raw)
				}
			}
			if !errors.Is(err, ErrUnavailable) {
				t.Errorf("error %v does not match ErrUnavailable", err)
			}
		})
	}
}

func TestStatusError_WithoutReason_HasPlainText(t *testing.T) {
	for text, err := range map[string]*StatusError{
		"there is no x":              {Message: "there is no x"}, // created by the application, without a code
		"no (PermissionDenied)":      {Code: codes.PermissionDenied, Message: "no"},
		"nothing is listening there": {Code: codes.Unavailable, Message: `connection error: desc = "transport: Error while dialing: dial tcp [::1]:1: connect: connection refused"`},
		"unchanged":                  {Code: codes.Unavailable, Reason: "X", Message: "unchanged"},
	} {
		if err.Error() != text {
			t.Errorf("Error() = %q, want %q", err, text)
		}
	}
}

func TestUnavailable_NoAttempt_ReportsEndedContext(t *testing.T) {
	err := &UnavailableError{Ended: context.DeadlineExceeded}
	if want := "no server responded: the context ended before a server was called"; err.Error() != want {
		t.Errorf("Error() = %q, want %q", err, want)
	}
	if !errors.Is(err, context.DeadlineExceeded) || err.NoLeader() {
		t.Errorf("%#v does not match its context's error, or NoLeader() is true", err)
	}
}

func TestPlainText_ServerMessage_IsUnchanged(t *testing.T) {
	err := refused(codes.Unavailable, reasonNotAppended)
	if got := plainText(err); got != status.Convert(err).Message() {
		t.Errorf("plainText() = %q, want the server's message", got)
	}
}
