package history

import (
	"fmt"
	"time"
)

// Kind says what a request does.
type Kind string

const (
	// Acquire requests a permit, with or without waiting. All attempts of an acquisition have the same identity and
	// request id. A call without a request id is a separate acquisition.
	Acquire Kind = "acquire"
	// Refresh extends the permit with Token.
	Refresh Kind = "refresh"
	// Release releases the permit with Token.
	Release Kind = "release"
	// Cancel cancels an acquire by its request id.
	Cancel Kind = "cancel"
	// Revoke orders the holder of Token to stop. With UnsafeNow it also frees the slot immediately.
	Revoke Kind = "revoke"
	// TakeOver orders the holder of Token to stop because the caller, Identity, considers it dead. It does not free the
	// slot.
	TakeOver Kind = "take over"
	// Await waits until Firing has ended, or until a token other than Token has claimed it.
	Await Kind = "await"
	// Clear frees the slot of Token, which is held for an operator.
	Clear Kind = "clear"
	// Verify asks whether Token is still valid.
	Verify Kind = "verify"
	// Edit creates, replaces or deletes a definition. Definition is nil for a deletion. All attempts of an edit have
	// the same request id.
	Edit Kind = "edit"
	// Read reads the definition.
	Read Kind = "read"
	// Pause stops new grants. With Stop it also refuses refreshes.
	Pause Kind = "pause"
	// Resume ends a pause.
	Resume Kind = "resume"
	// Cordon excludes Acquirers from every semaphore, and Uncordon ends the exclusion. Within a history, a cordon id
	// always has the same pattern.
	Cordon   Kind = "cordon"
	Uncordon Kind = "uncordon"
)

// Request is the content of a call. Only the fields that its kind uses are set.
type Request struct {
	Kind      Kind     `json:"kind"`
	Semaphore string   `json:"semaphore,omitempty"`
	Identity  Identity `json:"identity,omitzero"`
	RequestID string   `json:"request_id,omitempty"`
	// Weight is at least 1.
	Weight uint32 `json:"weight,omitempty"`
	// Wait reports whether the acquire waits in the queue.
	Wait bool `json:"wait,omitempty"`
	// Firing is the name and due time of the firing as one string. It is empty if there is no firing.
	Firing string `json:"firing,omitempty"`
	Token  uint64 `json:"token,omitempty"`
	// Replaces is an earlier token of the same identity. The acquire states that the holder no longer relies on it.
	Replaces uint64 `json:"replaces,omitempty"`
	// NotRun says, in a release, that the firing may be claimed again.
	NotRun bool `json:"not_run,omitempty"`
	// CutShort says that the job was stopped before it finished. Failed says that it ended with the error Failure. At
	// most one of NotRun, CutShort and Failed is set. If none is, the job is done.
	CutShort bool   `json:"cut_short,omitempty"`
	Failed   bool   `json:"failed,omitempty"`
	Failure  string `json:"failure,omitempty"`
	// UnsafeNow reports whether the revoke frees the slot immediately.
	UnsafeNow bool `json:"unsafe_now,omitempty"`
	// Stop reports whether the pause orders holders to stop.
	Stop bool `json:"stop,omitempty"`
	// Move reports whether the edit was made by a move.
	Move bool `json:"move,omitempty"`
	// CordonID and Acquirers are the id and the acquirer pattern of a cordon. Uncordon also sets both.
	CordonID  string `json:"cordon_id,omitempty"`
	Acquirers string `json:"acquirers,omitempty"`
	// Drain reports whether the edit, pause, cordon or revoke lets holders continue temporarily.
	Drain bool `json:"drain,omitempty"`
	// Definition is the new rule.
	Definition *Definition `json:"definition,omitempty"`
	// ExpectedVersion is the version that an edit replaces. 0 means that the edit creates the definition.
	ExpectedVersion uint64 `json:"expected_version,omitempty"`
	// Job is set in requests about jobs or tasks. Content is the result that EndTask reports for a task.
	Job     *Job   `json:"job,omitempty"`
	Content string `json:"content,omitempty"`
}

// NewRelease returns the release of a token whose job had the given outcome: DONE, NOT_RUN, CUT_SHORT or FAILED, as in
// the API. Each failure gets a different error text.
func NewRelease(semaphore string, token uint64, outcome string) Request {
	r := Request{Kind: Release, Semaphore: semaphore, Token: token, NotRun: outcome == "NOT_RUN", CutShort: outcome == "CUT_SHORT", Failed: outcome == "FAILED"}
	if r.Failed {
		r.Failure = fmt.Sprintf("exit code %d", token)
	}
	return r
}

// Identity identifies a caller.
type Identity struct {
	Group    string `json:"group,omitempty"`
	Acquirer string `json:"acquirer,omitempty"`
	HolderID string `json:"holder_id,omitempty"`
}

