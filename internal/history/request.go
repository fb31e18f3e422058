package history

import (
	"fmt"
	"time"
)

// Kind says what a request asks for.
type Kind string

const (
	// Acquire asks for a permit, waiting or not. Attempts of one acquisition share identity and request id. One without
	// a request id is an acquisition of one attempt.
	Acquire Kind = "acquire"
	// Refresh asks to keep Token alive.
	Refresh Kind = "refresh"
	// Release gives Token up.
	Release Kind = "release"
	// Cancel ends an acquire by its request id.
	Cancel Kind = "cancel"
	// Revoke orders the holder of Token to stop; with UnsafeNow it frees the slot.
	Revoke Kind = "revoke"
	// TakeOver orders the holder of Token to stop because the caller, Identity, considers it dead. It frees no slot.
	TakeOver Kind = "take over"
	// Await follows Firing until it has ended, or until another token than Token has claimed it.
	Await Kind = "await"
	// Clear frees Token's slot, which is held for an operator.
	Clear Kind = "clear"
	// Verify asks whether Token may still act.
	Verify Kind = "verify"
	// Edit creates, replaces or deletes a definition: Definition is nil for a deletion. Attempts of one edit share the
	// request id.
	Edit Kind = "edit"
	// Read reads the definition.
	Read Kind = "read"
	// Pause lets nobody in; with Stop it refuses refreshes too.
	Pause Kind = "pause"
	// Resume ends a pause.
	Resume Kind = "resume"
	// Cordon shuts Acquirers out of every semaphore, and Uncordon ends that. The id of a cordon stands for one pattern
	// in a history.
	Cordon   Kind = "cordon"
	Uncordon Kind = "uncordon"
)

// Request is what was asked for. Only the fields that its kind needs are set.
type Request struct {
	Kind      Kind     `json:"kind"`
	Semaphore string   `json:"semaphore,omitempty"`
	Identity  Identity `json:"identity,omitzero"`
	RequestID string   `json:"request_id,omitempty"`
	// Weight is at least 1.
	Weight uint32 `json:"weight,omitempty"`
	// Wait: an acquire that stands in the queue.
	Wait bool `json:"wait,omitempty"`
	// Firing is its name and due time in one; empty when there is none.
	Firing string `json:"firing,omitempty"`
	Token  uint64 `json:"token,omitempty"`
	// Replaces is a token of the same identity in which nobody believes any more, as an acquire may state it.
	Replaces uint64 `json:"replaces,omitempty"`
	// NotRun: a release that says that the firing may be claimed again.
	NotRun bool `json:"not_run,omitempty"`
	// CutShort: a release that says that the job was stopped before its end. Failed: one that says that the job ended
	// with the error Failure. At most one of NotRun, CutShort and Failed is set; without any of them the job is done.
	CutShort bool   `json:"cut_short,omitempty"`
	Failed   bool   `json:"failed,omitempty"`
	Failure  string `json:"failure,omitempty"`
	// UnsafeNow: a revoke that frees the slot at once.
	UnsafeNow bool `json:"unsafe_now,omitempty"`
	// Stop: a pause that orders holders to stop.
	Stop bool `json:"stop,omitempty"`
	// Move: an edit that a move has made.
	Move bool `json:"move,omitempty"`
	// CordonID and Acquirers are the id and the acquirer pattern of a cordon, also of one that ends.
	CordonID  string `json:"cordon_id,omitempty"`
	Acquirers string `json:"acquirers,omitempty"`
	// Drain: an edit, a pause, a cordon or a revoke that lets holders go on for a while.
	Drain bool `json:"drain,omitempty"`
	// Definition is the rule to be in force.
	Definition *Definition `json:"definition,omitempty"`
	// ExpectedVersion is the version that an edit replaces; 0 creates.
	ExpectedVersion uint64 `json:"expected_version,omitempty"`
	// Job is the job of a request about jobs and tasks, and Content the result with which a task ends.
	Job     *Job   `json:"job,omitempty"`
	Content string `json:"content,omitempty"`
}

// Releasing is the release of a token whose job ended so: DONE, NOT_RUN, CUT_SHORT or FAILED, in the words of the API.
// Each failure is another one.
func Releasing(semaphore string, token uint64, outcome string) Request {
	r := Request{Kind: Release, Semaphore: semaphore, Token: token, NotRun: outcome == "NOT_RUN", CutShort: outcome == "CUT_SHORT", Failed: outcome == "FAILED"}
	if r.Failed {
		r.Failure = fmt.Sprintf("exit code %d", token)
	}
	return r
}

// Identity is who asks.
type Identity struct {
	Group    string `json:"group,omitempty"`
	Acquirer string `json:"acquirer,omitempty"`
	HolderID string `json:"holder_id,omitempty"`
}

