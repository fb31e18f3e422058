package semaphore

import "time"

// A Reason says why a request was denied. The package documentation lists the steps of the decision in order.
type Reason uint8

const (
	// NoReason means that the request was not denied.
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
	// FiringTooFarAhead means that the firing is due further ahead of the leader's clock than the definition allows.
	// Only a leader reports this reason.
	FiringTooFarAhead
	// FiringForgotten means that the firing is due at or before the low-water mark. It is unknown whether it ran.
	FiringForgotten
	// NoTask means that no task is waiting for a worker.
	NoTask
)

// Waitable reports whether a caller that is willing to wait does so instead of being denied for this reason.
func (r Reason) Waitable() bool { return r == NoFreePermit || r == NoTask }

// An Outcome is the result of a decision. The zero value means that no decision was made.
type Outcome uint8

const (
	Denied Outcome = iota + 1
	Granted
	Refreshed
	// Reacquired means that the identity keeps its live permit under a new token. The old token is superseded.
	Reacquired
)

// A Request asks for a permit of a semaphore.
type Request struct {
	Semaphore string
	Identity  Identity
	Weight    uint32
	Firing    *Firing
	// Worker is true if the caller requests a task together with the permit. Firing is then nil.
	Worker bool
}

// Admission is the result of matching a caller against the patterns and cordons. Only the leader matches patterns. When
// a command is applied, the revisions that the leader matched against are compared instead, and Admitted is used.
type Admission struct {
	Group    bool // the whole group matches the group pattern
	Acquirer bool // the whole acquirer matches the acquirer pattern
	// Cordons are the cordons that apply to the group or the acquirer.
	Cordons []Cordon
}

// A Cordon is a cordon that applies to a caller.
type Cordon struct {
	ID    string
	Drain Drain
}

// Admitted returns the admission of a caller that matches every pattern and to which no cordon applies.
func Admitted() Admission { return Admission{Group: true, Acquirer: true} }

// Facts holds everything that a decision depends on.
type Facts struct {
	// Definition is nil if the semaphore is not defined.
	Definition *Definition
	Admission  Admission
	// Pause is nil unless the semaphore is paused.
	Pause *Pause
	// Drains are the unfinished drains of edits to this semaphore. If one of them covers a permit, its holder may
	// continue even if the definition excludes the holder or no longer exists.
	Drains []Drain
	// Own is the identity's live or held permit, or nil.
	Own *Permit
	// Repeat is true if the request is a retry of the one that got Own. Otherwise it is another acquisition.
	Repeat bool
	// OwnOverheld is true if Own has been held for longer than max_hold by the leader's clock. It is never set when a
	// command is applied.
	OwnOverheld bool
	// OwnTask is true if Own carries a task, or carried one when it was granted.
	OwnTask bool
	// Used is the total weight of the permits that occupy slots: live, held and cooling.
	Used uint64
	// Claim is the existing claim on the requested firing, or nil.
	Claim *Claim
	// Tasks is the number of the semaphore's tasks that are waiting for a worker.
	Tasks uint64
	// LowWater is the latest due time that has been forgotten, or zero if none has.
	LowWater time.Time
	// LeaderClock is the deciding leader's wall-clock time. Due times are compared with it. It is zero when a command
	// is applied, so no firing is too far ahead then.
	LeaderClock time.Time
	// CallerClock is the caller's wall-clock time at LeaderClock, or zero if unknown. It is for display only and does
	// not influence decisions.
	CallerClock time.Time
	// WaitsAhead is true if another caller is ahead of this one in the leader's queue. It is never set when a command
	// is applied.
	WaitsAhead bool
}

// A Decision is the outcome of a request, with its reason.
type Decision struct {
	Outcome Outcome
	Reason  Reason
	// Stop says why the caller's permit must stop. It is set when Reason is Stopping, and also when a pattern, a cordon
	// or a pause denied a caller that holds a permit. Admit also sets it with Refreshed: the holder must stop, but may
	// refresh its permit until the drain ends.
	Stop StopCause
	// Claim is the winning claim if Reason is FiringClaimed or FiringDone, else nil.
	Claim *Claim
}