// Definition holds the parts of a semaphore's rule that the checkers use.
type Definition struct {
	// GroupPattern and AcquirerPattern match whole names. An empty pattern matches every name.
	GroupPattern    string        `json:"group_pattern,omitempty"`
	AcquirerPattern string        `json:"acquirer_pattern,omitempty"`
	Permits         uint32        `json:"permits"`
	Duration        time.Duration `json:"duration"`
	MinHold         time.Duration `json:"min_hold,omitempty"`
	LossDelay       time.Duration `json:"loss_delay,omitempty"`
	// HoldOnExpiry means that the slot of an expired permit stays taken until an operator clears it.
	HoldOnExpiry bool `json:"hold_on_expiry,omitempty"`
	// FreeOnLoss means that a firing whose permit was lost may be claimed again.
	FreeOnLoss bool `json:"free_on_loss,omitempty"`
	// Takeover means that callers may take over from a holder. If a holder is lost after a takeover, its firing may be
	// claimed again.
	Takeover bool `json:"takeover,omitempty"`
	// MaxAttempts is the number of holders that may start a firing. 0 means any number.
	MaxAttempts uint32 `json:"max_attempts,omitempty"`
}

// Result is the result that a response reports.
type Result string

const (
	// Granted is a result of Acquire: Token belongs to the caller, even if it was granted by an earlier call.
	Granted Result = "granted"
	// Denied is a result of Acquire. Reason says why.
	Denied Result = "denied"
	// Refreshed is a result of Refresh: the permit was extended.
	Refreshed Result = "refreshed"
	// Stopping is a result of Refresh: the refresh was refused, and the permit stays live until its deadline.
	Stopping Result = "stopping"
	// Lost is a result of Refresh: the permit is no longer live.
	Lost Result = "lost"
	// Released is a result of Release: this call or an earlier attempt ended the permit.
	Released Result = "released"
	// Ended is a result of Release: the permit had already ended.
	Ended Result = "ended"
	// Done is the result of Edit, Read, Pause, Resume, Cordon, Uncordon, Revoke, TakeOver, Clear and Cancel.
	Done Result = "done"
	// FiringEnded is the result of Await. The response's Firing, Token, Failure and Attempts describe how the firing
	// ended. Firing is CLAIMED or OPEN if the wait timed out.
	FiringEnded Result = "firing ended"
	// Valid and Invalid are the results of Verify.
	Valid   Result = "valid"
	Invalid Result = "invalid"
)

// Response is the content of a response. Only the fields that its result uses are set.
type Response struct {
	Result Result `json:"result,omitempty"`
	// Reason is the reason for a denial, as in the API ("NO_FREE_PERMIT").
	Reason string `json:"reason,omitempty"`
	Token  uint64 `json:"token,omitempty"`
	// Superseded is the token under which the identity held the permit before this grant. It is 0 if there was no such
	// token, or if the caller does not know it.
	Superseded uint64 `json:"superseded,omitempty"`
	// Fresh means that the grant is known to have superseded nothing. It is not set for retries or by callers that use
	// the client library.
	Fresh bool `json:"fresh,omitempty"`
	// Revision is the revision of a grant or of another change, or the version that an edit created or a read returned.
	Revision uint64 `json:"revision,omitempty"`
	// SafeUntil is the time until which the caller may rely on the permit because of this response alone, with the
	// margin subtracted. It is 0 if the response guarantees nothing.
	SafeUntil time.Duration `json:"safe_until,omitempty"`
	// Waiting is the number of waiters when the acquire was denied.
	Waiting uint32 `json:"waiting,omitempty"`
	// Firing says how an awaited firing ended, as in the API ("CUT_SHORT"). Failure is the error that its holder
	// reported. Attempts is the number of holders that have started it.
	Firing   string `json:"firing,omitempty"`
	Failure  string `json:"failure,omitempty"`
	Attempts uint32 `json:"attempts,omitempty"`
	// Definition is the definition that was read. It is nil if the name is unknown.
	Definition *Definition `json:"definition,omitempty"`
	// State is the state of a job that was read. Repeated reports whether the job had already been submitted.
	State    *JobState `json:"state,omitempty"`
	Repeated bool      `json:"repeated,omitempty"`
}

// Denial returns the record of a denied acquire. own reports whether the response says that the identity's own permit
// is being stopped.
//
// The client library retries a call whose response is lost. If the last attempt is denied because of the identity's own
// permit, an earlier attempt may have been granted that permit, so the outcome is Unknown.
func Denial(reason string, waiting int, own bool) (Outcome, Response) {
	if own || reason == "HELD_FOR_OPERATOR" {
		return Unknown, Response{}
	}
	return Known, Response{Result: Denied, Reason: reason, Waiting: uint32(waiting)}
}
