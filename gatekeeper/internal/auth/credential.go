package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/oidc"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// Credential is what a call proves. The zero Credential is that of a stranger.
type Credential struct {
	// Subjects are those of a client certificate, the most specific first.
	Subjects []string
	// Acquirers are the names to which the certificate pins the acquirer; none: any.
	Acquirers []string
	// Token and Hash are those of a bearer token. A caller that shows a token means it: its certificate then counts for
	// nothing but Acquirers.
	Token string
	Hash  [32]byte
	// Login is what a JWT proves, which counts as a token does. Nil: none was shown.
	Login *oidc.Login
}

// IsZero reports whether nothing was shown.
func (c *Credential) IsZero() bool { return len(c.Subjects) == 0 && c.Token == "" && c.Login == nil }

// Proven are the subjects that count, the most specific first; none for a bearer token.
func (c *Credential) Proven() []string {
	switch {
	case c.Token != "":
		return nil
	case c.Login != nil:
		return c.Login.Subjects
	}
	return c.Subjects
}

// String names the credential for logs, without its secret.
func (c *Credential) String() string {
	switch {
	case c.Token != "":
		return "token:" + c.Token
	case c.Login != nil:
		return c.Login.String()
	case len(c.Subjects) > 0:
		return c.Subjects[0]
	}
	return "no credential"
}

// acquirerURI begins the URI in a certificate that pins the acquirer.
const acquirerURI = "gatekeeper:acquirer:"

// OfCertificate is the credential that a verified certificate proves: its SPIFFE id, its common name, and the DNS names
// and e-mail addresses of its SANs, in this order.
func OfCertificate(cert *x509.Certificate) (c Credential) {
	add := func(subject string) {
		if access.ValidSubject(subject) == nil && !slices.Contains(c.Subjects, subject) {
			c.Subjects = append(c.Subjects, subject)
		}
	}
	for _, u := range cert.URIs {
		text := u.String()
		if strings.HasPrefix(text, access.SPIFFESubject) {
			add(text)
		}
		if name, pins := strings.CutPrefix(text, acquirerURI); pins {
			c.Acquirers = append(c.Acquirers, name)
		}
	}
	add(access.CertSubject + cert.Subject.CommonName)
	for _, name := range slices.Concat(cert.DNSNames, cert.EmailAddresses) {
		add(access.CertSubject + name)
	}
	return c
}

// A bearer token reads gk_ID_SECRET. The prefix lets scanners of repositories find it.
const tokenPrefix = "gk_"

// NewToken draws a bearer token: its secret text, which is shown once, and what is stored of it.
func NewToken() (secret string, t access.Token) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails, says its contract
	t.ID = strings.ToLower(rand.Text()[:12])
	text := base64.RawURLEncoding.EncodeToString(random[:])
	t.Hash = sha256.Sum256([]byte(text))
	return tokenPrefix + t.ID + "_" + text, t
}

// maxBearer is the most bytes of a bearer token that is looked at.
const maxBearer = 256

// ParseBearer reads the value of an authorization header; false: it is not a token of ours.
func ParseBearer(header string) (id string, hash [32]byte, ok bool) {
	scheme, text, _ := strings.Cut(header, " ")
	text = strings.TrimSpace(text)
	rest, ours := strings.CutPrefix(text, tokenPrefix)
	id, secret, cut := strings.Cut(rest, "_")
	if !strings.EqualFold(scheme, "bearer") || len(text) > maxBearer || !ours || !cut || !plain(id) || secret == "" {
		return "", hash, false
	}
	return id, sha256.Sum256([]byte(secret)), true
}

// plain reports whether s is letters and digits, as the id of a token is. It is shown in logs and answers before
// anybody knows the token.
func plain(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
