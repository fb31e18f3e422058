package semaphore

import "time"

// Reason is why a request was denied. Steps and their order are those of the decision; see Decide.
type Reason uint8

const (
	// NoReason: it was not denied.
	NoReason Reason = iota
	NoSuchSemaphore
	GroupMismatch
	AcquirerMismatch
	Cordoned
	Paused
	Stopping
	HeldForOperator
	AlreadyHeld
	WeightExceedsPermits
	FiringClaimed
	FiringDone
	NoFreePermit
	// FiringTooFarAhead: the firing is due further ahead of the leader's clock than the definition allows. Only a
	// leader says so.
	FiringTooFarAhead
	// FiringForgotten: the firing is due at or before the low-water mark. Whether it ran is not known.
	FiringForgotten
	// NoTask: no task waits for a worker.
	NoTask
)

// Passes reports whether a caller that would rather wait than be denied waits for this reason to pass.
func (r Reason) Passes() bool { return r == NoFreePermit || r == NoTask }

// Outcome is what was decided. The zero value is no decision.
type Outcome uint8

const (
	Denied Outcome = iota + 1
	Granted
	Refreshed
	// Reacquired: the identity keeps its live permit, under a new token. The old token is superseded.
	Reacquired
)

// Request is who asks for what.
type Request struct {
	Semaphore string
	Identity  Identity
	Weight    uint32
	Firing    *Firing
	// Worker: the caller asks for a task with the permit. It then has no firing.
	Worker bool
}

// Admission is what the patterns say of a caller. Only the leader matches patterns; when a command is applied, the
// revisions that it matched against are compared instead, and Admitted stands for "as the leader saw it".
type Admission struct {
	Group    bool // the whole group matches the group pattern
	Acquirer bool // the whole acquirer matches the acquirer pattern
	// Cordons are those that catch the group or the acquirer.
	Cordons []Cordon
}

// Cordon is a cordon that catches a caller.
type Cordon struct {
	ID    string
	Drain Drain
}

// Admitted is the admission of a caller that every pattern lets in.
func Admitted() Admission { return Admission{Group: true, Acquirer: true} }

// Facts is everything that a decision looks at, and nothing else.
type Facts struct {
	// Definition is nil when there is none.
	Definition *Definition
	Admission  Admission
	// Pause is nil unless the semaphore is paused.
	Pause *Pause
	// Drains are those of the semaphore's edits that are not over. One that covers a permit lets it go on although the
	// definition, or its absence, shuts its holder out.
	Drains []Drain
	// Own is the live or held permit of the same identity, or nil.
	Own *Permit
	// Repeat: Own was granted to this very request, of which this is a repeat. Otherwise the request is another
	// acquisition.
	Repeat bool
	// OwnOverheld: Own has been held for longer than max_hold, by the leader's clock. Never set when a command is
	// applied.
	OwnOverheld bool
	// OwnTask: Own carries a task, or did when it was granted.
	OwnTask bool
	// Used is the weight of all permits that take slots: live, held and cooling.
	Used uint64
	// Claim is the claim of the asked firing, or nil.
	Claim *Claim
	// Tasks is how many tasks of the semaphore wait for a worker.
	Tasks uint64
	// LowWater is the newest due time that has been forgotten; zero when none was.
	LowWater time.Time
	// LeaderClock is the wall-clock time of the leader that decides, against which due times are compared. Zero when a
	// command is applied: nothing is too far ahead then.
	LeaderClock time.Time
	// CallerClock is what the caller's wall clock showed at LeaderClock, as far as that is known; zero: it is not. For
	// people: it decides nothing.
	CallerClock time.Time
	// WaitsAhead: somebody waits ahead of the caller in the leader's queue. Never set when a command is applied.
	WaitsAhead bool
}

// Decision is the answer to a request, and why.
type Decision struct {
	Outcome Outcome
	Reason  Reason
	// Stop is the cause when Reason is Stopping, and for callers that hold a permit also when a pattern, a cordon or a
	// pause denied them: why their permit must stop. With Admit it is also set beside Refreshed: the holder is to stop,
	// and its refreshes go on being granted until the drain is over.
	Stop StopCause
	// Claim is the winner's when Reason is FiringClaimed or FiringDone; else nil.
	Claim *Claim
}
