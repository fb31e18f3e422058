package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/missed"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestListDefinitions_FiltersByStateAndGroup(t *testing.T) {
	t.Parallel()
	g := open(t)
	for name, group := range map[string]string{"idle": ".*", "run": "prod", "wait": "drc", "missed": "prod|drc", "denied": "prod", "away": "prod"} {
		d := &gatekeeperv1.Definition{Name: name, GroupPattern: &group}
		must(g.definitions.CreateDefinition(ctx(t), &gatekeeperv1.CreateDefinitionRequest{Definition: d}))(t)
	}
	g.grant(t, "run", "host")
	g.keeper.waiters = []keeper.Waiter{{Semaphore: "wait", Place: 1}, {Semaphore: "idle", Worker: true}}
	g.keeper.missed = map[string]missed.Report{"missed": {}}
	var denied, cordoned keeper.DeniedCaller
	denied.Semaphore = "denied"
	cordoned.Semaphore, cordoned.Reason = "away", semaphore.Cordoned
	g.keeper.deniesAll = []keeper.DeniedCaller{denied, cordoned}
	for _, c := range []struct {
		group  string
		states string
		want   string
	}{
		{"", "", "away denied idle missed run wait"},
		{"", "RUNNING", "run"},
		{"", "IDLE", "idle"},
		{"", "WAITING MISSED", "missed wait"},
		{"", "DENIED", "away denied"},
		{"", "CORDONED", "away"},
		{"", "PAUSED", ""},
		{"", "HELD STOPPING DISABLED", ""},
		{"drc", "", "idle missed wait"},
		{"drc", "WAITING RUNNING", "wait"},
		{"dev", "", "idle"},
	} {
		m := &gatekeeperv1.ListDefinitionsRequest{Group: c.group}
		for _, s := range strings.Fields(c.states) {
			m.States = append(m.States, gatekeeperv1.DefinitionState(gatekeeperv1.DefinitionState_value["DEFINITION_STATE_"+s]))
		}
		r := must(g.definitions.ListDefinitions(ctx(t), m))(t)
		var names []string
		for _, record := range r.GetRecords() {
			names = append(names, record.GetDefinition().GetName())
			if len(m.GetStates()) > 0 && !slices.ContainsFunc(record.GetStates(), func(state gatekeeperv1.DefinitionState) bool { return slices.Contains(m.GetStates(), state) }) {
				t.Errorf("%s is listed for states %s but has states %v", record.GetDefinition().GetName(), c.states, record.GetStates())
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("group %q, states %q: got %s, want %s", c.group, c.states, got, c.want)
		}
	}
}

func TestListHolders_FiltersByGroupAndState(t *testing.T) {
	t.Parallel()
	g := open(t)
	g.create("a")
	p := g.grant(t, "a", "host")
	for _, c := range []struct {
		m    *gatekeeperv1.ListHoldersRequest
		want int
	}{
		{&gatekeeperv1.ListHoldersRequest{Group: p.Identity.Group}, 1},
		{&gatekeeperv1.ListHoldersRequest{Group: "elsewhere"}, 0},
		{&gatekeeperv1.ListHoldersRequest{States: []gatekeeperv1.PermitState{gatekeeperv1.PermitState_PERMIT_STATE_LIVE}}, 1},
		{&gatekeeperv1.ListHoldersRequest{States: []gatekeeperv1.PermitState{gatekeeperv1.PermitState_PERMIT_STATE_HELD}}, 0},
	} {
		if r, err := g.permits.ListHolders(ctx(t), c.m); err != nil || len(r.GetPermits()) != c.want {
			t.Errorf("ListHolders(%s) = %v, %v; want %d permits", fmt.Sprint(c.m), r, err, c.want)
		}
	}
	_, err := g.permits.ListHolders(ctx(t), &gatekeeperv1.ListHoldersRequest{
		At: timestamppb.Now(), States: []gatekeeperv1.PermitState{gatekeeperv1.PermitState_PERMIT_STATE_HELD},
	})
	want(t, err, codes.InvalidArgument, "INVALID_FIELD")
}
