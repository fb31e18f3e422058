// Package authority is a small certificate authority for trials and small teams. `gkctl cert` and tests issue
// certificates with it.
//
// Keys are ECDSA on P-256, which all TLS 1.3 implementations and browsers support. Certificates are backdated by a few
// minutes to allow for machines with slow clocks, and never outlive their authority.
package authority

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"time"
)

// Default lifetimes.
const (
	Lifetime     = 10 * 365 * 24 * time.Hour // lifetime of an authority
	LeafLifetime = 365 * 24 * time.Hour      // lifetime of a certificate issued by it
)

// ExpiryWarning is how far in advance operators are warned that a certificate will expire.
const ExpiryWarning = 30 * 24 * time.Hour

// backdate is how far in the past a certificate's validity begins.
const backdate = 10 * time.Minute

// Pair is a certificate and its private key.
type Pair struct {
	Cert *x509.Certificate
	Key  crypto.Signer
}

// New creates an authority that may sign server and client certificates, but not other authorities. A random suffix in
// its subject distinguishes authorities with the same name.
func New(name string, now time.Time, lifetime time.Duration) (*Pair, error) {
	suffix := make([]byte, 4)
	if _, err := rand.Read(suffix); err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: name + " " + hex.EncodeToString(suffix)},
		NotAfter: now.Add(lifetime),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		IsCA:     true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	return sign(template, now, nil)
}

// Leaf describes a certificate to issue.
type Leaf struct {
	// Name is the common name.
	Name string
	// Hosts are the host names and IP addresses for which the certificate is valid.
	Hosts []string
	// URIs are additional names.
	URIs []*url.URL
	// Server and Client select the permitted uses.
	Server, Client bool
	// Lifetime is how long the certificate is valid. It is shortened if the authority expires earlier.
	Lifetime time.Duration
}

// maxCommonName is the maximum length of a common name in characters (RFC 5280, ub-common-name).
const maxCommonName = 64

// Issue signs a certificate.
func (p *Pair) Issue(l Leaf, now time.Time) (*Pair, error) {
	if !now.Before(p.Cert.NotAfter) {
		return nil, &ExpiredError{p.Cert}
	}
	template := &x509.Certificate{NotAfter: now.Add(l.Lifetime), KeyUsage: x509.KeyUsageDigitalSignature, URIs: l.URIs, BasicConstraintsValid: true}
	if template.NotAfter.After(p.Cert.NotAfter) {
		template.NotAfter = p.Cert.NotAfter
	}
	if len(l.Name) <= maxCommonName { // a longer host name appears only in Hosts
		template.Subject = pkix.Name{CommonName: l.Name}
	}
	for _, h := range l.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	if l.Server {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if l.Client {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	return sign(template, now, p)
}

// sign creates a key and its certificate, signed by the authority a or, if a is nil, self-signed.
func sign(template *x509.Certificate, now time.Time, a *Pair) (*Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template.NotBefore = now.Add(-backdate)
	if template.SerialNumber, err = serial(); err != nil {
		return nil, err
	}
	parent, signer := template, crypto.Signer(key)
	if a != nil {
		parent, signer = a.Cert, a.Key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Pair{Cert: cert, Key: key}, nil
}

// serial returns a random positive number of up to 128 bits.
func serial() (*big.Int, error) {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, err
	}
	if n.Sign() == 0 {
		return serial()
	}
	return n, nil
}

// CertPEM returns the certificate in PEM format.
func (p *Pair) CertPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Cert.Raw})
}

// KeyPEM returns the private key as PKCS #8 in PEM format.
func (p *Pair) KeyPEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(p.Key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// ExpiredError means that an expired authority was asked to sign.
type ExpiredError struct{ Authority *x509.Certificate }

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("the authority %s expired at %s", e.Authority.Subject.CommonName, e.Authority.NotAfter.Local().Format(time.DateTime))
}

// Parse parses an authority's certificate and key.
func Parse(certPEM, keyPEM []byte) (*Pair, error) {
	certs, err := ParseCerts(certPEM)
	if err != nil {
		return nil, err
	}
	cert := certs[0] // if there is more than one, the newest authority is first
	if !cert.IsCA {
		return nil, fmt.Errorf("the certificate for %s is not a CA certificate", cert.Subject)
	}
	block, _ := pem.Decode(keyPEM)
	if block == nil {
		return nil, errors.New("the key is not in PEM format")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the key cannot be read: %w", err)
	}
	key, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, errors.New("the key cannot be used to sign")
	}
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(cert.PublicKey) {
		return nil, fmt.Errorf("the key does not belong to the authority %s", cert.Subject.CommonName)
	}
	return &Pair{Cert: cert, Key: key}, nil
}

// ParseCerts parses all certificates in PEM data. It returns an error if there are none.
func ParseCerts(data []byte) (all []*x509.Certificate, err error) {
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, cert)
	}
	if len(all) == 0 {
		return nil, errors.New("it contains no PEM certificate")
	}
	return all, nil
}
