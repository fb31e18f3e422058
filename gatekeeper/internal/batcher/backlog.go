package batcher

import "github.com/gatekeeperd/gatekeeper/fsm"

// Call is a command and the function that receives its outcome.
type Call struct {
	Command fsm.Command
	Done    func(Outcome)
}

// backlog is a FIFO queue backed by a single slice. The zero backlog is empty.
type backlog struct {
	calls []Call
	head  int // the calls before head have been popped
}

// keepCap is the largest capacity that an empty backlog keeps for later calls.
const keepCap = 4096

func (b *backlog) len() int { return len(b.calls) - b.head }

// push appends calls.
func (b *backlog) push(calls ...Call) { b.calls = append(b.calls, calls...) }

// front appends up to limit calls from the front to buf. They remain in the backlog.
func (b *backlog) front(buf []Call, limit int) []Call {
	return append(buf, b.calls[b.head:b.head+min(limit, b.len())]...)
}

// pop removes the first n calls.
func (b *backlog) pop(n int) {
	clear(b.calls[b.head : b.head+n])
	b.head += n
	switch {
	case b.len() == 0 && cap(b.calls) > keepCap:
		*b = backlog{}
	case b.head >= (len(b.calls)+1)/2:
		// At least as many calls have been popped since the last move as are moved now, so each call is moved at most
		// once on average.
		rest := copy(b.calls, b.calls[b.head:])
		clear(b.calls[rest:])
		b.calls, b.head = b.calls[:rest], 0
	}
}
