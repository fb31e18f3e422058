package fsm

import "slices"

// fifo is a list that grows at its end and shrinks at its front, and that can be copied by assignment. Copies share
// their array: a push writes behind the end of every earlier copy, a pop moves only its own front. That holds as long
// as only the newest copy is pushed to, which is the draft's; published copies are only read.
type fifo[T any] struct {
	items   []T
	dropped int // may still be in the array, and so in memory
}

func (f fifo[T]) push(v T) fifo[T] {
	f.items = append(f.items, v)
	return f
}

// pop drops the first. When more is dropped than left, the rest moves to a new array, so that the dropped part is
// freed.
func (f fifo[T]) pop() fifo[T] {
	f.items = f.items[1:]
	if f.dropped++; f.dropped > len(f.items) {
		f.items, f.dropped = slices.Clone(f.items), 0
	}
	return f
}

func (f fifo[T]) len() int { return len(f.items) }

// first is the oldest; there must be one.
func (f fifo[T]) first() T { return f.items[0] }
