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

// Credential is the proof of identity that a call presents. The zero Credential represents an unauthenticated caller.
type Credential struct {
	// Subjects are the subjects of a client certificate, most specific first.
	Subjects []string
	// Acquirers are the acquirer names to which the certificate restricts the caller. Empty means any.
	Acquirers []string
	// Token and Hash come from a bearer token. If a caller presents a token, its certificate is used only for
	// Acquirers.
	Token string
	Hash  [32]byte
	// Login comes from a JWT, and takes precedence over the certificate just as a token does. It is nil without a JWT.
	Login *oidc.Login
}

// IsZero reports whether the caller presented no credential.
func (c *Credential) IsZero() bool { return len(c.Subjects) == 0 && c.Token == "" && c.Login == nil }

// Proven returns the subjects that identify the caller, most specific first. It returns none for a bearer token.
func (c *Credential) Proven() []string {
	switch {
	case c.Token != "":
		return nil
	case c.Login != nil:
		return c.Login.Subjects
	}
	return c.Subjects
}

// String returns a name for the credential that is safe to log, without its secret.
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

// acquirerURI is the prefix of a URI in a certificate that restricts the acquirer.
const acquirerURI = "gatekeeper:acquirer:"

// FromCertificate returns the credential for a verified certificate. Its subjects are the SPIFFE id, the common name,
// and the DNS names and e-mail addresses in the SANs, in that order.
func FromCertificate(cert *x509.Certificate) (c Credential) {
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
		if name, isAcquirer := strings.CutPrefix(text, acquirerURI); isAcquirer {
			c.Acquirers = append(c.Acquirers, name)
		}
	}
	add(access.CertSubject + cert.Subject.CommonName)
	for _, name := range slices.Concat(cert.DNSNames, cert.EmailAddresses) {
		add(access.CertSubject + name)
	}
	return c
}

// tokenPrefix is the prefix of a bearer token, gk_ID_SECRET. Secret scanners can search repositories for it.
const tokenPrefix = "gk_"

// NewToken generates a bearer token. It returns the text, which is shown to the user once, and the part to store.
func NewToken() (secret string, t access.Token) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // documented to never fail
	t.ID = strings.ToLower(rand.Text()[:12])
	text := base64.RawURLEncoding.EncodeToString(random[:])
	t.Hash = sha256.Sum256([]byte(text))
	return tokenPrefix + t.ID + "_" + text, t
}

// maxBearer is the maximum length of a bearer token in bytes.
const maxBearer = 256

// ParseBearer parses the value of an authorization header. It returns false for anything other than a Gatekeeper token.
func ParseBearer(header string) (id string, hash [32]byte, ok bool) {
	scheme, text, _ := strings.Cut(header, " ")
	text = strings.TrimSpace(text)
	rest, hasPrefix := strings.CutPrefix(text, tokenPrefix)
	id, secret, hasSecret := strings.Cut(rest, "_")
	if !strings.EqualFold(scheme, "bearer") || len(text) > maxBearer || !hasPrefix || !hasSecret || !alphanumeric(id) || secret == "" {
		return "", hash, false
	}
	return id, sha256.Sum256([]byte(secret)), true
}

// alphanumeric reports whether s consists only of letters and digits, like a token's id. Logs and responses show the
// ids of unverified tokens, so an id must not contain anything else.
func alphanumeric(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
