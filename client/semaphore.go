package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Semaphore limits how many holders do one kind of work at a time. It is cheap: it has no connection and does not need
// to be closed.
type Semaphore struct {
	client *Client
	name   string
	opts   []AcquireOption
}

// Semaphore returns the semaphore with the given name. The options apply to all its acquisitions.
func (c *Client) Semaphore(name string, opts ...AcquireOption) *Semaphore {
	return &Semaphore{client: c, name: name, opts: opts}
}

// Name returns the semaphore's name.
func (s *Semaphore) Name() string { return s.name }

// Caller returns the group and the acquirer that acquisitions use by default.
func (s *Semaphore) Caller() (group, acquirer string) {
	a := s.request(nil)
	return a.group, a.acquirer
}

// Group returns the group that acquisitions use by default: the one set by WithGroup, or the Client's.
func (s *Semaphore) Group() string { return s.request(nil).group }

// Acquirer returns the acquirer that acquisitions use by default: the one set by WithAcquirer, or the Client's.
func (s *Semaphore) Acquirer() string { return s.request(nil).acquirer }

// acquisition is one acquisition, including all its attempts.
type acquisition struct {
	semaphore       string
	group, acquirer string
	holderID        *string // nil: a new id is generated
	holderIDSet     bool    // the application set the holder id
	requestIDSet    bool    // the application set the request id
	weight          uint32
	zeroWeight      bool // the application requested 0, which the API treats as unset
	firing          *gatekeeperv1.Firing
	metadata        map[string]string
	requestID       string
	revision        uint64 // a cluster revision at which this request had no permit; 0: unknown
	expected        *uint64
	stopTime        time.Duration
	stallLimit      time.Duration
	onPlace         func(Place)
	leaveOnPause    bool
	onePerAcquirer  bool
	place           *Place // the last place in the queue reported to the current attempt
	claim           *claim // nil if the holder id was generated
	replaces        uint64 // a token of this identity that this process no longer relies on
}

type acquireOption func(*acquisition)

func (o acquireOption) acquire(a *acquisition) { o(a) }

// WithWeight sets how many of the semaphore's permits the acquisition takes. The default is 1. A weight of 0 fails with
// an *InvalidFieldError.
func WithWeight(weight uint32) AcquireOption {
	return acquireOption(func(a *acquisition) { a.weight, a.zeroWeight = weight, weight == 0 })
}

// WithFiring claims one named instance of scheduled work together with the permit; due may be zero. Among all callers
// that request the same firing, only one is granted it, and only once.
func WithFiring(name string, due time.Time) AcquireOption {
	f := &gatekeeperv1.Firing{Name: name}
	if !due.IsZero() {
		f.Due = timestamppb.New(due)
	}
	return acquireOption(func(a *acquisition) { a.firing = f })
}

// WithMetadata attaches metadata about the holder, for display. Entries from several options are merged.
func WithMetadata(metadata map[string]string) AcquireOption {
	return acquireOption(func(a *acquisition) {
		all := maps.Clone(a.metadata)
		if all == nil {
			all = make(map[string]string, len(metadata))
		}
		maps.Copy(all, metadata)
		a.metadata = all
	})
}

// WithHolderID names the holder. By default, each acquisition has a new id, so that goroutines in the same process and
// processes on the same host exclude each other. The empty string is a valid holder id.
//
// A holder is identified by group, acquirer and holder id, and has at most one permit of a semaphore. A process that is
// restarted with the same ids takes over its predecessor's permit immediately, without waiting for it to expire. It
// gets a new token, and the old permit is lost. A permit with a firing is not taken over: the new process is denied
// until the old permit has ended.
//
// So only one process at a time may use a holder id. If two running processes use the same id, each acquisition takes
// the permit away from the other process, where it ends with ErrSuperseded. A Runner then backs off, and logs a warning
// with the holder's name. Within a process, a Client rejects a second acquisition with an *InUseError while the first
// is in progress or its permit is held. Two Clients in a process are independent of each other and count as two
// processes.
func WithHolderID(id string) AcquireOption {
	return acquireOption(func(a *acquisition) { a.holderID = &id })
}

// WithRequestID names the acquisition, for an application that retries it after an unknown outcome or a crash. If
// WithHolderID is also given, the retry gets the same permit. By default, each acquisition has a new id. After its
// permit is released, a request is never granted another permit. When the Client gives up, it does not cancel such a
// request: a permit granted to it expires unless the application retries.
func WithRequestID(id string) AcquireOption {
	return acquireOption(func(a *acquisition) { a.requestID = id })
}

// WithExpectedRevision makes TryAcquire fail with a *RevisionChangedError unless the semaphore's permit revision equals
// revision.
func WithExpectedRevision(revision uint64) AcquireOption {
	return acquireOption(func(a *acquisition) { a.expected = &revision })
}

