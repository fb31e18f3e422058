package keeper

import (
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// placeInterval is how often waiting calls are sent their new place in the queue.
const placeInterval = time.Second

// inbox holds the events that the dispatcher has not processed yet. Adding to it never blocks.
type inbox struct {
	ready chan struct{}

	mu      sync.Mutex // guards events and touched
	events  []fsm.Event
	touched map[string]struct{}
}

func newInbox() *inbox {
	return &inbox{ready: make(chan struct{}, 1), touched: make(map[string]struct{})}
}

func (in *inbox) add(a fsm.Applied) {
	if len(a.Events) == 0 {
		return
	}
	in.mu.Lock()
	in.events = append(in.events, a.Events...)
	in.mu.Unlock()
	in.wake()
}

// touch asks the dispatcher to offer permits to the waiters of a semaphore.
func (in *inbox) touch(sem string) {
	in.mu.Lock()
	in.touched[sem] = struct{}{}
	in.mu.Unlock()
	in.wake()
}

func (in *inbox) wake() {
	select {
	case in.ready <- struct{}{}:
	default:
	}
}

func (in *inbox) take() ([]fsm.Event, map[string]struct{}) {
	in.mu.Lock()
	defer in.mu.Unlock()
	events, touched := in.events, in.touched
	in.events, in.touched = nil, make(map[string]struct{})
	return events, touched
}

// dispatch notifies waiters and streams of applied entries. It runs on a separate goroutine, so that it does not delay
// applying entries.
func (k *Keeper) dispatch() {
	defer k.wg.Done()
	tick := time.NewTicker(placeInterval)
	defer tick.Stop()
	gather := time.NewTimer(0)
	defer gather.Stop()
	var gathering *tenure              // the tenure whose waiters are still rejoining
	moved := make(map[string]struct{}) // queues whose places have changed since they were last sent
	for {
		select {
		case <-k.closed:
			return
		case <-k.inbox.ready:
		case <-gather.C:
		case <-tick.C:
			for _, w := range k.queue.Expire(time.Now()) {
				k.inbox.touch(w.Semaphore)
			}
			k.notifyMoved(moved)
		}
		events, touched := k.inbox.take()
		t := k.tenure.Load()
		if t == nil {
			clear(moved)
			continue
		}
		for i := range events {
			k.handle(&events[i], touched)
		}
		if !k.gathered(t) {
			gather.Reset(time.Until(t.gathered))
			gathering = t
			continue
		}
		if gathering == t {
			gathering = nil
			for _, sem := range k.queue.Semaphores() {
				touched[sem] = struct{}{}
			}
		}
		for sem := range touched {
			if !k.queueEmpty(sem) {
				k.offer(sem)
				moved[sem] = struct{}{}
			}
		}
	}
}

// handle processes one event. If the event may move a semaphore's queue, it adds that semaphore to touched.
func (k *Keeper) handle(e *fsm.Event, touched map[string]struct{}) {
	switch e.Kind {
	case fsm.Released, fsm.Expired, fsm.Abandoned, fsm.Cleared, fsm.FreedUnsafely:
		k.notices.lost(e.Permit, TokenResult{Message: "the permit has ended"})
		touched[e.Semaphore] = struct{}{}
	case fsm.HeldEvent, fsm.CoolingEvent:
		k.notices.lost(e.Permit, TokenResult{Message: "the permit has ended"})
	case fsm.SupersededEvent:
		k.notices.superseded(e.Superseded, e.Permit)
	case fsm.CoolingEnded:
		touched[e.Semaphore] = struct{}{}
	case fsm.StoppingEvent:
		k.checkHolder(k.cfg.Machine.State(), e.Permit)
	case fsm.Created, fsm.Replaced, fsm.Deleted, fsm.RevertedEvent, fsm.PausedEvent, fsm.ResumedEvent:
		k.reconsider(e.Semaphore)
		touched[e.Semaphore] = struct{}{}
	case fsm.CordonedEvent, fsm.UncordonedEvent:
		k.reconsiderAll(touched)
	case fsm.DrainedEvent:
		k.drained(e, touched)
	case fsm.JobSubmitted, fsm.TaskSettled, fsm.TasksChanged, fsm.JobCancelled:
		// This also matters when the last task is taken: idle workers are then skipped, and the waiters behind them get
		// their turn.
		touched[e.Semaphore] = struct{}{}
	case fsm.QuarantineEnded:
		for _, sem := range k.queue.Semaphores() {
			touched[sem] = struct{}{}
		}
	}
}

// drained notifies the holders whose drain has ended. Until now, the drain allowed them to continue.
func (k *Keeper) drained(e *fsm.Event, touched map[string]struct{}) {
	switch {
	case e.Permit != nil:
		k.checkHolder(k.cfg.Machine.State(), e.Permit)
	case e.Semaphore != "":
		k.reconsider(e.Semaphore)
	default:
		k.reconsiderAll(touched)
	}
}

// offer offers a semaphore's free permits to as many of its waiters as fit.
func (k *Keeper) offer(sem string) {
	state := k.cfg.Machine.State()
	sd := state.Definition(sem)
	if sd == nil || sd.Pause != nil { // the event that ends a pause triggers another offer
		return
	}
	used, permits := state.Used(sem), uint64(sd.Definition.Permits)
	if used >= permits {
		return
	}
	for _, w := range k.queue.Offer(sem, permits-used, state.Work(sem).Waiting) {
		if call := k.queue.Call(w); call != nil {
			call.signal()
		} else {
			k.queue.Return(w)
		}
	}
}

// reconsider reapplies the rule to an edited semaphore's waiters and, if any stream follows permits, to its holders.
func (k *Keeper) reconsider(sem string) {
	for _, w := range k.queue.Waiting(sem) {
		if call := k.queue.Call(w); call != nil {
			call.recheck.Store(true)
			call.signal()
		}
	}
	if !k.notices.any() {
		return
	}
	state := k.cfg.Machine.State()
	for p := range state.Holders(sem) {
		k.checkHolder(state, p)
	}
}

func (k *Keeper) reconsiderAll(touched map[string]struct{}) {
	for _, sem := range k.queue.Semaphores() {
		touched[sem] = struct{}{}
		k.reconsider(sem)
	}
	state := k.cfg.Machine.State()
	for _, token := range k.notices.tokens() {
		if p := state.Permit(token); p != nil {
			k.checkHolder(state, p)
		}
	}
}

// checkHolder orders the holder of a live permit to stop if the rule no longer admits it, or admits it only until a
// drain ends.
func (k *Keeper) checkHolder(state *fsm.State, p *semaphore.Permit) {
	if p.State != semaphore.Live {
		return
	}
	d := k.admit(state, p, false)
	if d.Stop == semaphore.NotStopping {
		return
	}
	left := time.Duration(0)
	if d.Outcome == semaphore.Refreshed {
		left = k.drainLeft(state, p)
	}
	k.notices.stopping(p, d.Stop, k.stopMessage(state, p, d.Stop), left)
}

// overheld is called by the lessor for a permit that has been held for longer than max_hold.
func (k *Keeper) overheld(p *semaphore.Permit) {
	k.notices.stopping(p, semaphore.StopHeldTooLong, k.stopMessage(k.cfg.Machine.State(), p, semaphore.StopHeldTooLong), 0)
}

// notifyMoved wakes the calls in queues that have moved, so that they report their new place.
func (k *Keeper) notifyMoved(moved map[string]struct{}) {
	for sem := range moved {
		for _, w := range k.queue.Waiting(sem) {
			if call := k.queue.Call(w); call != nil {
				call.signal()
			}
		}
	}
	clear(moved)
}
