package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// maxSleep bounds every sleep until a permit's next event, because Go's timers stop while the machine is suspended
	// but the Clock does not.
	maxSleep = time.Second
	// firstRefresh bounds the time until a new permit's first refresh, because a server sends notices only on a stream
	// that has named the token. Jobs that are shorter need no refresh.
	firstRefresh = time.Second
)

// renewer keeps the permits of a Client alive. It has two goroutines, which start with the first permit. watch ends
// contexts and beliefs on time and never blocks on anything else. serve runs the stream of refreshes.
type renewer struct {
	client *Client
	clock  Clock
	ctx    context.Context //nolint:containedctx // it ends with the client
	cancel context.CancelFunc
	start  sync.Once
	work   sync.WaitGroup

	watchAlarm alarm // wakes watch for the next event
	serveAlarm alarm // wakes serve for the next refresh

	mu      sync.Mutex // guards everything below, the alarms' until fields, and the mutable fields of permits
	permits map[uint64]*Permit
	events  schedule
	refresh schedule
	claims  claims
	// superseded lists permits whose loss to another process has not been logged yet.
	superseded []superseded
	// streams is the number of streams that have been opened.
	streams uint64
	// forget lists tokens that the current stream has named but for which the server should send no more notices.
	forget []uint64
	closed bool
	// lastErr is the reason the last stream failed, or nil if the last frame was answered.
	lastErr error
}

func newRenewer(c *Client) *renewer {
	k := &renewer{
		client:     c,
		clock:      c.settings.clock,
		watchAlarm: newAlarm(),
		serveAlarm: newAlarm(),
		permits:    make(map[uint64]*Permit),
		events:     schedule{by: byEvent},
		refresh:    schedule{by: byRefresh},
		claims:     claims{byKey: make(map[claimKey]*claim)},
	}
	k.ctx, k.cancel = context.WithCancel(c.ctx)
	return k
}

// errHeldTwice means that a server granted the same token to two acquisitions.
var errHeldTwice = errors.New("the servers granted a token that this process already holds under a different holder id")

// add starts keeping a granted permit alive.
func (r *renewer) add(ctx context.Context, a *acquisition, got attemptResult) (*Permit, error) {
	granted := got.grant.GetPermit()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	switch held := r.permits[granted.GetToken()]; {
	case r.closed:
		return nil, ErrClosed
	case a.claim != nil && granted.GetToken() <= a.claim.ended:
		return nil, ErrReleasePending // the request was retried after its permit had ended, and a release may still arrive
	case held != nil:
		return nil, errHeldTwice
	}
	if tooShort(a.stopTime, got.belief.duration) {
		return nil, &StopTimeError{StopTime: a.stopTime, Duration: got.belief.duration}
	}
	p := &Permit{
		renewer:  r,
		granted:  granted,
		identity: a.identity(),
		claim:    a.claim,
		stopTime: a.stopTime,
		stall:    a.stallLimit,
		done:     make(chan struct{}),
		belief:   got.belief,
		index:    [numSchedules]int{-1, -1},
	}
	p.progress.Store(int64(now))
	p.reports.Store(p.stall > 0)
	p.ctx, p.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	r.permits[p.Token()] = p
	if c := a.claim; c != nil {
		c.permit, c.leftover, c.lost = p, 0, nil
	}
	r.scheduleEvent(p)
	r.refresh.set(p, p.belief.base+jitter(min(p.belief.duration/3, firstRefresh)))
	r.watchAlarm.ringBy(p.at[byEvent], now)
	r.serveAlarm.ringBy(p.at[byRefresh], now)
	r.start.Do(func() {
		r.work.Go(r.watch)
		r.work.Go(r.serve)
	})
	return p, nil
}

// scheduleEvent schedules the permit's next event. The caller holds mu.
func (r *renewer) scheduleEvent(p *Permit) {
	at := p.belief.deadline
	if !p.stopping {
		at = min(at-stopTime(p.stopTime, p.belief.duration), p.stallsAt())
	}
	r.events.set(p, at)
}

// alarm wakes one of the renewer's goroutines, which sleeps until the first permit in its schedule is due. Scheduling
// an earlier permit rings the alarm; scheduling a later one does not. Most permits are released before a refresh is
// due, and waking a goroutine takes longer than everything else that the renewer does for them.
type alarm struct {
	wake chan struct{} // buffered
	// until is the clock reading at which the goroutine wakes up if the alarm does not ring. The goroutine reads its
	// schedule before it sleeps, so until may be stale while it is awake.
	until time.Duration
}

func newAlarm() alarm { return alarm{wake: make(chan struct{}, 1)} }

// set records that the goroutine will sleep for at most d, and returns d.
func (a *alarm) set(now, d time.Duration) time.Duration {
	a.until = now + d
	return d
}

// ringBy makes the goroutine read its schedule no later than at. A goroutine that should be awake by now may still be
// asleep, because timers stop while the machine is suspended.
func (a *alarm) ringBy(at, now time.Duration) {
	if now < a.until && a.until <= at {
		return
	}
	select {
	case a.wake <- struct{}{}:
	default: // the goroutine will read the schedule anyway
	}
}

// watch processes permit events until the renewer is closed.
func (r *renewer) watch() {
	timer := time.NewTimer(maxSleep)
	defer timer.Stop()
	for {
		timer.Reset(r.expire())
		select {
		case <-timer.C:
		case <-r.watchAlarm.wake:
		case <-r.ctx.Done():
			return
		}
	}
}

