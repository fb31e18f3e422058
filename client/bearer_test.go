package client

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// bearerServer records the authorization header of every call, and returns refusal if it is set.
type bearerServer struct {
	benchServer
	refusal error

	mu       sync.Mutex // guards the field below
	received []string
}

func (s *bearerServer) TryAcquire(ctx context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
	s.mu.Lock()
	s.received = append(s.received, strings.Join(metadata.ValueFromIncomingContext(ctx, "authorization"), ", "))
	s.mu.Unlock()
	if s.refusal != nil {
		return nil, s.refusal
	}
	return s.benchServer.TryAcquire(ctx, q)
}

func (s *bearerServer) calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.received
}

// serveBearer starts a server and returns its address and an option for dialing it with TLS.
func serveBearer(t *testing.T, s *bearerServer) (address string, with Option) {
	ours := newAuthority(t, "ours")
	cfg := &tls.Config{Certificates: []tls.Certificate{ours.sign("127.0.0.1", time.Now().Add(time.Hour))}}
	return serveTLS(t, cfg, s), WithTLS(TLS{CAFile: ours.file})
}

// callOnce makes one call, and returns the authorization header that the server received.
func callOnce(t *testing.T, c *Client, s *bearerServer) (received string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	before := len(s.calls())
	_, err = c.Permits().TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{Semaphore: "free"})
	return strings.Join(s.calls()[before:], "; "), err
}

func TestWithBearerTokenFile_FileReplaced_NextCallSendsTheNewToken(t *testing.T) {
	t.Parallel()
	s := new(bearerServer)
	address, with := serveBearer(t, s)
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(file+".new", []byte(text), 0o600), os.Rename(file+".new", file)); err != nil {
			t.Fatal(err)
		}
	}
	write("one\n")
	c := must(Dial(t.Context(), []string{address}, with, WithBearerTokenFile(file)))(t)
	defer c.Close()
	for _, step := range []struct {
		what, want string
		do         func()
	}{
		{"at the start", "Bearer one", func() {}},
		{"replaced", "Bearer second", func() { write(" second") }},
		{"emptied", "Bearer second", func() { write("") }},
		{"containing two words", "Bearer second", func() { write("half\nwritten") }},
		{"removed", "Bearer second", func() { _ = os.Remove(file) }},
		{"written again", "Bearer third-one", func() { write("third-one") }},
	} {
		step.do()
		if received, err := callOnce(t, c, s); err != nil || received != step.want {
			t.Errorf("%s: server received %q (error = %v), want %q", step.what, received, err, step.want)
		}
	}
}

// Kubernetes renews the token in a projected volume through symbolic links: token points to ..data/token, and ..data is
// replaced by a rename.
func TestWithBearerTokenFile_ProjectedVolumeRenewed_NextCallSendsTheNewToken(t *testing.T) {
	t.Parallel()
	s := new(bearerServer)
	address, with := serveBearer(t, s)
	volume := t.TempDir()
	in := func(name string) string { return filepath.Join(volume, name) }
	renew := func(dir, text string) {
		t.Helper()
		if err := errors.Join(
			os.Mkdir(in(dir), 0o700), os.WriteFile(filepath.Join(in(dir), "token"), []byte(text), 0o600),
			os.Symlink(dir, in("..data_tmp")), os.Rename(in("..data_tmp"), in("..data")),
		); err != nil {
			t.Fatal(err)
		}
	}
	renew("..first", "eyJ.one.x")
	if err := os.Symlink("..data/token", in("token")); err != nil {
		t.Fatal(err)
	}
	c := must(Dial(t.Context(), []string{address}, with, WithBearerTokenFile(in("token"))))(t)
	defer c.Close()
	for _, step := range []struct {
		what, want string
		do         func()
	}{
		{"at the start", "Bearer eyJ.one.x", func() {}},
		{"renewed", "Bearer eyJ.two.x", func() { renew("..second", "eyJ.two.x") }}, // same length as the first token
		{"old directory removed", "Bearer eyJ.two.x", func() { _ = os.RemoveAll(in("..first")) }},
		{"renewed again", "Bearer eyJ.six.x", func() { renew("..third", "eyJ.six.x") }},
	} {
		step.do()
		if received, err := callOnce(t, c, s); err != nil || received != step.want {
			t.Errorf("%s: server received %q (error = %v), want %q", step.what, received, err, step.want)
		}
	}
}

