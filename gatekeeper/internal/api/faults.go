package api

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
)

// The table in errors.go maps the errors in this file to statuses.

var (
	// ErrShuttingDown is returned for streams that are ended or refused while the server is draining. The caller should
	// retry the call on another server.
	ErrShuttingDown = errors.New("this server is shutting down: use another server")
	// errPanic is returned for a call that panicked. Callers are not told the details.
	errPanic = errors.New("internal server error: see the server log for details")
)

// hopError refuses a forwarded call that arrived at the server that forwarded it.
type hopError struct{ leader consensus.Leader }

func (e *hopError) Error() string {
	return fmt.Sprintf("the address %s of leader %s points back to a server that is not the leader: check the addresses that the members advertise",
		e.leader.APIAddress, e.leader.ID)
}

// misdirectedError refuses a forwarded call that arrived at a server other than the intended one.
type misdirectedError struct{ intended, reached string }

func (e *misdirectedError) Error() string {
	return fmt.Sprintf("this call was forwarded to %s, but its address resolves to %s: check the addresses and names that the members advertise", e.intended, e.reached)
}

// wrongClusterError refuses a call that is intended for another cluster. Nothing was done.
type wrongClusterError struct{ requested, own string }

func (e *wrongClusterError) Error() string {
	return fmt.Sprintf("this call is intended for cluster %s, but this server belongs to cluster %s: specify endpoints of a single cluster", e.requested, e.own)
}

// unreachableError reports that a call could not be forwarded because the leader was not reached. Nothing was done.
type unreachableError struct {
	leader consensus.Leader
	err    error
}

func (e *unreachableError) Error() string {
	return fmt.Sprintf("the leader %s at %q could not be reached from this server: %s", e.leader.ID, e.leader.APIAddress, hopText(e.err))
}

func (e *unreachableError) Unwrap() error { return e.err }

// brokenHopError reports that the connection to the leader broke after the call was sent.
type brokenHopError struct {
	leader consensus.Leader
	err    error
}

func (e *brokenHopError) Error() string {
	return fmt.Sprintf("the connection to leader %s at %s broke before the leader responded, so it is unknown whether the call was carried out: %s",
		e.leader.ID, e.leader.APIAddress, hopText(e.err))
}

func (e *brokenHopError) Unwrap() error { return e.err }

// hopText returns the cause of a failed hop without gRPC's surrounding text.
func hopText(err error) string {
	text := status.Convert(err).Message()
	if _, inner, ok := strings.Cut(text, `desc = "`); ok {
		text = strings.TrimPrefix(strings.TrimSuffix(inner, `"`), "transport: Error while dialing: ")
	}
	return text
}

// transferError reports that leadership was not transferred. The table in errors.go matches its cause first.
type transferError struct{ err error }

func (e *transferError) Error() string { return e.err.Error() }

func (e *transferError) Unwrap() error { return e.err }

// tooLargeError refuses a message larger than MaxMessage.
type tooLargeError struct{ size int }

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("a message of %d bytes is too large: split it into messages of at most %d bytes", e.size, MaxMessage)
}

// unreadableError refuses data that cannot be decoded as the method's request message.
type unreadableError struct{ err error }

func (e *unreadableError) Error() string { return "the request cannot be read: " + e.err.Error() }

// conflictError is a conflict plus the version that the caller expected.
type conflictError struct {
	*keeper.ConflictError
	expected   uint64
	suggestion string // the most similar name, if the named definition does not exist
}

func conflictWith(state *fsm.State, sees func(*fsm.State, string) bool, c *keeper.ConflictError, expected uint64) *conflictError {
	e := &conflictError{ConflictError: c, expected: expected}
	if c.Kind == fsm.ConflictAbsent {
		e.suggestion = selector.Suggestion(state, c.Name, sees)
	}
	return e
}

func (e *conflictError) Error() string {
	return e.ConflictError.Error() + phrase.DidYouMean(e.suggestion)
}
func (e *conflictError) Unwrap() error { return e.ConflictError }

func mapSlice[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}
