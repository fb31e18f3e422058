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

// MaxToken is the most bytes of a JWT. Those of Kubernetes have about 1 KiB; all headers of a call have 16 KiB.
const MaxToken = 8 << 10

// leeway is how far the clock of the issuer may be ahead of this one. The end of a JWT has none: it can be renewed
// before.
const leeway = 30 * time.Second

// algorithms are those that a JWT may be signed with: asymmetric ones alone, so that nobody who knows a public key can
// sign.
var algorithms = []jose.SignatureAlgorithm{ //nolint:gochecknoglobals // a table, never changed
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// DefaultClaims are the claims that prove subjects, the first one that a binding names decides. An email counts only if
// it is verified.
func DefaultClaims() []string { return []string{"sub", claimEmail, "groups"} }

const claimEmail = "email"

// Config is what a Verifier needs. Without KeysFile and KeysURL, the keys are found by discovery from the issuer.
type Config struct {
	// Issuer and Audience are what the claims iss and aud must have.
	Issuer, Audience string
	// KeysFile and KeysURL are a JWK Set.
	KeysFile, KeysURL string
	// CAFile has the authorities that verify the servers of KeysURL and of the issuer. Optional, those of the system.
	CAFile string
	// Claims are those that prove subjects, in the order in which they decide. Optional, DefaultClaims.
	Claims []string
	Logger *slog.Logger

	cooldown time.Duration // for tests; 0: the constant
}

// RefusedError says why a JWT proves nothing.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

func refused(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// UnavailableError says that a JWT cannot be judged now, because its key may be one that could not be fetched.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string {
	return "the keys of the issuer of JWTs cannot be fetched, and the call's JWT has none of those that are known: " + e.Err.Error()
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// Login is what a JWT proves. It never changes.
type Login struct {
	// Subjects are those that its claims prove, in the order in which they decide. Those of one claim are equal.
	Subjects []string

	name     string
	expires  time.Time
	key      *key
	of       *keySet // that had the key
	verifier *Verifier
}

// String names the login for logs: oidc:sub=SUBJECT.
func (l *Login) String() string { return l.name }

// Ended says why the login does not count any more; empty: it does.
func (l *Login) Ended(now time.Time) string {
	switch set := l.verifier.keys.Load(); {
	case !now.Before(l.expires):
		return "the JWT has expired at " + l.expires.UTC().Format(time.RFC3339)
	case set != l.of && !set.has(l.key):
		return "the issuer has withdrawn the key that signed the JWT"
	}
	return ""
}

// Verify says what a JWT proves. It may fetch keys, and then waits for them. The error is a *RefusedError, an
// *UnavailableError, or that of ctx.
func (v *Verifier) Verify(ctx context.Context, token string) (*Login, error) {
	if len(token) > MaxToken {
		return nil, refused("the JWT has more than %d bytes", MaxToken)
	}
	now, hash := time.Now(), sha256.Sum256([]byte(token))
	if set := v.keys.Load(); set != nil {
		if l := set.verified.get(hash); l != nil && now.Before(l.expires) {
			return l, nil
		}
	}
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil || len(parsed.Headers) != 1 {
		return nil, refused("the authorization header is neither a bearer token of this cluster nor a JWT that is signed with one of %v", algorithms)
	}
	// What can never be valid is refused before a key is fetched for it.
	var claims jwt.Claims
	if err := parsed.UnsafeClaimsWithoutVerification(&claims); err != nil {
		return nil, refused("the JWT has claims that cannot be read")
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
		return nil, refused("the key %s of the issuer has not signed the JWT", quoted(k.id))
	}
	if err := v.check(&claims, now); err != nil {
		return nil, err
	}
	l := &Login{
		name: access.OIDC("sub", claims.Subject), expires: claims.Expiry.Time(), key: k, of: set, verifier: v, Subjects: v.subjects(all),
	}
	if access.ValidSubject(l.name) != nil {
		return nil, refused("the JWT has a sub that is not a subject: it is empty, too long, or has control characters")
	}
	set.verified.put(hash, l)
	return l, nil
}

// check says what is wrong with the claims that every JWT must have.
func (v *Verifier) check(c *jwt.Claims, now time.Time) error {
	switch {
	case c.Issuer != v.cfg.Issuer:
		return refused("the JWT is from issuer %s, and this server takes those of %q (--oidc-issuer)", quoted(c.Issuer), v.cfg.Issuer)
	case !c.Audience.Contains(v.cfg.Audience):
		return refused("the JWT is for audience %s, and this server takes those for %q (--oidc-audience)", quoted(strings.Join(c.Audience, ", ")), v.cfg.Audience)
	case c.Expiry == nil:
		return refused("the JWT has no end (exp)")
	case !now.Before(c.Expiry.Time()):
		return refused("the JWT has expired at %s", c.Expiry.Time().UTC().Format(time.RFC3339))
	case c.NotBefore != nil && now.Add(leeway).Before(c.NotBefore.Time()):
		return refused("the JWT is not valid before %s (nbf)", c.NotBefore.Time().UTC().Format(time.RFC3339))
	case c.IssuedAt != nil && now.Add(leeway).Before(c.IssuedAt.Time()):
		return refused("the JWT was issued in the future, at %s (iat): compare the clocks", c.IssuedAt.Time().UTC().Format(time.RFC3339))
	}
	return nil
}

// subjects are those that the claims prove.
func (v *Verifier) subjects(claims map[string]any) (all []string) {
	for _, claim := range v.cfg.Claims {
		if claim == claimEmail && claims["email_verified"] != true {
			continue // anybody may have entered it
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

// quoted is what a JWT says, for an error: on one line, and not longer than a name.
func quoted(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("%q", text)
}

// ValidClaim reports whether a claim can prove subjects.
func ValidClaim(claim string) bool {
	return claim != "" && !strings.Contains(claim, "=") && access.ValidSubject(access.OIDC(claim, "x")) == nil &&
		!slices.Contains([]string{"iss", "aud", "exp", "nbf", "iat", "jti"}, claim)
}
