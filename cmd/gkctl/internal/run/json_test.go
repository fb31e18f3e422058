package run

import (
	"testing"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// Scripts rely on these fields. New ones may be added, but existing ones must not change. docs/gkctl-reference.md lists
// them.
func TestRunJSON_IsStable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		got  any
		want string
	}{
		{"revoke", tokenResult{Token: 5, Semaphore: "a", Action: "revoked", Revision: 7, text: "5 of a revoked"}, `{"token":"5","semaphore":"a","action":"revoked","revision":"7"}`},
		{"release", tokenResult{Token: 5, Error: "gone"}, `{"token":"5","error":"gone"}`},
	} {
		got, err := ui.ToJSON(c.got)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v\nwant %s", c.name, got, err, c.want)
		}
	}
}
