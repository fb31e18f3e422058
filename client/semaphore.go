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

// Semaphore is a gate in front of one kind of work. It is cheap: it holds no connection and needs no closing.
type Semaphore struct {
	client *Client
	name   string
	opts   []AcquireOption
}

// Semaphore returns the semaphore of that name. The options count for all its acquisitions.
func (c *Client) Semaphore(name string, opts ...AcquireOption) *Semaphore {
	return &Semaphore{client: c, name: name, opts: opts}
}

// Name is the semaphore's name.
func (s *Semaphore) Name() string { return s.name }

// Caller is the group and the acquirer under which the semaphore is acquired, unless an acquisition names others.
func (s *Semaphore) Caller() (group, acquirer string) {
	a := s.request(nil)
	return a.group, a.acquirer
}

// Group is where its acquisitions say that they run: WithGroup, or the Client's group.
func (s *Semaphore) Group() string { return s.request(nil).group }

// Acquirer is who its acquisitions say that they are: WithAcquirer, or the Client's acquirer.
func (s *Semaphore) Acquirer() string { return s.request(nil).acquirer }

// acquisition is one acquisition, in all its attempts.
type acquisition struct {
	semaphore       string
	group, acquirer string
	holderID        *string // nil: a new one
	chosen          bool    // the application gave the holder id
	named           bool    // the application gave the request id
	weight          uint32
	weightless      bool // 0 was asked for, which the API takes for its default
	firing          *gatekeeperv1.Firing
	metadata        map[string]string
	requestID       string
	revision        uint64 // a revision of the cluster as of which this request had no permit; 0: none is known
	expected        *uint64
	stopTime        time.Duration
	stallLimit      time.Duration
	onPlace         func(Place)
	leaveOnPause    bool
	onePerAcquirer  bool
	place           *Place // the last place that the current attempt was sent
	claim           *claim // nil when the holder id was drawn
	replaces        uint64 // a token of this identity on which nobody here counts any more
}

type acquireOption func(*acquisition)

func (o acquireOption) acquire(a *acquisition) { o(a) }

// WithWeight says how much of the semaphore's permits is taken. Default 1. Acquiring nothing, 0, fails with an
// *InvalidFieldError.
func WithWeight(weight uint32) AcquireOption {
	return acquireOption(func(a *acquisition) { a.weight, a.weightless = weight, weight == 0 })
}

// WithFiring claims one named instance of scheduled work together with the permit; due may be zero. Of all who ask for
// the same firing one is granted it, once.
func WithFiring(name string, due time.Time) AcquireOption {
	f := &gatekeeperv1.Firing{Name: name}
	if !due.IsZero() {
		f.Due = timestamppb.New(due)
	}
	return acquireOption(func(a *acquisition) { a.firing = f })
}

// WithMetadata shows people more about the holder. Entries of later options are added.
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

// WithHolderID names the holder. Default: a new id for each acquisition, so that the goroutines of a process and the
// processes of a host exclude each other. The empty id is a holder id too.
//
// Group, acquirer and holder id together are one holder, which has at most one permit of a semaphore. A process that is
// started again under the same ids takes over the permit of its former life at once, without waiting for it to expire.
// It gets a new token, and the old one is lost. A permit with a firing is not taken over: the new process is denied
// until the old permit has ended.
//
// So a holder id must be used by one process at a time. If two live processes use it, each acquisition takes the permit
// from the other process, whose permit ends with ErrSuperseded; a Runner then stays away, and logs a warning that names
// the holder. Within a process, a Client refuses a second acquisition with an *InUseError while the first is under way
// or its permit is held. Two Clients of a process do not know of each other: they count as two processes.
func WithHolderID(id string) AcquireOption {
	return acquireOption(func(a *acquisition) { a.holderID = &id })
}

// WithRequestID names the acquisition, for an application that repeats it after an unknown outcome or a crash: together
// with WithHolderID, the repeat gets the same permit. Default: a new id for each. A permit that was released is never
// granted again to its request. The Client does not take such a request back when it gives up: if the application does
// not repeat it, a permit that was granted to it expires.
func WithRequestID(id string) AcquireOption {
	return acquireOption(func(a *acquisition) { a.requestID = id })
}

// WithExpectedRevision makes TryAcquire fail with a *RevisionChangedError unless the semaphore's permit revision is
// this one.
func WithExpectedRevision(revision uint64) AcquireOption {
	return acquireOption(func(a *acquisition) { a.expected = &revision })
}

