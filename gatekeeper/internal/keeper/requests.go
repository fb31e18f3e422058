package keeper

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// ErrRequestReused is what every RequestReusedError is.
var ErrRequestReused = errors.New("the request id belongs to another request")

// RequestReusedError refuses a request whose id belongs to one that asked for something else. Nothing happened.
type RequestReusedError struct {
	fsm.Remembered // the request that has the id
	Why            string
}

func (e *RequestReusedError) Error() string { return e.Why }

// Is makes errors.Is(err, ErrRequestReused) true.
func (e *RequestReusedError) Is(target error) bool { return target == ErrRequestReused }

// Reused is the error for an edit of that kind whose request id belongs to another edit.
func Reused(done *fsm.Remembered, kind fsm.EditKind) *RequestReusedError {
	return &RequestReusedError{*done, fmt.Sprintf("request id %q %s", done.RequestID, done.Used(kind))}
}

// ErrRequestTooOld is what every RequestTooOldError is.
var ErrRequestTooOld = errors.New("the request is too old to be told from one that was carried out")

// RequestTooOldError refuses a request that is not remembered and may have been carried out and forgotten. Nothing happened.
type RequestTooOldError struct {
	fsm.TooOld
	Why string
}

func (e *RequestTooOldError) Error() string { return e.Why }

// Is makes errors.Is(err, ErrRequestTooOld) true.
func (e *RequestTooOldError) Is(target error) bool { return target == ErrRequestTooOld }

// ended returns the error for a request of which the state remembers how it ended; nil for any other.
func (k *Keeper) ended(state *fsm.State, call *AcquireCall) error {
	if call.RequestID == "" {
		return nil
	}
	ended := state.Request(call.Semaphore, call.Identity, call.RequestID)
	switch {
	case ended == nil:
		return nil
	case !ended.Matches(fsm.AskedBy(call.Weight, call.Firing)):
		return &RequestReusedError{*ended, fmt.Sprintf("request %q for semaphore %q was %s, and had asked for another weight or firing: "+
			"a request id belongs to one request; use a new one", ended.RequestID, ended.Semaphore, ended.Outcome)}
	default:
		return &RequestEndedError{*ended}
	}
}

// fresh returns nil if a request that is neither remembered in the state nor holds a permit there has had none so far, as far as its
// caller could tell. From then on that is known to be so as of the state's revision: however long the call waits, it does not become too
// old to be granted.
func (k *Keeper) fresh(state *fsm.State, call *AcquireCall) error {
	known := call.knownSince()
	if call.RequestID == "" || known == 0 {
		return nil
	}
	if old := state.TooOld(call.Semaphore, known); old != nil {
		return &RequestTooOldError{*old, fmt.Sprintf("request id %q: %v", call.RequestID, old)}
	}
	for now := state.Revision(); ; {
		since := atomic.LoadUint64(&call.notGrantedAt)
		if since >= now || atomic.CompareAndSwapUint64(&call.notGrantedAt, since, now) {
			return nil
		}
	}
}

// freshen is fresh for a call that waits, if nothing else is to be said of it.
func (k *Keeper) freshen(call *AcquireCall) {
	state := k.cfg.Machine.State()
	if own := state.Own(call.Semaphore, call.Identity); k.ended(state, call) == nil && (own == nil || own.RequestID != call.RequestID) {
		_ = k.fresh(state, call) // what is too old is refused when it is decided
	}
}

// knownSince is the newest revision at which the request is known to have had no permit; 0: none is known.
func (c *AcquireCall) knownSince() uint64 {
	return max(c.RequestRevision, atomic.LoadUint64(&c.notGrantedAt))
}

// asOf is what a command says of the age of a request: nothing, as long as a member may not know what that is.
func asOf(state *fsm.State, revision uint64) uint64 {
	if state.FeatureLevel() < 3 {
		return 0
	}
	return revision
}

// asOfLevel leaves out what an edit says of its request, as long as a member may not know what that is.
func (k *Keeper) asOfLevel(asked, revision *uint64) {
	if k.cfg.Machine.State().FeatureLevel() < 3 {
		*asked, *revision = 0, 0
	}
}

// refused turns the refusal of a command into an error.
func refused(bad fsm.InvalidResult) error {
	switch {
	case bad.Used != nil:
		return &RequestReusedError{*bad.Used, bad.Why}
	case bad.TooOld != nil:
		return &RequestTooOldError{*bad.TooOld, bad.Why}
	}
	return &RefusedError{bad.Why}
}
