package tasks

import (
	"strconv"
	"time"
)

// State is the state of a registered task. The zero value is Idle.
type State int

const (
	// Idle means that the task is waiting for its next due time.
	Idle State = iota
	// Initializing means that Initialize is running.
	Initializing
	// Acquiring means that the task is due, and is acquiring its permit or deciding whether the permit's holder is
	// alive.
	Acquiring
	// TakingOver means that the holder was declared dead and must stop, and the task is waiting for the permit.
	TakingOver
	// Running means that Reset or Run is running, or the permit is being released.
	Running
	// Removing means that the task was removed and its run has not yet ended.
	Removing
)

func (s State) String() string {
	switch s {
	case Idle:
		return "idle"
	case Initializing:
		return "initializing"
	case Acquiring:
		return "acquiring"
	case TakingOver:
		return "taking over"
	case Running:
		return "running"
	case Removing:
		return "removing"
	}
	return "State(" + strconv.Itoa(int(s)) + ")"
}

// Info is a snapshot of a task's state.
type Info struct {
	Name      string
	Semaphore string
	// Restartable reports whether the task can take over.
	Restartable bool
	State       State
	// Next is the next due time. It is zero if there is none, and always zero in Evidence.
	Next time.Time
	// Token is the token of the current run, or 0 if there is none.
	Token uint64
	// Started is when the last run on this host started. Runs counts the runs that have ended on this host.
	Started time.Time
	Runs    int
	// Err is the error from the last run that ended on this host.
	Err error
	// Skipped is the reason the task did not run here when it was last due, or nil if it did. On most hosts it is a
	// *client.DeniedError, because another host ran the task.
	Skipped error
}
