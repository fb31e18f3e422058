package client

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Permit is a permit that this process holds. It is kept alive in the background until it is released or lost, or the
// Client is closed. Its methods are safe for concurrent use, even after the permit has ended.
type Permit struct {
	renewer  *renewer
	granted  *gatekeeperv1.Permit
	identity *gatekeeperv1.Identity
	claim    *claim        // nil if the holder id was generated
	stopTime time.Duration // as requested; 0: the default
	stall    time.Duration // 0: no limit
	progress atomic.Int64  // the clock reading at the last call to Progress, or at the grant
	reports  atomic.Bool   // whether refreshes report progress

	ctx    context.Context //nolint:containedctx // the permit's lifetime, handed to its job
	cancel context.CancelCauseFunc
	done   chan struct{}

	releasing sync.Mutex // serializes Release, and guards released
	released  bool

	// The renewer's mutex guards everything below.
	belief     belief
	ended      bool
	refused    error         // why a refresh was refused; no refresh is sent after that
	inFlight   bool          // the frame in flight contains it
	stopping   bool          // the context has ended
	drain      time.Duration // refreshes are granted until then even though the holder must stop; 0: no known drain
	lastStream uint64        // the last stream on which its token was sent
	waiters    []refreshWaiter
	at         [numSchedules]time.Duration
	index      [numSchedules]int // -1: not scheduled
}

// refreshWaiter waits for the response to an attempt sent at or after a given time.
type refreshWaiter struct {
	after  time.Duration
	result chan error // buffered
}

// Token returns the fencing token, which increases with every grant in the cluster. Pass it along with each write, and
// let the resource reject a token older than the newest it has seen.
func (p *Permit) Token() uint64 { return p.granted.GetToken() }

// Semaphore returns the semaphore's name.
func (p *Permit) Semaphore() string { return p.granted.GetSemaphore() }

// Firing returns the firing that was claimed with the permit, as passed to WithFiring. The due time is in UTC. Both
// values are zero if there is none.
func (p *Permit) Firing() (name string, due time.Time) {
	f := p.granted.GetFiring()
	if f.GetDue() != nil {
		due = f.GetDue().AsTime()
	}
	return f.GetName(), due
}

// Group returns the group under which the permit was acquired.
func (p *Permit) Group() string { return p.identity.GetGroup() }

// Acquirer returns the permit's acquirer.
func (p *Permit) Acquirer() string { return p.identity.GetAcquirer() }

// HolderID returns the holder id under which the permit was acquired.
func (p *Permit) HolderID() string { return p.identity.GetHolderId() }

// Context returns a context that ends when the job must stop: when the holder is ordered to stop, even if a drain lets
// it continue; when no refresh gets through and only the stop time is left until the local deadline; and when the
// permit is lost or released. context.Cause returns the reason; see ErrStopped. If the order to stop is withdrawn, the
// context is not restored, and the permit is kept alive until it is released. The context carries the values of the
// context that was passed to the acquisition, but not its deadline or cancellation.
func (p *Permit) Context() context.Context { return p.ctx }

// Done returns a channel that is closed when the permit can no longer be counted on: when it is released or lost, and
// no later than the local deadline, whether or not a server responds.
func (p *Permit) Done() <-chan struct{} { return p.done }

// Held reports whether the permit can be counted on now. It reads the clock instead of relying on a timer, so it is
// correct even right after the machine resumes from suspend.
func (p *Permit) Held() bool {
	k := p.renewer
	k.mu.Lock()
	defer k.mu.Unlock()
	return !p.ended && k.clock.Now() < p.belief.deadline
}

// SafeUntil returns the local deadline: no other holder is granted this permit's slots before then. Each refresh
// extends it. The result is the zero time if the permit has ended.
//
// The result is based on the wall clock at the time of the call. It is correct right after the machine resumes from
// suspend, but becomes wrong if the wall clock is later adjusted, so call SafeUntil each time instead of storing the
// result. For exact checks use Held or Ensure, which read a clock that cannot be adjusted.
func (p *Permit) SafeUntil() time.Time {
	k := p.renewer
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.ended {
		return time.Time{}
	}
	return k.wallTime(p.belief.deadline)
}

// DrainUntil returns a lower bound on when the drain ends, according to the last response. Until then, a holder that
// must stop is still granted refreshes, so that it can finish its work. The result is the zero time if there is no
// drain, or if it has ended. It only reflects the servers' current intent: another order to stop can cut the drain
// short. SafeUntil still reports how long the permit can be counted on.
func (p *Permit) DrainUntil() time.Time {
	k := p.renewer
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.ended || p.drain == 0 {
		return time.Time{}
	}
	return k.wallTime(p.drain)
}

// ExpirationPeriod is the same as Duration, under the name that other lock libraries use.
func (p *Permit) ExpirationPeriod() time.Duration { return p.Duration() }

// Duration returns how long the permit lasts without a refresh. This is the definition's duration, according to the
// last response.
func (p *Permit) Duration() time.Duration {
	p.renewer.mu.Lock()
	defer p.renewer.mu.Unlock()
	return p.belief.duration
}

// Refresh refreshes the permit now, and returns nil once a refresh sent after the call has been answered. It is not
// needed to keep the permit alive. The error is ctx's error, a *StopError if refreshes are refused, or the reason the
// permit ended: ErrLost, ErrReleased or ErrClosed.
func (p *Permit) Refresh(ctx context.Context) error {
	w, err := p.renewer.requestRefresh(p)
	if err != nil {
		return err
	}
	select {
	case err := <-w.result:
		return err
	case <-ctx.Done():
		p.renewer.removeWaiter(p, w)
		return ctx.Err()
	}
}

