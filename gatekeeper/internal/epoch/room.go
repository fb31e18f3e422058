package epoch

import (
	"slices"
	"sync"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
)

// Room has the epochs of one part of the leader, one after the other, and the lock of that part. Its owner embeds it
// and keeps what belongs to the epoch beside it. A Room is safe for concurrent use.
type Room struct {
	sync.Mutex // guards current, and all that the owner keeps for the epoch

	current *Epoch // nil while this server does not lead
	closed  bool   // no epoch begins any more
	propose func(fsm.Command, func(batcher.Outcome))
	drop    func()
	ended   []*Epoch // may still be handing commands over
	runs    sync.WaitGroup
}

// NewRoom returns a room of a server that does not lead. propose hands a command to the log and reports its outcome
// once; neither it nor the report may block. drop forgets what the owner keeps for an epoch. It is called under the
// lock when the epoch ends, and must not take longer the more there is; nil drops nothing.
func NewRoom(propose func(fsm.Command, func(batcher.Outcome)), drop func()) *Room {
	return &Room{propose: propose, drop: drop}
}

// Begin starts an epoch. begin is called under the lock: it makes what the owner keeps, and starts the goroutines of
// the epoch. After Close it does nothing.
func (r *Room) Begin(term uint64, begin func(*Epoch)) {
	r.Lock()
	defer r.Unlock()
	if r.closed {
		return
	}
	r.current = &Epoch{Term: term, room: r, wake: make(chan struct{}, 1), over: make(chan struct{})}
	begin(r.current)
}

// Demote ends the epoch of that term, if it is the current one. When it returns, nothing of an epoch that has ended is
// handed to the log any more, whichever call ended it.
func (r *Room) Demote(term uint64) {
	r.Lock()
	if r.Term() == term {
		r.end()
	}
	r.Unlock()
	r.awaitHandovers()
}

// Close ends the epoch, if there is one, and waits until nothing is handed to the log and no goroutine of the room runs
// any more.
func (r *Room) Close() {
	r.Lock()
	r.closed = true
	r.end()
	r.Unlock()
	r.awaitHandovers()
	r.runs.Wait()
}

// end ends the current epoch, if there is one. The caller holds the lock.
func (r *Room) end() {
	if r.current == nil {
		return
	}
	close(r.current.over)
	r.ended = append(r.ended, r.current)
	r.current = nil
	if r.drop != nil {
		r.drop()
	}
}

// awaitHandovers waits for the commands that epochs which have ended are handing over. None of them begins to hand over
// another one.
func (r *Room) awaitHandovers() {
	r.Lock()
	ended := slices.Clone(r.ended)
	r.Unlock()
	for _, e := range ended {
		e.handing.Wait()
	}
	r.Lock()
	defer r.Unlock()
	r.ended = slices.DeleteFunc(r.ended, func(e *Epoch) bool { return slices.Contains(ended, e) })
}

// Current is the current epoch; nil while this server does not lead. The caller holds the lock.
func (r *Room) Current() *Epoch { return r.current }

// Term is that of the current epoch; 0 while this server does not lead. The caller holds the lock.
func (r *Room) Term() uint64 {
	if r.current == nil {
		return 0
	}
	return r.current.Term
}

// Go starts a goroutine that Close waits for. The caller holds the lock, in an epoch or while one begins or ends.
func (r *Room) Go(run func()) { r.runs.Go(run) }

// Wake makes Run of the current epoch collect again. The caller holds the lock.
func (r *Room) Wake() {
	if r.current == nil {
		return
	}
	select {
	case r.current.wake <- struct{}{}:
	default:
	}
}
