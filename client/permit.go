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

// Permit is a permit that this process holds. It is kept alive in the background until it is released, lost, or the
// Client closed. Its methods may be called from any goroutine, also after it has ended.
type Permit struct {
	renewer  *renewer
	granted  *gatekeeperv1.Permit
	identity *gatekeeperv1.Identity
	claim    *claim        // nil: of a holder id that was drawn
	stopTime time.Duration // as asked for; 0: the default
	stall    time.Duration // 0: no limit
	progress atomic.Int64  // the clock's reading at the last Progress, or the grant
	reports  atomic.Bool   // refreshes report progress

	ctx    context.Context //nolint:containedctx // the permit's own life, handed to its job
	cancel context.CancelCauseFunc
	done   chan struct{}

	releasing sync.Mutex // serializes Release, and guards released
	released  bool

	// The renewer's mutex guards everything below.
	belief   belief
	ended    bool
	refused  error         // why a refresh was refused; it is asked no more
	asked    bool          // it is in the frame that is on its way
	stopping bool          // the context has ended
	drain    time.Duration // until when refreshes are granted although it is to stop; 0: no drain is known
	named    uint64        // the last stream that named it
	waiters  []refreshWaiter
	at       [schedules]time.Duration
	index    [schedules]int // -1: not scheduled
}

// refreshWaiter waits for the answer to an attempt that is sent at after or later.
type refreshWaiter struct {
	after  time.Duration
	result chan error // has room for one
}

// Token is the fencing token: it rises with every grant of the cluster. Hand it to what the job writes to, and have
// that refuse a token older than the newest it has seen.
func (p *Permit) Token() uint64 { return p.granted.GetToken() }

// Semaphore is the semaphore's name.
func (p *Permit) Semaphore() string { return p.granted.GetSemaphore() }

// Firing is the firing that was claimed with it, as WithFiring named it; the due time is in UTC. Both are zero without
// one.
func (p *Permit) Firing() (name string, due time.Time) {
	f := p.granted.GetFiring()
	if f.GetDue() != nil {
		due = f.GetDue().AsTime()
	}
	return f.GetName(), due
}

// Group is the group in which it was acquired.
func (p *Permit) Group() string { return p.identity.GetGroup() }

// Acquirer is who acquired it.
func (p *Permit) Acquirer() string { return p.identity.GetAcquirer() }

// HolderID is the holder id by which it was acquired.
func (p *Permit) HolderID() string { return p.identity.GetHolderId() }

// Context ends when the job must stop: when the holder was ordered to, also when it may continue for a drain; when no
// refresh gets through and the local deadline is as near as the stop time; when the permit is lost, or released.
// context.Cause says which; see ErrStopped. It never comes back, not even when the operator thinks better of it: then
// the permit is kept alive until it is released. It carries the values of the context that the permit was acquired
// with, and nothing else of it.
func (p *Permit) Context() context.Context { return p.ctx }

// Done is closed when the permit may be counted on no more: at its release, or at its loss, at the latest at the local
// deadline, whether or not any server answers.
func (p *Permit) Done() <-chan struct{} { return p.done }

// Held says whether the permit may be counted on at this moment. It asks the clock, not a timer, so it is right also in
// the first moment after the machine was suspended.
func (p *Permit) Held() bool {
	k := p.renewer
	k.mu.Lock()
	defer k.mu.Unlock()
	return !p.ended && k.clock.Now() < p.belief.deadline
}

// SafeUntil is the local deadline: until then nobody else is granted what this permit takes. Each refresh moves it out.
// It is the zero time when the permit has ended.
//
// It is a time of the wall clock, as that stands at the call: right after the machine was suspended too, and wrong by
// as much as somebody sets the wall clock meanwhile. Read it again each time. What must be exact asks Held or Ensure,
// which go by a clock that nobody sets.
func (p *Permit) SafeUntil() time.Time {
	k := p.renewer
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.ended {
		return time.Time{}
	}
	return k.wall(p.belief.deadline)
}

// DrainUntil is until when a holder that must stop is still granted refreshes, so that it can finish what it has begun:
// the end of the drain as far as the last answer said, at the earliest. It is the zero time when there is no drain, or
// none any more. It is what the servers mean to do, and a second order can cut it short: what the permit can be counted
// on for is SafeUntil, also now.
func (p *Permit) DrainUntil() time.Time {
	k := p.renewer
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.ended || p.drain == 0 {
		return time.Time{}
	}
	return k.wall(p.drain)
}

// ExpirationPeriod is Duration, by the name that other lock libraries give it.
func (p *Permit) ExpirationPeriod() time.Duration { return p.Duration() }

// Duration is how long the permit lives without a refresh, as the last answer said: the definition's duration.
func (p *Permit) Duration() time.Duration {
	p.renewer.mu.Lock()
	defer p.renewer.mu.Unlock()
	return p.belief.duration
}

// Refresh refreshes now, and returns nil when a refresh that was sent after the call has been answered. It is not
// needed to keep the permit alive. The error is that of ctx, a *StopError when refreshes are refused, or the end of the
// permit: ErrLost, ErrReleased or ErrClosed.
func (p *Permit) Refresh(ctx context.Context) error {
	w, err := p.renewer.ask(p)
	if err != nil {
		return err
	}
	select {
	case err := <-w.result:
		return err
	case <-ctx.Done():
		p.renewer.leave(p, w)
		return ctx.Err()
	}
}

