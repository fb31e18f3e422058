package edit

import (
	"testing"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Scripts rely on these fields. New ones may be added, but existing ones must not change. docs/gkctl-reference.md lists
// them.
func TestEditJSON_IsStable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		got  any
		want string
	}{
		{"set", applied{Items: []appliedItem{{Name: "a", Action: actionDeleted, LivePermits: 2}}, Revision: 7}, `{"items":[{"name":"a","action":"deleted","live_permits":2}],"revision":"7"}`},
		{
			"set --dry-run", applied{Items: []appliedItem{}, DryRun: true, Effects: ui.Messages([]*gatekeeperv1.Effect{{Semaphore: "a"}}), Warnings: []string{"w"}},
			`{"items":[],"revision":"0","dry_run":true,"effects":[{"semaphore":"a"}],"warnings":["w"]}`,
		},
		{
			"delete", applied{Items: []appliedItem{{Name: "a", Action: actionDeleted, LivePermits: 1, Stopped: []stoppedHolder{
				{words.Holder{Token: 5, Group: "prod", Acquirer: "app1", HolderID: "h"}, "60.000s"},
			}}}, Revision: 7},
			`{"items":[{"name":"a","action":"deleted","live_permits":1,"stopped":[` +
				`{"token":"5","group":"prod","acquirer":"app1","holder_id":"h","free_within":"60.000s"}]}],"revision":"7"}`,
		},
	} {
		got, err := ui.ToJSON(c.got)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v\nwant %s", c.name, got, err, c.want)
		}
	}
}
