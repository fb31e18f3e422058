package fsm

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// SetBinding adds or replaces the binding with the given Name, or removes it if Binding is nil; its result is an
// AccessResult. The subjects and grants are taken from Binding, and tokens are left unchanged. It requires feature
// level 4.
type SetBinding struct {
	Name    string
	Binding *access.Binding
	// Expected is the revision that the caller saw; 0 means that there was no binding with that name.
	Expected uint64
	// First makes the command a no-op if any binding already exists. It is used to add the first administrator of a new
	// cluster.
	First          bool
	Author, Reason string
	At             time.Time
}

// IssueToken adds a bearer token to a binding; its result is an AccessResult. It also removes the binding's tokens that
// have expired by Token.CreatedAt. It requires feature level 4.
type IssueToken struct {
	Binding string
	Token   access.Token
	Reason  string
}

// RevokeToken removes a bearer token; its result is an AccessResult. It requires feature level 4.
type RevokeToken struct {
	ID             string
	Author, Reason string
	At             time.Time
}

// AccessOutcome is the outcome of a change to bindings or tokens. Only AccessApplied means that something changed.
type AccessOutcome uint8

const (
	AccessUnchanged    AccessOutcome = iota // First was set, and a binding already exists
	AccessApplied                           // the change was made
	AccessAbsent                            // the binding or token does not exist
	AccessStale                             // the binding is not as expected, or the token's id is already in use
	AccessSubjectTaken                      // another binding has one of the subjects
	AccessLastAdmin                         // no binding would be left to administer the cluster
	AccessFull                              // the maximum number of bindings, or of tokens per binding, has been reached
)

// AccessResult is the result of a change to bindings or tokens.
type AccessResult struct {
	Outcome  AccessOutcome
	Revision uint64 // revision of the change; 0 if nothing changed
	// Binding is the changed binding in its new state, or the binding that prevents the change. It is nil if there is
	// neither.
	Binding *access.Binding
	// Subject is the subject that already belongs to another binding.
	Subject string
}

// Bindings returns the bindings, sorted by name. Do not modify the slice.
func (s *State) Bindings() []*access.Binding { return s.bindings }

// AccessRevision returns the revision of the last change to bindings or tokens, or 0 if there has been none.
func (s *State) AccessRevision() uint64 { return s.accessRevision }

// Binding returns the binding with the given name, or nil.
func (s *State) Binding(name string) *access.Binding {
	if i, found := s.findBinding(name); found {
		return s.bindings[i]
	}
	return nil
}

func (s *State) findBinding(name string) (int, bool) {
	return search(s.bindings, name, func(b *access.Binding) string { return b.Name })
}

func (d *draft) setBinding(c SetBinding) Result {
	before := d.Binding(c.Name)
	switch {
	case c.First && len(d.bindings) > 0:
		return AccessResult{}
	case c.Binding == nil && before == nil:
		return AccessResult{Outcome: AccessAbsent}
	case before == nil && c.Expected != 0:
		return AccessResult{Outcome: AccessAbsent}
	case before != nil && c.Expected != before.Revision:
		return AccessResult{Outcome: AccessStale, Binding: before}
	}
	if c.Binding == nil {
		return d.changeBinding(before, nil, c.Author, c.Reason, c.At)
	}
	after := &access.Binding{Name: c.Name, Subjects: c.Binding.Subjects, Grants: c.Binding.Grants}
	if before != nil {
		after.Tokens = before.Tokens
	}
	if err := after.Validate(); err != nil {
		return invalid("binding %q: %v", c.Name, err)
	}
	if before == nil && len(d.bindings) >= access.MaxBindings {
		return AccessResult{Outcome: AccessFull}
	}
	for _, other := range d.bindings {
		if other.Name == c.Name {
			continue
		}
		if i := slices.IndexFunc(after.Subjects, func(s string) bool { return slices.Contains(other.Subjects, s) }); i >= 0 {
			return AccessResult{Outcome: AccessSubjectTaken, Binding: other, Subject: after.Subjects[i]}
		}
	}
	return d.changeBinding(before, after, c.Author, c.Reason, c.At)
}

func (d *draft) issueToken(c IssueToken) Result {
	before := d.Binding(c.Binding)
	if before == nil {
		return AccessResult{Outcome: AccessAbsent}
	}
	if c.Token.ID == "" || c.Token.Hash == ([32]byte{}) {
		return invalid("a token requires an id and a hash")
	}
	if owner := d.tokenOwner(c.Token.ID); owner != nil {
		return AccessResult{Outcome: AccessStale, Binding: owner}
	}
	after := *before
	after.Tokens = slices.DeleteFunc(slices.Clone(before.Tokens), func(t access.Token) bool { return t.Expired(c.Token.CreatedAt) })
	if len(after.Tokens) >= access.MaxTokens {
		return AccessResult{Outcome: AccessFull, Binding: before}
	}
	after.Tokens = append(after.Tokens, c.Token)
	slices.SortFunc(after.Tokens, func(a, b access.Token) int { return strings.Compare(a.ID, b.ID) })
	return d.changeBinding(before, &after, c.Token.CreatedBy, c.Reason, c.Token.CreatedAt)
}

func (d *draft) revokeToken(c RevokeToken) Result {
	before := d.tokenOwner(c.ID)
	if before == nil {
		return AccessResult{Outcome: AccessAbsent}
	}
	after := *before
	after.Tokens = slices.DeleteFunc(slices.Clone(before.Tokens), func(t access.Token) bool { return t.ID == c.ID })
	return d.changeBinding(before, &after, c.Author, c.Reason, c.At)
}

// tokenOwner returns the binding that has the token with the given id, or nil.
func (s *State) tokenOwner(id string) *access.Binding {
	if i := slices.IndexFunc(s.bindings, func(b *access.Binding) bool { return b.Token(id) != nil }); i >= 0 {
		return s.bindings[i]
	}
	return nil
}

// changeBinding replaces before with after; either may be nil. It refuses a change that would leave no binding able to
// administer the cluster.
func (d *draft) changeBinding(before, after *access.Binding, author, reason string, at time.Time) Result {
	now := slices.Clone(d.bindings) // the old slice belongs to published states
	name := cmp.Or(after, before).Name
	switch i, found := d.findBinding(name); {
	case after == nil:
		now = slices.Delete(now, i, i+1)
	case found:
		now[i] = after
	default:
		now = slices.Insert(now, i, after)
	}
	if !slices.ContainsFunc(now, (*access.Binding).Administers) {
		return AccessResult{Outcome: AccessLastAdmin, Binding: before}
	}
	revision := d.advance()
	if after != nil {
		after.Revision, after.UpdatedBy, after.UpdatedAt, after.Reason = revision, author, at, reason
	}
	d.bindings, d.accessRevision = now, revision
	d.emit(Event{Kind: BindingChanged, Author: author, Reason: reason, At: at})
	d.note(JournalEntry{Kind: BindingChanged, Author: author, Reason: reason, At: at}.With(Details{
		BindingBefore: before.WithoutHashes(), BindingAfter: after.WithoutHashes(),
	}))
	return AccessResult{Outcome: AccessApplied, Revision: revision, Binding: after}
}

func (c SetBinding) apply(d *draft) Result  { return d.setBinding(c) }
func (c IssueToken) apply(d *draft) Result  { return d.issueToken(c) }
func (c RevokeToken) apply(d *draft) Result { return d.revokeToken(c) }
