package keeper

import (
	"context"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Verification is the result of verifying a token at one moment.
type Verification struct {
	// Valid is set if the token's permit was live and belonged to the requested semaphore.
	Valid bool
	// Permit is the permit in the state, except that Stop is set whenever a refresh would be refused. It is nil if the
	// permit has ended or belongs to another semaphore.
	Permit *semaphore.Permit
	// Message explains why the token is not valid, or why its holder must stop; otherwise, it is empty.
	Message  string
	Revision uint64
}

// Verify checks, as of some moment after the call began, whether the permit with this token is live and belongs to
// semaphore sem. An empty sem matches any semaphore. Verify extends no deadline. A permit whose holder must stop is
// still valid: no other caller gets its slot until the permit ends.
func (k *Keeper) Verify(ctx context.Context, sem string, token uint64) (Verification, error) {
	state, err := k.Read(ctx)
	if err != nil {
		return Verification{}, err
	}
	v := Verification{Revision: state.Revision()}
	p := state.Permit(token)
	if p == nil {
		v.Message = describeEnd(state, sem, token)
		return v, nil
	}
	if sem != "" && p.Semaphore != sem {
		v.Message = wrongSemaphore(p.Semaphore, sem, token)
		return v, nil
	}
	v.Valid, v.Permit = p.State == semaphore.Live, p
	switch p.State {
	case semaphore.Held:
		v.Message = fmt.Sprintf("the permit with token %d has expired and is held for an operator to clear", token)
	case semaphore.Cooling:
		v.Message = fmt.Sprintf("the permit with token %d has ended: it was %s, and its slot is cooling", token, p.Ended)
	default:
		if d := k.admit(state, p, k.lessor.Overheld(p)); d.Outcome == semaphore.Denied {
			stopping := *p
			stopping.Stop = d.Stop
			v.Permit, v.Message = &stopping, k.stopMessage(state, p, d.Stop)
		}
	}
	return v, nil
}

// describeEnd describes how a permit that no longer occupies a slot ended, according to the request memory or the
// journal.
func describeEnd(state *fsm.State, sem string, token uint64) string {
	ended := state.EndedPermit(token)
	switch {
	case ended != nil && sem != "" && ended.Semaphore != sem:
		return wrongSemaphore(ended.Semaphore, sem, token)
	case token > state.LastToken():
		return fmt.Sprintf("no permit was ever granted with token %d", token)
	case ended != nil:
		sem = ended.Semaphore // searching one semaphore's journal is faster than searching all of them
	}
	if entry := findEnd(state, sem, token); entry != nil {
		p, end := entry.Permit, entry.Kind.End()
		if ended != nil {
			end = ended.Outcome
		}
		text := fmt.Sprintf("the permit with token %d for %q has ended: it was %s", token, p.Semaphore, end)
		if !entry.At.IsZero() {
			text += " at " + entry.At.UTC().Format(time.RFC3339)
		}
		return fmt.Sprintf("%s; its holder was %s in %s", text, p.Identity.Acquirer, p.Identity.Group)
	}
	if ended != nil {
		return fmt.Sprintf("the permit with token %d for %q has ended: it was %s", token, sem, ended.Outcome)
	}
	return UnknownTokenMessage(token)
}

// UnknownTokenMessage returns the message for a token that is unknown or hidden from the caller.
func UnknownTokenMessage(token uint64) string {
	return fmt.Sprintf("there is no permit with token %d: it ended long ago or was never granted", token)
}

// findEnd returns the journal entry that records how the permit with the given token ended, or nil. An empty sem
// matches any semaphore.
func findEnd(state *fsm.State, sem string, token uint64) *fsm.JournalEntry {
	for entry := range state.JournalBackward(sem, 0) {
		if entry.Permit != nil && entry.Permit.Token == token && entry.Kind.End() != semaphore.NotEnded {
			return entry
		}
	}
	return nil
}

func wrongSemaphore(actual, requested string, token uint64) string {
	return fmt.Sprintf("token %d belongs to semaphore %q, not to %q", token, actual, requested)
}
