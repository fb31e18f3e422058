package fsm_test

import (
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// access models the commands that change bindings and tokens.
func (m *model) access(cmd fsm.Command) fsm.Result {
	at := func(name string) int {
		return slices.IndexFunc(m.bindings, func(b access.Binding) bool { return b.Name == name })
	}
	owner := func(token string) int {
		return slices.IndexFunc(m.bindings, func(b access.Binding) bool {
			return slices.ContainsFunc(b.Tokens, func(t access.Token) bool { return t.ID == token })
		})
	}
	copyOf := func(i int) *access.Binding {
		if i < 0 {
			return nil
		}
		b := m.bindings[i]
		b.Tokens = slices.Clone(b.Tokens)
		return &b
	}
	switch c := cmd.(type) {
	case fsm.SetBinding:
		if c.First && len(m.bindings) > 0 {
			return fsm.AccessResult{}
		}
		before := copyOf(at(c.Name))
		if before == nil && (c.Binding == nil || c.Expected != 0) {
			return fsm.AccessResult{Outcome: fsm.AccessAbsent}
		}
		if before != nil && before.Revision != c.Expected {
			return fsm.AccessResult{Outcome: fsm.AccessStale, Binding: before}
		}
		if c.Binding == nil {
			return m.bind(before, nil, c.Author, c.Reason, c.At)
		}
		after := access.Binding{Name: c.Name, Subjects: c.Binding.Subjects, Grants: c.Binding.Grants}
		if before != nil {
			after.Tokens = before.Tokens
		}
		if after.Validate() != nil {
			return fsm.InvalidResult{}
		}
		for _, s := range after.Subjects {
			for i, other := range m.bindings {
				if other.Name != c.Name && slices.Contains(other.Subjects, s) {
					return fsm.AccessResult{Outcome: fsm.AccessSubjectTaken, Binding: copyOf(i), Subject: s}
				}
			}
		}
		return m.bind(before, &after, c.Author, c.Reason, c.At)
	case fsm.IssueToken:
		before := copyOf(at(c.Binding))
		switch i := owner(c.Token.ID); {
		case before == nil:
			return fsm.AccessResult{Outcome: fsm.AccessAbsent}
		case c.Token.ID == "" || c.Token.Hash == [32]byte{}:
			return fsm.InvalidResult{}
		case i >= 0:
			return fsm.AccessResult{Outcome: fsm.AccessStale, Binding: copyOf(i)}
		}
		after := access.Binding{Name: before.Name, Subjects: before.Subjects, Grants: before.Grants}
		for _, t := range append(slices.Clone(before.Tokens), c.Token) {
			if t.ID == c.Token.ID || t.Expires.IsZero() || t.Expires.After(c.Token.CreatedAt) {
				after.Tokens = append(after.Tokens, t)
			}
		}
		slices.SortFunc(after.Tokens, func(a, b access.Token) int { return strings.Compare(a.ID, b.ID) })
		return m.bind(before, &after, c.Token.CreatedBy, c.Reason, c.Token.CreatedAt)
	case fsm.RevokeToken:
		before := copyOf(owner(c.ID))
		if before == nil {
			return fsm.AccessResult{Outcome: fsm.AccessAbsent}
		}
		after := *before
		after.Tokens = nil
		for _, t := range before.Tokens {
			if t.ID != c.ID {
				after.Tokens = append(after.Tokens, t)
			}
		}
		return m.bind(before, &after, c.Author, c.Reason, c.At)
	}
	panic("the model does not support this command")
}

func (m *model) bind(before, after *access.Binding, author, reason string, at time.Time) fsm.Result {
	var now []access.Binding
	for _, b := range m.bindings {
		if before == nil || b.Name != before.Name {
			now = append(now, b)
		}
	}
	if after != nil {
		now = append(now, *after)
	}
	administrators := 0
	for _, b := range now {
		isAdmin := slices.ContainsFunc(b.Grants, func(g access.Grant) bool { return g.Role == access.Admin })
		permanent := len(b.Subjects) > 0 || slices.ContainsFunc(b.Tokens, func(t access.Token) bool { return t.Expires.IsZero() })
		if isAdmin && permanent {
			administrators++
		}
	}
	if administrators == 0 {
		return fsm.AccessResult{Outcome: fsm.AccessLastAdmin, Binding: before}
	}
	m.revision++
	m.accessRevision = m.revision
	if after != nil {
		after.Revision, after.UpdatedBy, after.UpdatedAt, after.Reason = m.revision, author, at, reason
		now[len(now)-1] = *after
	}
	slices.SortFunc(now, func(a, b access.Binding) int { return strings.Compare(a.Name, b.Name) })
	m.bindings = now
	withoutHashes := func(b *access.Binding) *access.Binding {
		if b == nil {
			return nil
		}
		c := *b
		c.Tokens = nil
		for _, t := range b.Tokens {
			t.Hash = [32]byte{}
			c.Tokens = append(c.Tokens, t)
		}
		return &c
	}
	m.note(fsm.JournalEntry{Kind: fsm.BindingChanged, Author: author, Reason: reason, At: at}.With(fsm.Details{
		BindingBefore: withoutHashes(before), BindingAfter: withoutHashes(after),
	}))
	return fsm.AccessResult{Outcome: fsm.AccessApplied, Revision: m.revision, Binding: after}
}

func (m *model) checkAccess(t *rapid.T, s *fsm.State) {
	t.Helper()
	var got []access.Binding
	for _, b := range s.Bindings() {
		got = append(got, *b)
		same(t, "binding", s.Binding(b.Name), b)
	}
	same(t, "bindings", got, m.bindings)
	same(t, "access revision", s.AccessRevision(), m.accessRevision)
}

var bindingNames = []string{"", "admin", "ops", "x"}

func (d draw) setBinding() fsm.SetBinding {
	c := fsm.SetBinding{Name: pick(d, "binding", bindingNames...), First: !d.likely("not the first"), Author: d.text("author"), At: d.at()}
	if i := slices.IndexFunc(d.m.bindings, func(b access.Binding) bool { return b.Name == c.Name }); i >= 0 && d.likely("expected") {
		c.Expected = d.m.bindings[i].Revision
	}
	if d.likely("not a removal") {
		c.Binding = &access.Binding{
			Subjects: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"cert:a", "cert:b", "spiffe://c", "cert:d"}), 0, 2, rapid.ID).Draw(d.T, "subjects"),
			Grants:   rapid.SliceOfN(rapid.SampledFrom([]access.Grant{{Role: access.Admin}, {Role: access.Admin}, scoped(), {}}), 0, 2).Draw(d.T, "grants"),
		}
	}
	return c
}

