package api

import (
	"slices"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// states are what is true of a definition now, by number.
func (a *API) states(state *fsm.State, stored *fsm.StoredDefinition) (states []gatekeeperv1.DefinitionState) {
	name := stored.Definition.Name
	var running, stopping, held bool
	for p := range state.Holders(name) {
		running = running || p.State == semaphore.Live
		held = held || p.State == semaphore.Held
		if p.State == semaphore.Live && !stopping {
			cause, _ := a.reader.ToldToStop(state, p)
			stopping = cause != semaphore.NotStopping
		}
	}
	_, isMissed := a.reader.Missed(name)
	denied, cordoned := a.reader.DeniesAll(state, name)
	for i, is := range []bool{
		running,
		state.HolderCount(name) == 0,
		a.reader.QueueLength(name) > 0,
		stored.Pause != nil,
		stopping,
		held,
		isMissed,
		denied,
		a.reader.Disabled(stored) != "",
		cordoned,
	} {
		if is {
			states = append(states, gatekeeperv1.DefinitionState(i+1))
		}
	}
	return states
}

// ofGroup reports whether an identity is of the group that a list is asked for.
func ofGroup(m interface{ GetGroup() string }, id semaphore.Identity) bool {
	return m.GetGroup() == "" || m.GetGroup() == id.Group
}

// inState reports whether a permit is in one of the states that a list is asked for.
func inState(states []gatekeeperv1.PermitState, p *semaphore.Permit) bool {
	return len(states) == 0 || slices.Contains(states, gatekeeperv1.PermitState(p.State))
}
