package epoch

// Item is what a Heap holds.
type Item[T any] interface {
	// Before reports whether it is due before the other one.
	Before(other T) bool
	// Moved is called with its new index in the heap; -1 when it left the heap.
	Moved(index int)
}

// Heap holds items, the earliest first. It is a heap.Interface, for the functions of container/heap.
type Heap[T Item[T]] []T

func (h Heap[T]) Len() int           { return len(h) }
func (h Heap[T]) Less(i, j int) bool { return h[i].Before(h[j]) }
func (h Heap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].Moved(i)
	h[j].Moved(j)
}

func (h *Heap[T]) Push(x any) {
	item := x.(T) //nolint:forcetypeassert // a Heap holds nothing else
	item.Moved(len(*h))
	*h = append(*h, item)
}

func (h *Heap[T]) Pop() any {
	var none T
	last := len(*h) - 1
	item := (*h)[last]
	(*h)[last] = none
	*h = (*h)[:last]
	item.Moved(-1)
	return item
}
