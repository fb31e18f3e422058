package move

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Scripts rely on these fields. New ones may be added, but existing ones must not change. docs/gkctl-reference.md lists
// them.
func TestMoveJSON_IsStable(t *testing.T) {
	t.Parallel()
	h, at := newTestHandovers(t, time.Second)
	h.event(permitEvent(21, gatekeeperv1.EventKind_EVENT_KIND_EXPIRED, permitIn("a", "prod", 1, 5)), at(2*time.Second))
	h.event(permitEvent(22, gatekeeperv1.EventKind_EVENT_KIND_GRANTED, permitIn("a", "dr", 2, 22)), at(2500*time.Millisecond))
	h.tasks["a"].old[0].overran = true
	h.tasks["a"].old[0].permit.Identity.HolderId = "h"
	move := newMoveReport("prod", "dr", &gatekeeperv1.MoveResponse{NotMoved: []*gatekeeperv1.NotMoved{{Semaphore: "c", Why: "because", Problem: true}}})
	move.Drain = "1s"
	move.add(h, true)
	for _, c := range []struct {
		name string
		got  any
		want string
	}{
		{"move", move, `{"from":"prod","to":"dr","revision":"20","drain":"1s","tasks":[` +
			`{"name":"a","stopped":[{"token":"1","group":"prod","acquirer":"app1","holder_id":"h","how":"expired","after":"2.000s","overran":true}],` +
			`"started":[{"token":"2","group":"dr","acquirer":"app1","after":"2.500s"}]},` +
			`{"name":"b","stopped":[],"started":[]}],` +
			`"not_moved":[{"name":"c","why":"because","problem":true}],"followed":true,"left":0}`},
		{"pause", paused{Names: []string{"a"}, Revision: 7, Stopped: 1, Continuing: 2, DryRun: true}, `{"names":["a"],"revision":"7","stopped":1,"continuing":2,"dry_run":true}`},
		{"resume", resumed{Names: []string{}, Revision: 0}, `{"names":[],"revision":"0"}`},
		{"uncordon", []uncordoned{{ID: "x", Revision: 7}}, `[{"id":"x","revision":"7"}]`},
	} {
		got, err := ui.ToJSON(c.got)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v\nwant %s", c.name, got, err, c.want)
		}
	}
}
