package batcher

import "github.com/gatekeeperd/gatekeeper/fsm"

// Call is one command and who is told what became of it.
type Call struct {
	Command fsm.Command
	Done    func(Outcome)
}

// queued is a call in line, and how many of those behind it came together with it.
type queued struct {
	Call
	more int
}

// line is a first-in first-out queue in one slice. The zero line is empty.
type line struct {
	calls []queued
	head  int // calls before it have been popped
}

// keepCap is the largest capacity that an empty line keeps for what comes next.
const keepCap = 4096

func (l *line) len() int { return len(l.calls) - l.head }

// push adds calls that came together.
func (l *line) push(calls ...Call) {
	for i, c := range calls {
		l.calls = append(l.calls, queued{c, len(calls) - 1 - i})
	}
}

// front appends the first calls, at most limit, to buf. They stay in the line. What came together is not parted, unless it is more
// than limit by itself.
func (l *line) front(buf []queued, limit int) []queued {
	first := l.calls[l.head:]
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
func (l *line) pop(n int) {
	clear(l.calls[l.head : l.head+n])
	l.head += n
	switch {
	case l.len() == 0 && cap(l.calls) > keepCap:
		*l = line{}
	case l.head >= (len(l.calls)+1)/2:
		// At least as many were popped since the last move as are moved now, so a call is moved once on average.
		rest := copy(l.calls, l.calls[l.head:])
		clear(l.calls[rest:])
		l.calls, l.head = l.calls[:rest], 0
	}
}
