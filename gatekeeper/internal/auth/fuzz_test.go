package auth

import (
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// For any authorization header, the id is alphanumeric and the hash matches the secret.
func FuzzParseBearer(f *testing.F) {
	secret, _ := NewToken()
	f.Add("Bearer " + secret)
	f.Add("bearer  gk_abc_def ")
	f.Add("Bearer gk_a\x1b[2J_x")
	f.Add("Bearer gk__x")
	f.Add("Basic gk_a_b")
	f.Fuzz(func(t *testing.T, header string) {
		id, hash, ok := ParseBearer(header)
		if !ok {
			if id != "" || hash != [32]byte{} {
				t.Errorf("ParseBearer(%q) = %q, false; want an empty id and hash", header, id)
			}
			return
		}
		if id == "" || strings.ContainsFunc(id, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			t.Errorf("got id %q for header %q, want letters and digits only", id, header)
		}
		_, rest, _ := strings.Cut(header, " ")
		_, secret, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(rest), tokenPrefix), "_")
		if hash != sha256.Sum256([]byte(secret)) {
			t.Errorf("ParseBearer(%q): the hash does not match secret %q", header, secret)
		}
	})
}

// Whatever names a certificate contains, its subjects are valid in a binding, and only a URI yields a SPIFFE subject.
func FuzzFromCertificate(f *testing.F) {
	f.Add("admin", "app.example.com", "a@example.com", "spiffe://domain/path")
	f.Add("a\nb", "x\x1b[0m", "\x00", "gatekeeper:acquirer:host")
	f.Add("spiffe://domain/admin", "cert:admin", "oidc:sub=a", "spiffe://")
	f.Add("\u009b31m", "", "", "")
	f.Add("", "\xff", strings.Repeat("a", 3000), "SPIFFE://domain/%0a")
	f.Fuzz(func(t *testing.T, name, host, mail, uri string) {
		cert := &x509.Certificate{Subject: pkix.Name{CommonName: name}, DNSNames: []string{host}, EmailAddresses: []string{mail}}
		if u, err := url.Parse(uri); err == nil {
			cert.URIs = append(cert.URIs, u)
		}
		c := FromCertificate(cert)
		for i, s := range c.Subjects {
			if err := access.ValidSubject(s); err != nil || strings.ContainsFunc(s, unicode.IsControl) {
				t.Errorf("subject %q is not valid in a binding: %v", s, err)
			}
			if slices.Contains(c.Subjects[:i], s) {
				t.Errorf("duplicate subject %q", s)
			}
			if rest, isCert := strings.CutPrefix(s, access.CertSubject); isCert {
				if rest != name && rest != host && rest != mail {
					t.Errorf("subject %q is not in any field of the certificate", s)
				}
			} else if !strings.HasPrefix(s, access.SPIFFESubject) || len(cert.URIs) == 0 || s != cert.URIs[0].String() {
				t.Errorf("subject %q is not a URI in the certificate", s)
			}
		}
		if c.Token != "" || c.Login != nil || len(c.Acquirers) > len(cert.URIs) {
			t.Errorf("FromCertificate() = %+v, want no token, no login, and at most one acquirer per URI", c)
		}
	})
}
