package epoch

import (
	"container/heap"
	"slices"
)

// Item is what a Heap holds.
type Item[T any] interface {
	// Before reports whether it is due before the other one.
	Before(other T) bool
	// Moved is called with its new index in the heap, for Fix and Remove; -1 when it left the heap.
	Moved(index int)
}

// Heap holds items, the earliest first. The zero value is empty.
type Heap[T Item[T]] struct{ items items[T] }

// Len is how many items there are.
func (h *Heap[T]) Len() int { return len(h.items) }

// First is the earliest item. There must be one.
func (h *Heap[T]) First() T { return h.items[0] }

// Add adds an item and reports whether it is now the first.
func (h *Heap[T]) Add(item T) (first bool) {
	first = h.Len() == 0 || item.Before(h.First())
	heap.Push(&h.items, item)
	return first
}

// Fix moves the item with that index to its place after its time has changed.
func (h *Heap[T]) Fix(index int) { heap.Fix(&h.items, index) }

// Remove removes and returns the item with that index; 0 is that of the first.
func (h *Heap[T]) Remove(index int) T { return heap.Remove(&h.items, index).(T) } //nolint:forcetypeassert // a Heap holds nothing else

// Filter keeps the items for which keep returns true.
func (h *Heap[T]) Filter(keep func(T) bool) {
	h.items = slices.DeleteFunc(h.items, func(item T) bool {
		kept := keep(item)
		if !kept {
			item.Moved(-1)
		}
		return !kept
	})
	for i, item := range h.items {
		item.Moved(i)
	}
	heap.Init(&h.items)
}

// items is the heap.Interface of a Heap.
type items[T Item[T]] []T

func (s items[T]) Len() int           { return len(s) }
func (s items[T]) Less(i, j int) bool { return s[i].Before(s[j]) }
func (s items[T]) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].Moved(i)
	s[j].Moved(j)
}

func (s *items[T]) Push(x any) {
	item := x.(T) //nolint:forcetypeassert // a Heap holds nothing else
	item.Moved(len(*s))
	*s = append(*s, item)
}

func (s *items[T]) Pop() any {
	var none T
	last := len(*s) - 1
	item := (*s)[last]
	(*s)[last] = none
	*s = (*s)[:last]
	item.Moved(-1)
	return item
}