// Ensure returns nil when the permit can be counted on for at least d from now, and refreshes first when it must. Call
// it before a step that takes up to d and must not be cut short or overlap with another holder's. ctx is that of the
// step: in a job the job's own, so that nothing is begun by a job that is to stop. The error is that of ctx, a
// *TooShortError when even a fresh permit does not last so long, or one of Refresh's.
func (p *Permit) Ensure(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if left, _ := p.left(); left >= d {
		return nil
	}
	if err := p.Refresh(ctx); err != nil {
		return err
	}
	left, err := p.left()
	if err == nil && left < d {
		err = &TooShortError{Wanted: d, Left: left, Duration: p.Duration()}
	}
	return err
}

// left is how long the permit can be counted on; the error is why not at all.
func (p *Permit) left() (time.Duration, error) {
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

// Progress says that the job is making progress; see WithStallLimit. From the first call on, each refresh tells the
// servers how long ago the last one was, and they show it to operators. It is cheap enough for every turn of a loop.
func (p *Permit) Progress() {
	p.progress.Store(int64(p.renewer.clock.Now()))
	if !p.reports.Load() {
		p.reports.Store(true)
	}
}

// sinceProgress is what to tell the servers; nil when the job reports no progress.
func (p *Permit) sinceProgress(now time.Duration) *durationpb.Duration {
	if !p.reports.Load() {
		return nil
	}
	return durationpb.New(max(now-time.Duration(p.progress.Load()), 0))
}

// stallsAt is when the job has made no progress for too long.
func (p *Permit) stallsAt() time.Duration {
	if p.stall <= 0 {
		return 1<<63 - 1
	}
	return time.Duration(p.progress.Load()) + p.stall
}

// Release gives the permit back. The job must have stopped. Belief ends at once: the context ends with ErrReleased,
// Done is closed, and only then are the servers notified, until one answers, ctx ends, or none of them can hold the
// permit any more: after what is left of it, its duration once more, which a leader that takes over gives it, and a few
// seconds. When ctx has ended already they are notified all the same, for a short while. Give it a ctx that ends when
// the process must be gone.
//
// It returns nil when it was this release, or a repeat of it, that freed the slot; an *EndedError when the permit had
// ended before, for example by its expiry; and an *UnavailableError when no server answered: then Release may be called
// again, and otherwise the slot is free when the permit expires. A firing is done; see ReleaseCutShort and
// ReleaseNotRun.
func (p *Permit) Release(ctx context.Context) error {
	return p.release(ctx, gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE, "")
}

// ReleaseFailed is Release of a permit whose job ran to its end, and that was an error: its firing has failed and does
// not run again. cause is kept with it for people, cut to 256 bytes; nil: nothing is said. Servers below feature level
// 4 take the firing for done.
func (p *Permit) ReleaseFailed(ctx context.Context, cause error) error {
	text := ""
	if cause != nil {
		text = cause.Error()
	}
	return p.release(ctx, gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED, text)
}

// ReleaseNotRun is Release of a permit whose job did not run: its firing may be claimed again.
func (p *Permit) ReleaseNotRun(ctx context.Context) error {
	return p.release(ctx, gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN, "")
}

// ReleaseCutShort is Release of a permit whose job was stopped before its end: what becomes of its firing, whether it
// is spent or may be claimed again, is for the definition's firing_on_loss to say, as after a loss.
func (p *Permit) ReleaseCutShort(ctx context.Context) error {
	return p.release(ctx, gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT, "")
}

func (p *Permit) release(ctx context.Context, outcome gatekeeperv1.ReleaseOutcome, failure string) error {
	defer p.renewer.speak(p.claim)()
	bound := p.renewer.drop(p) // before the lock: belief ends also while another release is under way
	p.releasing.Lock()
	defer p.releasing.Unlock()
	if p.released {
		return nil
	}
	if ctx.Err() != nil {
		ctx, bound = context.WithoutCancel(ctx), 0
	}
	r, err := p.renewer.client.sendRelease(ctx, max(bound, lastWord), &gatekeeperv1.ReleaseRequest{
		Token: p.Token(), Outcome: outcome, Identity: p.identity, Failure: cutText(failure, maxFailure),
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

// maxFailure is how much of an error is sent with a release. Servers keep less of it.
const maxFailure = 1024

// cutText is the beginning of a text, as valid UTF-8.
func cutText(s string, most int) string {
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}

// sendRelease makes attempts for as long as within. It is Permits().Release, without what that takes for any call.
func (c *Client) sendRelease(ctx context.Context, within time.Duration, q *gatekeeperv1.ReleaseRequest) (r *gatekeeperv1.ReleaseResponse, err error) {
	how := call{repeatable: true, held: true, timeout: c.settings.attemptTimeout, within: within}
	err = c.do(ctx, how, func(ctx context.Context, conn *link) (err error) {
		var p peer.Peer
		r, err = gatekeeperv1.NewPermitServiceClient(conn).Release(ctx, q, grpc.Peer(&p))
		return reached(&p, err)
	})
	return r, err
}
