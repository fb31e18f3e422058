package consensus

import (
	"sync"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// Appended is what became of an entry.
type Appended struct {
	// Results are those of the entry's commands, in their order; nil with an error.
	Results []fsm.Result
	// Index is the entry's index in the log; 0 with an error.
	Index uint64
	// Err is nil when the entry was committed and applied here; else errors.Is says ErrNotAppended or
	// ErrUnknownOutcome.
	Err error
}

// Pending is an entry on its way. It always ends: with its result, or as unknown with the leadership or the server.
type Pending struct {
	once     sync.Once
	done     chan struct{}
	appended Appended
}

// NewPending returns a pending entry and the function that ends it; only that function's first call counts. It is for
// those who stand in for a Node, in tests above all.
func NewPending() (*Pending, func(Appended)) {
	p := &Pending{done: make(chan struct{})}
	return p, p.end
}

// Done is closed when the entry's fate is known, or known to stay unknown.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Wait returns what became of the entry, once Done is closed.
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
