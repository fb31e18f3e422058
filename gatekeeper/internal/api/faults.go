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

// The errors that this room adds to those of the rooms below. What callers see of them is in the table of errors.go.

var (
	// ErrShuttingDown ends and refuses streams of a server that drains: the call is to be made again, to another
	// server.
	ErrShuttingDown = errors.New("this server is shutting down: ask another one")
	// errPanic is a fault of ours, caught. Its text for callers says no more than that.
	errPanic = errors.New("the server had an internal error and logged it; it did not answer this call")
)

// hopError says that a call that was passed on once has come to a server that would pass it on to itself.
type hopError struct{ leader consensus.Leader }

func (e *hopError) Error() string {
	return fmt.Sprintf("the address %s of the leader %s leads back to a server that does not lead: check what the members advertise",
		e.leader.APIAddress, e.leader.ID)
}

// misdirectedError says that a call which was passed on was meant for another server than that to which it has come.
type misdirectedError struct{ meant, reached string }

func (e *misdirectedError) Error() string {
	return fmt.Sprintf("this call was passed on to %s, but its address leads to %s: check what the members advertise, and the names in it", e.meant, e.reached)
}

// wrongClusterError refuses a call that was meant for another cluster. Nothing happened.
type wrongClusterError struct{ meant, own string }

func (e *wrongClusterError) Error() string {
	return fmt.Sprintf("this call is meant for cluster %s, and this server belongs to cluster %s: give the endpoints of one cluster only", e.meant, e.own)
}

// unreachableError says that a call could not be passed on: the leader was not reached, so nothing was done.
type unreachableError struct {
	leader consensus.Leader
	err    error
}

func (e *unreachableError) Error() string {
	return fmt.Sprintf("the leader %s at %q could not be reached from here: %s", e.leader.ID, e.leader.APIAddress, hopText(e.err))
}

func (e *unreachableError) Unwrap() error { return e.err }

// brokenHopError says that the way to the leader broke after the call was sent.
type brokenHopError struct {
	leader consensus.Leader
	err    error
}

func (e *brokenHopError) Error() string {
	return fmt.Sprintf("the way to the leader %s at %s broke before it answered: whether the call was carried out is not known: %s",
		e.leader.ID, e.leader.APIAddress, hopText(e.err))
}

func (e *brokenHopError) Unwrap() error { return e.err }

// hopText is what happened on the way, without what gRPC puts around it.
func hopText(err error) string {
	text := status.Convert(err).Message()
	if _, inner, ok := strings.Cut(text, `desc = "`); ok {
		text = strings.TrimPrefix(strings.TrimSuffix(inner, `"`), "transport: Error while dialing: ")
	}
	return text
}

// transferError says that leadership was not handed over. What the table knows of its cause comes first.
type transferError struct{ err error }

func (e *transferError) Error() string { return e.err.Error() }

func (e *transferError) Unwrap() error { return e.err }

// tooLargeError refuses a message above MaxMessage.
type tooLargeError struct{ size int }

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("a message of %d bytes is too large: send at most %d, in several messages", e.size, MaxMessage)
}

// unreadableError refuses a message that is not one of the method's.
type unreadableError struct{ err error }

func (e *unreadableError) Error() string { return "the request cannot be read: " + e.err.Error() }

// conflictError is a conflict with what the caller expected. Meant is the name that was likely meant by one without a
// definition.
type conflictError struct {
	*keeper.ConflictError
	expected uint64
	meant    string
}

func conflictWith(state *fsm.State, sees func(*fsm.State, string) bool, c *keeper.ConflictError, expected uint64) *conflictError {
	e := &conflictError{ConflictError: c, expected: expected}
	if c.Kind == fsm.ConflictAbsent {
		e.meant = selector.Meant(state, c.Name, sees)
	}
	return e
}

func (e *conflictError) Error() string { return e.ConflictError.Error() + phrase.DidYouMean(e.meant) }
func (e *conflictError) Unwrap() error { return e.ConflictError }

func mapped[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}
