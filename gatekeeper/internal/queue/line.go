package queue

import (
	"cmp"
	"sort"

	"github.com/tidwall/btree"
)

// line is who waits for one semaphore.
type line[C comparable] struct {
	all     *btree.BTreeG[*Waiter[C]] // everybody, in order
	ready   *btree.BTreeG[*Waiter[C]] // those with a call that are not being proposed
	offered uint64                    // weight of those being proposed
}

func newLine[C comparable]() *line[C] {
	ordered := func() *btree.BTreeG[*Waiter[C]] {
		return btree.NewBTreeGOptions((*Waiter[C]).isAhead, btree.Options{NoLocks: true})
	}
	return &line[C]{all: ordered(), ready: ordered()}
}

// isAhead is the order of a line: who gathered goes by claimed age, everybody else comes after them as they came.
func (w *Waiter[C]) isAhead(of *Waiter[C]) bool {
	if w.gathered != of.gathered {
		return w.gathered
	}
	if w.gathered {
		if c := w.Joined.Compare(of.Joined); c != 0 {
			return c < 0
		}
	}
	return w.seq < of.seq
}

// goesBefore is the order in which absent waiters are dropped.
func (w *Waiter[C]) goesBefore(other *Waiter[C]) bool {
	return cmp.Or(w.until.Compare(other.until), cmp.Compare(w.seq, other.seq)) < 0
}

// ahead is how many are in line ahead of w, which is in it.
func (l *line[C]) ahead(w *Waiter[C]) int {
	return sort.Search(l.all.Len(), func(i int) bool {
		other, _ := l.all.GetAt(i)
		return !other.isAhead(w)
	})
}
