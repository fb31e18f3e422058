package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc/credentials"
)

// secured is what servers and callers on this machine need to talk by TLS: one certificate for all of them, by which it is signed itself.
type secured struct {
	args    []string // gatekeeperd's flags
	callers credentials.TransportCredentials
}

// newSecured writes the certificate and its key to dir.
func newSecured(dir string) (*secured, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	signed, err := x509.ParseCertificate(certificate)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	certificateFile, keyFile := filepath.Join(dir, "tls.pem"), filepath.Join(dir, "tls.key")
	for _, file := range []struct {
		path, kind string
		content    []byte
	}{{certificateFile, "CERTIFICATE", certificate}, {keyFile, "PRIVATE KEY", secret}} {
		if err := os.WriteFile(file.path, pem.EncodeToMemory(&pem.Block{Type: file.kind, Bytes: file.content}), 0o600); err != nil {
			return nil, err
		}
	}
	authorities := x509.NewCertPool()
	authorities.AddCert(signed)
	return &secured{
		args:    []string{"--tls-cert", certificateFile, "--tls-key", keyFile, "--tls-ca", certificateFile},
		callers: credentials.NewTLS(&tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS13}),
	}, nil
}
