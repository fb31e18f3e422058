package api

import (
	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// fsm.EventKind has the same values as the API's EventKind, which a test checks.

// isPermitEvent reports whether the event concerns a permit rather than a definition.
func isPermitEvent(e *fsm.Event) bool {
	return e.Kind >= fsm.Granted && e.Kind <= fsm.DurationChanged || e.Kind == fsm.FreedUnsafely || e.Kind == fsm.SupersededEvent || e.Kind == fsm.DrainedEvent && e.Permit != nil
}

// toEvent converts an event, or returns nil if the API does not expose it.
func toEvent(e *fsm.Event) *gatekeeperv1.Event {
	kind := gatekeeperv1.EventKind(e.Kind)
	if _, known := gatekeeperv1.EventKind_name[int32(kind)]; !known || kind == 0 || e.Kind == fsm.BindingChanged { // for administrators
		return nil
	}
	out := &gatekeeperv1.Event{
		Revision:   e.Revision,
		Kind:       kind,
		Semaphore:  e.Semaphore,
		Definition: toRecord(e.Definition),
		Permit:     toPermit(e.Permit),
		Cordon:     toCordon(e.Cordon),
		Reason:     e.Reason,
		Author:     e.Author,
		Change:     e.Change,
		Ended:      toEnd(e.Kind.End()),
	}
	switch e.Kind {
	case fsm.HeldEvent:
		out.Ended = toEnd(semaphore.EndExpired)
	case fsm.CoolingEvent:
		out.Ended = toEnd(e.Permit.Ended)
	default:
	}
	return out
}
