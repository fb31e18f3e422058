package queue

import (
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Place is the position of w in its line, 1 being the first, and the line's length. Absent waiters count. Both are 0 when w
// has left.
func (q *Queue[C]) Place(w *Waiter[C]) (place, length int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.line == nil {
		return 0, 0
	}
	return w.line.place(w), w.line.all.Len()
}

// Len is how many wait for one semaphore, absent ones included.
func (q *Queue[C]) Len(sem string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[sem]; l != nil {
		return l.all.Len()
	}
	return 0
}

// Workers is how many of Len are workers.
func (q *Queue[C]) Workers(sem string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[sem]; l != nil {
		return l.workers.all.Len()
	}
	return 0
}

// Total is how many wait for all semaphores, absent ones included.
func (q *Queue[C]) Total() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiters)
}

// Waiting is who waits for one semaphore, in order: to be decided again after an edit.
func (q *Queue[C]) Waiting(sem string) []*Waiter[C] {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[sem]; l != nil {
		return l.all.Items()
	}
	return nil
}

// Semaphores are the names of those for which somebody waits, sorted.
func (q *Queue[C]) Semaphores() []string {
	q.mu.Lock()
	names := make([]string, 0, len(q.lines))
	for name := range q.lines {
		names = append(names, name)
	}
	q.mu.Unlock()
	slices.Sort(names)
	return names
}

// Snapshot is a waiter as it was at one moment.
type Snapshot struct {
	Key
	Weight uint32
	Worker bool
	Firing *semaphore.Firing // not to be modified
	Joined time.Time
	Place  int // 1 is the first
	Cursor Cursor
	// Absent: no call is attached; its place is kept for a while.
	Absent bool
	// Offered: its grant is on its way.
	Offered bool
}

// Cursor is a waiter's place among all of a leadership. It stays valid when the waiter leaves.
type Cursor struct {
	Semaphore string
	Rank      time.Duration
	Seq       uint64
}

// Waiters lists who waits for the semaphores whose names match, by name and in order, at most limit of them, and only those behind
// the cursor; the zero Cursor is ahead of all. Each line is as it was at one moment, but not all at the same one: the queue is not
// held up for longer than one line takes.
func (q *Queue[C]) Waiters(match func(sem string) bool, after Cursor, limit int) []Snapshot {
	var out []Snapshot
	names := q.Semaphores()
	first, _ := slices.BinarySearch(names, after.Semaphore)
	for _, name := range names[first:] {
		if len(out) >= limit {
			break
		}
		if match(name) {
			out = q.appendLine(out, name, after, limit)
		}
	}
	return out
}

func (q *Queue[C]) appendLine(out []Snapshot, name string, after Cursor, limit int) []Snapshot {
	var none C
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[name]
	if l == nil {
		return out
	}
	first := 0
	if name == after.Semaphore {
		first = l.upTo(position{after.Rank, after.Seq})
	}
	for i := first; i < l.all.Len() && len(out) < limit; i++ {
		w, _ := l.all.GetAt(i)
		out = append(out, Snapshot{
			Key: w.Key, Weight: w.Request.Weight, Worker: w.Request.Worker, Firing: w.Request.Firing, Joined: w.Joined,
			Place: i + 1, Cursor: Cursor{name, w.rank, w.seq}, Absent: w.call == none, Offered: w.offered,
		})
	}
	return out
}
