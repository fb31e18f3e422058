// Package authority is a small certificate authority, for trials and small teams: `gkctl cert` and tests issue
// certificates by it.
//
// Keys are ECDSA on P-256, which every TLS 1.3 implementation and browser takes. Certificates begin a few minutes in
// the past, for machines whose clocks are behind, and end no later than their authority.
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
	Life     = 10 * 365 * 24 * time.Hour // of an authority
	LeafLife = 365 * 24 * time.Hour      // of what it issues
)

// Soon is how long before the end of a certificate operators are warned.
const Soon = 30 * 24 * time.Hour

// backdated is how far in the past a certificate begins.
const backdated = 10 * time.Minute

// Pair is a certificate and its private key.
type Pair struct {
	Cert *x509.Certificate
	Key  crypto.Signer
}

// New makes an authority that signs certificates of servers and clients, and no other authorities. Its subject is the
// name and a random suffix, so that two authorities of the same name can be distinguished.
func New(name string, now time.Time, life time.Duration) (*Pair, error) {
	suffix := make([]byte, 4)
	if _, err := rand.Read(suffix); err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: name + " " + hex.EncodeToString(suffix)},
		NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		IsCA:     true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	return sign(template, now, nil)
}

// Leaf describes a certificate to issue.
type Leaf struct {
	// Name is its common name.
	Name string
	// Hosts are host names and IP addresses that it is valid for.
	Hosts []string
	// URIs are further names.
	URIs []*url.URL
	// Server and Client are what it may be used for.
	Server, Client bool
	// Life is how long it is valid, if the authority is for as long.
	Life time.Duration
}

// maxCommonName is the most characters of a common name (RFC 5280, ub-common-name).
const maxCommonName = 64

// Issue signs a certificate.
func (p *Pair) Issue(l Leaf, now time.Time) (*Pair, error) {
	if !now.Before(p.Cert.NotAfter) {
		return nil, &ExpiredError{p.Cert}
	}
	template := &x509.Certificate{NotAfter: now.Add(l.Life), KeyUsage: x509.KeyUsageDigitalSignature, URIs: l.URIs, BasicConstraintsValid: true}
	if template.NotAfter.After(p.Cert.NotAfter) {
		template.NotAfter = p.Cert.NotAfter
	}
	if len(l.Name) <= maxCommonName { // a longer host name stands in Hosts alone
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

// sign makes a key and its certificate, signed by the authority, or by that key if there is none.
func sign(template *x509.Certificate, now time.Time, a *Pair) (*Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template.NotBefore = now.Add(-backdated)
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

// serial is a random number of up to 128 bits above 0.
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

// CertPEM is the certificate as a file has it.
func (p *Pair) CertPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Cert.Raw})
}

// KeyPEM is the private key as a file has it, in PKCS #8.
func (p *Pair) KeyPEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(p.Key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// ExpiredError refuses to sign by an authority that is over.
type ExpiredError struct{ Authority *x509.Certificate }

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("the authority %s ended at %s", e.Authority.Subject.CommonName, e.Authority.NotAfter.Local().Format(time.DateTime))
}

// Parse reads an authority from its two files.
func Parse(certPEM, keyPEM []byte) (*Pair, error) {
	certs, err := ParseCerts(certPEM)
	if err != nil {
		return nil, err
	}
	cert := certs[0] // with several, the newest authority stands first
	if !cert.IsCA {
		return nil, fmt.Errorf("the certificate of %s is not that of an authority", cert.Subject)
	}
	block, _ := pem.Decode(keyPEM)
	if block == nil {
		return nil, errors.New("the key is not in PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the key cannot be read: %w", err)
	}
	key, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, errors.New("the key cannot sign")
	}
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(cert.PublicKey) {
		return nil, fmt.Errorf("the key is not that of the authority %s", cert.Subject.CommonName)
	}
	return &Pair{Cert: cert, Key: key}, nil
}

// ParseCerts reads all certificates of a file; there is at least one.
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
		return nil, errors.New("there is no certificate in PEM")
	}
	return all, nil
}
