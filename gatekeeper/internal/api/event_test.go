package api

import (
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Clients must be able to tell how a permit ended without parsing text.
func TestToEvent_PermitEnd_IsTyped(t *testing.T) {
	t.Parallel()
	cooling := &semaphore.Permit{Token: 1, State: semaphore.Cooling, Ended: semaphore.EndReleased}
	for _, c := range []struct {
		event fsm.Event
		want  gatekeeperv1.PermitEnd
	}{
		{fsm.Event{Kind: fsm.Released}, gatekeeperv1.PermitEnd_PERMIT_END_RELEASED},
		{fsm.Event{Kind: fsm.Expired}, gatekeeperv1.PermitEnd_PERMIT_END_EXPIRED},
		{fsm.Event{Kind: fsm.HeldEvent}, gatekeeperv1.PermitEnd_PERMIT_END_EXPIRED},
		{fsm.Event{Kind: fsm.CoolingEvent, Permit: cooling}, gatekeeperv1.PermitEnd_PERMIT_END_RELEASED},
		{fsm.Event{Kind: fsm.CoolingEnded, Permit: cooling}, gatekeeperv1.PermitEnd_PERMIT_END_UNSPECIFIED},
		{fsm.Event{Kind: fsm.FreedUnsafely}, gatekeeperv1.PermitEnd_PERMIT_END_FREED_UNSAFELY},
		{fsm.Event{Kind: fsm.SupersededEvent}, gatekeeperv1.PermitEnd_PERMIT_END_SUPERSEDED},
		{fsm.Event{Kind: fsm.Granted}, gatekeeperv1.PermitEnd_PERMIT_END_UNSPECIFIED},
		{fsm.Event{Kind: fsm.Replaced}, gatekeeperv1.PermitEnd_PERMIT_END_UNSPECIFIED},
	} {
		if got := toEvent(&c.event).GetEnded(); got != c.want {
			t.Errorf("toEvent() of %v: ended = %v, want %v", c.event.Kind, got, c.want)
		}
	}
}
