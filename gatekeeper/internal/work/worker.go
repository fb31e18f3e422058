package work

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// MaxSlots is the maximum number of tasks that one worker can have at a time.
const MaxSlots = 1000

// MaxHolderID is the maximum length of a worker's holder id in bytes. Each task appends a suffix to it.
const MaxHolderID = 200

const (
	// retryDelay is the minimum delay before a denied worker retries. The maximum is twice as long.
	retryDelay = 500 * time.Millisecond
	// maxFrames is the number of frames per stream that are retained with their arrival times. frameGap is the minimum
	// time between two of them, because a busy worker sends a frame for each task. Together they cover 5 s, which is
	// longer than any usable disk takes to commit a grant.
	maxFrames = 256
	frameGap  = 20 * time.Millisecond
)

// Grant is a task for a worker.
type Grant struct {
	// Answer.Waited is the time between the arrival of Frame and the proposal of the grant.
	keeper.Answer
	// Frame is the last frame that arrived before the proposal.
	Frame uint64
}

// Ended is the outcome of ending a task.
type Ended struct {
	Token  uint64
	Result fsm.ReleaseResult
	// Refused, if not nil, is the reason why nothing was done. The worker must end the task in a different way.
	Refused error
}

// Answer is one message to a worker. Exactly one field is set.
type Answer struct {
	Grant  *Grant
	Ended  *Ended
	Denial *keeper.Denial
}

// Worker is the server side of one worker stream. Its methods may be called from any goroutine.
type Worker struct {
	room   *Room
	offer  Offer
	opened time.Time
	prefix string
	// answers carries the messages for the worker. The owner of the stream sends them.
	answers chan Answer
	ctx     context.Context //nolint:containedctx // the context of the stream
	slotCtx context.Context //nolint:containedctx // also ends with the first Drain
	drain   context.CancelFunc
	failed  chan error // receives the first error that ends the stream
	calls   sync.WaitGroup

	// Guarded by Room.mu.
	closed   bool
	count    int // number of slots opened so far
	free     int
	draining bool
	denied   semaphore.Reason
	paused   *semaphore.Pause // the last pause that the worker was notified of
	tasks    map[uint64]*Held
	frames   []frame // newest last
}

// frame is a received message.
type frame struct {
	number uint64
	at     time.Time
}

// Open starts a worker for the stream whose context is ctx. The caller must call Close.
func (r *Room) Open(ctx context.Context, offer Offer) *Worker {
	w := &Worker{
		room: r, offer: offer, opened: time.Now(), prefix: rand.Text()[:12], answers: make(chan Answer), ctx: ctx,
		failed: make(chan error, 1), tasks: make(map[uint64]*Held),
	}
	w.slotCtx, w.drain = context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers[w] = struct{}{}
	return w
}

// Close removes the worker after its stream has ended, and waits for its goroutines to exit. Its tasks' permits remain.
func (w *Worker) Close() {
	w.drain()
	w.room.mu.Lock()
	w.closed = true
	w.room.mu.Unlock()
	w.calls.Wait()
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	delete(w.room.workers, w)
	for token := range w.tasks {
		delete(w.room.held, token)
	}
}

// Answers returns the channel of messages to send to the worker.
func (w *Worker) Answers() <-chan Answer { return w.answers }

// Failed returns a channel that receives the error that ends the stream, for example because this server is no longer
// the leader.
func (w *Worker) Failed() <-chan error { return w.failed }

// WaitSettled waits until every accepted End call has been answered and no slot is waiting for a task.
func (w *Worker) WaitSettled() { w.calls.Wait() }

// Received records that a frame has arrived. It must be called before the frame is processed. A frame that arrives
// shortly after another is not recorded: a grant's duration then counts from the earlier frame, so the grant ends
// slightly earlier for the worker.
func (w *Worker) Received(number uint64, at time.Time) {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	if n := len(w.frames); n > 0 && at.Sub(w.frames[n-1].at) < frameGap {
		return
	}
	if len(w.frames) == maxFrames {
		w.frames = slices.Delete(w.frames, 0, 1)
	}
	w.frames = append(w.frames, frame{number, at})
}

// Take lets the worker take n more tasks. It returns an error if that would exceed MaxSlots.
func (w *Worker) Take(n int) error {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	if err := w.checkSlots(n); err != nil {
		return err
	}
	for range n {
		w.open(func() {})
	}
	return nil
}

