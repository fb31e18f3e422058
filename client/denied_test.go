package client

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func holder(acquirer string, held time.Duration, state gatekeeperv1.PermitState) *gatekeeperv1.Permit {
	return &gatekeeperv1.Permit{
		Identity: &gatekeeperv1.Identity{Group: "prod", Acquirer: acquirer}, Token: 7, State: state,
		GrantedAt: timestamppb.New(time.Now().Add(-held)),
	}
}

func TestDenied_Error_ListsFirstHoldersAndClearCommand(t *testing.T) {
	const live, held, cooling = gatekeeperv1.PermitState_PERMIT_STATE_LIVE, gatekeeperv1.PermitState_PERMIT_STATE_HELD, gatekeeperv1.PermitState_PERMIT_STATE_COOLING
	stopped := holder("db1", 0, live)
	stopped.GrantedAt, stopped.Stop = nil, gatekeeperv1.StopCause_STOP_CAUSE_REVOKED
	for want, d := range map[string]*DeniedError{
		"Taken.":            {Reason: ReasonNoFreePermit, Message: "Taken."},
		"x: denied: PAUSED": {Reason: ReasonPaused, Semaphore: "x", Holders: []*gatekeeperv1.Permit{holder("app1", 0, live)}, HolderCount: 1},
		"Taken. Holders: app1 in prod (for 48h); app2 in prod (expired, held for an operator until `gkctl clear 7`); app3 in prod (ended, slot cooling down); and 2 more.": {
			Reason: ReasonNoFreePermit, Message: "Taken.", HolderCount: 5, Holders: []*gatekeeperv1.Permit{
				holder("app1", 48*time.Hour, live), holder("app2", 0, held), holder("app3", 0, cooling), holder("app4", 0, live),
			},
		},
		"Taken. Holders: db1 in prod (holds it, must stop).": {Reason: ReasonNoFreePermit, Message: "Taken.", HolderCount: 1, Holders: []*gatekeeperv1.Permit{stopped}},
	} {
		if got := d.Error(); got != want {
			t.Errorf("Error() = %s, want %s", got, want)
		}
	}
}

func TestSeconds_OmitsZeroUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 10 * time.Second: "10s", time.Minute: "1m", 10 * time.Minute: "10m", 70 * time.Second: "1m10s",
		2 * time.Hour: "2h", 2*time.Hour + 5*time.Minute: "2h5m", 20*time.Hour + 400*time.Millisecond: "20h",
	} {
		if got := seconds(d); got != want {
			t.Errorf("seconds(%s) = %s, want %s", d, got, want)
		}
	}
}