// Ensure returns nil if the permit can be counted on for at least d from now, and refreshes it first if necessary. Call
// it before a step that takes up to d and must not be cut short or overlap with another holder's. Pass the step's
// context (in a job, the job's context), so that a job that must stop does not start another step. The error is ctx's
// error, a *TooShortError if even a fresh permit does not last that long, or an error from Refresh.
func (p *Permit) Ensure(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if left, _ := p.remaining(); left >= d {
		return nil
	}
	if err := p.Refresh(ctx); err != nil {
		return err
	}
	left, err := p.remaining()
	if err == nil && left < d {
		err = &TooShortError{Wanted: d, Left: left, Duration: p.Duration()}
	}
	return err
}

// remaining returns how long the permit can be counted on, or an error with the reason if it cannot.
func (p *Permit) remaining() (time.Duration, error) {
	k := p.renewer
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.ended {
		return -1, context.Cause(p.ctx)
	}
	if left := p.belief.deadline - k.clock.Now(); left > 0 {
		return left, nil
	}
	return -1, lostAtDeadline()
}

// Progress reports that the job is making progress; see WithStallLimit. After the first call, each refresh sends the
// time since the last Progress to the servers, which show it to operators. It is cheap enough to call in every
// iteration of a loop.
func (p *Permit) Progress() {
	p.progress.Store(int64(p.renewer.clock.Now()))
	if !p.reports.Load() {
		p.reports.Store(true)
	}
}

// sinceProgress returns the time since the last call to Progress, for a refresh, or nil if the job does not report
// progress.
func (p *Permit) sinceProgress(now time.Duration) *durationpb.Duration {
	if !p.reports.Load() {
		return nil
	}
	return durationpb.New(max(now-time.Duration(p.progress.Load()), 0))
}

// stallsAt returns the time at which the job reaches its stall limit.
func (p *Permit) stallsAt() time.Duration {
	if p.stall <= 0 {
		return 1<<63 - 1
	}
	return time.Duration(p.progress.Load()) + p.stall
}

// Release gives up the permit. Call it only after the job has stopped. The permit ends immediately: its context ends
// with ErrReleased, and Done is closed. Release then notifies the servers, retrying until one of them responds, ctx
// ends, or no server can still hold the permit. Servers can hold it for its remaining time and then, because a new
// leader restarts it, for its full duration and a few more seconds. If ctx has already ended, Release still tries for a
// short time. Pass a ctx that ends when the process must exit.
//
// It returns nil if this release, or a retry of it, freed the slot. It returns an *EndedError if the permit had already
// ended, for example by expiring. It returns an *UnavailableError if no server responded. Release may then be called
// again; if it is not, the slot becomes free when the permit expires. Release marks the firing as done; see also
// ReleaseCutShort and ReleaseNotRun.
func (p *Permit) Release(ctx context.Context) error {
	return p.release(ctx, gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE, "")
}

// ReleaseFailed releases the permit of a job that finished with an error: its firing has failed and is not run again.
// cause is stored with the firing for operators, truncated to 256 bytes; it may be nil. Servers below feature level 4
// treat the firing as done.
func (p *Permit) ReleaseFailed(ctx context.Context, cause error) error {
	text := ""
	if cause != nil {
		text = cause.Error()
	}
	return p.release(ctx, gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED, text)
}

// ReleaseNotRun releases the permit of a job that did not run: its firing may be claimed again.
func (p *Permit) ReleaseNotRun(ctx context.Context) error {
	return p.release(ctx, gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN, "")
}

// ReleaseCutShort releases the permit of a job that was stopped before it finished. The definition's firing_on_loss
// decides whether its firing is spent or may be claimed again, as it does when a permit is lost.
func (p *Permit) ReleaseCutShort(ctx context.Context) error {
	return p.release(ctx, gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT, "")
}

func (p *Permit) release(ctx context.Context, outcome gatekeeperv1.ReleaseOutcome, failure string) error {
	defer p.renewer.beginCall(p.claim)()
	bound := p.renewer.drop(p) // before the lock: belief must end even while another release is in progress
	p.releasing.Lock()
	defer p.releasing.Unlock()
	if p.released {
		return nil
	}
	if ctx.Err() != nil {
		ctx, bound = context.WithoutCancel(ctx), 0
	}
	r, err := p.renewer.client.sendRelease(ctx, max(bound, cleanupTimeout), &gatekeeperv1.ReleaseRequest{
		Token: p.Token(), Outcome: outcome, Identity: p.identity, Failure: truncate(failure, maxFailure),
	})
	if err != nil {
		return err
	}
	p.renewer.released(p)
	if !r.GetReleased() {
		return &EndedError{Token: p.Token(), Ended: r.GetEnded(), Message: r.GetMessage()}
	}
	p.released = true
	return nil
}

// maxFailure is the maximum number of bytes of an error that are sent with a release. Servers store fewer.
const maxFailure = 1024

// truncate truncates s to at most maxBytes bytes, keeping it valid UTF-8.
func truncate(s string, maxBytes int) string {
	return strings.ToValidUTF8(s[:min(len(s), maxBytes)], "")
}

// sendRelease sends a release, and retries it for at most the duration within. Permits().Release has no such limit.
func (c *Client) sendRelease(ctx context.Context, within time.Duration, q *gatekeeperv1.ReleaseRequest) (r *gatekeeperv1.ReleaseResponse, err error) {
	opts := call{idempotent: true, forHeldPermit: true, timeout: c.settings.attemptTimeout, within: within}
	err = c.do(ctx, opts, func(ctx context.Context, conn *link) (err error) {
		var p peer.Peer
		r, err = gatekeeperv1.NewPermitServiceClient(conn).Release(ctx, q, grpc.Peer(&p))
		return markUnsent(&p, err)
	})
	return r, err
}
