package access

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Limits on stored bindings. They are part of the contract with clients.
const (
	// MaxBindings is the maximum number of bindings in a cluster.
	MaxBindings = 10_000
	// MaxSubjects, MaxGrants and MaxTokens limit a binding, and MaxGlobs limits each of its grants.
	MaxSubjects, MaxGrants, MaxTokens, MaxGlobs = 64, 32, 64, 64
	// MaxSubject is the maximum length in bytes of a subject. A SPIFFE id is at most 2048 bytes long.
	MaxSubject = 2048
)

// Prefixes of subjects. A SPIFFE id is used unchanged: spiffe://domain/path.
const (
	// CertSubject is the prefix of a name in a client certificate: its common name, or a DNS name or an e-mail address
	// in its SANs.
	CertSubject = "cert:"
	// SPIFFESubject is the prefix of a SPIFFE id, which is a URI.
	SPIFFESubject = "spiffe://"
	// OIDCSubject is the prefix of a claim in a JWT: oidc:CLAIM=VALUE, for example
	// oidc:sub=system:serviceaccount:jobs:reports.
	OIDCSubject = "oidc:"
)

// OIDC returns the subject that a claim in a JWT proves.
func OIDC(claim, value string) string { return OIDCSubject + claim + "=" + value }

// SameClaim reports whether two subjects come from the same claim in a JWT.
func SameClaim(a, b string) bool {
	prefix, _, ok := strings.Cut(a, "=")
	return ok && strings.HasPrefix(prefix, OIDCSubject) && strings.HasPrefix(b, prefix+"=")
}

// A Scope restricts a grant. An empty field imposes no restriction; a call must satisfy all non-empty fields.
type Scope struct {
	// Semaphores are globs for semaphore names. Labels is a selector that a definition's labels must match.
	Semaphores []string
	Labels     string
	// Group and Acquirer are patterns. To acquire, an identity must match both. To revoke or clear a permit, the
	// permit's identity must match both. To set a cordon, or to edit or pause a definition, the pattern in the cordon
	// or definition must be either plain text that matches or the same pattern.
	Group, Acquirer string
}

// Everywhere reports whether the scope has no restrictions.
func (s *Scope) Everywhere() bool {
	return len(s.Semaphores) == 0 && s.Labels == "" && s.Group == "" && s.Acquirer == ""
}

// A Grant grants a role within a scope.
type Grant struct {
	Role Role
	Scope
}

// A Binding assigns grants to subjects. It is immutable.
type Binding struct {
	// Name is the principal's name.
	Name     string
	Subjects []string
	Grants   []Grant
	// Tokens are the principal's bearer tokens.
	Tokens []Token
	// Revision is the revision of the last change, including changes to tokens. UpdatedBy, UpdatedAt and Reason
	// describe that change.
	Revision          uint64
	UpdatedBy, Reason string
	UpdatedAt         time.Time
}

// A Token is a bearer token. Its secret is not stored.
type Token struct {
	// ID is public: it appears in lists and audit lines.
	ID string
	// Hash is the SHA-256 of the secret. The secret has 256 random bits, so a slower hash is not needed.
	Hash [32]byte
	// Expires is the time at which the token expires; zero means never.
	Expires   time.Time
	CreatedBy string
	CreatedAt time.Time
}

// Expired reports whether the token has expired at the given time.
func (t *Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// Token returns the token with the given id, or nil.
func (b *Binding) Token(id string) *Token {
	if i := slices.IndexFunc(b.Tokens, func(t Token) bool { return t.ID == id }); i >= 0 {
		return &b.Tokens[i]
	}
	return nil
}

// WithoutHashes returns b without token hashes, for the journal, which must not contain secrets or their hashes. It
// returns nil if b is nil.
func (b *Binding) WithoutHashes() *Binding {
	if b == nil || len(b.Tokens) == 0 {
		return b
	}
	c := *b
	c.Tokens = slices.Clone(b.Tokens)
	for i := range c.Tokens {
		c.Tokens[i].Hash = [32]byte{}
	}
	return &c
}

// Administers reports whether the principal has unrestricted admin rights and at least one permanent credential: a
// subject, or a token that never expires. Once a cluster has a binding that administers it, it always keeps at least
// one.
func (b *Binding) Administers() bool {
	return slices.ContainsFunc(b.Grants, func(g Grant) bool { return g.Role == Admin && g.Everywhere() }) &&
		(len(b.Subjects) > 0 || slices.ContainsFunc(b.Tokens, func(t Token) bool { return t.Expires.IsZero() }))
}

// Validate checks the binding, except the syntax of its globs, labels and patterns. The error is a
// *semaphore.FieldError.
func (b *Binding) Validate() error {
	if err := semaphore.ValidName("name", b.Name); err != nil {
		return err
	}
	if strings.ContainsAny(b.Name, "*?[]") {
		return semaphore.Invalid("name", b.Name, "must not contain any of *?[], which are reserved for globs")
	}
	if len(b.Subjects) > MaxSubjects || len(b.Grants) > MaxGrants || len(b.Tokens) > MaxTokens {
		return semaphore.Invalid("binding", b.Name, "must have at most 64 subjects, 32 grants and 64 tokens")
	}
	for i, s := range b.Subjects {
		if err := ValidSubject(s); err != nil {
			return err
		}
		if slices.Contains(b.Subjects[:i], s) {
			return semaphore.Invalid("subjects", s, "must not be listed twice")
		}
	}
	for i := range b.Grants {
		if err := b.Grants[i].validate("grants[" + strconv.Itoa(i) + "]"); err != nil {
			return err
		}
	}
	return nil
}

// ValidSubject checks that s is a valid subject. The error is a *semaphore.FieldError.
func ValidSubject(s string) error {
	name, ok := strings.CutPrefix(s, CertSubject)
	if !ok {
		name, ok = strings.CutPrefix(s, SPIFFESubject)
	}
	if claim, isClaim := strings.CutPrefix(s, OIDCSubject); isClaim {
		claim, name, _ = strings.Cut(claim, "=")
		ok = claim != ""
	}
	switch {
	case !ok || name == "":
		return semaphore.Invalid("subjects", s, "must be cert:NAME, spiffe://DOMAIN/PATH or oidc:CLAIM=VALUE")
	case len(s) > MaxSubject:
		return semaphore.Invalid("subjects", s, "must be at most 2048 bytes")
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\uFFFD' }):
		return semaphore.Invalid("subjects", s, "must be UTF-8 without control characters")
	}
	return nil
}

func (g *Grant) validate(field string) error {
	switch {
	case g.Role < Viewer || g.Role > Admin:
		return semaphore.Invalid(field+".role", g.Role.String(), "must be viewer, acquirer, verifier, operator, editor or admin")
	case len(g.Semaphores) > MaxGlobs:
		return semaphore.Invalid(field+".semaphores", strconv.Itoa(len(g.Semaphores))+" globs", "must be at most 64 globs")
	case g.Role == Admin && !g.Everywhere():
		return semaphore.Invalid(field+".role", "admin", "must not have a scope: administrators can grant themselves any role anyway")
	}
	return nil
}
