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

// MaxSlots is how many tasks one worker can have at a time.
const MaxSlots = 1000

// MaxHolderID is the most bytes of a worker's holder id: each task adds its part to it.
const MaxHolderID = 200

const (
	// askAgain is how long a worker that was denied waits at least before it asks again, and half of the most.
	askAgain = 500 * time.Millisecond
	// keptFrames is how many frames of a stream are known by the time at which they came, and frameGap the least time
	// between two of them. A busy worker sends one for each task. Together they go back 5 s, longer than a grant takes
	// to be committed on any disk that is of use.
	keptFrames = 256
	frameGap   = 20 * time.Millisecond
)

// Grant is a task for a worker.
type Grant struct {
	// Answer.Waited is the time from the frame to when the grant was handed to the log.
	keeper.Answer
	// Frame is the last one that had come by then.
	Frame uint64
}

// Ended is what became of the end of a task.
type Ended struct {
	Token  uint64
	Result fsm.ReleaseResult
	// Refused is why nothing happened, or nil: the worker is to end the task in another way.
	Refused error
}

// Answer is one message to a worker: one of its fields is set.
type Answer struct {
	Grant  *Grant
	Ended  *Ended
	Denial *keeper.Denial
}

// Worker is one stream of a worker. Its methods may be called from any goroutine.
type Worker struct {
	room   *Room
	offer  Offer
	opened time.Time
	prefix string
	// answers has the messages to the worker, which the owner sends.
	answers chan Answer
	ctx     context.Context //nolint:containedctx // the stream's
	take    context.Context //nolint:containedctx // ends with the first Drain, too
	drain   context.CancelFunc
	failed  chan error // holds the first error that ends the stream
	calls   sync.WaitGroup

	// Guarded by Room.mu.
	closed   bool
	count    int // of the permits that were asked for
	free     int
	draining bool
	denied   semaphore.Reason
	paused   *semaphore.Pause // of which the worker has heard
	tasks    map[uint64]*Held
	frames   []frame // the newest last
}

// frame is a message that came.
type frame struct {
	number uint64
	at     time.Time
}

// Open opens a worker on a stream of that context. The caller calls Close.
func (r *Room) Open(ctx context.Context, offer Offer) *Worker {
	w := &Worker{
		room: r, offer: offer, opened: time.Now(), prefix: rand.Text()[:12], answers: make(chan Answer), ctx: ctx,
		failed: make(chan error, 1), tasks: make(map[uint64]*Held),
	}
	w.take, w.drain = context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers[w] = struct{}{}
	return w
}

// Close forgets the worker when its stream has ended, and waits for what it still does. What it holds stays held.
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

// Answers has what is to be sent to the worker.
func (w *Worker) Answers() <-chan Answer { return w.answers }

// Failed has the error that ends the stream: this server does not lead any more, for example.
func (w *Worker) Failed() <-chan error { return w.failed }

// Settled waits until all ends that were taken in are answered and no task is being taken.
func (w *Worker) Settled() { w.calls.Wait() }

// Received notes that a frame has come. Call it first. One that comes shortly after another is passed over: a grant is
// then counted from the other one, and ends that much earlier for the worker.
func (w *Worker) Received(number uint64, at time.Time) {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	if n := len(w.frames); n > 0 && at.Sub(w.frames[n-1].at) < frameGap {
		return
	}
	if len(w.frames) == keptFrames {
		w.frames = slices.Delete(w.frames, 0, 1)
	}
	w.frames = append(w.frames, frame{number, at})
}

// Take lets the worker have so many more tasks. It returns an error if that is too many.
func (w *Worker) Take(n int) error {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	if err := w.fits(n); err != nil {
		return err
	}
	for range n {
		w.open(func() {})
	}
	return nil
}

// fits returns an error if so many more tasks are too many. The caller holds the lock.
func (w *Worker) fits(n int) error {
	if w.free+len(w.tasks)+n > MaxSlots {
		return semaphore.Invalid("slots", fmt.Sprint(n), fmt.Sprintf("must leave the worker with at most %d tasks at a time", MaxSlots))
	}
	return nil
}

