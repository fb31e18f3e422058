// Package check finds the guarantees that a history violates. It uses only what callers observed. Where the history is
// ambiguous, for example because a response was lost, it assumes that the servers behaved correctly, so every reported
// violation is certain.
package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// Guarantee names a guarantee that a history can violate.
type Guarantee string

const (
	// Exclusive: holders never believe that they hold more than the available permits. An identity counts once,
	// regardless of its tokens.
	Exclusive Guarantee = "holders never believe that they hold more than the available permits"
	// IncreasingTokens: a later grant has a higher token, and no token is granted twice.
	IncreasingTokens Guarantee = "tokens strictly increase"
	// OneGrant: an acquire that is retried with its request id is granted at most once.
	OneGrant Guarantee = "a request is granted at most once"
	// OneSuccessor: a new token supersedes only the token under which the same identity held the permit, at most once,
	// and never a token with a firing.
	OneSuccessor Guarantee = "a token is superseded at most once, by its own identity"
	// FiringOnce: a firing is run by one holder, unless the previous holder gave it back, the semaphore hands over lost
	// firings, or an operator took it over.
	FiringOnce Guarantee = "every firing runs once"
	// Attempts: a firing is started at most max_attempts times.
	Attempts Guarantee = "a firing is attempted at most max_attempts times"
	// FiringEnd: a caller that awaits a firing gets the outcome that the holder reported, or learns that the permit was
	// lost.
	FiringEnd Guarantee = "a caller that awaits a firing gets its actual outcome"
	// JobNotLost: an acknowledged job exists until it is deleted, and each of its tasks ends.
	JobNotLost Guarantee = "every submitted task ends"
	// SameJob: a job id always identifies the same content, and workers get the content that was submitted.
	SameJob Guarantee = "a job has the content that was submitted under its id"
	// OneWorker: at most one worker at a time believes that it holds a task.
	OneWorker Guarantee = "a task is executed by one worker at a time"
	// OneResult: a task's outcome is the one reported by the worker with the newest token. It does not change, and the
	// task is not executed again.
	OneResult Guarantee = "the result of a task is recorded once and never changes"
	// TaskAttempts: a task is started at most max_attempts times, and does not fail earlier.
	TaskAttempts Guarantee = "a task gets max_attempts attempts"
	// SameState: members that applied the same log have the same state.
	SameState Guarantee = "members have the same state at the same index"
	// Linear: a single semaphore could have returned each response at some moment during the call.
	Linear Guarantee = "every response could have come from a single semaphore"
)

// Violation describes how a history violates a guarantee.
type Violation struct {
	Guarantee Guarantee
	Semaphore string
	// Detail describes what happened, in English.
	Detail string
}

func (v Violation) String() string {
	if v.Semaphore == "" {
		return fmt.Sprintf("%s: %s", v.Guarantee, v.Detail)
	}
	return fmt.Sprintf("%s: %s: %s", v.Guarantee, v.Semaphore, v.Detail)
}

// Result holds what the checks found.
type Result struct {
	Violations []Violation
	// Undecided lists the semaphores for which the model did not reach a result in time.
	Undecided []string
}

// All runs every check. modelTime bounds the model's search for each semaphore.
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
	var violations []Violation
	for _, s := range h.States {
		other, ok := first[s.Index]
		switch {
		case !ok:
			first[s.Index] = s
		case other.Hash != s.Hash:
			violations = append(violations, Violation{SameState, "", fmt.Sprintf("at index %d, %s has %s, but %s has %s", s.Index, other.Member, other.Hash, s.Member, s.Hash)})
		}
	}
	return violations
}