// expiringServer accepts calls with the token "one" but ends their streams with refusal, as a server does when a token
// expires.
type expiringServer struct {
	benchServer
	gatekeeperv1.UnimplementedWatchServiceServer
	refusal error
}

func hasTokenOne(ctx context.Context) bool {
	return metadata.ValueFromIncomingContext(ctx, "authorization")[0] == "Bearer one"
}

func (s *expiringServer) Acquire(_ *gatekeeperv1.AcquireRequest, stream grpc.ServerStreamingServer[gatekeeperv1.AcquireResponse]) error {
	if hasTokenOne(stream.Context()) {
		_ = stream.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Place{Place: &gatekeeperv1.Place{Place: 1}}})
		return s.refusal
	}
	return stream.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Denial{Denial: &gatekeeperv1.Denial{}}})
}

func (s *expiringServer) Watch(_ *gatekeeperv1.WatchRequest, stream grpc.ServerStreamingServer[gatekeeperv1.WatchResponse]) error {
	if hasTokenOne(stream.Context()) {
		_ = stream.Send(&gatekeeperv1.WatchResponse{Revision: 1})
		return s.refusal
	}
	return stream.Send(&gatekeeperv1.WatchResponse{Revision: 2})
}

// If a token expires during a stream, the stream is reopened with the next token, or fails if there is none.
func TestWithBearerToken_TokenExpiresDuringStream_NextTokenIsUsed(t *testing.T) {
	t.Parallel()
	refusal := must(status.New(codes.Unauthenticated, "it has expired").WithDetails(&errdetails.ErrorInfo{Domain: domain, Reason: reasonUnauthenticated}))(t).Err()
	ours := newAuthority(t, "ours")
	address := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{ours.sign("127.0.0.1", time.Now().Add(time.Hour))}}, &expiringServer{refusal: refusal})
	for _, renewed := range []bool{true, false} {
		var fetched atomic.Int32
		c := must(Dial(t.Context(), []string{address}, WithTLS(TLS{CAFile: ours.file}), WithBearerToken(func(context.Context) (string, error) {
			switch n := fetched.Add(1); {
			case n == 1:
				return "one", nil
			case renewed:
				return "two", nil
			}
			return "", errors.New("no more tokens")
		})))(t)
		_, err := c.Semaphore("job").Acquire(t.Context())
		if renewed != as[*DeniedError](err) || renewed == as[*UnauthenticatedError](err) {
			t.Errorf("token renewed = %t: Acquire() error = %v", renewed, err)
		}
		fetched.Store(0)
		for r, err := range c.Watch(t.Context(), &gatekeeperv1.WatchRequest{}) {
			if err != nil {
				if renewed || !as[*UnauthenticatedError](err) {
					t.Errorf("token renewed = %t: Watch() error = %v", renewed, err)
				}
				break
			}
			if r.GetRevision() == 2 {
				if !renewed {
					t.Error("Watch continued without a token")
				}
				break
			}
		}
		_ = c.Close()
	}
}

func TestWithBearerToken_SourceFails_CallIsUnauthenticatedWithReason(t *testing.T) {
	t.Parallel()
	s := new(bearerServer)
	address, with := serveBearer(t, s)
	for _, c := range []struct {
		token string
		err   error
		want  string
	}{
		{"", errors.New("the issuer is down"), "the issuer is down"},
		{"", nil, "it is empty"},
		{"secret word", nil, "it is not a single token"},
		{`"secret"`, nil, "remove quotation marks"},
		{"gk_abcdefghijkl_secret", nil, "part of the token is missing"},
	} {
		client := must(Dial(t.Context(), []string{address}, with, WithBearerToken(func(context.Context) (string, error) { return c.token, c.err })))(t)
		received, err := callOnce(t, client, s)
		if !as[*UnauthenticatedError](err) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") || received != "" {
			t.Errorf("TryAcquire() error = %v, server received %q; want *UnauthenticatedError containing %q and no call", err, received, c.want)
		}
		_ = client.Close()
	}
}