// expire processes the events that are due, logs stalled jobs, and returns the time until the next event.
func (r *renewer) expire() time.Duration {
	wait, stalled := r.expireDue()
	for _, p := range stalled { // without the mutex, because the log handler belongs to the application
		r.client.settings.logger.Warn("gatekeeper: the job is making no progress and must stop",
			"semaphore", p.Semaphore(), "token", p.Token(), "stall_limit", p.stall)
	}
	return wait
}

func (r *renewer) expireDue() (wait time.Duration, stalled []*Permit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	for {
		p := r.events.first()
		switch {
		case p == nil:
			return r.watchAlarm.set(now, time.Hour), stalled // the next permit wakes the goroutine
		case now < p.at[byEvent]:
			return r.watchAlarm.set(now, min(p.at[byEvent]-now, maxSleep)), stalled
		case now >= p.belief.deadline:
			r.end(p, lostAtDeadline())
		case now >= p.stallsAt():
			_ = r.stopFor(p, &StopError{stalled: true, Message: fmt.Sprintf("no call to Progress for %s", p.stall), Until: r.wallTime(p.belief.deadline)}) // the context's cause is the same error
			stalled = append(stalled, p)
		case now < p.belief.deadline-stopTime(p.stopTime, p.belief.duration):
			r.scheduleEvent(p) // the job has since made progress
		default:
			message := "no server has responded since the last refresh"
			if r.lastErr != nil {
				message = plainText(r.lastErr)
			}
			_ = r.stop(p, gatekeeperv1.StopCause_STOP_CAUSE_UNSPECIFIED, message) // the context's cause is the same error
		}
	}
}

func lostAtDeadline() error { return fmt.Errorf("%w: its deadline passed without a refresh", ErrLost) }

// stopWithDrain ends the permit's context, even though refreshes are still granted until its drain ends. Belief
// continues. The caller holds mu.
func (r *renewer) stopWithDrain(p *Permit, res *gatekeeperv1.TokenResult) {
	_ = r.stopFor(p, &StopError{ // the context's cause is the same error
		Cause: res.GetStop(), Message: res.GetMessage(), Drain: res.GetDrainLeft().AsDuration(), Until: r.wallTime(max(p.belief.deadline, p.drain)),
	})
}

// stop ends the permit's context. Belief continues. The caller holds mu.
func (r *renewer) stop(p *Permit, cause gatekeeperv1.StopCause, message string) error {
	return r.stopFor(p, &StopError{Cause: cause, Message: message, Until: r.wallTime(p.belief.deadline)})
}

func (r *renewer) stopFor(p *Permit, why *StopError) error {
	if !p.stopping {
		p.stopping = true
		p.cancel(why)
		r.scheduleEvent(p)
	}
	return why
}

// end ends belief in a permit permanently. The caller holds mu.
func (r *renewer) end(p *Permit, cause error) {
	if p.ended {
		return
	}
	p.ended, p.stopping = true, true
	delete(r.permits, p.Token())
	r.beliefEnded(p)
	r.events.remove(p)
	r.refresh.remove(p)
	if p.lastStream != 0 && p.lastStream == r.streams {
		r.forget = append(r.forget, p.Token())
	}
	p.cancel(cause)
	close(p.done)
	p.failWaiters(cause)
}

// drop ends belief in a permit that is about to be released. It returns how long a server may still hold the permit if
// the leader changes once.
func (r *renewer) drop(p *Permit) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(p, ErrReleased)
	return p.belief.deadline - r.clock.Now() + afterDeadline(p.belief.duration)
}

// released records that the servers have responded to a release.
func (r *renewer) released(p *Permit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endedOnServer(p)
}

// close ends belief in all permits and returns when both goroutines have stopped.
func (r *renewer) close() {
	r.mu.Lock()
	r.closed = true
	for _, p := range r.permits {
		r.end(p, ErrClosed)
	}
	r.mu.Unlock()
	r.cancel()
	r.work.Wait()
}

// requestRefresh makes a refresh due now.
func (r *renewer) requestRefresh(p *Permit) (refreshWaiter, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	switch {
	case p.ended:
		return refreshWaiter{}, context.Cause(p.ctx)
	case now >= p.belief.deadline:
		r.end(p, lostAtDeadline())
		return refreshWaiter{}, context.Cause(p.ctx)
	case p.refused != nil:
		return refreshWaiter{}, p.refused
	}
	w := refreshWaiter{after: now, result: make(chan error, 1)}
	p.waiters = append(p.waiters, w)
	if !p.inFlight { // otherwise the refresh is sent after the response to the frame in flight
		r.refresh.set(p, now)
		r.serveAlarm.ringBy(now, now)
	}
	return w, nil
}

// removeWaiter removes a waiter that has stopped waiting.
func (r *renewer) removeWaiter(p *Permit, w refreshWaiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.waiters = slices.DeleteFunc(p.waiters, func(o refreshWaiter) bool { return o.result == w.result })
}

// failWaiters passes err to every waiter. The caller holds the renewer's mutex.
func (p *Permit) failWaiters(err error) {
	for _, w := range p.waiters {
		w.result <- err
	}
	p.waiters = nil
}

// wallTime converts a clock reading into a wall-clock time for display and timers. The result has no monotonic reading,
// because the monotonic clock stops while the machine is suspended: compared with a later time.Now(), it would show
// time left when there is none.
func (r *renewer) wallTime(at time.Duration) time.Time {
	return time.Now().Round(0).Add(at - r.clock.Now())
}
