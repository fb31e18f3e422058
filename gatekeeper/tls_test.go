package gatekeeper

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// certificates makes an authority and a certificate of it for loopback.
func certificates(t *testing.T) (files TLS, pool *x509.CertPool) {
	t.Helper()
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(err)
		return k
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		must(os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	authorityKey, ownKey := key(), key()
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	must(err)
	own := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "server"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	ownDER, err := x509.CreateCertificate(rand.Reader, own, authority, ownKey.Public(), authorityKey)
	must(err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(ownKey)
	must(err)
	parsed, err := x509.ParseCertificate(authorityDER)
	must(err)
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return TLS{CertFile: write("cert.pem", "CERTIFICATE", ownDER), KeyFile: write("key.pem", "PRIVATE KEY", keyDER), CAFile: write("ca.pem", "CERTIFICATE", authorityDER)}, pool
}

func TestCluster_TLS_ServesForwardsAndTakesIn(t *testing.T) {
	t.Parallel()
	files, pool := certificates(t)
	with := func(minimum uint16) grpc.DialOption {
		return grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12, MaxVersion: minimum}))
	}
	servers := clusterWith(t, func(c *Config) { c.TLS = files }, "gk1", "gk2", "gk3")
	for _, s := range servers {
		callerOf(t, s, with(tls.VersionTLS13)).try(t, "none", "app1") // two of them pass it on
	}

	st, err := callerOf(t, servers[0], with(tls.VersionTLS13)).GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{})
	if c := st.GetCertificates(); err != nil || len(c) != 2 || c[0].GetPort() != gatekeeperv1.CertificatePort_CERTIFICATE_PORT_API ||
		!c[0].GetNotAfter().AsTime().After(time.Now()) || c[0].GetError() != "" {
		t.Errorf("certificates %v, %v", c, err)
	}
	if w := st.GetLogWrites(); w.GetCount() == 0 || w.GetLongest().AsDuration() < w.GetMedian().AsDuration() || w.GetMedian().AsDuration() <= 0 {
		t.Errorf("writes %v", w)
	}

	cfg, _ := configOf(t, "gk4")
	cfg.TLS, cfg.Join = files, []string{servers[0].APIAddress()}
	ready(t, open(t, cfg))

	for name, option := range map[string]grpc.DialOption{
		"no TLS": grpc.WithTransportCredentials(insecure.NewCredentials()), "an older TLS": with(tls.VersionTLS12),
	} {
		c := callerOf(t, servers[0], option)
		if _, err := c.GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{}); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v, want Unavailable", name, err)
		}
	}
}
