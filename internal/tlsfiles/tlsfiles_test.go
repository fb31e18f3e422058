package tlsfiles_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"testing"

	"google.golang.org/grpc/credentials"

	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	"github.com/gatekeeperd/gatekeeper/internal/tlsfiles"
)

// connect performs a handshake with a server that has a certificate from the given authority and requires one from the
// client. It returns the certificate that the client presented.
func connect(t *testing.T, creds credentials.TransportCredentials, ca *authoritytest.Authority) (presented *x509.Certificate, err error) {
	t.Helper()
	server := &tls.Config{
		Certificates: []tls.Certificate{authoritytest.Pair(t, ca.Issue(authority.Leaf{Name: "server", Server: true}))},
		ClientCAs:    ca.Pool(), ClientAuth: tls.RequireAndVerifyClientCert, NextProtos: []string{"h2"},
	}
	a, b := net.Pipe()
	defer b.Close()
	accepted := tls.Server(a, server)
	failed := make(chan error, 1)
	go func() {
		defer a.Close()
		failed <- accepted.Handshake()
	}()
	conn, _, err := creds.ClientHandshake(t.Context(), "127.0.0.1:7420", b)
	if err != nil {
		b.Close()
		<-failed
		return nil, err
	}
	_, _ = conn.Read(make([]byte, 1)) // with TLS 1.3, the server may reject the client after the handshake
	if err := <-failed; err != nil {
		return nil, err
	}
	return accepted.ConnectionState().PeerCertificates[0], nil
}

func TestCredentials_FilesRenewed_NextHandshakeUsesThem(t *testing.T) {
	oldCA, newCA := authoritytest.New(t), authoritytest.New(t)
	client := authority.Leaf{Name: "client", Client: true}
	certFiles := oldCA.Issue(client)
	latest, err := tlsfiles.New(func() (*tls.Config, error) {
		pair, err := tlsfiles.Pair(certFiles.Cert, certFiles.Key)
		if err != nil {
			return nil, err
		}
		pool, err := tlsfiles.Pool(oldCA.File)
		return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, RootCAs: pool}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	creds := latest.Credentials().Clone()
	first, err := connect(t, creds, oldCA)
	if err != nil {
		t.Fatal(err)
	}
	oldCA.Issue(client)
	second, err := connect(t, creds, oldCA)
	if err != nil || second.Equal(first) {
		t.Fatalf("connect() after the renewal: error %v, want no error and the new certificate", err)
	}
	write(t, certFiles.Cert, []byte("half writ"))
	if third, err := connect(t, creds, oldCA); err != nil || !third.Equal(second) {
		t.Fatalf("connect() with an invalid file: error %v, want no error and the previous certificate", err)
	}

	write(t, oldCA.File, newCA.CertPEM())
	reissued := newCA.Issue(client)
	for _, f := range [][2]string{{reissued.Cert, certFiles.Cert}, {reissued.Key, certFiles.Key}} {
		data, err := os.ReadFile(f[0])
		if err != nil {
			t.Fatal(err)
		}
		write(t, f[1], data)
	}
	if _, err := connect(t, creds, newCA); err != nil {
		t.Errorf("connect() to a server with a certificate from the new authority: %v", err)
	}
	if _, err := connect(t, creds, oldCA); !as[*tls.CertificateVerificationError](err) {
		t.Errorf("connect() to a server with a certificate from the old authority: %v, want an error", err)
	}
}

func as[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
