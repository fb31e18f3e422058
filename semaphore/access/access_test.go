package access

import (
	"strings"
	"testing"
	"time"
)

func TestRole_Includes_MatchesDocs(t *testing.T) {
	for _, r := range Roles() {
		for _, other := range Roles() {
			want := r == other || r == Admin || other == Viewer && r != Verifier
			if got := r.Includes(other); got != want {
				t.Errorf("%v.Includes(%v) = %v, want %v", r, other, got, want)
			}
		}
		if parsed, ok := ParseRole(strings.ToUpper(r.String())); !ok || parsed != r {
			t.Errorf("ParseRole(%q) = %v, %v", r, parsed, ok)
		}
	}
	if r, ok := ParseRole("root"); ok {
		t.Errorf("ParseRole(\"root\") = %v, want no role", r)
	}
	if Role(0).Includes(Viewer) || Viewer.Includes(Role(0)) {
		t.Error("Includes(): the zero Role includes a role or is included in one")
	}
}

func TestBinding_Validate_ReportsField(t *testing.T) {
	good := Binding{Name: "ops", Subjects: []string{"cert:ann", "spiffe://corp/ops", "oidc:sub=ann"}, Grants: []Grant{{Role: Operator, Scope: Scope{Semaphores: []string{"a*"}}}}}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(b *Binding){
		"name":                      func(b *Binding) { b.Name = "" },
		"globs":                     func(b *Binding) { b.Name = "ops*" },
		"twice":                     func(b *Binding) { b.Subjects = []string{"cert:ann", "cert:ann"} },
		"cert:":                     func(b *Binding) { b.Subjects = []string{"ann"} },
		"oidc:":                     func(b *Binding) { b.Subjects = []string{"oidc:sub="} },
		"CLAIM=":                    func(b *Binding) { b.Subjects = []string{"oidc:=ann"} },
		"spiffe:":                   func(b *Binding) { b.Subjects = []string{"cert:"} },
		"UTF-8":                     func(b *Binding) { b.Subjects = []string{"cert:a\nb"} },
		"2048":                      func(b *Binding) { b.Subjects = []string{"cert:" + strings.Repeat("a", MaxSubject)} },
		"grants[0].role \"role 7\"": func(b *Binding) { b.Grants[0].Role = 7 },
		"not have a scope":          func(b *Binding) { b.Grants[0].Role = Admin },
		"grants[0].semaphores \"65": func(b *Binding) { b.Grants[0].Semaphores = make([]string, MaxGlobs+1) },
		"64 sub":                    func(b *Binding) { b.Subjects = make([]string, MaxSubjects+1) },
	} {
		b := good
		b.Grants = []Grant{good.Grants[0]}
		change(&b)
		if err := b.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate() = %v, want an error containing %q", err, want)
		}
	}
}

func TestBinding_Administers_RequiresPermanentCredential(t *testing.T) {
	now := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	all := []Grant{{Role: Admin}}
	for name, test := range map[string]struct {
		binding Binding
		want    bool
	}{
		"subject":              {Binding{Subjects: []string{"cert:a"}, Grants: all}, true},
		"token":                {Binding{Tokens: []Token{{ID: "t"}}, Grants: all}, true},
		"token that expires":   {Binding{Tokens: []Token{{ID: "t", Expires: now}}, Grants: all}, false},
		"no credential":        {Binding{Grants: all}, false},
		"not an administrator": {Binding{Subjects: []string{"cert:a"}, Grants: []Grant{{Role: Editor}}}, false},
	} {
		if got := test.binding.Administers(); got != test.want {
			t.Errorf("%s: Administers() = %v, want %v", name, got, test.want)
		}
	}
	if token := (&Token{Expires: now}); !token.Expired(now) || token.Expired(now.Add(-1)) || (&Token{}).Expired(now) {
		t.Error("Expired() is wrong at the time of expiry or for a token that never expires")
	}
}

func TestSameClaim_ComparesClaimNames(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{OIDC("groups", "a"), OIDC("groups", "b=c"), true},
		{OIDC("groups", "a"), OIDC("sub", "a"), false},
		{OIDC("group", "a"), OIDC("groups", "a"), false},
		{"cert:a=1", "cert:a=2", false},
		{"spiffe://corp/a", "spiffe://corp/b", false},
	} {
		if got := SameClaim(c.a, c.b); got != c.want {
			t.Errorf("SameClaim(%s, %s) = %t, want %t", c.a, c.b, got, c.want)
		}
	}
}
