package batcher

import "github.com/gatekeeperd/gatekeeper/fsm"

// Call is one command and who is told what became of it.
type Call struct {
	Command fsm.Command
	Done    func(Outcome)
}

// queued is a call in the backlog, and how many of those behind it came together with it.
type queued struct {
	Call
	more int
}

// backlog is a first-in first-out queue in one slice. The zero backlog is empty.
type backlog struct {
	calls []queued
	head  int // calls before it have been popped
}

// keepCap is the largest capacity that an empty backlog keeps for what comes next.
const keepCap = 4096

func (b *backlog) len() int { return len(b.calls) - b.head }

// push adds calls that came together.
func (b *backlog) push(calls ...Call) {
	for i, c := range calls {
		b.calls = append(b.calls, queued{c, len(calls) - 1 - i})
	}
}

// front appends the first calls, at most limit, to buf. They stay in the backlog. What came together is not parted, unless it is more
// than limit by itself.
func (b *backlog) front(buf []queued, limit int) []queued {
	first := b.calls[b.head:]
	return append(buf, first[:whole(first, limit)]...)
}

// whole is how many of the first calls make at most limit without parting those that came together; limit, if the first of them are
// more by themselves.
func whole(calls []queued, limit int) int {
	n := min(limit, len(calls))
	for n > 0 && calls[n-1].more > 0 {
		n--
	}
	if n == 0 {
		return min(limit, len(calls))
	}
	return n
}

// pop drops the first n calls.
func (b *backlog) pop(n int) {
	clear(b.calls[b.head : b.head+n])
	b.head += n
	switch {
	case b.len() == 0 && cap(b.calls) > keepCap:
		*b = backlog{}
	case b.head >= (len(b.calls)+1)/2:
		// At least as many were popped since the last move as are moved now, so a call is moved once on average.
		rest := copy(b.calls, b.calls[b.head:])
		clear(b.calls[rest:])
		b.calls, b.head = b.calls[:rest], 0
	}
}
