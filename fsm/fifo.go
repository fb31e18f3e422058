package fsm

import "slices"

// A fifo is a queue that can be copied by assignment. Copies share their array: push writes beyond the end of every
// earlier copy, and pop moves the front of only one copy. This is safe if only the newest copy is pushed to. The newest
// copy is the draft's; published copies are read-only.
type fifo[T any] struct {
	items   []T
	dropped int // number of removed elements that may still occupy memory in the array
}

func (f fifo[T]) push(v T) fifo[T] {
	f.items = append(f.items, v)
	return f
}

// pop removes the first element. When more elements have been removed than remain, it copies the rest to a new array to
// free the memory of the removed ones.
func (f fifo[T]) pop() fifo[T] {
	f.items = f.items[1:]
	if f.dropped++; f.dropped > len(f.items) {
		f.items, f.dropped = slices.Clone(f.items), 0
	}
	return f
}

func (f fifo[T]) len() int { return len(f.items) }

// first returns the oldest element. The queue must not be empty.
func (f fifo[T]) first() T { return f.items[0] }