// Definition is as much of a semaphore's rule as the checkers know.
type Definition struct {
	// GroupPattern and AcquirerPattern match whole names; empty means everything.
	GroupPattern    string        `json:"group_pattern,omitempty"`
	AcquirerPattern string        `json:"acquirer_pattern,omitempty"`
	Permits         uint32        `json:"permits"`
	Duration        time.Duration `json:"duration"`
	MinHold         time.Duration `json:"min_hold,omitempty"`
	LossDelay       time.Duration `json:"loss_delay,omitempty"`
	// HoldOnExpiry: the slot of an expired permit stays taken until an operator clears it.
	HoldOnExpiry bool `json:"hold_on_expiry,omitempty"`
	// FreeOnLoss: a firing whose permit was lost may be claimed again.
	FreeOnLoss bool `json:"free_on_loss,omitempty"`
	// Takeover: callers may take over from a holder. The firing of a holder that is lost after that may be claimed
	// again.
	Takeover bool `json:"takeover,omitempty"`
	// MaxAttempts is how many holders may begin a firing; 0: any number.
	MaxAttempts uint32 `json:"max_attempts,omitempty"`
}

// Result is what an answer said.
type Result string

const (
	// Granted answers Acquire: Token is the caller's, also when it was before.
	Granted Result = "granted"
	// Denied answers Acquire, for Reason.
	Denied Result = "denied"
	// Refreshed answers Refresh.
	Refreshed Result = "refreshed"
	// Stopping answers Refresh: refused, the permit lives on to its deadline.
	Stopping Result = "stopping"
	// Lost answers Refresh: there is no such live permit.
	Lost Result = "lost"
	// Released answers Release: it was this call, or a repeat of it, that ended the permit.
	Released Result = "released"
	// Ended answers Release: the permit had ended before.
	Ended Result = "ended"
	// Done answers Edit, Read, Pause, Resume, Cordon, Uncordon, Revoke, TakeOver, Clear and Cancel.
	Done Result = "done"
	// FiringEnded answers Await: Firing, Token, Failure and Attempts of the answer say how. Firing is CLAIMED or OPEN
	// when the caller waited for long enough, and heard no more.
	FiringEnded Result = "firing ended"
	// Valid and Invalid answer Verify.
	Valid   Result = "valid"
	Invalid Result = "invalid"
)

// Response is what was answered. Only the fields that its result needs are set.
type Response struct {
	Result Result `json:"result,omitempty"`
	// Reason is why an acquire was denied, in the words of the API ("NO_FREE_PERMIT").
	Reason string `json:"reason,omitempty"`
	Token  uint64 `json:"token,omitempty"`
	// Superseded is the token under which the identity held the permit until this grant; 0 if it held none, or did not
	// learn it.
	Superseded uint64 `json:"superseded,omitempty"`
	// Fresh: the grant is known to have superseded nothing. A repeat of a request, and the client library, do not tell.
	Fresh bool `json:"fresh,omitempty"`
	// Revision is that of the change: a grant's granted revision, the version that an edit made, or that was read.
	Revision uint64 `json:"revision,omitempty"`
	// SafeUntil is how long the caller may count on the permit by this answer alone, margin taken off; 0 when nothing
	// is promised.
	SafeUntil time.Duration `json:"safe_until,omitempty"`
	// Waiting is how many stood in the queue when the acquire was denied.
	Waiting uint32 `json:"waiting,omitempty"`
	// Firing is how an awaited firing ended, in the words of the API ("CUT_SHORT"); Failure what its holder said of it;
	// and Attempts how many holders have begun it.
	Firing   string `json:"firing,omitempty"`
	Failure  string `json:"failure,omitempty"`
	Attempts uint32 `json:"attempts,omitempty"`
	// Definition is what was read; nil when there is none of that name.
	Definition *Definition `json:"definition,omitempty"`
	// State is what was read of a job, and Repeated says that it had been submitted before.
	State    *JobState `json:"state,omitempty"`
	Repeated bool      `json:"repeated,omitempty"`
}

// Denial is the record of a denied acquire. own: the answer says that a permit of the caller's identity is being
// stopped.
//
// The client library repeats a call whose answer is lost. When the last attempt is denied because of the identity's own
// permit, an earlier attempt may have been granted that permit, so the outcome is Unknown.
func Denial(reason string, waiting int, own bool) (Outcome, Response) {
	if own || reason == "HELD_FOR_OPERATOR" {
		return Unknown, Response{}
	}
	return Known, Response{Result: Denied, Reason: reason, Waiting: uint32(waiting)}
}
