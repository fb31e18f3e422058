package api

import (
	"slices"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// states returns the states of a definition in numerical order. A definition is idle only if it is in no other state.
func (a *API) states(state *fsm.State, stored *fsm.StoredDefinition) (states []gatekeeperv1.DefinitionState) {
	name := stored.Definition.Name
	var running, stopping, held bool
	for p := range state.Holders(name) {
		running = running || p.State == semaphore.Live
		held = held || p.State == semaphore.Held
		if p.State == semaphore.Live && !stopping {
			cause, _ := a.reader.StopCause(state, p)
			stopping = cause != semaphore.NotStopping
		}
	}
	_, isMissed := a.reader.Missed(name)
	denied, cordoned := a.reader.DeniesAll(state, name)
	disabled := a.reader.Disabled(stored) != ""
	var reach preview.Reach
	if !disabled {
		reach, _ = a.reaches.get(state, a.keeper, stored.Definition)
	}
	for _, s := range []struct {
		applies bool
		gatekeeperv1.DefinitionState
	}{
		{running, gatekeeperv1.DefinitionState_DEFINITION_STATE_RUNNING},
		{a.reader.QueueLength(name) > 0, gatekeeperv1.DefinitionState_DEFINITION_STATE_WAITING},
		{stored.Pause != nil, gatekeeperv1.DefinitionState_DEFINITION_STATE_PAUSED},
		{stopping, gatekeeperv1.DefinitionState_DEFINITION_STATE_STOPPING},
		{held, gatekeeperv1.DefinitionState_DEFINITION_STATE_HELD},
		{isMissed, gatekeeperv1.DefinitionState_DEFINITION_STATE_MISSED},
		{denied, gatekeeperv1.DefinitionState_DEFINITION_STATE_DENIED},
		{disabled, gatekeeperv1.DefinitionState_DEFINITION_STATE_DISABLED},
		{cordoned || reach == preview.ReachesCordoned, gatekeeperv1.DefinitionState_DEFINITION_STATE_CORDONED},
		{reach == preview.ReachesNone, gatekeeperv1.DefinitionState_DEFINITION_STATE_UNMATCHED},
	} {
		if s.applies {
			states = append(states, s.DefinitionState)
		}
	}
	if len(states) == 0 {
		states = append(states, gatekeeperv1.DefinitionState_DEFINITION_STATE_IDLE)
	}
	return states
}

// inGroup reports whether an identity belongs to the group requested for a list.
func inGroup(m interface{ GetGroup() string }, id semaphore.Identity) bool {
	return m.GetGroup() == "" || m.GetGroup() == id.Group
}

// inState reports whether a permit is in one of the states requested for a list.
func inState(states []gatekeeperv1.PermitState, p *semaphore.Permit) bool {
	return len(states) == 0 || slices.Contains(states, gatekeeperv1.PermitState(p.State))
}
