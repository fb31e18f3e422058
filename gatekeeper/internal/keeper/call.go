package keeper

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// AcquireCall is one validated call to TryAcquire or Acquire.
type AcquireCall struct {
	semaphore.Request
	// RequestID is the same in all retries of one acquisition. It is empty if the caller sent none.
	RequestID string
	Metadata  map[string]string
	// ExpectedRevision is the permit revision that the caller saw; nil if the caller does not check it.
	ExpectedRevision *uint64
	// ReplacesToken is one of the identity's tokens that the caller no longer relies on; 0 if none.
	ReplacesToken uint64
	// RequestRevision is a cluster revision at which the caller knows that the request had no permit; 0 if unknown.
	RequestRevision uint64
	// notGrantedAt is a revision at which this server found that the request had no permit; see notGrantedAsOf. It is
	// read and written atomically.
	notGrantedAt uint64
	// Received is the monotonic time at which this server received the call. It is read before any other work on the
	// call.
	Received time.Time
	// SentAt is when the caller sent the call, by its own wall clock; zero if the caller did not say. No decision
	// depends on it.
	SentAt time.Time
	// WaitedBefore is how long the caller reports having waited in earlier calls for this acquisition. It is used only
	// to order a queue that is rebuilt after a failover.
	WaitedBefore time.Duration
	// LeaveOnPause ends the wait when the semaphore is paused.
	LeaveOnPause bool
	// OnePerAcquirer denies the call instead of queueing it if another call with the same group and acquirer is
	// waiting, unless one of the two has a firing.
	OnePerAcquirer bool
	// UntilAnswered lets the call wait longer than Config.MaxWait. Its answer never has Repeat set.
	UntilAnswered bool
	// Allowed is called before each grant to a waiting call, because the caller may have lost its permissions in the
	// meantime. It checks the state at the time of the grant. An error ends the call, and nothing is granted. Allowed
	// must not block. If it is nil, every grant is allowed.
	Allowed func() error
	// Placed, unless nil, is called once the call is in the queue or its grant has been proposed. A permit released
	// after that can be handed to the call in the same log entry. Placed may be called more than once. It is not called
	// if the answer leaves the state unchanged.
	Placed func()
}

func (c *AcquireCall) placed() {
	if c.Placed != nil {
		c.Placed()
	}
}

// Answer is the result of an AcquireCall.
type Answer struct {
	// Outcome is Granted, Refreshed, Reacquired or Denied; zero when Repeat is set.
	Outcome semaphore.Outcome
	// Permit is set unless the call was denied. The caller may rely on it for Permit.Duration, counted from the send
	// time of this attempt plus Waited.
	Permit *semaphore.Permit
	// Waited is the time from Received until just before the grant was handed to Raft; zero for a refresh.
	Waited time.Duration
	// Superseded is the identity's previous token for the permit; 0 unless reacquired.
	Superseded uint64
	// Job and Task are the work that a worker is given along with its permit; nil for other callers.
	Job    *work.Job
	Task   *work.Task
	Denial *Denial
	// Repeat is set when a waiting call has lasted for Config.MaxWait. The caller should retry with the same request
	// id, and with RepeatRevision as its RequestRevision.
	Repeat         *Place
	RepeatRevision uint64
}

// Place is a position in a queue, starting at 1.
type Place struct {
	Place, QueueLength int
	// Pause is nil unless the semaphore is paused. No waiter is granted a permit before the pause ends.
	Pause *semaphore.Pause
}

// Waiter is an identity in a queue, as operators see it.
type Waiter struct {
	Semaphore string
	Identity  semaphore.Identity
	Weight    uint32
	Place     int // 0 for a worker for which there is no task
	Waiting   time.Duration
	RequestID string
	// Worker is set if a worker is waiting for a task.
	Worker bool
	// Cursor resumes Waiters after this waiter.
	Cursor queue.Cursor
}

// TokenRefresh asks to keep one permit alive.
type TokenRefresh struct {
	Token uint64
	// Duration is the permit duration that the client uses.
	Duration time.Duration
	// SinceProgress is the time from the job's last progress report until the frame was sent. It is valid only if
	// Reports is set.
	SinceProgress time.Duration
	Reports       bool
}

// Status says whether a token was refreshed.
type Status uint8

const (
	// StatusRefreshed means that the client may rely on the permit for Duration, counted from the send time of its
	// frame.
	StatusRefreshed Status = iota + 1
	// StatusStopping means that the refresh was refused. The job must stop, and the slot stays occupied until the
	// deadline or a release.
	StatusStopping
	// StatusLost means that there is no such live permit.
	StatusLost
	// StatusRetry means that the outcome is not known yet and the client should retry.
	StatusRetry
)

// TokenResult is the result of refreshing one token.
type TokenResult struct {
	Token    uint64
	Status   Status
	Duration time.Duration // set only if refreshed
	// Stop says why the holder must stop. With StatusRefreshed it is set during a drain, which lets the holder continue
	// temporarily.
	Stop    semaphore.StopCause
	Message string
	// SupersededBy is the token that replaced a lost one when the same identity acquired the permit again; 0 if the
	// token was not superseded, or its successor has ended.
	SupersededBy uint64
	// DrainLeft is how much longer refreshes will succeed even though the holder must stop; 0 if they already fail.
	DrainLeft time.Duration
}
