package batcher

import "github.com/gatekeeperd/gatekeeper/fsm"

// Call is one command and who is told what became of it.
type Call struct {
	Command fsm.Command
	Done    func(Outcome)
}

// line is a first-in first-out queue in one slice. The zero line is empty.
type line struct {
	calls []Call
	head  int // calls before it have been popped
}

// keepCap is the largest capacity that an empty line keeps for what comes next.
const keepCap = 4096

func (l *line) len() int { return len(l.calls) - l.head }

func (l *line) push(calls ...Call) { l.calls = append(l.calls, calls...) }

// front appends the first calls, at most limit, to buf. They stay in the line.
func (l *line) front(buf []Call, limit int) []Call {
	return append(buf, l.calls[l.head:l.head+min(limit, l.len())]...)
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