// WithPlace has Acquire call f with the place in the queue, at first and whenever it changes. Acquire waits for f.
func WithPlace(f func(Place)) AcquireOption {
	return acquireOption(func(a *acquisition) { a.onPlace = f })
}

// WithLeaveOnPause makes Acquire return a *DeniedError with the reason ReasonPaused while the semaphore is paused, also
// when the pause begins during the wait. Default: Acquire keeps its place until the pause ends.
func WithLeaveOnPause() AcquireOption {
	return acquireOption(func(a *acquisition) { a.leaveOnPause = true })
}

// WithStallLimit ends the permit's context with ErrStalled, and logs it, when Permit.Progress was not called for that
// long. The permit itself is kept alive until it is released: the job may still run. 0, the default, is no limit.
func WithStallLimit(d time.Duration) AcquireOption {
	return acquireOption(func(a *acquisition) { a.stallLimit = d })
}

// Place is a place in the queue.
type Place struct {
	// Place is 1 for who is next.
	Place int
	// QueueLength is how many wait.
	QueueLength int
	// Pause is set while the semaphore is paused: nobody in the queue is granted a permit before the pause ends.
	Pause *gatekeeperv1.Pause
}

// acquisition is one acquisition by these options, with the ids that it draws.
func (s *Semaphore) acquisition(opts []AcquireOption) *acquisition {
	a := s.request(opts)
	if !a.named {
		a.draw(s.client.seen.Load())
	}
	if !a.chosen {
		id := NewRequestID()
		a.holderID = &id
	}
	return a
}

// request is what these options ask for.
func (s *Semaphore) request(opts []AcquireOption) *acquisition {
	a := s.client.settings.defaults
	a.semaphore = s.name
	for _, o := range s.opts {
		o.acquire(&a)
	}
	for _, o := range opts {
		o.acquire(&a)
	}
	a.named, a.chosen = a.requestID != "", a.holderID != nil
	return &a
}

// draw gives the acquisition a new request id. revision is the newest that was seen before.
func (a *acquisition) draw(revision uint64) { a.requestID, a.revision = NewRequestID(), revision }

func (a *acquisition) identity() *gatekeeperv1.Identity {
	return &gatekeeperv1.Identity{Group: a.group, Acquirer: a.acquirer, HolderId: *a.holderID}
}

// TryAcquire asks once, and is answered at once: a permit, or a *DeniedError that says why not and who holds. A server
// that does not answer is asked again, over all members, until ctx ends; then the error is an *UnavailableError, and
// the servers are notified to take back what they may have granted. Other errors: *InvalidFieldError,
// *RevisionChangedError, *RequestEndedError, *StopTimeError, *InUseError.
//
// ctx is for the acquisition alone: the permit outlives it. Values of ctx are those of the permit's context too.
func (s *Semaphore) TryAcquire(ctx context.Context, opts ...AcquireOption) (*Permit, error) {
	return s.client.acquire(ctx, s.acquisition(opts), s.client.settings.attemptTimeout, s.client.tryOnce)
}

// Acquire waits its turn until ctx ends, first come first served. It waits for a free permit, and for the end of a
// pause unless WithLeaveOnPause is given. Any other denial is returned as a *DeniedError. Otherwise it is as
// TryAcquire.
func (s *Semaphore) Acquire(ctx context.Context, opts ...AcquireOption) (*Permit, error) {
	return s.client.wait(ctx, s.acquisition(opts))
}

// TryAcquireFor waits its turn as Acquire does, but no longer than timeout; a timeout of 0 is TryAcquire. When its time
// is over while it stands in the queue, it leaves the queue and the error is a *DeniedError with the reason
// ReasonNoFreePermit, or Paused if the semaphore is paused; when no server could be asked for its place at that time,
// an *UnavailableError.
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

// StopTimeError says that a permit is too short for the time that its job needs to stop. The servers are notified
// to take it back; should that not get through, it expires.
type StopTimeError struct{ StopTime, Duration time.Duration }

func (e *StopTimeError) Error() string {
	return fmt.Sprintf("a stop time of %s leaves too little of a permit that lives %s: lengthen the definition's duration to at least %s, or shorten the stop time",
		e.StopTime, e.Duration, 2*e.StopTime)
}
