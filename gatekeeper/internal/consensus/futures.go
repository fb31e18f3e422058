package consensus

import "sync"

// futures counts the goroutines waiting for Raft. Raft completes every future that it has accepted, except those in
// flight to the state machine when it shuts down. Node.Close therefore waits for these goroutines first.
type futures struct {
	mu     sync.Mutex // guards the fields below
	count  int
	closed bool
	idle   chan struct{} // closed when closed is set and count is 0
}

func newFutures() *futures { return &futures{idle: make(chan struct{})} }

// TryGo runs f on a separate goroutine. It returns false after Close.
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

// Close rejects further goroutines and returns a channel that is closed when the last one has finished. It must be
// called at most once.
func (w *futures) Close() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.count == 0 {
		close(w.idle)
	}
	return w.idle
}
