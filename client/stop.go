package client

import (
	"errors"
	"fmt"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Why a permit's context ended: context.Cause of it is one of these, found by errors.Is. All but ErrLost, ErrReleased
// and ErrClosed come in a *StopError, which says how much time is left to stop.
var (
	// ErrStopped: the holder must stop, for one of the reasons that follow.
	ErrStopped = errors.New("told to stop")
	// ErrRevoked: an operator revoked the permit.
	ErrRevoked = errors.New("the permit was revoked")
	// ErrMoved: an edit no longer admits the holder, or the definition was deleted; or the drain of a move is over.
	ErrMoved = errors.New("the holder is no longer admitted")
	// ErrTakenOver: another acquirer took over, because the holder was judged dead.
	ErrTakenOver = errors.New("the permit was taken over")
	// ErrHeldTooLong: it was held for longer than the definition's max_hold.
	ErrHeldTooLong = errors.New("the permit was held too long")
	// ErrPaused: the semaphore was paused, with a stop.
	ErrPaused = errors.New("the semaphore was paused")
	// ErrCordoned: the group or the acquirer was cordoned.
	ErrCordoned = errors.New("the holder was cordoned")
	// ErrTaskCancelled: the job of the permit's task was cancelled.
	ErrTaskCancelled = errors.New("the job of the task was cancelled")

	// ErrExpiring: no refresh got through, and the local deadline is as near as the stop time.
	ErrExpiring = errors.New("no refresh got through")
	// ErrStalled: Progress was not called for as long as the stall limit.
	ErrStalled = errors.New("the job makes no progress")
	// ErrLost: the permit may be counted on no more: its deadline has passed, or the servers say that it has ended.
	ErrLost = errors.New("the permit is lost")
	// ErrReleased: the permit was released here.
	ErrReleased = errors.New("the permit was released")

	// ErrCutShort is for jobs to return: the job stopped before its end, for a reason that the library does not see.
	// Its firing goes by the definition's firing_on_loss, as after a loss.
	ErrCutShort = errors.New("the job was cut short")

	// ErrSuperseded: another process acquired under the same group, acquirer and holder id, and so took over the
	// permit. It comes together with ErrLost. A Runner does not acquire again for at least the permit's duration; its
	// error is ErrSuperseded then.
	ErrSuperseded = errors.New("another process took it over under the same holder id")

	// ErrReleasePending: the request was repeated, and its permit has ended here. A release of it may still be under
	// way. Release the permit again first, and then acquire by a new request.
	ErrReleasePending = errors.New("the permit of this request has ended in this process: release it again, then acquire by a new request")
)

// StopError says why to stop, and until when the permit can be counted on. It is ErrStopped and the sentinel of its
// cause, or ErrExpiring or ErrStalled.
type StopError struct {
	// Cause is unspecified for ErrExpiring and ErrStalled, of which no server knows.
	Cause gatekeeperv1.StopCause
	// Message is for a person.
	Message string
	// Until is by when the job is to have stopped, as far as was known then: the local deadline, or the end of the
	// drain when that is later. Refreshes may move the deadline out: SafeUntil says at any moment what can be counted
	// on. It is a time of the wall clock, as that stood then.
	Until time.Time
	// Drain is for how long the servers will go on granting refreshes, as they said it; 0 without a drain. See
	// Permit.DrainUntil.
	Drain time.Duration

	stalled bool
	brief   *StopTimeError
}

// Unwrap returns the *StopTimeError when an edit has made the permit live too briefly beside its stop time; otherwise
// nil.
func (e *StopError) Unwrap() error {
	if e.brief == nil {
		return nil
	}
	return e.brief
}

// Error returns the same text at any time, so that logs of one stop can be grouped. It names Until as an instant in
// UTC.
func (e *StopError) Error() string {
	text := e.sentinel().Error()
	if e.brief != nil {
		text += ": the definition was edited: " + e.brief.Error()
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Drain > 0 {
		text += fmt.Sprintf(", with a drain of %s", e.Drain.Round(time.Millisecond))
	}
	return text + ": stop by " + e.Until.UTC().Format("2006-01-02T15:04:05.000Z")
}

// Is makes it the sentinels that it stands for.
func (e *StopError) Is(target error) bool {
	s := e.sentinel()
	return target == s || target == ErrStopped && s != ErrExpiring && s != ErrStalled
}

func (e *StopError) sentinel() error {
	if e.stalled {
		return ErrStalled
	}
	if e.brief != nil {
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
	return ErrStopped // a cause of a newer server
}

// TooShortError answers Ensure: the permit does not last as long as the step that was asked for.
type TooShortError struct {
	Wanted, Left time.Duration
	// Duration is how long a fresh permit lives.
	Duration time.Duration
}

func (e *TooShortError) Error() string {
	return fmt.Sprintf("the permit can be counted on for %s, and the step needs %s: make the step shorter, or lengthen the definition's duration of %s",
		e.Left.Round(time.Millisecond), e.Wanted, e.Duration)
}

// EndedError answers a release: the permit had ended before.
type EndedError struct {
	Token uint64
	// Ended is how; unspecified when the cluster does not remember it, or never granted the permit.
	Ended gatekeeperv1.PermitEnd
	// Message says how, for a person.
	Message string
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("the permit with token %d was not released: %s", e.Token, e.Message)
}
