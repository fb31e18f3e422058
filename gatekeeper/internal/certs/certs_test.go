package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// issue writes a self-signed certificate with that serial number, and its key, over whatever the files hold.
func issue(t *testing.T, f Files, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f.Cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	write(t, f.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// served is the serial number of the certificate that the next handshake shows.
func served(t *testing.T, cfg *tls.Config) int64 {
	t.Helper()
	server, client := net.Pipe()
	failed := make(chan error, 1)
	go func() {
		defer server.Close()
		failed <- tls.Server(server, cfg).Handshake()
	}()
	c := tls.Client(client, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}) //nolint:gosec // only its number is looked at
	defer client.Close()
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestServer_FilesRenewed_NextHandshakeShowsThem(t *testing.T) {
	dir := t.TempDir()
	f := Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	issue(t, f, 1)
	cfg, err := f.Server()
	if err != nil {
		t.Fatal(err)
	}
	if n := served(t, cfg); n != 1 {
		t.Fatalf("certificate %d is served, want 1", n)
	}
	issue(t, f, 2)
	if n := served(t, cfg); n != 2 {
		t.Fatalf("certificate %d is served after the renewal, want 2", n)
	}
	write(t, f.Cert, []byte("half writ"))
	if n := served(t, cfg); n != 2 {
		t.Fatalf("certificate %d is served while the file cannot be used, want 2", n)
	}
}

func TestConfig_UnusableFile_IsNamed(t *testing.T) {
	dir := t.TempDir()
	f := Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	_, err := f.Config()
	if bad, ok := errors.AsType[*FileError](err); !ok || bad.File != f.Cert {
		t.Fatalf("the error is %v, want it to name %s", err, f.Cert)
	}
	issue(t, f, 1)
	f.CA = filepath.Join(dir, "ca.pem")
	write(t, f.CA, nil)
	_, err = f.Config()
	if bad, ok := errors.AsType[*FileError](err); !ok || bad.File != f.CA {
		t.Fatalf("the error is %v, want it to name %s", err, f.CA)
	}
}
