package oidc

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// MaxToken is the maximum size of a JWT in bytes. Kubernetes JWTs are about 1 KiB, and the headers of a call are
// limited to 16 KiB in total.
const MaxToken = 8 << 10

// leeway is how far the issuer's clock may be ahead of this server's. The expiry of a JWT has no leeway, because
// clients can renew a JWT in advance.
const leeway = 30 * time.Second

// algorithms are the accepted signature algorithms. All are asymmetric, so that knowing a public key is not enough to
// sign.
var algorithms = []jose.SignatureAlgorithm{ //nolint:gochecknoglobals // a constant table
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// DefaultClaims returns the claims that subjects are taken from by default. The first claim that has a binding
// identifies the caller. An email address counts only if it is verified.
func DefaultClaims() []string { return []string{"sub", claimEmail, "groups"} }

const claimEmail = "email"

// Config configures a Verifier. Without KeysFile and KeysURL, the keys are found through the issuer's discovery
// document.
type Config struct {
	// Issuer and Audience must match the claims iss and aud.
	Issuer, Audience string
	// KeysFile and KeysURL locate a JWK Set. At most one of them is set.
	KeysFile, KeysURL string
	// CAFile contains the CA certificates used for HTTPS requests to the issuer and to KeysURL. Default: the system's.
	CAFile string
	// Claims are the claims that subjects are taken from, in order of precedence. Default: DefaultClaims.
	Claims []string
	Logger *slog.Logger

	cooldown time.Duration // set by tests; 0 means the constant cooldown
}

// RefusedError reports why a JWT is not accepted.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

func refused(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// UnavailableError reports that a JWT cannot be verified now, because its key is unknown and keys cannot be fetched.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string {
	return "the JWT issuer's keys cannot be fetched, and this call's JWT names an unknown key: " + e.Err.Error()
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// Login is the identity that a JWT proves. It is immutable.
type Login struct {
	// Subjects are the subjects that its claims prove, in order of precedence. Subjects from the same claim have the
	// same precedence.
	Subjects []string

	name     string
	expires  time.Time
	key      *key
	keys     *keySet // the set that contained the key
	verifier *Verifier
}

// String returns the login's name for logs: oidc:sub=SUBJECT.
func (l *Login) String() string { return l.name }

// Ended returns why the login is no longer valid, or "" if it is valid.
func (l *Login) Ended(now time.Time) string {
	switch set := l.verifier.keys.Load(); {
	case !now.Before(l.expires):
		return "the JWT expired at " + l.expires.UTC().Format(time.RFC3339)
	case set != l.keys && !set.contains(l.key):
		return "the issuer has withdrawn the key that signed the JWT"
	}
	return ""
}

// Verify verifies a JWT and returns its login. If keys have to be fetched, it waits for them. It returns a
// *RefusedError, an *UnavailableError, or the error from ctx.
func (v *Verifier) Verify(ctx context.Context, token string) (*Login, error) {
	if len(token) > MaxToken {
		return nil, refused("the JWT is larger than %d bytes", MaxToken)
	}
	now, hash := time.Now(), sha256.Sum256([]byte(token))
	if set := v.keys.Load(); set != nil {
		if l := set.verified.get(hash); l != nil && now.Before(l.expires) {
			return l, nil
		}
	}
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil || len(parsed.Headers) != 1 {
		return nil, refused("the authorization header is neither a bearer token for this cluster nor a JWT signed with one of %v", algorithms)
	}
	// Refuse a JWT that can never be valid before fetching a key for it.
	var claims jwt.Claims
	if err := parsed.UnsafeClaimsWithoutVerification(&claims); err != nil {
		return nil, refused("the JWT has invalid claims")
	}
	if err := v.check(&claims, now); err != nil {
		return nil, err
	}
	k, set, err := v.find(ctx, parsed.Headers[0].KeyID, parsed.Headers[0].Algorithm)
	if err != nil {
		return nil, err
	}
	claims = jwt.Claims{}
	var all map[string]any
	if err := parsed.Claims(k.public, &claims, &all); err != nil {
		return nil, refused("the JWT was not signed with the issuer's key %s", quoted(k.id))
	}
	if err := v.check(&claims, now); err != nil {
		return nil, err
	}
	l := &Login{
		name: access.OIDC("sub", claims.Subject), expires: claims.Expiry.Time(), key: k, keys: set, verifier: v, Subjects: v.subjects(all),
	}
	if access.ValidSubject(l.name) != nil {
		return nil, refused("the JWT has an invalid sub: it is empty, too long, or contains control characters")
	}
	set.verified.put(hash, l)
	return l, nil
}

// check verifies the issuer, the audience and the times of a JWT.
func (v *Verifier) check(c *jwt.Claims, now time.Time) error {
	switch {
	case c.Issuer != v.cfg.Issuer:
		return refused("the JWT is from issuer %s, but this server accepts only JWTs from %q (--oidc-issuer)", quoted(c.Issuer), v.cfg.Issuer)
	case !c.Audience.Contains(v.cfg.Audience):
		return refused("the JWT is for audience %s, but this server accepts only JWTs for %q (--oidc-audience)", quoted(strings.Join(c.Audience, ", ")), v.cfg.Audience)
	case c.Expiry == nil:
		return refused("the JWT has no expiry (exp)")
	case !now.Before(c.Expiry.Time()):
		return refused("the JWT expired at %s", c.Expiry.Time().UTC().Format(time.RFC3339))
	case c.NotBefore != nil && now.Add(leeway).Before(c.NotBefore.Time()):
		return refused("the JWT is not valid before %s (nbf)", c.NotBefore.Time().UTC().Format(time.RFC3339))
	case c.IssuedAt != nil && now.Add(leeway).Before(c.IssuedAt.Time()):
		return refused("the JWT was issued in the future, at %s (iat): compare the clocks", c.IssuedAt.Time().UTC().Format(time.RFC3339))
	}
	return nil
}

// subjects returns the subjects that the claims prove.
func (v *Verifier) subjects(claims map[string]any) (all []string) {
	for _, claim := range v.cfg.Claims {
		if claim == claimEmail && claims["email_verified"] != true {
			continue // the user may have entered any address
		}
		values, isList := claims[claim].([]any)
		if !isList {
			values = []any{claims[claim]}
		}
		for _, value := range values {
			text, isText := value.(string)
			if s := access.OIDC(claim, text); isText && access.ValidSubject(s) == nil {
				all = append(all, s)
			}
		}
	}
	return all
}

// quoted quotes text from a JWT for an error message, on one line and with a limited length.
func quoted(text string) string {
	const maxLen = 200
	if len(text) > maxLen {
		text = text[:maxLen] + "..."
	}
	return fmt.Sprintf("%q", text)
}

// ValidClaim reports whether a claim can prove subjects.
func ValidClaim(claim string) bool {
	return claim != "" && !strings.Contains(claim, "=") && access.ValidSubject(access.OIDC(claim, "x")) == nil &&
		!slices.Contains([]string{"iss", "aud", "exp", "nbf", "iat", "jti"}, claim)
}
