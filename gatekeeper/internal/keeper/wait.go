package keeper

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// queuedCall is a call in the queue.
type queuedCall struct {
	call *AcquireCall
	wake chan struct{}
	// recheck requests a new decision even though it is not this call's turn, because the outcome may have changed.
	recheck atomic.Bool
	// superseded is set when another call for the same acquisition has taken this call's place.
	superseded atomic.Bool
	// cancelled is set when the acquisition was cancelled.
	cancelled atomic.Bool

	// assignedGrant is a grant that a handover proposed on the call's behalf and whose outcome the call has not yet
	// received. ended is set when the call has ended; no grant is proposed on its behalf after that. Both are guarded
	// by pendingGrants.mu.
	assignedGrant *pendingGrant
	ended         bool
}

func (w *queuedCall) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Acquire waits for a permit, first come, first served within a leader's term. It calls progress with the call's place
// in the queue, and again whenever that changes, even for a worker for which there is no task. An error from progress
// ends the call. Unless UntilAnswered is set, a call lasts at most Config.MaxWait. Answer.Repeat is then set, and a
// retry with the same request id keeps its place if it arrives within queue.Linger. If ctx ends first, the place is
// kept for the same time.
//
// A call waits only for a free permit, for a task if the caller is a worker, and for the end of a pause unless
// LeaveOnPause is set. Any other denial ends the wait, even if a later edit causes it, and even during a pause.
func (k *Keeper) Acquire(ctx context.Context, call *AcquireCall, progress func(Place) error) (Answer, error) {
	t, err := k.leading()
	if err != nil {
		return Answer{}, err
	}
	if level := k.cfg.Machine.State().FeatureLevel(); call.Worker && level < 4 {
		return Answer{}, &FeatureLevelError{Needed: 4, InForce: level}
	}
	k.noteRequest(call)
	place := queue.Key{Semaphore: call.Semaphore, Identity: call.Identity, RequestID: k.placeID(call)}
	queued := func() bool { return k.ahead(call.Semaphore, &place) || !k.gathered(t) }
	r := k.settle(ctx, t, call, queuePosition{waitsAhead: queued, waits: true})
	if r.next != queueUp {
		if isSettled(r.err) {
			k.leave(place, nil) // an earlier call may hold a place
		}
		return k.noteAnswer(call, r)
	}

	me := &queuedCall{call: call, wake: make(chan struct{}, 1)}
	join := k.queue.Join
	if call.OnePerAcquirer {
		join = k.queue.JoinExclusive
	}
	w, replaced := join(place, call.Request, call.Metadata, me, time.Now(), call.WaitedBefore)
	if w == nil {
		r := k.settle(ctx, t, call, queuePosition{waitsAhead: queued})
		if d := r.answer.Denial; d != nil && (d.Decision.Reason == semaphore.NoFreePermit || d.Decision.Reason == semaphore.Paused) {
			d.Message += fmt.Sprintf(" Another acquire by %q in group %q is already waiting.", call.Identity.Acquirer, call.Identity.Group)
		}
		return k.noteAnswer(call, r)
	}
	if replaced != nil {
		replaced.superseded.Store(true)
		replaced.signal()
	}
	// The decision may no longer hold: a caller ahead may have been granted a permit and left before this call joined
	// the queue.
	me.recheck.Store(true)
	me.signal()
	k.inbox.touch(call.Semaphore)
	call.placed()
	r = k.wait(ctx, t, call, w, me, progress)
	if k.giveUp(me) {
		r.left = true // the grant is abandoned, and the acquisition ends with it
	}
	switch {
	case !k.queue.Has(w): // another call now holds the place under that key
	case r.left, call.RequestID == "":
		k.leave(place, me)
	default:
		k.queue.Detach(w, me, time.Now())
		k.queue.Return(w) // in case it was being proposed
	}
	k.inbox.touch(call.Semaphore)
	return k.noteAnswer(call, r)
}

// isSettled reports whether an acquisition is finished: either it succeeded or was denied, or it failed with an error
// that every retry would return. After any other error, the acquisition can be retried and keeps its place.
func isSettled(err error) bool {
	return err == nil || errors.Is(err, ErrRequestEnded) || errors.Is(err, ErrRequestReused) || errors.Is(err, ErrRequestTooOld) ||
		errors.Is(err, ErrRevisionChanged) || errors.Is(err, ErrRefused)
}

// leave removes a finished acquisition from the queue. If another call for the acquisition is waiting there, it is
// woken to decide again and gets the same result.
func (k *Keeper) leave(place queue.Key, me *queuedCall) {
	other, known := k.queue.Leave(place)
	if other != nil && other != me {
		other.recheck.Store(true)
		other.signal()
	}
	if known {
		k.inbox.touch(place.Semaphore)
	}
}

