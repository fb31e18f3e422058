package epoch

// Item is an element of a Heap.
type Item[T any] interface {
	// Before reports whether the item is due before other.
	Before(other T) bool
	// Moved is called with the item's new index in the heap, or -1 when it is removed.
	Moved(index int)
}

// Heap contains items, with the earliest first. It implements heap.Interface, for use with container/heap.
type Heap[T Item[T]] []T

func (h Heap[T]) Len() int           { return len(h) }
func (h Heap[T]) Less(i, j int) bool { return h[i].Before(h[j]) }
func (h Heap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].Moved(i)
	h[j].Moved(j)
}

func (h *Heap[T]) Push(x any) {
	item := x.(T) //nolint:forcetypeassert // a Heap contains only T
	item.Moved(len(*h))
	*h = append(*h, item)
}

func (h *Heap[T]) Pop() any {
	var zero T
	last := len(*h) - 1
	item := (*h)[last]
	(*h)[last] = zero
	*h = (*h)[:last]
	item.Moved(-1)
	return item
}
