package epoch

import (
	"iter"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
)

const (
	// Chunk is how many items are handled under one hold of the lock, so that traffic gets its turns between.
	Chunk = 512
	// RetryAfter is how long a command that did not reach the log waits before it is proposed again.
	RetryAfter = 50 * time.Millisecond
)

// Epoch is one epoch of one room. Goroutines that belong to it hold it, and reach what the room keeps only by its
// methods.
type Epoch struct {
	// Term is what the commands of this epoch carry.
	Term uint64

	room *Room
	// wake and over are this epoch's alone, so that no goroutine of another epoch takes a wake-up or misses an end.
	wake chan struct{}
	over chan struct{} // closed when the epoch ends
	// handing counts calls that are handing commands over. It rises only under the lock in this epoch, so Demote can
	// wait for it.
	handing sync.WaitGroup
}

// During calls do under the lock if the epoch is still the current one, and reports whether it is.
func (e *Epoch) During(do func()) (current bool) {
	e.room.Lock()
	defer e.room.Unlock()
	if e.room.current != e {
		return false
	}
	do()
	return true
}

// Run starts a goroutine that does what is due until the epoch ends. It calls collect under the lock, which returns
// what to do without the lock, or nil and how long nothing is due. After it has acted, and after Wake, it collects
// again.
func (e *Epoch) Run(collect func() (act func(), next time.Duration)) {
	e.room.Go(func() {
		timer := time.NewTimer(0)
		defer timer.Stop()
		for {
			var act func()
			var next time.Duration
			if !e.During(func() { act, next = collect() }) {
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
			case <-e.over:
				return
			}
		}
	})
}

// Every starts a goroutine that calls do, without the lock, once in every period until the epoch ends.
func (e *Epoch) Every(period time.Duration, do func()) {
	e.room.Go(func() {
		tick := time.NewTicker(period)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				do()
			case <-e.over:
				return
			}
		}
	})
}

// Walk visits each of items under the lock, a chunk at a time, and rests between chunks. It reports whether it visited
// them all: it stops when the epoch ends.
func Walk[T any](e *Epoch, rest time.Duration, items iter.Seq[T], visit func(T)) (current bool) {
	chunk := make([]T, 0, Chunk)
	flush := func() bool {
		return e.During(func() {
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
			<-time.After(rest) // too short to be interrupted
		}
	}
	return flush()
}

// Where are the items for which want returns true. Walk calls it without the lock.
func Where[T any](items iter.Seq[T], want func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for item := range items {
			if want(item) && !yield(item) {
				return
			}
		}
	}
}

// Propose hands commands to the log, in order, for as long as the epoch lasts. settled hears the outcome of each, by
// its index, under the lock and only in the same epoch; err is that of a batcher.Outcome. It must not propose. With nil
// outcomes are ignored. The caller must not hold the lock.
func (e *Epoch) Propose(settled func(i int, err error), cmds ...fsm.Command) {
	if len(cmds) == 0 || !e.During(func() { e.handing.Add(1) }) {
		return
	}
	defer e.handing.Done()
	for i, cmd := range cmds {
		select {
		case <-e.over:
			return
		default:
		}
		e.room.propose(cmd, func(o batcher.Outcome) {
			if settled != nil {
				e.During(func() { settled(i, o.Err) })
			}
		})
	}
}