// checkSlots returns an error if n more tasks would exceed MaxSlots. The caller must hold the lock.
func (w *Worker) checkSlots(n int) error {
	if w.free+len(w.tasks)+n > MaxSlots {
		return semaphore.Invalid("slots", fmt.Sprint(n), fmt.Sprintf("must not allow the worker more than %d tasks at a time", MaxSlots))
	}
	return nil
}

// open opens a slot. It calls placed when the slot is in the queue or will definitely not take a task. withdraw closes
// the slot and waits until its goroutine has exited; a task granted to the slot in the meantime is returned. The caller
// of open must hold the lock, and the caller of withdraw must not.
func (w *Worker) open(placed func()) (withdraw func()) {
	if w.draining || w.closed {
		placed()
		return func() {}
	}
	w.free++
	w.count++
	id := w.offer.Identity
	id.HolderID = fmt.Sprintf("%s/%s-%d", id.HolderID, w.prefix, w.count) // OfferedBy undoes this
	ctx, cancel := context.WithCancel(w.slotCtx)
	ended := make(chan struct{})
	w.calls.Go(func() {
		defer close(ended)
		defer cancel()
		w.slot(ctx, id, placed)
	})
	return func() {
		cancel()
		<-ended
	}
}

// OfferedBy returns the identity in a worker's offer, given the identity of the permit for one of its tasks.
func OfferedBy(id semaphore.Identity) semaphore.Identity {
	id.HolderID = id.HolderID[:max(0, strings.LastIndexByte(id.HolderID, '/'))]
	return id
}

// Drain stops taking tasks.
func (w *Worker) Drain() {
	w.room.mu.Lock()
	w.draining = true
	w.room.mu.Unlock()
	w.drain()
}

// slot waits for one task until ctx ends.
func (w *Worker) slot(ctx context.Context, id semaphore.Identity, placed func()) {
	granted := false
	defer func() {
		placed()
		w.room.mu.Lock()
		defer w.room.mu.Unlock()
		if !granted {
			w.free--
		}
	}()
	for ctx.Err() == nil {
		call := &keeper.AcquireCall{
			Request:       semaphore.Request{Semaphore: w.offer.Semaphore, Identity: id, Weight: w.offer.Weight, Worker: true},
			Metadata:      w.offer.Metadata,
			Received:      time.Now(),
			UntilAnswered: true,
			Placed: func() {
				w.admitted()
				placed()
			},
		}
		a, err := w.room.keeper.Acquire(ctx, call, func(at keeper.Place) error { return w.notifyPause(ctx, &call.Request, at.Pause) })
		switch {
		case ctx.Err() != nil && err != nil:
			return
		case err != nil:
			w.fail(err)
			return
		case a.Repeat != nil: // retry
		case a.Outcome == semaphore.Denied:
			placed()
			if !w.wait(ctx, a.Denial) {
				return
			}
		default:
			granted = true
			w.granted(ctx, call.Received, a)
			return
		}
	}
}

// wait sends a denial to the worker, unless the worker already knows the reason, and waits until it is worth retrying.
// It reports whether to retry.
func (w *Worker) wait(ctx context.Context, d *keeper.Denial) bool {
	w.room.mu.Lock()
	changed := w.denied != d.Decision.Reason
	w.denied = d.Decision.Reason
	w.room.mu.Unlock()
	if changed && !w.send(ctx, Answer{Denial: d}) {
		return false
	}
	again := time.NewTimer(retryDelay + mathrand.N(retryDelay))
	defer again.Stop()
	select {
	case <-again.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// notifyPause notifies the worker, once, that the semaphore is paused. Its slots keep their places in the queue, so
// they are not denied for that reason.
func (w *Worker) notifyPause(ctx context.Context, req *semaphore.Request, p *semaphore.Pause) error {
	w.room.mu.Lock()
	changed := w.paused != p && p != nil
	w.paused = p
	w.room.mu.Unlock()
	if !changed {
		return nil
	}
	d := semaphore.Decision{Outcome: semaphore.Denied, Reason: semaphore.Paused}
	w.send(ctx, Answer{Denial: &keeper.Denial{
		Decision: d, Message: d.Sentence(req, &semaphore.Facts{Pause: p}), RetryAfter: -1, Pause: p,
	}})
	return ctx.Err()
}

// admitted records that the semaphore admits the worker, so that a later denial is sent even if its reason is not new.
func (w *Worker) admitted() {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	w.denied = semaphore.NoReason
}

// granted turns the slot into a task and hands the task to the worker. If the stream has ended or the slot was
// withdrawn, it returns the task instead.
func (w *Worker) granted(ctx context.Context, received time.Time, a keeper.Answer) {
	token := a.Permit.Token
	w.room.mu.Lock()
	w.denied = semaphore.NoReason
	g := w.newGrant(received.Add(a.Waited), a)
	held := &Held{Token: token}
	if a.Task != nil {
		held.Job, held.Index = a.Job.ID, a.Task.Index
	}
	w.tasks[token], w.room.held[token] = held, held
	w.free--
	w.room.mu.Unlock()
	if a.Task != nil && !w.withdrawn(ctx) && w.send(w.ctx, Answer{Grant: g}) {
		return
	}
	w.forget(token)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), returnTimeout)
	defer cancel()
	_, _ = w.room.keeper.Release(ctx, fsm.Release{Token: token, Job: semaphore.JobNotRun}, w.offer.Owner) // if this fails, the permit expires
}