func TestAuthErrors_AreTypedAndNotRetried(t *testing.T) {
	t.Parallel()
	refusal := func(code codes.Code, reason string, metadata map[string]string) error {
		return must(status.New(code, "no").WithDetails(&errdetails.ErrorInfo{Domain: domain, Reason: reason, Metadata: metadata}))(t).Err()
	}
	s := &bearerServer{refusal: refusal(codes.Unauthenticated, reasonUnauthenticated, nil)}
	address, with := serveBearer(t, s)
	c := must(Dial(t.Context(), []string{address, "127.0.0.1:1"}, with))(t)
	defer c.Close()
	c.router.mu.Lock()
	c.router.target = address
	c.router.mu.Unlock()
	if _, err := callOnce(t, c, s); !as[*UnauthenticatedError](err) || errors.Is(err, ErrUnavailable) || len(s.calls()) != 1 {
		t.Errorf("TryAcquire() error = %v after %d calls, want *UnauthenticatedError after 1", err, len(s.calls()))
	}
	s.refusal = refusal(codes.PermissionDenied, reasonForbidden, map[string]string{"principal": "orders", "role": "acquirer"})
	_, err := callOnce(t, c, s)
	if e, ok := errors.AsType[*ForbiddenError](err); !ok || e.Principal != "orders" || e.Role != "acquirer" || len(s.calls()) != 2 {
		t.Errorf("TryAcquire() error = %v after %d calls, want *ForbiddenError after 2", err, len(s.calls()))
	}
}

func TestDial_InvalidBearerToken_ReturnsSpecificError(t *testing.T) {
	s := new(bearerServer)
	address, with := serveBearer(t, s)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret word"), 0o600); err != nil {
		t.Fatal(err)
	}
	source := WithBearerToken(func(context.Context) (string, error) { return "secret", nil })
	for _, opts := range [][]Option{{source}, {source, WithPlaintext()}} {
		if _, err := Dial(t.Context(), nil, opts...); err == nil || !strings.Contains(err.Error(), "only sent over TLS") {
			t.Errorf("Dial() without TLS: error = %v, want an error about TLS", err)
		}
	}
	if _, err := Dial(t.Context(), nil, with, WithBearerTokenFile("/no/such/file")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Dial() with a missing file: error = %v, want ErrNotExist", err)
	}
	_, err := Dial(t.Context(), nil, with, WithBearerTokenFile("gk_secret"))
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("Dial() with a token as the file name: error = %v, want an error without the token", err)
	}
	if _, err := Dial(t.Context(), nil, with, WithBearerTokenFile(file)); err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "secret") {
		t.Errorf("Dial() with two words in the file: error = %v, want the file name but not its contents", err)
	}

	t.Setenv("GK_BEARER_TOKEN", " secret\n")
	dialAndCall := func(opts ...Option) string {
		t.Helper()
		c := must(Dial(t.Context(), []string{address}, append(opts, with)...))(t)
		defer c.Close()
		received, err := callOnce(t, c, s)
		if err != nil {
			t.Error(err)
		}
		return received
	}
	if received := dialAndCall(); received != "Bearer secret" {
		t.Errorf("with GK_BEARER_TOKEN: server received %q, want \"Bearer secret\"", received)
	}
	if received := dialAndCall(WithBearerToken(nil)); received != "" {
		t.Errorf("with WithBearerToken(nil): server received %q, want no token", received)
	}
	if _, err := Dial(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "only sent over TLS") {
		t.Errorf("Dial() with GK_BEARER_TOKEN but without TLS: error = %v, want an error about TLS", err)
	}
	if c, err := Dial(t.Context(), nil, WithPlaintext()); err != nil {
		t.Errorf("Dial() with WithPlaintext: error = %v", err)
	} else {
		_ = c.Close()
	}
	t.Setenv("GK_BEARER_TOKEN_FILE", file)
	if _, err := Dial(t.Context(), nil, with); err == nil || !strings.Contains(err.Error(), "GK_BEARER_TOKEN_FILE") {
		t.Errorf("Dial() with an invalid GK_BEARER_TOKEN_FILE: error = %v, want the variable's name", err)
	}
	if err := os.WriteFile(file, []byte("from-file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if received := dialAndCall(); received != "Bearer from-file" {
		t.Errorf("with both variables: server received %q, want the token from the file", received)
	}
}
