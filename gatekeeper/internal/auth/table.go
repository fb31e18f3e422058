package auth

import (
	"crypto/subtle"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// Directory caches the table for the newest state. The zero value is ready to use. It is safe for concurrent use.
type Directory struct {
	newest    atomic.Pointer[Table]
	compiling sync.Mutex // held while a table is compiled, so that concurrent calls share the result
}

// At returns the table for a state.
func (d *Directory) At(state *fsm.State) *Table {
	if t := d.newest.Load(); t != nil && t.revision == state.AccessRevision() {
		return t
	}
	d.compiling.Lock()
	defer d.compiling.Unlock()
	last := d.newest.Load()
	if last != nil && last.revision == state.AccessRevision() {
		return last
	}
	t := newTable(state, last)
	d.newest.Store(t)
	return t
}

// Table is the compiled form of all bindings in a state. It is immutable.
type Table struct {
	revision  uint64
	bySubject map[string]*Principal
	byToken   map[string]*Principal
	byBinding map[*access.Binding]*Principal
}

// newTable compiles the bindings in a state. It reuses the principals in the previous table, since bindings are
// immutable.
func newTable(state *fsm.State, last *Table) *Table {
	t := &Table{revision: state.AccessRevision(), bySubject: make(map[string]*Principal), byToken: make(map[string]*Principal)}
	t.byBinding = make(map[*access.Binding]*Principal, len(state.Bindings()))
	for _, b := range state.Bindings() {
		var p *Principal
		if last != nil {
			p = last.byBinding[b]
		}
		if p == nil {
			p = newPrincipal(b)
		}
		t.byBinding[b] = p
		for _, s := range b.Subjects {
			t.bySubject[s] = p
		}
		for i := range b.Tokens {
			t.byToken[b.Tokens[i].ID] = p
		}
	}
	return t
}

// Principal returns the caller that a credential identifies. The error is an *UnknownError.
func (t *Table) Principal(c *Credential, now time.Time) (*Principal, error) {
	if c.Token != "" {
		p := t.byToken[c.Token]
		// An unauthenticated caller must not learn which token ids exist.
		errBadToken := &UnknownError{c.String(), "it is wrong or incomplete, or was revoked: copy it again, or create a new one with gkctl auth token create"}
		if p == nil {
			return nil, errBadToken
		}
		token := p.binding.Token(c.Token)
		switch {
		case subtle.ConstantTimeCompare(token.Hash[:], c.Hash[:]) != 1:
			return nil, errBadToken
		case token.Expired(now):
			return nil, &UnknownError{c.String(), "the token expired at " + token.Expires.UTC().Format(time.RFC3339) + ": create a new one with gkctl auth token create"}
		}
		return p.pinnedTo(c.Acquirers), nil
	}
	if c.Login != nil {
		if why := c.Login.Ended(now); why != "" {
			return nil, &UnknownError{c.String(), why}
		}
	}
	proven := c.Proven()
	for i, s := range proven {
		p := t.bySubject[s]
		if p == nil {
			continue
		}
		for _, other := range proven[i+1:] { // an issuer may list the values of a claim in any order
			if q := t.bySubject[other]; q != nil && q != p && access.SameClaim(s, other) {
				return nil, &UnknownError{c.String(), s + " and " + other + " have different bindings, and neither takes precedence; an administrator must bind " + c.String()}
			}
		}
		return p.pinnedTo(c.Acquirers), nil
	}
	return nil, &UnknownError{c.String(), "no binding names it" + alternatives(c.String(), proven) + "; an administrator can add one with gkctl auth bind"}
}

// alternatives returns the other subjects that a binding could name, as part of a sentence.
func alternatives(self string, proven []string) string {
	const limit = 10
	rest := slices.DeleteFunc(slices.Clone(proven), func(s string) bool { return s == self })
	if len(rest) == 0 {
		return ""
	}
	return " or " + strings.Join(rest[:min(limit, len(rest))], " or ")
}

// UnknownError explains why a credential does not identify a principal.
type UnknownError struct{ Credential, Why string }

func (e *UnknownError) Error() string { return e.Credential + ": " + e.Why }

// Principal is a caller with the grants in its binding. It is immutable.
type Principal struct {
	binding   *access.Binding
	grants    []grant
	acquirers []string
}

// grant is an access.Grant with its scope compiled. A grant with an invalid scope is ignored; only a server running a
// different version can have stored one.
type grant struct {
	role            access.Role
	semaphores      *selector.Selector
	group, acquirer *semaphore.Pattern // nil if unrestricted
	scope           *access.Scope
}

func newPrincipal(b *access.Binding) *Principal {
	p := &Principal{binding: b}
	for i := range b.Grants {
		if g, err := compile(i, &b.Grants[i]); err == nil {
			p.grants = append(p.grants, g)
		}
	}
	return p
}

// Check validates the scopes of a binding. The error is a *semaphore.FieldError.
func Check(b *access.Binding) error {
	for i := range b.Grants {
		if _, err := compile(i, &b.Grants[i]); err != nil {
			return err
		}
	}
	return nil
}

func compile(i int, from *access.Grant) (g grant, err error) {
	path := "grants[" + strconv.Itoa(i) + "]"
	g = grant{role: from.Role, scope: &from.Scope}
	// Check the globs first, because selector.Parse would report the field as "names".
	if _, err = selector.ParseGlobs(path+".semaphores", from.Semaphores); err != nil {
		return grant{}, err
	}
	if g.semaphores, err = selector.Parse(path, from.Semaphores, from.Labels); err != nil {
		return grant{}, err
	}
	if from.Group != "" {
		if g.group, err = semaphore.CompilePattern(path+".group", from.Group); err != nil {
			return grant{}, err
		}
	}
	if from.Acquirer != "" {
		if g.acquirer, err = semaphore.CompilePattern(path+".acquirer", from.Acquirer); err != nil {
			return grant{}, err
		}
	}
	return g, nil
}

func (p *Principal) pinnedTo(acquirers []string) *Principal {
	if len(acquirers) == 0 {
		return p
	}
	pinned := *p
	pinned.acquirers = acquirers
	return &pinned
}

// Name returns the name of the binding.
func (p *Principal) Name() string { return p.binding.Name }

// Binding returns the binding that names the principal.
func (p *Principal) Binding() *access.Binding { return p.binding }

// Has reports whether the principal has a role anywhere.
func (p *Principal) Has(role access.Role) bool {
	return slices.ContainsFunc(p.grants, func(g grant) bool { return g.role.Includes(role) })
}

// HasEverywhere reports whether the principal has a role without a scope.
func (p *Principal) HasEverywhere(role access.Role) bool {
	return slices.ContainsFunc(p.grants, func(g grant) bool { return g.role.Includes(role) && g.scope.Everywhere() })
}

// May reports whether the principal may act in a role on the semaphore with that name, for every group and acquirer.
func (p *Principal) May(role access.Role, state *fsm.State, name string) bool {
	return slices.ContainsFunc(p.grants, func(g grant) bool {
		return g.role.Includes(role) && g.semaphores.MatchNow(state, name) && (role == access.Viewer || g.group == nil && g.acquirer == nil)
	})
}

// MayAs reports whether the principal may act in a role on the semaphore for an identity. The identity is the caller's
// when it acquires, and the permit's when an operator acts on a permit.
func (p *Principal) MayAs(role access.Role, state *fsm.State, name string, id semaphore.Identity) bool {
	if role == access.Acquirer && len(p.acquirers) > 0 && !slices.Contains(p.acquirers, id.Acquirer) {
		return false
	}
	return slices.ContainsFunc(p.grants, func(g grant) bool {
		return g.role.Includes(role) && g.semaphores.MatchNow(state, name) &&
			(g.group == nil || g.group.Match(id.Group)) && (g.acquirer == nil || g.acquirer.Match(id.Acquirer))
	})
}

// MaySubmit reports whether the principal may submit jobs to the semaphore, which requires the acquirer role there,
// regardless of the identities the role is limited to.
func (p *Principal) MaySubmit(state *fsm.State, name string) bool {
	return slices.ContainsFunc(p.grants, func(g grant) bool { return g.role.Includes(access.Acquirer) && g.semaphores.MatchNow(state, name) })
}

// MayRepresentSubmitter reports whether the principal may use the semaphore that represents a job's submitter. This
// requires the acquirer role on any semaphore, for the single group and acquirer that the definition admits.
func (p *Principal) MayRepresentSubmitter(d *semaphore.Definition) bool {
	if len(p.acquirers) > 0 {
		pattern, err := semaphore.CompilePattern("acquirer_pattern", d.AcquirerPattern)
		if err != nil {
			return false
		}
		if text, plain := pattern.Plain(); !plain || !slices.Contains(p.acquirers, text) {
			return false
		}
	}
	return slices.ContainsFunc(p.grants, func(g grant) bool {
		return g.role.Includes(access.Acquirer) && within(g.group, d.GroupPattern) && within(g.acquirer, d.AcquirerPattern)
	})
}

// MayDefine reports whether the principal may act in a role on a definition, existing or proposed. If the scope has
// patterns, the definition's patterns must be the same, or literal text that matches them.
func (p *Principal) MayDefine(role access.Role, d *semaphore.Definition) bool {
	return slices.ContainsFunc(p.grants, func(g grant) bool {
		return g.role.Includes(role) && g.semaphores.Match(d) && within(g.group, d.GroupPattern) && within(g.acquirer, d.AcquirerPattern)
	})
}

// MayCordon reports whether the principal may cordon everything that these patterns match. An empty pattern matches
// nothing. A cordon affects every semaphore, so a scope that names semaphores or labels is not sufficient.
func (p *Principal) MayCordon(group, acquirer string) bool {
	return slices.ContainsFunc(p.grants, func(g grant) bool {
		return g.role.Includes(access.Operator) && len(g.scope.Semaphores) == 0 && g.scope.Labels == "" &&
			(group == "" || within(g.group, group) && g.acquirer == nil) && (acquirer == "" || within(g.acquirer, acquirer) && g.group == nil)
	})
}

// within reports whether a pattern matches only text that the bound matches. It returns true only if the two are
// identical, or if the pattern is literal text. It does not compare the languages of two regular expressions.
func within(bound *semaphore.Pattern, pattern string) bool {
	if bound == nil || bound.String() == pattern {
		return true
	}
	p, err := semaphore.CompilePattern("pattern", pattern)
	if err != nil {
		return false
	}
	text, plain := p.Plain()
	return plain && bound.Match(text)
}
