// Package check says which promises a history breaks. It knows only what callers saw: every doubt about what a server
// did, such as an answer that never came, is decided in the server's favour, so that what is reported is certain.
package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// Promise names what was broken.
type Promise string

const (
	// Exclusive: never do holders believe that they hold more than the permits. An identity counts once, whatever
	// tokens it has.
	Exclusive Promise = "no more is believed to be held than the permits"
	// RisingTokens: a later grant has a higher token, and no token is given twice.
	RisingTokens Promise = "tokens strictly rise"
	// OneGrant: an acquire that is repeated with its request id is granted once.
	OneGrant Promise = "one request is granted once"
	// OneSuccessor: a new token supersedes the token under which the same identity held the permit, once, and never one
	// with a firing.
	OneSuccessor Promise = "a token is superseded once, by its own identity"
	// FiringOnce: a firing is run by one holder, unless the one before gave it back, was allowed to lose it, or was
	// taken over.
	FiringOnce Promise = "every firing runs once"
	// Attempts: a firing is begun at most max_attempts times.
	Attempts Promise = "a firing is attempted at most max_attempts times"
	// FiringEnd: the end of a firing that a caller awaited is the one that its holder stated, or a loss.
	FiringEnd Promise = "an awaited end is the one that happened"
	// JobKept: an acknowledged job is there until it is deleted, and each of its tasks ends.
	JobKept Promise = "every submitted task ends"
	// SameJob: a job id names one content, and workers get what was submitted.
	SameJob Promise = "a job is what was submitted under its id"
	// OneWorker: a task is believed to be held by one worker at a time.
	OneWorker Promise = "a task is executed by one worker at a time"
	// OneResult: the end of a task is what the worker with the newest token stated; it stays, and the task is not
	// executed again.
	OneResult Promise = "the result of a task is recorded once, and stays"
	// TaskAttempts: a task is begun at most max_attempts times, and is not given up before.
	TaskAttempts Promise = "a task is attempted max_attempts times"
	// SameState: members that applied the same log have the same state.
	SameState Promise = "members have equal states at equal indexes"
	// Linear: every answer is one that a single semaphore could have given at some moment of its call.
	Linear Promise = "every answer is one that a single semaphore could have given"
)

// Violation is a broken promise.
type Violation struct {
	Promise   Promise
	Semaphore string
	// Detail says what happened, for a person.
	Detail string
}

func (v Violation) String() string {
	if v.Semaphore == "" {
		return fmt.Sprintf("%s: %s", v.Promise, v.Detail)
	}
	return fmt.Sprintf("%s: %s: %s", v.Promise, v.Semaphore, v.Detail)
}

// Result is what came of all checks.
type Result struct {
	Violations []Violation
	// Undecided are the semaphores whose history the model could not decide in the time it was given.
	Undecided []string
}

// All makes every check. modelTime bounds how long the model may search for each semaphore.
func All(h *history.History, modelTime time.Duration) Result {
	var r Result
	r.Violations = slices.Concat(Beliefs(h), Tokens(h), Requests(h), Successors(h), Firings(h), Work(h), States(h))
	linear := Linearizable(h, modelTime)
	r.Violations = append(r.Violations, linear.Violations...)
	r.Undecided = linear.Undecided
	return r
}

// States finds members that had different states at the same index.
func States(h *history.History) []Violation {
	first := map[uint64]history.State{}
	var broken []Violation
	for _, s := range h.States {
		other, ok := first[s.Index]
		switch {
		case !ok:
			first[s.Index] = s
		case other.Hash != s.Hash:
			broken = append(broken, Violation{SameState, "", fmt.Sprintf("at index %d %s has %s, %s has %s", s.Index, other.Member, other.Hash, s.Member, s.Hash)})
		}
	}
	return broken
}
