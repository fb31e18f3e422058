package consensus

import "sync"

// futures counts the goroutines that wait for Raft. Raft answers all it has taken, save what is on its way to the state
// machine when it shuts down; so they are waited for before that.
type futures struct {
	mu     sync.Mutex // guards what follows
	count  int
	closed bool
	idle   chan struct{} // closed when closed and count is 0
}

func newFutures() *futures { return &futures{idle: make(chan struct{})} }

// TryGo runs f on a separate goroutine; false when closed.
func (w *futures) TryGo(f func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.count++
	go func() {
		defer w.done()
		f()
	}()
	return true
}

func (w *futures) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count--
	if w.closed && w.count == 0 {
		close(w.idle)
	}
}

// Close refuses further goroutines and returns a channel that is closed when the last has ended. Call it once.
func (w *futures) Close() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.count == 0 {
		close(w.idle)
	}
	return w.idle
}