// WithPlace makes Acquire call f with the place in the queue, first on arrival and then whenever it changes. Acquire
// blocks while f runs.
func WithPlace(f func(Place)) AcquireOption {
	return acquireOption(func(a *acquisition) { a.onPlace = f })
}

// WithLeaveOnPause makes Acquire return a *DeniedError with the reason ReasonPaused while the semaphore is paused, even
// if the pause begins during the wait. By default, Acquire keeps its place until the pause ends.
func WithLeaveOnPause() AcquireOption {
	return acquireOption(func(a *acquisition) { a.leaveOnPause = true })
}

// WithStallLimit ends the permit's context with ErrStalled, and logs a warning, if Permit.Progress is not called for d.
// The permit is kept alive until it is released, because the job may still be running. The default, 0, means no limit.
func WithStallLimit(d time.Duration) AcquireOption {
	return acquireOption(func(a *acquisition) { a.stallLimit = d })
}

// Place is a waiter's place in the queue.
type Place struct {
	// Place is 1 for the next waiter.
	Place int
	// QueueLength is the number of waiters.
	QueueLength int
	// Pause is set while the semaphore is paused: no waiter is granted a permit before the pause ends.
	Pause *gatekeeperv1.Pause
}

// acquisition returns a new acquisition with these options, and generates any ids they do not set.
func (s *Semaphore) acquisition(opts []AcquireOption) *acquisition {
	a := s.request(opts)
	if !a.requestIDSet {
		a.renewRequestID(s.client.seen.Load())
	}
	if !a.holderIDSet {
		id := NewRequestID()
		a.holderID = &id
	}
	return a
}

// request returns an acquisition with these options, before any id is generated.
func (s *Semaphore) request(opts []AcquireOption) *acquisition {
	a := s.client.settings.defaults
	a.semaphore = s.name
	for _, o := range s.opts {
		o.acquire(&a)
	}
	for _, o := range opts {
		o.acquire(&a)
	}
	a.requestIDSet, a.holderIDSet = a.requestID != "", a.holderID != nil
	return &a
}

// renewRequestID generates a new request id for the acquisition. revision is the newest revision the Client had seen.
func (a *acquisition) renewRequestID(revision uint64) {
	a.requestID, a.revision = NewRequestID(), revision
}

func (a *acquisition) identity() *gatekeeperv1.Identity {
	return &gatekeeperv1.Identity{Group: a.group, Acquirer: a.acquirer, HolderId: *a.holderID}
}

// TryAcquire does not wait in the queue: it returns a permit, or a *DeniedError with the reason and the holders. If a
// server does not respond, the other members are tried until ctx ends. If none of them responds in time, the error is
// an *UnavailableError, and the servers are asked to release any permit that they may have granted. Other errors:
// *InvalidFieldError, *RevisionChangedError, *RequestEndedError, *StopTimeError, *InUseError.
//
// ctx applies only to the acquisition: the permit outlives it. The permit's context carries the values of ctx.
func (s *Semaphore) TryAcquire(ctx context.Context, opts ...AcquireOption) (*Permit, error) {
	return s.client.acquire(ctx, s.acquisition(opts), s.client.settings.attemptTimeout, s.client.tryOnce)
}

// Acquire waits in the queue, first come first served, until ctx ends. It waits for a free permit, and for the end of a
// pause unless WithLeaveOnPause is given. It returns any other denial as a *DeniedError. Otherwise it behaves like
// TryAcquire.
func (s *Semaphore) Acquire(ctx context.Context, opts ...AcquireOption) (*Permit, error) {
	return s.client.wait(ctx, s.acquisition(opts))
}

// TryAcquireFor waits as Acquire does, but no longer than timeout; with a timeout of 0 it is the same as TryAcquire. If
// the timeout expires in the queue, it leaves the queue and returns a *DeniedError with the reason ReasonNoFreePermit,
// or ReasonPaused if the semaphore is paused. If no server could be reached in that time, the error is an
// *UnavailableError.
func (s *Semaphore) TryAcquireFor(ctx context.Context, timeout time.Duration, opts ...AcquireOption) (*Permit, error) {
	if timeout <= 0 {
		return s.TryAcquire(ctx, opts...)
	}
	a := s.acquisition(opts)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	p, err := s.client.wait(limited, a)
	if err == nil || a.place == nil || ctx.Err() != nil || limited.Err() == nil || !errors.Is(err, ErrUnavailable) {
		return p, err
	}
	return nil, s.client.timedOut(ctx, a, timeout)
}

// StopTimeError means that a permit's duration is too short for the time its job needs to stop. The servers are asked
// to release the permit. If that request does not get through, the permit expires.
type StopTimeError struct{ StopTime, Duration time.Duration }

func (e *StopTimeError) Error() string {
	return fmt.Sprintf("a stop time of %s is too long for a permit that lasts only %s: increase the definition's duration to at least %s, or shorten the stop time",
		e.StopTime, e.Duration, 2*e.StopTime)
}
