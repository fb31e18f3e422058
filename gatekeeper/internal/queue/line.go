package queue

import (
	"cmp"
	"sort"
	"time"

	"github.com/tidwall/btree"
)

// line is who waits for one semaphore.
type line[C comparable] struct {
	all     *btree.BTreeG[*Waiter[C]] // everybody, in order
	workers kind[C]
	others  kind[C]
	offered uint64 // weight of those being proposed
	taking  uint64 // workers that are being proposed
}

// kind is the workers of a line, or everybody else.
type kind[C comparable] struct {
	all   *btree.BTreeG[*Waiter[C]]
	ready *btree.BTreeG[*Waiter[C]] // those with a call that are not being proposed
}

func newLine[C comparable]() *line[C] {
	ordered := func() *btree.BTreeG[*Waiter[C]] {
		return btree.NewBTreeGOptions(func(a, b *Waiter[C]) bool { return a.isAhead(b.position) }, btree.Options{NoLocks: true})
	}
	return &line[C]{
		all:     ordered(),
		workers: kind[C]{all: ordered(), ready: ordered()},
		others:  kind[C]{all: ordered(), ready: ordered()},
	}
}

// kindOf is the part of the line to which w belongs.
func (l *line[C]) kindOf(w *Waiter[C]) *kind[C] {
	if w.Request.Worker {
		return &l.workers
	}
	return &l.others
}

// next is the first that can be offered something when so many tasks wait.
func (l *line[C]) next(tasks uint64) (*Waiter[C], bool) {
	w, ok := l.others.ready.Min()
	if worker, some := l.workers.ready.Min(); some && tasks > l.taking && (!ok || worker.isAhead(w.position)) {
		return worker, true
	}
	return w, ok
}

// first is the first that stands in the way of others when so many tasks wait, or nil.
func (l *line[C]) first(tasks uint64) *Waiter[C] {
	w, ok := l.others.all.Min()
	if worker, some := l.workers.all.Min(); some && (tasks > 0 || l.taking > 0) && (!ok || worker.isAhead(w.position)) {
		return worker
	}
	return w
}

// position is the order of a line: those that gathered by the age that they claim, then everybody else as they came.
type position struct {
	rank time.Duration // below 0 for those that gathered: when they joined, before the gathering ends; else 0
	seq  uint64
}

func (p position) isAhead(of position) bool {
	return cmp.Or(cmp.Compare(p.rank, of.rank), cmp.Compare(p.seq, of.seq)) < 0
}

// upTo is how many of an ordered tree are not behind p.
func upTo[C comparable](tree *btree.BTreeG[*Waiter[C]], p position) int {
	return sort.Search(tree.Len(), func(i int) bool {
		other, _ := tree.GetAt(i)
		return p.isAhead(other.position)
	})
}

// goesBefore is the order in which absent waiters are dropped.
func (w *Waiter[C]) goesBefore(other *Waiter[C]) bool {
	return cmp.Or(w.until.Compare(other.until), cmp.Compare(w.seq, other.seq)) < 0
}

// busy is how many workers wait when so many tasks do: one for each task, from the front. The others are idle.
func (l *line[C]) busy(tasks uint64) int {
	return int(min(uint64(l.workers.all.Len()), max(tasks, l.taking)))
}

// length is how many of the line are not idle.
func (l *line[C]) length(tasks uint64) int { return l.others.all.Len() + l.busy(tasks) }

// place is that of w, which is in the line, among those that are not idle; 1 is the first. It is 0 for an idle worker.
func (l *line[C]) place(w *Waiter[C], tasks uint64) int {
	return w.behind(upTo(l.others.all, w.position), upTo(l.workers.all, w.position), l.busy(tasks))
}

// behind is the place of w when so many others and workers are not behind it, and so many workers of the line are busy.
func (w *Waiter[C]) behind(others, workers, busy int) int {
	if w.Request.Worker && workers > busy {
		return 0
	}
	return others + min(workers, busy)
}