// withdrawn reports whether the slot whose context is ctx was withdrawn. A drain does not withdraw slots that have a
// task.
func (w *Worker) withdrawn(ctx context.Context) bool {
	return ctx.Err() != nil && w.slotCtx.Err() == nil
}

// returnTimeout is the timeout for returning a task that could not be sent to the worker.
const returnTimeout = 5 * time.Second

// newGrant returns a grant that was proposed at the given time, with the last frame that had arrived by then. The
// caller must hold the lock.
func (w *Worker) newGrant(proposedAt time.Time, a keeper.Answer) *Grant {
	// If no retained frame had arrived by then, the grant has no frame, and the worker does not rely on it yet.
	g := &Grant{Answer: a}
	for _, f := range slices.Backward(w.frames) {
		if !f.at.After(proposedAt) {
			g.Frame, g.Waited = f.number, proposedAt.Sub(f.at)
			break
		}
	}
	return g
}

// End releases a task's permit and sends the outcome to the worker once that is done. If next is set, it also takes
// another task: the slot is placed in the queue before the release, so that both can go into one log entry. If the
// release is refused, nothing changes: the worker keeps the task and gets no new one.
func (w *Worker) End(cmd fsm.Release, next bool) error {
	placed := make(chan struct{})
	place := sync.OnceFunc(func() { close(placed) })
	undo := func() {}
	if next {
		var err error
		if undo, err = w.exchange(cmd.Token, place); err != nil {
			return err
		}
	} else {
		place()
	}
	w.run(func() {
		<-placed
		r, err := w.room.keeper.Release(w.ctx, cmd, w.offer.Owner)
		var refused error
		if isEndError(err) {
			err, refused = nil, err
		}
		switch {
		case err != nil:
			w.fail(err)
			return
		case refused != nil:
			undo()
		default:
			w.forget(cmd.Token)
		}
		w.send(w.ctx, Answer{Ended: &Ended{cmd.Token, r, refused}})
	})
	return nil
}

// exchange replaces a task with a new slot.
func (w *Worker) exchange(token uint64, placed func()) (undo func(), err error) {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	held := w.tasks[token]
	w.drop(token)
	if err := w.checkSlots(1); err != nil {
		return nil, err
	}
	withdraw := w.open(placed)
	return func() {
		withdraw()
		w.room.mu.Lock()
		defer w.room.mu.Unlock()
		if held != nil {
			w.tasks[token], w.room.held[token] = held, held
		}
	}, nil
}

// run runs f in a goroutine that Close waits for. After Close, which may be called while earlier messages are still
// being processed, it does nothing.
func (w *Worker) run(f func()) {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	if !w.closed {
		w.calls.Go(f)
	}
}

// isEndError reports whether an error is about the worker's request to end a task rather than about the server.
func isEndError(err error) bool {
	_, limit := errors.AsType[*keeper.WorkLimitError](err)
	_, field := errors.AsType[*semaphore.FieldError](err)
	return limit || field || errors.Is(err, keeper.ErrRefused)
}

// Report records the progress of a task.
func (w *Worker) Report(token uint64, p Progress) {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	if h := w.tasks[token]; h != nil {
		h.Progress = &p
	}
}

func (w *Worker) forget(token uint64) {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	w.drop(token)
}

// drop is like forget, but the caller must hold the lock.
func (w *Worker) drop(token uint64) {
	if held := w.tasks[token]; held != nil && w.room.held[token] == held { // it may be another worker's
		delete(w.room.held, token)
	}
	delete(w.tasks, token)
}

// send passes a message to the stream's owner and reports whether it was received.
func (w *Worker) send(ctx context.Context, a Answer) bool {
	select {
	case w.answers <- a:
		return true
	case <-ctx.Done():
		return false
	}
}

func (w *Worker) fail(err error) {
	select {
	case w.failed <- err:
	default:
	}
}
