package queue

import (
	"cmp"
	"sort"
	"time"

	"github.com/tidwall/btree"
)

// line holds the waiters of one semaphore.
type line[C comparable] struct {
	all     *btree.BTreeG[*Waiter[C]] // all waiters, in order
	workers kind[C]
	others  kind[C]
	offered uint64 // total weight of the waiters being offered a permit
	taking  uint64 // number of workers being offered a permit
}

// kind is a subset of a line: its workers, or all other waiters.
type kind[C comparable] struct {
	all   *btree.BTreeG[*Waiter[C]]
	ready *btree.BTreeG[*Waiter[C]] // the waiters that have a call and are not being offered a permit
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

// kindOf returns the subset that w belongs to.
func (l *line[C]) kindOf(w *Waiter[C]) *kind[C] {
	if w.Request.Worker {
		return &l.workers
	}
	return &l.others
}

// next returns the first waiter that can be offered a permit when the given number of tasks are waiting.
func (l *line[C]) next(tasks uint64) (*Waiter[C], bool) {
	w, ok := l.others.ready.Min()
	if worker, some := l.workers.ready.Min(); some && tasks > l.taking && (!ok || worker.isAhead(w.position)) {
		return worker, true
	}
	return w, ok
}

// first returns the first waiter that blocks later ones when the given number of tasks are waiting, or nil.
func (l *line[C]) first(tasks uint64) *Waiter[C] {
	w, ok := l.others.all.Min()
	if worker, some := l.workers.all.Min(); some && (tasks > 0 || l.taking > 0) && (!ok || worker.isAhead(w.position)) {
		return worker
	}
	return w
}

// position orders a line: first the waiters that joined while it was gathering, by claimed waiting time, then all
// others by arrival.
type position struct {
	rank time.Duration // claimed start of waiting minus the end of gathering, negative; 0 for waiters that joined later
	seq  uint64
}

func (p position) isAhead(of position) bool {
	return cmp.Or(cmp.Compare(p.rank, of.rank), cmp.Compare(p.seq, of.seq)) < 0
}

// countUpTo returns how many waiters in an ordered tree are at or before p.
func countUpTo[C comparable](tree *btree.BTreeG[*Waiter[C]], p position) int {
	return sort.Search(tree.Len(), func(i int) bool {
		other, _ := tree.GetAt(i)
		return p.isAhead(other.position)
	})
}

// expiresBefore orders absent waiters by the time at which they are dropped.
func (w *Waiter[C]) expiresBefore(other *Waiter[C]) bool {
	return cmp.Or(w.until.Compare(other.until), cmp.Compare(w.seq, other.seq)) < 0
}

// busy returns how many workers are not idle when the given number of tasks are waiting: the first workers, one for
// each task.
func (l *line[C]) busy(tasks uint64) int {
	return int(min(uint64(l.workers.all.Len()), max(tasks, l.taking)))
}

// length returns the number of waiters in the line that are not idle.
func (l *line[C]) length(tasks uint64) int { return l.others.all.Len() + l.busy(tasks) }

// place returns the place of w, starting at 1, among the waiters in its line that are not idle. It returns 0 if w is an
// idle worker.
func (l *line[C]) place(w *Waiter[C], tasks uint64) int {
	return w.placeGiven(countUpTo(l.others.all, w.position), countUpTo(l.workers.all, w.position), l.busy(tasks))
}

// placeGiven returns w's place, given how many others and workers are at or before it and how many workers are busy.
func (w *Waiter[C]) placeGiven(others, workers, busy int) int {
	if w.Request.Worker && workers > busy {
		return 0
	}
	return others + min(workers, busy)
}
