package tasks

import (
	"strconv"
	"time"
)

// State is what a registered task does. The zero value is Idle.
type State int

const (
	// Idle: the task waits for its next due time.
	Idle State = iota
	// Initializing: Initialize runs.
	Initializing
	// Asking: the task is due, and asks for its permit or judges the holder of it.
	Asking
	// TakingOver: its holder was judged dead and must stop, and the task waits for the permit.
	TakingOver
	// Running: Reset or Run runs, or the permit is being released.
	Running
	// Removing: the task was removed, and its run has not yet ended.
	Removing
)

func (s State) String() string {
	switch s {
	case Idle:
		return "idle"
	case Initializing:
		return "initializing"
	case Asking:
		return "asking"
	case TakingOver:
		return "taking over"
	case Running:
		return "running"
	case Removing:
		return "removing"
	}
	return "State(" + strconv.Itoa(int(s)) + ")"
}

// Info is what a Manager knows of a task. It is a copy.
type Info struct {
	Name      string
	Semaphore string
	// Restartable reports whether the task may take over.
	Restartable bool
	State       State
	// Next is the next due time; zero if there is none, and in Evidence.
	Next time.Time
	// Token is that of the run that goes on; 0 without one.
	Token uint64
	// Started is when the last run began here, and Runs counts those that have ended here.
	Started time.Time
	Runs    int
	// Err is the error of the last run that has ended here.
	Err error
	// Skipped is why the task did not run here when it was last due; nil if it did. For most hosts that is a
	// *client.DeniedError, because another host ran it.
	Skipped error
}
