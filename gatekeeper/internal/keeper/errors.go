package keeper

import (
	"errors"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// ErrRevisionChanged matches every RevisionChangedError.
var ErrRevisionChanged = errors.New("the permit revision has changed")

// RevisionChangedError is returned for an acquire whose expected permit revision is no longer current. Nothing was
// changed.
type RevisionChangedError struct {
	Semaphore         string
	Expected, Current uint64
}

func (e *RevisionChangedError) Error() string {
	return fmt.Sprintf("semaphore %q is at permit revision %d, not %d as expected: read its holders again before retrying",
		e.Semaphore, e.Current, e.Expected)
}

// Is makes errors.Is(err, ErrRevisionChanged) true.
func (e *RevisionChangedError) Is(target error) bool { return target == ErrRevisionChanged }

// ErrRequestEnded matches every RequestEndedError.
var ErrRequestEnded = errors.New("the request has ended")

// RequestEndedError is returned for a retry of an acquisition that has ended: a request id is never granted a permit
// twice.
type RequestEndedError struct{ fsm.Remembered }

func (e *RequestEndedError) Error() string {
	return fmt.Sprintf("request %q for semaphore %q was %s: start a new acquisition with a new request id",
		e.RequestID, e.Semaphore, e.Outcome)
}

// Is makes errors.Is(err, ErrRequestEnded) true.
func (e *RequestEndedError) Is(target error) bool { return target == ErrRequestEnded }

// ErrRequestReused matches every RequestReusedError.
var ErrRequestReused = errors.New("the request id belongs to a different request")

// RequestReusedError is returned for a request whose id already belongs to a different request. Nothing was changed.
type RequestReusedError struct {
	fsm.Remembered // the request that used the id first
	Why            string
}

func (e *RequestReusedError) Error() string { return e.Why }

// Is makes errors.Is(err, ErrRequestReused) true.
func (e *RequestReusedError) Is(target error) bool { return target == ErrRequestReused }

// Reused returns the error for an edit of the given kind whose request id belongs to a different edit.
func Reused(earlier *fsm.Remembered, kind fsm.EditKind) *RequestReusedError {
	return &RequestReusedError{*earlier, fmt.Sprintf("request id %q %s", earlier.RequestID, earlier.DescribeReuse(kind))}
}

// ErrRequestTooOld matches every RequestTooOldError.
var ErrRequestTooOld = errors.New("the request is too old to tell whether it was already carried out")

// RequestTooOldError is returned for an unknown request that may have been carried out and forgotten. Nothing was
// changed.
type RequestTooOldError struct {
	fsm.TooOld
	Why string
}

// TooOld returns the error for a request with the given id.
func TooOld(requestID string, old *fsm.TooOld) *RequestTooOldError {
	return &RequestTooOldError{*old, fmt.Sprintf("request id %q: %v", requestID, old)}
}

func (e *RequestTooOldError) Error() string { return e.Why }

// Is makes errors.Is(err, ErrRequestTooOld) true.
func (e *RequestTooOldError) Is(target error) bool { return target == ErrRequestTooOld }

// ErrNoSuchPermit matches every NoSuchPermitError.
var ErrNoSuchPermit = errors.New("no such permit")

// NoSuchPermitError is returned for a command whose token has no permit in the state that the command requires.
type NoSuchPermitError struct {
	Token uint64
	Why   string
}

func (e *NoSuchPermitError) Error() string { return fmt.Sprintf("token %d: %s", e.Token, e.Why) }

// Is makes errors.Is(err, ErrNoSuchPermit) true.
func (e *NoSuchPermitError) Is(target error) bool { return target == ErrNoSuchPermit }

// ErrConflict matches every ConflictError.
var ErrConflict = errors.New("the definition is not as expected")

// ConflictError is returned for a change that conflicts with the current definitions. Nothing was changed.
type ConflictError struct{ fsm.Conflict }

func (e *ConflictError) Error() string {
	switch e.Kind {
	case fsm.ConflictExists:
		return fmt.Sprintf("edit %d: definition %q already exists, at version %d", e.Index, e.Name, e.Current.Version)
	case fsm.ConflictAbsent:
		return fmt.Sprintf("edit %d: there is no definition %q", e.Index, e.Name)
	default:
		return fmt.Sprintf("edit %d: definition %q is at version %d, changed by %s: read it again, then repeat the edit on the current version",
			e.Index, e.Name, e.Current.Version, e.Current.UpdatedBy)
	}
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// EditFieldError is returned for a batch of edits with an invalid field. Nothing was changed.
type EditFieldError struct {
	Index int
	Name  string
	Err   *semaphore.FieldError
}

func (e *EditFieldError) Error() string {
	return fmt.Sprintf("edit %d: definition %q: %v", e.Index, e.Name, e.Err)
}

func (e *EditFieldError) Unwrap() error { return e.Err }

// ErrNoSuchCordon matches every NoSuchCordonError.
var ErrNoSuchCordon = errors.New("no such cordon")

// NoSuchCordonError is returned when the cordon to remove does not exist.
type NoSuchCordonError struct {
	ID string
	// Suggestion is the id that was probably meant. It is set by the API.
	Suggestion string
}

func (e *NoSuchCordonError) Error() string {
	return fmt.Sprintf("there is no cordon %q", e.ID) + phrase.DidYouMean(e.Suggestion)
}

// Is makes errors.Is(err, ErrNoSuchCordon) true.
func (e *NoSuchCordonError) Is(target error) bool { return target == ErrNoSuchCordon }

// ErrFeatureLevel matches every FeatureLevelError.
var ErrFeatureLevel = errors.New("not every server in the cluster supports this yet")

// FeatureLevelError is returned for a command that needs a higher feature level than is in force. Nothing was changed.
type FeatureLevelError struct{ Needed, InForce uint32 }

func (e *FeatureLevelError) Error() string {
	return fmt.Sprintf("this needs feature level %d, but the cluster is at %d: the level rises automatically once every server runs a version that supports it",
		e.Needed, e.InForce)
}

// Is makes errors.Is(err, ErrFeatureLevel) true.
func (e *FeatureLevelError) Is(target error) bool { return target == ErrFeatureLevel }

// ErrRecovering is returned after the cluster has been recovered without its majority. No permits are granted until
// every permit from before the recovery has definitely ended.
var ErrRecovering = errors.New("the cluster was recovered and will not grant permits until every earlier permit has ended")

// RecoveringError is ErrRecovering with the time left, counted from when the error was created.
type RecoveringError struct{ Left time.Duration }

func (e *RecoveringError) Error() string {
	return fmt.Sprintf("the cluster was recovered and will not grant permits for another %v, until every earlier permit has ended", e.Left.Round(time.Second))
}

// Is makes errors.Is(err, ErrRecovering) true.
func (e *RecoveringError) Is(target error) bool { return target == ErrRecovering }

// ErrSuperseded is returned by a waiting call whose place was taken by another call for the same acquisition.
var ErrSuperseded = errors.New("another call with the same request id has taken this one's place in the queue")

// ErrRefused matches every RefusedError.
var ErrRefused = errors.New("refused")

// RefusedError is returned when the state machine or the keeper refuses a command because of its content.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return "refused: " + e.Why }

// Is makes errors.Is(err, ErrRefused) true.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// invalid returns the error for a result of the wrong type. For a command that was refused, it is a
// *RequestReusedError, a *RequestTooOldError or a *RefusedError.
func invalid(r fsm.Result) error {
	if bad, ok := r.(fsm.InvalidResult); ok {
		return refused(bad)
	}
	return fmt.Errorf("the state machine returned a %T, which is not this command's result type", r)
}

// refused converts the result of a refused command to an error.
func refused(bad fsm.InvalidResult) error {
	switch {
	case bad.UsedBy != nil:
		return &RequestReusedError{*bad.UsedBy, bad.Why}
	case bad.TooOld != nil:
		return &RequestTooOldError{*bad.TooOld, bad.Why}
	}
	return &RefusedError{bad.Why}
}
