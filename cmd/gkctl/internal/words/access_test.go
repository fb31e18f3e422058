package words

import (
	"testing"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestBindingChange_ListsAdditionsAndRemovals(t *testing.T) {
	ops := &gatekeeperv1.Binding{Name: "ops", Subjects: []string{"cert:ann"}, Grants: []*gatekeeperv1.AccessGrant{{Role: gatekeeperv1.Role_ROLE_VIEWER}}}
	more := &gatekeeperv1.Binding{
		Name: "ops", Subjects: []string{"cert:bob"}, Tokens: []*gatekeeperv1.AccessToken{{Id: "t1"}},
		Grants: []*gatekeeperv1.AccessGrant{{Role: gatekeeperv1.Role_ROLE_OPERATOR, Semaphores: []string{"a*"}, Group: "zone-a"}},
	}
	for want, c := range map[string]struct{ before, after *gatekeeperv1.Binding }{
		"new binding ops: +cert:ann, +viewer":                                                    {nil, ops},
		"binding ops: -cert:ann, +cert:bob, -viewer, +operator on a* in group zone-a, +token t1": {ops, more},
		"removed binding ops: -cert:ann, -viewer":                                                {ops, nil},
	} {
		if got := BindingChange(c.before, c.after); got != want {
			t.Errorf("BindingChange() = %q, want %q", got, want)
		}
	}
}
