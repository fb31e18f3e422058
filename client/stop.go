package client

import (
	"errors"
	"fmt"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// These errors are the reasons why a permit's context can end. Use errors.Is to match its context.Cause against them.
// Except for ErrLost, ErrSuperseded, ErrReleased and ErrClosed, the cause is a *StopError, which also shows how much
// time is left to stop.
var (
	// ErrStopped means that the holder must stop, for one of the reasons below.
	ErrStopped = errors.New("the holder must stop")
	// ErrRevoked means that an operator revoked the permit.
	ErrRevoked = errors.New("the permit was revoked")
	// ErrMoved means that the definition was deleted or, after an edit, no longer admits the holder, or that a move's
	// drain has ended.
	ErrMoved = errors.New("the holder is no longer admitted")
	// ErrTakenOver means that another acquirer took over, because it presumed the holder dead.
	ErrTakenOver = errors.New("the permit was taken over")
	// ErrHeldTooLong means that the permit was held for longer than the definition's max_hold.
	ErrHeldTooLong = errors.New("the permit was held too long")
	// ErrPaused means that the semaphore was paused, and its holders were stopped.
	ErrPaused = errors.New("the semaphore was paused")
	// ErrCordoned means that the group or the acquirer was cordoned.
	ErrCordoned = errors.New("the holder was cordoned")
	// ErrTaskCancelled means that the job to which the permit's task belongs was cancelled.
	ErrTaskCancelled = errors.New("the task's job was cancelled")

	// ErrExpiring means that no refresh got through, and only the stop time was left until the local deadline.
	ErrExpiring = errors.New("no refresh got through")
	// ErrStalled means that Progress was not called within the stall limit.
	ErrStalled = errors.New("the job is making no progress")
	// ErrLost means that the permit can no longer be counted on: its deadline has passed, or the servers report that it
	// has ended.
	ErrLost = errors.New("the permit is lost")
	// ErrReleased means that this process released the permit.
	ErrReleased = errors.New("the permit was released")

	// ErrCutShort is an error for jobs to return: the job stopped before it finished, for a reason that the library
	// cannot see. The definition's firing_on_loss decides what happens to the firing, just as when a permit is lost.
	ErrCutShort = errors.New("the job was cut short")

	// ErrSuperseded means that another process took over the permit by acquiring under the same group, acquirer and
	// holder id. The cause of the permit's context then also matches ErrLost. A Runner does not acquire again for at
	// least the permit's duration, and returns ErrSuperseded until then.
	ErrSuperseded = errors.New("another process with the same holder id took over the permit")

	// ErrReleasePending means that a request was retried after its permit had ended in this process. A release of the
	// permit may still be in progress. Retry the release, and then acquire with a new request id.
	ErrReleasePending = errors.New("this process no longer holds the permit for this request: retry the release, then acquire with a new request id")
)

// StopError reports why the job must stop, and how long the permit can be relied on. It matches ErrStopped and the
// sentinel of its cause, or only ErrExpiring or ErrStalled.
type StopError struct {
	// Cause is unspecified for ErrExpiring and ErrStalled, which do not come from a server.
	Cause gatekeeperv1.StopCause
	// Message is for display.
	Message string
	// Until is the time by which the job must have stopped: the local deadline, or the end of the drain if that is
	// later. Refreshes may extend the deadline; SafeUntil returns the current one. Until is based on the wall clock at
	// the time of the stop.
	Until time.Time
	// Drain is how long the servers intend to keep granting refreshes, or 0 without a drain. See Permit.DrainUntil.
	Drain time.Duration

	stalled     bool
	stopTimeErr *StopTimeError
}

// Unwrap returns the *StopTimeError if an edit has made the permit too short for its stop time; otherwise nil.
func (e *StopError) Unwrap() error {
	if e.stopTimeErr == nil {
		return nil
	}
	return e.stopTimeErr
}

// Error returns text that does not depend on the time of the call, so that log entries for one stop can be grouped. It
// shows Until as a UTC time.
func (e *StopError) Error() string {
	text := e.sentinel().Error()
	if e.stopTimeErr != nil {
		text += ": the definition was edited: " + e.stopTimeErr.Error()
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Drain > 0 {
		text += fmt.Sprintf(", with a drain of %s", e.Drain.Round(time.Millisecond))
	}
	return text + ": stop by " + e.Until.UTC().Format("2006-01-02T15:04:05.000Z")
}

// Is reports whether target is ErrStopped or the sentinel of the cause.
func (e *StopError) Is(target error) bool {
	s := e.sentinel()
	return target == s || target == ErrStopped && s != ErrExpiring && s != ErrStalled
}

func (e *StopError) sentinel() error {
	if e.stalled {
		return ErrStalled
	}
	if e.stopTimeErr != nil {
		return ErrStopped
	}
	switch e.Cause {
	case gatekeeperv1.StopCause_STOP_CAUSE_UNSPECIFIED:
		return ErrExpiring
	case gatekeeperv1.StopCause_STOP_CAUSE_REVOKED:
		return ErrRevoked
	case gatekeeperv1.StopCause_STOP_CAUSE_DRAINED, gatekeeperv1.StopCause_STOP_CAUSE_NO_LONGER_ADMITTED:
		return ErrMoved
	case gatekeeperv1.StopCause_STOP_CAUSE_TAKEN_OVER:
		return ErrTakenOver
	case gatekeeperv1.StopCause_STOP_CAUSE_HELD_TOO_LONG:
		return ErrHeldTooLong
	case gatekeeperv1.StopCause_STOP_CAUSE_PAUSED:
		return ErrPaused
	case gatekeeperv1.StopCause_STOP_CAUSE_CORDONED:
		return ErrCordoned
	case gatekeeperv1.StopCause_STOP_CAUSE_TASK_CANCELLED:
		return ErrTaskCancelled
	}
	return ErrStopped // a cause that only newer servers send
}

// TooShortError is the error that Ensure returns if even a fresh permit does not last as long as the step.
type TooShortError struct {
	Wanted, Left time.Duration
	// Duration is how long a fresh permit lasts.
	Duration time.Duration
}

func (e *TooShortError) Error() string {
	return fmt.Sprintf("the permit can be counted on for %s, but the step needs %s: shorten the step, or increase the definition's duration, which is %s",
		e.Left.Round(time.Millisecond), e.Wanted, e.Duration)
}

// EndedError is the error that a release returns if the permit had already ended.
type EndedError struct {
	Token uint64
	// Ended is how the permit ended; unspecified if the cluster has no record of the permit.
	Ended gatekeeperv1.PermitEnd
	// Message describes how the permit ended, for display.
	Message string
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("the permit with token %d was not released: %s", e.Token, e.Message)
}
