package auth

import (
	"testing"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestRoles_HavePermissionsAndParse(t *testing.T) {
	t.Parallel()
	for n := range gatekeeperv1.Role_name {
		want := gatekeeperv1.Role(n)
		if want == gatekeeperv1.Role_ROLE_UNSPECIFIED {
			continue
		}
		if got, err := roleArg(roleWord(want)); err != nil || got != want {
			t.Errorf("roleArg(%q) = %v, %v, want %v", roleWord(want), got, err, want)
		}
		found := false
		for _, d := range rolePermissions {
			found = found || d.role == want && d.may != ""
		}
		if !found {
			t.Errorf("rolePermissions has no entry for %s", want)
		}
	}
	for _, bad := range []string{"", "unspecified", "root"} {
		if _, err := roleArg(bad); !ui.Is[*ui.UsageError](err) {
			t.Errorf("roleArg(%q): got %v, want a usage error", bad, err)
		}
	}
}

func TestDifferences_ListsAdditionsAndRemovals(t *testing.T) {
	t.Parallel()
	grant := func(r gatekeeperv1.Role) []*gatekeeperv1.AccessGrant {
		return []*gatekeeperv1.AccessGrant{{Role: r, Labels: "team=data"}}
	}
	old := &gatekeeperv1.Binding{Subjects: []string{"cert:a", "cert:b"}, Grants: grant(gatekeeperv1.Role_ROLE_VIEWER)}
	updated := &gatekeeperv1.Binding{Subjects: []string{"cert:b", "cert:c"}, Grants: grant(gatekeeperv1.Role_ROLE_EDITOR)}
	added, removed := differences(old, updated)
	if len(added) != 2 || added[0] != "+ subject cert:c" || added[1] != "+ grant editor where team=data" {
		t.Errorf("differences() added %q, want subject cert:c and the editor grant", added)
	}
	if len(removed) != 2 || removed[0] != "- subject cert:a" || removed[1] != "- grant viewer where team=data" {
		t.Errorf("differences() removed %q, want subject cert:a and the viewer grant", removed)
	}
}
