package client

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// authority is a certificate authority for tests.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
	file string
}

func newAuthority(t *testing.T, name string) *authority {
	a := &authority{t: t, pool: x509.NewCertPool(), file: filepath.Join(t.TempDir(), "ca.pem")}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.key = newKey(t)
	der := must(x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key))(t)
	a.cert = must(x509.ParseCertificate(der))(t)
	a.pool.AddCert(a.cert)
	writePEM(t, a.file, "CERTIFICATE", der)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sign issues a certificate for an IP address, valid until the given time.
func (a *authority) sign(host string, until time.Time) tls.Certificate {
	a.t.Helper()
	key := newKey(a.t)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "leaf"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.ParseIP(host)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// files writes a certificate and its key to files, and returns their paths.
func (a *authority) files(c tls.Certificate) (cert, key string) {
	a.t.Helper()
	dir := a.t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePEM(a.t, cert, "CERTIFICATE", c.Certificate[0])
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		a.t.Fatal(err)
	}
	writePEM(a.t, key, "PRIVATE KEY", der)
	return cert, key
}

// serveTLS starts a fake server on a real listener, and returns its address.
func serveTLS(t *testing.T, config *tls.Config, s gatekeeperv1.PermitServiceServer) string {
	t.Helper()
	l := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(config)))
	gatekeeperv1.RegisterPermitServiceServer(server, s)
	gatekeeperv1.RegisterClusterServiceServer(server, gatekeeperv1.UnimplementedClusterServiceServer{})
	if watcher, ok := s.(gatekeeperv1.WatchServiceServer); ok {
		gatekeeperv1.RegisterWatchServiceServer(server, watcher)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
	})
	return l.Addr().String()
}

// dialTLS returns a client with the given TLS settings. It calls the first endpoint first.
func dialTLS(t *testing.T, with TLS, endpoints ...string) *Client {
	t.Helper()
	c := must(Dial(t.Context(), endpoints, WithTLS(with), WithGRPC(grpc.WithNoProxy()), WithGroup("prod"), WithAcquirer("app1")))(t)
	c.router.next = 0
	c.router.rotate()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Every kind of certificate error fails a call with a specific error, even if the call's context never ends.
func TestCertificateError_EachKind_FailsTheCallImmediately(t *testing.T) {
	ours, untrusted := newAuthority(t, "ours"), newAuthority(t, "untrusted")
	later := time.Now().Add(time.Hour)
	good := ours.sign("127.0.0.1", later)
	expired, expiredKey := ours.files(ours.sign("127.0.0.1", time.Now().Add(-time.Minute)))
	untrustedCert, untrustedKey := untrusted.files(untrusted.sign("127.0.0.1", later))
	mutual := &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.pool}
	anyCert := mutual.Clone() // the server does not send its authorities, so clients send any certificate they have
	anyCert.ClientAuth, anyCert.ClientCAs = tls.RequireAnyClientCert, nil
	anyCert.VerifyPeerCertificate = func(raw [][]byte, _ [][]*x509.Certificate) error {
		c, err := x509.ParseCertificate(raw[0])
		if err != nil {
			return err
		}
		_, err = c.Verify(x509.VerifyOptions{Roots: ours.pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		return err
	}
	for _, c := range []struct {
		name     string
		server   *tls.Config
		client   TLS
		byServer bool
		is       func(error) bool
		text     string
	}{
		{
			"unknown authority",
			&tls.Config{Certificates: []tls.Certificate{untrusted.sign("127.0.0.1", later)}}, TLS{CAFile: ours.file}, false,
			as[x509.UnknownAuthorityError], "the server's certificate is not trusted: certificate signed by unknown authority",
		},
		{
			"wrong host",
			&tls.Config{Certificates: []tls.Certificate{ours.sign("127.0.0.2", later)}}, TLS{CAFile: ours.file}, false,
			as[x509.HostnameError], "the server's certificate is not trusted: certificate is valid for 127.0.0.2, not 127.0.0.1",
		},
		{
			"wrong name",
			&tls.Config{Certificates: []tls.Certificate{good}}, TLS{CAFile: ours.file, ServerName: "gk1.example"}, false,
			as[x509.HostnameError], "the server's certificate is not trusted: certificate is not valid for any names, but wanted to match gk1.example",
		},
		{
			"expired",
			&tls.Config{Certificates: []tls.Certificate{ours.sign("127.0.0.1", time.Now().Add(-time.Minute))}}, TLS{CAFile: ours.file}, false,
			func(err error) bool {
				e, ok := errors.AsType[x509.CertificateInvalidError](err)
				return ok && e.Reason == x509.Expired
			},
			"the server's certificate is not trusted: certificate has expired or is not yet valid",
		},
		{
			"no client certificate", mutual, TLS{CAFile: ours.file}, true, as[*net.OpError],
			"the server requires a client certificate: configure a certificate and its key",
		},
		{
			"client certificate from an unlisted authority", mutual, TLS{CAFile: ours.file, CertFile: untrustedCert, KeyFile: untrustedKey}, true, as[*net.OpError],
			"the server does not accept the client certificate: tls: unknown certificate authority",
		},
		{
			"client certificate from an unknown authority", anyCert, TLS{CAFile: ours.file, CertFile: untrustedCert, KeyFile: untrustedKey}, true, as[*net.OpError],
			"the server does not accept the client certificate: tls: bad certificate",
		},
		{
			"expired client certificate", mutual, TLS{CAFile: ours.file, CertFile: expired, KeyFile: expiredKey}, true, as[*net.OpError],
			"the server does not accept the client certificate: tls: expired certificate",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := serveTLS(t, c.server, &benchServer{}), serveTLS(t, c.server, &benchServer{})
			client := dialTLS(t, c.client, a, b)
			_, err := client.Semaphore("free").TryAcquire(context.Background())
			e, ok := errors.AsType[*CertificateError](err)
			if !ok || e.ByServer != c.byServer || e.Endpoint != a && e.Endpoint != b {
				t.Fatalf("TryAcquire() error = %v with certificate error %+v, want a *CertificateError for one of the endpoints", err, e)
			}
			if !c.is(err) {
				t.Errorf("error = %v, want it to wrap the TLS error", err)
			}
			u, ok := errors.AsType[*UnavailableError](err)
			if !ok || errors.Is(err, ErrOutcomeUnknown) || u.Ended != nil || len(u.Tried) != 2 {
				t.Errorf("error = %+v, want 2 endpoints tried and no unknown outcome", u)
			}
			if want := e.Endpoint + ": " + c.text; !strings.HasPrefix(e.Error(), want) || !strings.Contains(err.Error(), want) {
				t.Errorf("got certificate error %q in error %q, want both to contain %q", e, err, want)
			}
			if status.Code(e) != codes.Unavailable {
				t.Errorf("status.Code() = %s, want Unavailable", status.Code(e))
			}
		})
	}
}

func as[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// One endpoint with a valid certificate is enough, even if it is not tried first.
func TestCertificateError_AtOneOfTwoEndpoints_IsSkipped(t *testing.T) {
	ours, untrusted := newAuthority(t, "ours"), newAuthority(t, "untrusted")
	later := time.Now().Add(time.Hour)
	wrong := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{untrusted.sign("127.0.0.1", later)}}, &benchServer{})
	good := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{ours.sign("127.0.0.1", later)}}, &benchServer{})
	for _, endpoints := range [][]string{{wrong, good}, {good, wrong}} {
		c := dialTLS(t, TLS{CAFile: ours.file}, endpoints...)
		p := acquire(t, c.Semaphore("free"))
		if err := p.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
		if err := p.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A server that is down may recover, so the call is retried until its context ends. The error still includes the other
// server's certificate error.
func TestCertificateError_OtherServerDown_IsReportedWhenTheContextEnds(t *testing.T) {
	ours, untrusted := newAuthority(t, "ours"), newAuthority(t, "untrusted")
	wrong := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{untrusted.sign("127.0.0.1", time.Now().Add(time.Hour))}}, &benchServer{})
	c := dialTLS(t, TLS{CAFile: ours.file}, wrong, "127.0.0.1:1")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err := c.Semaphore("free").TryAcquire(ctx)
	if e, ok := errors.AsType[*CertificateError](err); !ok || e.Endpoint != wrong || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("TryAcquire() error = %v, want the certificate error from %s and DeadlineExceeded", err, wrong)
	}
}