// wait keeps the call in the queue until it has a result.
func (k *Keeper) wait(ctx context.Context, t *tenure, call *AcquireCall, w *queue.Waiter[*queuedCall], me *queuedCall, progress func(Place) error) round {
	limit := time.NewTimer(k.cfg.MaxWait)
	defer limit.Stop()
	if call.UntilAnswered {
		limit.Stop()
	}
	var sent Place
	for done := false; ; {
		if now := k.placeOf(w); now != sent && (now.Place > 0 || call.Worker) {
			sent = now
			if err := progress(now); err != nil {
				return failed(err)
			}
		}
		select {
		case <-me.wake:
		case <-limit.C:
			done = true
		case <-t.done:
			return failed(k.notLeader()).leaving(true)
		case <-k.closed:
			return failed(k.notLeader()).leaving(true)
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return failed(err)
		}
		k.keepFresh(call)
		offered := k.queue.Offered(w)
		active := !me.cancelled.Load() && !me.superseded.Load()
		if k.hasAssignedGrant(me) || active && (offered || me.recheck.Swap(false)) {
			r := k.settle(ctx, t, call, queuePosition{waitsAhead: func() bool { return !offered }, waits: true, entry: me})
			if r.next != queueUp {
				// If ctx has ended, the grant that the call gave up is abandoned, and the acquisition ends with it.
				return r.leaving(r.left || isSettled(r.err) || ctx.Err() != nil)
			}
			if offered {
				k.queue.Return(w)
				k.inbox.touch(call.Semaphore)
			}
		}
		isCancelled, superseded := me.cancelled.Load(), me.superseded.Load()
		done = done || !k.queue.Has(w) // another call for this acquisition has left the queue
		switch {
		case !isCancelled && !superseded && !done:
		case !k.withdraw(me): // it is woken again with the outcome of its grant
		case isCancelled:
			return failed(&RequestEndedError{cancelledRecord(call)}).leaving(true)
		case superseded:
			return failed(ErrSuperseded)
		case call.UntilAnswered: // its place was lost when this server lost leadership
			return failed(k.notLeader()).leaving(true)
		default:
			return round{answer: Answer{Repeat: &sent, RepeatRevision: call.notGrantedAsOf()}}
		}
	}
}

// placeID returns the id of the acquisition in the queue. An acquisition without a request id cannot be retried, so any
// unique id works.
func (k *Keeper) placeID(call *AcquireCall) string {
	if call.RequestID != "" {
		return call.RequestID
	}
	return "\x00" + strconv.FormatUint(k.streams.Add(1), 10) // no request id contains a control character
}

// gathered reports whether the grace period for waiters to rejoin after a promotion has ended.
func (k *Keeper) gathered(t *tenure) bool { return !time.Now().Before(t.gathered) }

func (k *Keeper) placeOf(w *queue.Waiter[*queuedCall]) Place {
	place, length := k.queue.Place(w, k.tasks(w.Semaphore))
	sent := Place{Place: place, QueueLength: length}
	if sd := k.cfg.Machine.State().Definition(w.Semaphore); sd != nil {
		sent.Pause = sd.Pause
	}
	return sent
}

// Waiters returns the waiters for the matching semaphores, ordered by name and place, starting after a cursor from this
// term.
func (k *Keeper) Waiters(match func(semaphore string) bool, after queue.Cursor, limit int) []Waiter {
	now := time.Now()
	snapshot := k.queue.Waiters(match, after, limit, k.tasks)
	waiters := make([]Waiter, len(snapshot))
	for i, s := range snapshot {
		waiters[i] = Waiter{
			Semaphore: s.Semaphore, Identity: s.Identity, Weight: s.Weight,
			Place: s.Place, Waiting: now.Sub(s.Joined), RequestID: visibleID(s.RequestID), Worker: s.Worker, Cursor: s.Cursor,
		}
	}
	return waiters
}

// tasks returns the number of a semaphore's tasks that are waiting for workers.
func (k *Keeper) tasks(sem string) uint64 { return k.cfg.Machine.State().Work(sem).Waiting }

// QueueLength returns the number of callers waiting for a semaphore's permits. Workers for which there is no task are
// not counted.
func (k *Keeper) QueueLength(sem string) int { return k.queue.Length(sem, k.tasks(sem)) }

// InQueue returns the number of callers in a semaphore's queue, including workers for which there is no task, and how
// many of them are workers.
func (k *Keeper) InQueue(sem string) (all, workers int) { return k.queue.Len(sem) }

// FirstWorker returns the weight of the first worker in a semaphore's queue, and how many callers ahead of it are not
// workers. ok is false if the queue has no workers.
func (k *Keeper) FirstWorker(sem string) (weight uint32, ahead int, ok bool) {
	return k.queue.FirstWorker(sem)
}

// queueEmpty reports whether a semaphore's queue is empty.
func (k *Keeper) queueEmpty(sem string) bool {
	all, _ := k.queue.Len(sem)
	return all == 0
}

// WaiterCount returns the sum of QueueLength over all semaphores.
func (k *Keeper) WaiterCount() int { return k.queue.Total(k.tasks) }

func visibleID(id string) string {
	if id != "" && id[0] == 0 {
		return ""
	}
	return id
}