func (d draw) tokenCommand() fsm.Command {
	id := pick(d, "token id", "", "t1", "t2", "t3")
	if rapid.Bool().Draw(d.T, "revoke") {
		return fsm.RevokeToken{ID: id, Author: d.text("author"), At: d.at()}
	}
	t := access.Token{ID: id, Hash: [32]byte{1}, Expires: pick(d, "expires", time.Time{}, at(5), at(20)), CreatedBy: d.text("author"), CreatedAt: d.at()}
	if !d.likely("a hash") {
		t.Hash = [32]byte{}
	}
	return fsm.IssueToken{Binding: pick(d, "binding", bindingNames...), Token: t}
}

func anyToken() *rapid.Generator[access.Token] {
	return rapid.Custom(func(t *rapid.T) access.Token {
		out := access.Token{ID: anyText().Draw(t, "id"), Expires: anyTime().Draw(t, "expires"), CreatedBy: anyText().Draw(t, "by"), CreatedAt: anyTime().Draw(t, "at")}
		copy(out.Hash[:], rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "hash"))
		return out
	})
}

func anyBinding() *rapid.Generator[*access.Binding] {
	return rapid.Custom(func(t *rapid.T) *access.Binding {
		if rapid.IntRange(0, 4).Draw(t, "removal") == 0 {
			return nil
		}
		grant := rapid.Custom(func(t *rapid.T) access.Grant {
			return access.Grant{Role: rapid.SampledFrom(access.Roles()).Draw(t, "role"), Scope: access.Scope{
				Semaphores: texts(t, "globs"), Labels: anyText().Draw(t, "labels"), Group: anyText().Draw(t, "group"), Acquirer: anyText().Draw(t, "acquirer"),
			}}
		})
		b := &access.Binding{Name: anyText().Draw(t, "name"), Subjects: texts(t, "subjects"), Reason: anyText().Draw(t, "reason")}
		if n := rapid.IntRange(0, 2).Draw(t, "grants"); n > 0 {
			b.Grants = rapid.SliceOfN(grant, n, n).Draw(t, "all grants")
		}
		if rapid.Bool().Draw(t, "tokens") {
			b.Tokens = []access.Token{anyToken().Draw(t, "token")}
		}
		return b
	})
}

// texts draws a list of strings. An empty list is nil, as it is after decoding.
func texts(t *rapid.T, what string) (out []string) {
	for range rapid.IntRange(0, 2).Draw(t, what) {
		out = append(out, anyText().Draw(t, what))
	}
	return out
}
