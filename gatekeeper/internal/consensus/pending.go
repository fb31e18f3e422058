package consensus

import (
	"sync"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// Appended is the outcome of an entry.
type Appended struct {
	// Results holds the results of the entry's commands, in order. It is nil if Err is set.
	Results []fsm.Result
	// Index is the entry's index in the log. It is 0 if Err is set.
	Index uint64
	// Err is nil if the entry was committed and applied here. Otherwise it wraps ErrNotAppended or ErrUnknownOutcome.
	Err error
}

// Pending is an entry whose outcome is not known yet. It always completes: with its result, or with an unknown outcome
// when leadership ends or the server stops.
type Pending struct {
	once     sync.Once
	done     chan struct{}
	appended Appended
}

// NewPending returns a pending entry and the function that completes it. Only the first call to that function has an
// effect. It is for implementations that replace a Node, mainly in tests.
func NewPending() (*Pending, func(Appended)) {
	p := &Pending{done: make(chan struct{})}
	return p, p.end
}

// Done returns a channel that is closed when the entry's outcome is known or can no longer become known.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Wait waits until Done is closed and returns the outcome of the entry.
func (p *Pending) Wait() Appended {
	<-p.done
	return p.appended
}

func (p *Pending) end(a Appended) {
	p.once.Do(func() {
		p.appended = a
		close(p.done)
	})
}