// open opens a slot, which calls placed when it stands in the queue, or takes no task. withdraw ends the slot, and
// returns when it has ended; a task that it got meanwhile goes back. The caller of open holds the lock, that of
// withdraw does not.
func (w *Worker) open(placed func()) (withdraw func()) {
	if w.draining || w.closed {
		placed()
		return func() {}
	}
	w.free++
	w.count++
	id := w.offer.Identity
	id.HolderID = fmt.Sprintf("%s/%s-%d", id.HolderID, w.prefix, w.count) // OfferedBy undoes it
	ctx, cancel := context.WithCancel(w.take)
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

// OfferedBy is the identity of the offer whose task a permit of that identity carries.
func OfferedBy(id semaphore.Identity) semaphore.Identity {
	id.HolderID = id.HolderID[:max(0, strings.LastIndexByte(id.HolderID, '/'))]
	return id
}

// Drain takes no more tasks.
func (w *Worker) Drain() {
	w.room.mu.Lock()
	w.draining = true
	w.room.mu.Unlock()
	w.drain()
}

// slot waits for one task, until ctx ends.
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
		a, err := w.room.keeper.Acquire(ctx, call, func(at keeper.Place) error { return w.notePause(ctx, &call.Request, at.Pause) })
		switch {
		case ctx.Err() != nil && err != nil:
			return
		case err != nil:
			w.fail(err)
			return
		case a.Repeat != nil: // asks again
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

// wait sends the worker once why it is denied, and waits until it is worth asking again.
func (w *Worker) wait(ctx context.Context, d *keeper.Denial) bool {
	w.room.mu.Lock()
	news := w.denied != d.Decision.Reason
	w.denied = d.Decision.Reason
	w.room.mu.Unlock()
	if news && !w.send(ctx, Answer{Denial: d}) {
		return false
	}
	again := time.NewTimer(askAgain + mathrand.N(askAgain))
	defer again.Stop()
	select {
	case <-again.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// notePause notifies the worker once that the semaphore is paused. Its slots keep their places, so no denial says so.
func (w *Worker) notePause(ctx context.Context, req *semaphore.Request, p *semaphore.Pause) error {
	w.room.mu.Lock()
	news := w.paused != p && p != nil
	w.paused = p
	w.room.mu.Unlock()
	if !news {
		return nil
	}
	d := semaphore.Decision{Outcome: semaphore.Denied, Reason: semaphore.Paused}
	w.send(ctx, Answer{Denial: &keeper.Denial{
		Decision: d, Message: d.Sentence(req, &semaphore.Facts{Pause: p}), RetryAfter: -1, Pause: p,
	}})
	return ctx.Err()
}

// admitted notes that the semaphore lets the worker in: a denial for the same reason is news again.
func (w *Worker) admitted() {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	w.denied = semaphore.NoReason
}

// granted hands a task to the worker. One that is not sent goes back: the stream has ended, or the slot of ctx was
// withdrawn. From here on the slot counts as that task.
func (w *Worker) granted(ctx context.Context, received time.Time, a keeper.Answer) {
	token := a.Permit.Token
	w.room.mu.Lock()
	w.denied = semaphore.NoReason
	g := w.counted(received.Add(a.Waited), a)
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), giveBack)
	defer cancel()
	_, _ = w.room.keeper.Release(ctx, fsm.Release{Token: token, Job: semaphore.JobNotRun}, w.offer.Owner) // else it expires
}

// withdrawn reports whether the slot of ctx was withdrawn. A drain takes no task back.
func (w *Worker) withdrawn(ctx context.Context) bool { return ctx.Err() != nil && w.take.Err() == nil }

// giveBack is how long the return of a task that nobody heard of may take.
const giveBack = 5 * time.Second

// counted finds the last frame that had come at an instant. The caller holds the lock.
func (w *Worker) counted(handed time.Time, a keeper.Answer) *Grant {
	g := &Grant{Answer: a} // without a frame if the last one is long ago; the worker counts on nothing then
	for _, f := range slices.Backward(w.frames) {
		if !f.at.After(handed) {
			g.Frame, g.Waited = f.number, handed.Sub(f.at)
			break
		}
	}
	return g
}

// End releases the permit of a task, and answers when that is done. With next it takes another task: its slot is placed
// before the release is, so that both go into one log entry. If the end is refused, nothing has happened: the worker
// keeps the task and takes no other.
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
		if isOfTheEnd(err) {
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

// exchange opens a slot in place of a task.
func (w *Worker) exchange(token uint64, placed func()) (undo func(), err error) {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	held := w.tasks[token]
	w.drop(token)
	if err := w.fits(1); err != nil {
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

// run runs f, for which Close waits. Once the stream has ended it does nothing: messages that had come may still be
// taken in.
func (w *Worker) run(f func()) {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	if !w.closed {
		w.calls.Go(f)
	}
}

// isOfTheEnd reports whether an error is about what a worker says of its task, and not about the server.
func isOfTheEnd(err error) bool {
	_, limit := errors.AsType[*keeper.WorkLimitError](err)
	_, field := errors.AsType[*semaphore.FieldError](err)
	return limit || field || errors.Is(err, keeper.ErrRefused)
}

// Report notes how far a task has come.
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

// drop is forget for a caller that holds the lock.
func (w *Worker) drop(token uint64) {
	if held := w.tasks[token]; held != nil && w.room.held[token] == held { // a token that it names may be another worker's
		delete(w.room.held, token)
	}
	delete(w.tasks, token)
}

// send hands an answer to the owner of the stream, and reports whether it took it.
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