// Once a client has connected successfully, an invalid certificate is treated as an outage: calls such as Release are
// retried until it is fixed.
func TestCertificateError_AfterSuccessfulCall_IsOutage(t *testing.T) {
	ours, untrusted := newAuthority(t, "ours"), newAuthority(t, "untrusted")
	later := time.Now().Add(time.Hour)
	good, wrong := ours.sign("127.0.0.1", later), untrusted.sign("127.0.0.1", later)
	var mu sync.Mutex
	current, handshakes := &good, 0
	var fixed chan struct{}
	config := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		if handshakes++; current == &wrong && handshakes >= 3 { // the valid certificate is restored after some attempts
			current = &good
			close(fixed)
		}
		return current, nil
	}}
	dialed := make(chan net.Conn, 16)
	server := &benchServer{}
	address := serveTLS(t, config, server)
	c := must(Dial(t.Context(), []string{address}, WithTLS(TLS{CAFile: ours.file}), WithGRPC(grpc.WithContextDialer(func(ctx context.Context, a string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", a)
		if err == nil {
			dialed <- conn
		}
		return conn, err
	}))))(t)
	defer c.Close()
	p := acquire(t, c.Semaphore("free"))
	mu.Lock()
	current, handshakes, fixed = &wrong, 0, make(chan struct{})
	mu.Unlock()
	(<-dialed).Close()
	release(t, p)
	<-fixed
}

func TestMembers_CertificateErrorAtOneEndpoint_IsReported(t *testing.T) {
	ours, untrusted := newAuthority(t, "ours"), newAuthority(t, "untrusted")
	later := time.Now().Add(time.Hour)
	wrong := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{untrusted.sign("127.0.0.1", later)}}, &benchServer{})
	good := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{ours.sign("127.0.0.1", later)}}, &benchServer{})
	c := dialTLS(t, TLS{CAFile: ours.file}, good, wrong)
	_, err := c.Members(t.Context(), &gatekeeperv1.GetStatusRequest{})
	if e, ok := errors.AsType[*CertificateError](err); !ok || e.Endpoint != wrong {
		t.Errorf("Members() error = %v, want the certificate error from %s", err, wrong)
	}
}
