package client

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	leaf "github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// renew overwrites the certificate and key files of to with copies of from's files.
func renew(t *testing.T, from, to leaf.Files) {
	t.Helper()
	for _, f := range [][2]string{{from.Key, to.Key}, {from.Cert, to.Cert}} {
		if err := os.WriteFile(f[1], must(os.ReadFile(f[0]))(t), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A client may outlive its certificate and the authority that issued it.
func TestWithTLS_AllFilesRenewed_NextConnectionUsesThem(t *testing.T) {
	t.Parallel()
	before, after := authoritytest.New(t), authoritytest.New(t)
	server, client := leaf.Leaf{Name: "server", Server: true}, leaf.Leaf{Name: "client", Client: true}
	serverFiles, clientFiles := before.Issue(server), before.IssueAt(time.Now().Add(-90*time.Minute), client)
	ours := filepath.Join(t.TempDir(), "ca.crt") // the client's copy
	if err := os.WriteFile(ours, before.CertPEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	s := must(gatekeeper.Open(t.Context(), gatekeeper.Config{
		DataDir: t.TempDir(), APIAddress: "127.0.0.1:0", PeerAddress: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
		TLS:   gatekeeper.TLS{CertFile: serverFiles.Cert, KeyFile: serverFiles.Key, CAFile: before.File},
		Admin: "cert:client",
	}))(t)
	defer func() { _ = s.Close(context.Background()) }()
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}

	var last atomic.Pointer[net.Conn]
	c := must(Dial(t.Context(), []string{s.APIAddress()}, WithTLS(TLS{CAFile: ours, CertFile: clientFiles.Cert, KeyFile: clientFiles.Key}),
		WithGRPC(grpc.WithContextDialer(func(ctx context.Context, a string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", a)
			if err == nil {
				last.Store(&conn)
			}
			return conn, err
		}))))(t)
	defer c.Close()
	query := func() {
		t.Helper()
		if _, err := c.Cluster().GetStatus(t.Context(), &gatekeeperv1.GetStatusRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	reconnect := func() {
		t.Helper()
		(*last.Load()).Close()
		query()
	}
	if _, err := c.Cluster().GetStatus(t.Context(), &gatekeeperv1.GetStatusRequest{}); !as[*CertificateError](err) || !strings.Contains(err.Error(), "expired") {
		t.Fatalf("with an expired certificate: error = %v, want a *CertificateError containing \"expired\"", err)
	}
	before.Issue(client)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for { // gRPC reconnects after a backoff
		_, err := c.Cluster().GetStatus(ctx, &gatekeeperv1.GetStatusRequest{})
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}

	// Replace all files with files from another authority. The old certificates are no longer accepted.
	renew(t, after.Issue(server), serverFiles)
	renew(t, after.Issue(client), clientFiles)
	for _, file := range []string{before.File, ours} {
		if err := os.WriteFile(file, after.CertPEM(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reconnect()

	// An invalid certificate file is ignored.
	if err := os.WriteFile(clientFiles.Cert, []byte("half writ"), 0o600); err != nil {
		t.Fatal(err)
	}
	reconnect()
}

func TestDial_TLSEnvironment_UsedUnlessOptionSet(t *testing.T) {
	ours, otherAuthority := newAuthority(t, "ours"), newAuthority(t, "other")
	later := time.Now().Add(time.Hour)
	address := serveTLS(t, &tls.Config{
		Certificates: []tls.Certificate{ours.sign("127.0.0.1", later)}, ClientCAs: ours.pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}, &benchServer{})
	cert, key := ours.files(ours.sign("127.0.0.1", later))
	t.Setenv("GK_TLS_CA", ours.file)
	t.Setenv("GK_TLS_CERT", cert)
	t.Setenv("GK_TLS_KEY", key)
	query := func(opts ...Option) error {
		t.Helper()
		c := must(Dial(t.Context(), []string{address}, append(opts, WithGroup("prod"), WithAcquirer("app1"), WithAttemptTimeout(time.Second))...))(t)
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := c.Semaphore("free").TryAcquire(ctx)
		return err
	}
	if err := query(); err != nil {
		t.Error(err)
	}
	if err := query(WithTLS(TLS{CAFile: otherAuthority.file})); !as[*CertificateError](err) {
		t.Errorf("with another authority: error = %v, want *CertificateError", err)
	}
	t.Setenv("GK_TLS_SERVER_NAME", "gk1.example")
	if err := query(); !as[*CertificateError](err) || !strings.Contains(err.Error(), "gk1.example") {
		t.Errorf("with another server name: error = %v, want *CertificateError", err)
	}
	t.Setenv("GK_TLS_CA", "/no/such/file")
	if _, err := Dial(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "/no/such/file") {
		t.Errorf("Dial with a missing file: error = %v, want an error naming the file", err)
	}
	plain := must(Dial(t.Context(), nil, WithTLS(TLS{CAFile: ours.file}), WithPlaintext()))(t)
	defer plain.Close()
	if plain.settings.tls != nil {
		t.Error("a client with WithPlaintext uses TLS")
	}
}

// closedConn is a connection that the server closed after rejecting the certificate.
type closedConn struct {
	net.Conn
	readErr error
}

func (c *closedConn) Write([]byte) (int, error)       { return 0, syscall.EPIPE }
func (c *closedConn) Read([]byte) (int, error)        { return 0, c.readErr }
func (c *closedConn) SetReadDeadline(time.Time) error { return nil }

func TestFirstRead_WriteFails_ReturnsServerAlert(t *testing.T) {
	for _, readErr := range []error{&net.OpError{Op: "remote error", Err: alertCertificateRequired}, net.ErrClosed} {
		h := &handshakes{endpoint: "gk1:7420", everConnected: new(atomic.Bool), last: new(lastHandshake)}
		c := &firstRead{Conn: &closedConn{readErr: readErr}, handshakes: h}
		_, err := c.Write([]byte("PRI"))
		if _, want := alert(readErr); want {
			if !errors.Is(err, readErr) || h.last.certErr == nil || !h.last.certErr.ByServer {
				t.Errorf("Write() error = %v, recorded %v, want %v for both", err, h.last.certErr, readErr)
			}
		} else if !errors.Is(err, syscall.EPIPE) || h.last.certErr != nil {
			t.Errorf("Write() error = %v, recorded %v, want EPIPE and nil", err, h.last.certErr)
		}
	}
}
