package epoch

import (
	"slices"
	"sync"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
)

// Room manages the successive epochs of its owner and provides the owner's lock. The owner embeds the Room and stores
// the epoch's data next to it. A Room is safe for concurrent use.
type Room struct {
	sync.Mutex // guards current and the owner's data for the epoch

	current *Epoch // nil while this server does not lead
	closed  bool   // no more epochs can begin
	propose func(fsm.Command, func(batcher.Outcome))
	drop    func()
	ended   []*Epoch // may still be handing commands over
	runs    sync.WaitGroup
}

// NewRoom returns a room for a server that does not lead. propose hands a command to the log and calls the given
// function once with the outcome. Neither propose nor that function may block. drop discards the owner's data for an
// epoch. It is called under the lock when the epoch ends, and must take constant time. drop may be nil.
func NewRoom(propose func(fsm.Command, func(batcher.Outcome)), drop func()) *Room {
	return &Room{propose: propose, drop: drop}
}

// Begin starts an epoch. It calls begin under the lock, to create the owner's data and start the epoch's goroutines.
// After Close it does nothing.
func (r *Room) Begin(term uint64, begin func(*Epoch)) {
	r.Lock()
	defer r.Unlock()
	if r.closed {
		return
	}
	r.current = &Epoch{Term: term, room: r, wake: make(chan struct{}, 1), done: make(chan struct{})}
	begin(r.current)
}

// Demote ends the current epoch if it has the given term. Once Demote returns, no more commands from ended epochs are
// handed to the log, even if another call ended those epochs.
func (r *Room) Demote(term uint64) {
	r.Lock()
	if r.Term() == term {
		r.end()
	}
	r.Unlock()
	r.awaitHandovers()
}

// Close ends the current epoch, if there is one. It waits until no more commands are handed to the log and all of the
// room's goroutines have exited.
func (r *Room) Close() {
	r.Lock()
	r.closed = true
	r.end()
	r.Unlock()
	r.awaitHandovers()
	r.runs.Wait()
}

// end ends the current epoch, if there is one. The caller must hold the lock.
func (r *Room) end() {
	if r.current == nil {
		return
	}
	close(r.current.done)
	r.ended = append(r.ended, r.current)
	r.current = nil
	if r.drop != nil {
		r.drop()
	}
}

// awaitHandovers waits until the ended epochs are no longer handing over commands. They cannot begin another handover.
func (r *Room) awaitHandovers() {
	r.Lock()
	ended := slices.Clone(r.ended)
	r.Unlock()
	for _, e := range ended {
		e.handovers.Wait()
	}
	r.Lock()
	defer r.Unlock()
	r.ended = slices.DeleteFunc(r.ended, func(e *Epoch) bool { return slices.Contains(ended, e) })
}

// Current returns the current epoch, or nil while this server does not lead. The caller must hold the lock.
func (r *Room) Current() *Epoch { return r.current }

// Term returns the term of the current epoch, or 0 while this server does not lead. The caller must hold the lock.
func (r *Room) Term() uint64 {
	if r.current == nil {
		return 0
	}
	return r.current.Term
}

// Go starts a goroutine that Close waits for. It must be called under the lock, while an epoch is beginning, running or
// ending.
func (r *Room) Go(run func()) { r.runs.Go(run) }

// Wake makes the current epoch's Run call collect again. The caller must hold the lock.
func (r *Room) Wake() {
	if r.current == nil {
		return
	}
	select {
	case r.current.wake <- struct{}{}:
	default:
	}
}
