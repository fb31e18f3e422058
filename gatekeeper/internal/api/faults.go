package api

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// The errors that this room adds to those of the rooms below. What callers are told of them is in the table of errors.go.

var (
	// ErrShuttingDown ends and refuses streams of a server that drains: the call is to be made again, to another server.
	ErrShuttingDown = errors.New("this server is shutting down: ask another one")
	// errPanic is a fault of ours, caught. Its text for callers says no more than that.
	errPanic = errors.New("the server met a fault of its own and logged it; it did not answer this call")
)

// noDefinitionError answers a read of a definition that is not there.
type noDefinitionError struct{ name string }

func (e *noDefinitionError) Error() string { return fmt.Sprintf("there is no definition %q", e.name) }

// errChosenNone answers a change of chosen definitions when none was chosen.
var errChosenNone = errors.New("no definition matches these names and labels: gkctl get lists them")

// undoConflictError says what keeps changes from being undone. Nothing was done.
type undoConflictError struct {
	changes   []uint64
	conflicts []string
}

func (e *undoConflictError) Error() string {
	return fmt.Sprintf("%s cannot be undone, and nothing was done: %s", changesText(e.changes), someOf(e.conflicts))
}

// undoIncompleteError says which entries of the changes the journal has forgotten. Nothing was done.
type undoIncompleteError struct{ missing []string }

func (e *undoIncompleteError) Error() string {
	return fmt.Sprintf("not all can be undone, and nothing was done: %s", someOf(e.missing))
}

// noFiringError says that a semaphore does not remember a firing.
type noFiringError struct {
	semaphore string
	firing    semaphore.Firing
}

func (e *noFiringError) Error() string {
	return fmt.Sprintf("semaphore %q remembers no firing %s: gkctl firings list shows what it remembers", e.semaphore, preview.FiringText(e.firing))
}

// firingConflictError says what keeps firings from being forgotten. Nothing was done.
type firingConflictError struct {
	semaphore string
	conflicts []string
}

func (e *firingConflictError) Error() string {
	return fmt.Sprintf("nothing of semaphore %q was forgotten: %s", e.semaphore, someOf(e.conflicts))
}

// someOf joins the first texts and counts the others.
func someOf(texts []string) string {
	const most = 10
	shown, more := texts, ""
	if len(shown) > most {
		shown, more = shown[:most], fmt.Sprintf("; and %d more", len(texts)-most)
	}
	return strings.Join(shown, "; ") + more
}

// changesText names changes.
func changesText(changes []uint64) string {
	const most = 5
	if len(changes) == 1 {
		return "change " + decimal(changes[0])
	}
	var texts []string
	for _, c := range changes[:min(most, len(changes))] {
		texts = append(texts, decimal(c))
	}
	text := "changes " + strings.Join(texts, ", ")
	if more := len(changes) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// missingText says what the journal has forgotten of a change.
func missingText(m *preview.Missing) string {
	const most = 20
	parts := slices.Clone(m.Names[:min(most, len(m.Names))])
	if more := len(m.Names) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	if m.Cordons > 0 {
		parts = append(parts, fmt.Sprintf("%d cordons", m.Cordons))
	}
	what := strings.Join(parts, ", ")
	switch {
	case m.Unknown && what == "":
		what = "some of what it changed"
	case m.Unknown:
		what += " and perhaps more"
	}
	return fmt.Sprintf("the journal has forgotten what change %d did to %s", m.Change, what)
}

// hopError says that a call that was passed on once has come to a server that would pass it on to itself.
type hopError struct{ leader consensus.Leader }

func (e *hopError) Error() string {
	return fmt.Sprintf("the address %s of the leader %s leads back to a server that does not lead: check what the members advertise",
		e.leader.APIAddress, e.leader.ID)
}

// misdirectedError says that a call which was passed on was meant for another server than that to which it has come.
type misdirectedError struct{ meant, reached string }

func (e *misdirectedError) Error() string {
	return fmt.Sprintf("this call was passed on to the leader %s, but its address leads to %s: check what the members advertise, and the names in it", e.meant, e.reached)
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

// conflictError is a conflict with what the caller expected.
type conflictError struct {
	*keeper.ConflictError
	expected uint64
}

func (e *conflictError) Unwrap() error { return e.ConflictError }

func mapped[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}
