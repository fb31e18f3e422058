package keeper

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// AcquireCall is one call of TryAcquire or Acquire, validated.
type AcquireCall struct {
	semaphore.Request
	// RequestID is equal in all retries of one acquisition; empty when the caller gave none.
	RequestID string
	Metadata  map[string]string
	// ExpectedRevision is the permit revision that the caller saw; nil when it does not care.
	ExpectedRevision *uint64
	// ReplacesToken is a token of the identity on which the caller no longer counts; 0: none.
	ReplacesToken uint64
	// RequestRevision is a cluster revision at which the request had no permit, as its caller knows; 0: it knows none.
	RequestRevision uint64
	// notGrantedAt is such a revision that this server has found out; see knownSince. It is read and written
	// atomically.
	notGrantedAt uint64
	// Received is the monotonic time at which this server received the call, read before anything else was done with
	// it.
	Received time.Time
	// SentAt is what the caller's wall clock showed when it sent this call; zero: it did not tell. It decides nothing.
	SentAt time.Time
	// WaitedBefore is how long the caller claims to have waited in earlier calls of this acquisition. It only orders a
	// queue that is gathered again after a fail-over.
	WaitedBefore time.Duration
	// LeaveOnPause: a pause is not waited out, but ends the wait.
	LeaveOnPause bool
	// OnePerAcquirer: the call does not wait beside another one of its group and acquirer, unless one of the two has a
	// firing.
	OnePerAcquirer bool
	// UntilAnswered: the call waits for longer than Config.MaxWait, and is never to be repeated.
	UntilAnswered bool
	// Allowed is asked before each grant to a call that waits, by the state as it is then: what the caller may do can
	// end while it waits. An error ends the call, and nothing is granted. It must not block. Nil: nobody needs to be
	// asked.
	Allowed func() error
	// Placed is called when the call stands in the queue, or its grant is on its way to the log: a permit that is
	// released from then on can be handed to it in the same log entry. It may be called again, and is not called where
	// the answer changes nothing. Nil: nobody asks.
	Placed func()
}

func (c *AcquireCall) placed() {
	if c.Placed != nil {
		c.Placed()
	}
}

// Answer is the answer to an acquire.
type Answer struct {
	// Outcome is Granted, Refreshed, Reacquired or Denied; zero when Repeat is set.
	Outcome semaphore.Outcome
	// Permit is set unless denied. The caller may count on Permit.Duration, from the send time of this attempt plus
	// Waited.
	Permit *semaphore.Permit
	// Waited is the time from Received to just before the grant was handed to Raft; zero for a refresh.
	Waited time.Duration
	// Superseded is the token under which the identity had its permit before; 0 unless reacquired.
	Superseded uint64
	// Job and Task are those that the permit of a worker carries.
	Job    *work.Job
	Task   *work.Task
	Denial *Denial
	// Repeat is set when a waiting call has lasted as long as one call may: it is to be repeated with the same request
	// id, and with RepeatRevision as its RequestRevision.
	Repeat         *Place
	RepeatRevision uint64
}

// Place is a position in a queue; 1 is next.
type Place struct {
	Place, QueueLength int
	// Pause is nil unless the semaphore is paused. Nobody in the queue is granted a permit before the pause ends.
	Pause *semaphore.Pause
}

// Waiter is an identity in a queue, for people.
type Waiter struct {
	Semaphore string
	Identity  semaphore.Identity
	Weight    uint32
	Place     int // 0: a worker for which there is no task
	Waiting   time.Duration
	RequestID string
	// Worker says that it is a worker's slot.
	Worker bool
	// Cursor is where Waiters goes on behind this one.
	Cursor queue.Cursor
}

// TokenRefresh asks to keep one permit alive.
type TokenRefresh struct {
	Token uint64
	// Duration is the one that the client counts by.
	Duration time.Duration
	// SinceProgress is how long before the frame was sent the job last reported progress; only when Reports says that
	// it does.
	SinceProgress time.Duration
	Reports       bool
}

// Status is what became of the refresh of one token.
type Status uint8

const (
	// StatusRefreshed: the client may count on Duration from the send time of its frame.
	StatusRefreshed Status = iota + 1
	// StatusStopping: refused; the job is to stop, and the slot stays taken until the deadline or a release.
	StatusStopping
	// StatusLost: there is no such live permit.
	StatusLost
	// StatusRetry: not known now; ask again.
	StatusRetry
)

// TokenResult answers for one token.
type TokenResult struct {
	Token    uint64
	Status   Status
	Duration time.Duration // only when refreshed
	// Stop is why the holder is to stop. Beside StatusRefreshed it is set while a drain lets it go on.
	Stop    semaphore.StopCause
	Message string
	// SupersededBy is the token under which the same identity holds a lost permit now; 0: it was not superseded, or its
	// successor has ended.
	SupersededBy uint64
	// DrainLeft is for how long refreshes will go on being granted although the holder is to stop; 0: no longer.
	DrainLeft time.Duration
}
