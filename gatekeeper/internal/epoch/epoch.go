package epoch

import (
	"iter"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
)

const (
	// Chunk is the number of items handled each time the lock is held, so that traffic can proceed between chunks.
	Chunk = 512
	// RetryAfter is how long to wait before a command that did not reach the log is proposed again.
	RetryAfter = 50 * time.Millisecond
)

// Epoch is one epoch of one room. The goroutines of an epoch hold it, and access the room's data only through its
// methods.
type Epoch struct {
	// Term is the term that the commands of this epoch carry.
	Term uint64

	room *Room
	// wake and done belong to this epoch only, so that a goroutine cannot take another epoch's wake-up or miss the end
	// of the epoch that it serves.
	wake chan struct{}
	done chan struct{} // closed when the epoch ends
	// handovers counts the calls that are handing over commands. It is incremented only under the lock and in this
	// epoch, so that Demote can wait for it.
	handovers sync.WaitGroup
}

// IfCurrent calls do under the lock if the epoch is still current, and reports whether it is.
func (e *Epoch) IfCurrent(do func()) (current bool) {
	e.room.Lock()
	defer e.room.Unlock()
	if e.room.current != e {
		return false
	}
	do()
	return true
}

// Run starts a goroutine that performs work when it is due, until the epoch ends. It calls collect under the lock.
// collect returns a function to call without the lock, or nil and the time until something is due. Run calls collect
// again after that function has returned, and after Wake.
func (e *Epoch) Run(collect func() (act func(), next time.Duration)) {
	e.room.Go(func() {
		timer := time.NewTimer(0)
		defer timer.Stop()
		for {
			var act func()
			var next time.Duration
			if !e.IfCurrent(func() { act, next = collect() }) {
				return
			}
			if act != nil {
				act()
				continue
			}
			timer.Reset(next)
			select {
			case <-timer.C:
			case <-e.wake:
			case <-e.done:
				return
			}
		}
	})
}

// Every starts a goroutine that calls do, without the lock, once per period until the epoch ends.
func (e *Epoch) Every(period time.Duration, do func()) {
	e.room.Go(func() {
		tick := time.NewTicker(period)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				do()
			case <-e.done:
				return
			}
		}
	})
}

// Walk visits all items under the lock, a chunk at a time, and pauses for rest between chunks. It stops when the epoch
// ends, and reports whether it visited all items.
func Walk[T any](e *Epoch, rest time.Duration, items iter.Seq[T], visit func(T)) (current bool) {
	chunk := make([]T, 0, Chunk)
	flush := func() bool {
		return e.IfCurrent(func() {
			for _, item := range chunk {
				visit(item)
			}
			chunk = chunk[:0]
		})
	}
	for item := range items {
		if chunk = append(chunk, item); len(chunk) < Chunk {
			continue
		}
		if !flush() {
			return false
		}
		if rest > 0 {
			<-time.After(rest) // too short to be worth interrupting
		}
	}
	return flush()
}

// Filter returns the items for which keep returns true. Walk calls keep without the lock.
func Filter[T any](items iter.Seq[T], keep func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for item := range items {
			if keep(item) && !yield(item) {
				return
			}
		}
	}
}

// Propose hands commands to the log, in order, while the epoch lasts. settled is called with the index of each command
// and the error in its batcher.Outcome, under the lock and only in the same epoch. settled must not propose. If settled
// is nil, outcomes are ignored. The caller must not hold the lock.
func (e *Epoch) Propose(settled func(i int, err error), cmds ...fsm.Command) {
	if len(cmds) == 0 || !e.IfCurrent(func() { e.handovers.Add(1) }) {
		return
	}
	defer e.handovers.Done()
	for i, cmd := range cmds {
		select {
		case <-e.done:
			return
		default:
		}
		e.room.propose(cmd, func(o batcher.Outcome) {
			if settled != nil {
				e.IfCurrent(func() { settled(i, o.Err) })
			}
		})
	}
}
