package queue

import (
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Place returns the position of w in its line, starting at 1, and the length of the line, when the given number of
// tasks are waiting. Absent waiters count; idle workers do not. The place is 0 for an idle worker and for a waiter that
// has left.
func (q *Queue[C]) Place(w *Waiter[C], tasks uint64) (place, length int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.line == nil {
		return 0, 0
	}
	return w.line.place(w, tasks), w.line.length(tasks)
}

// Has reports whether w is still in the queue.
func (q *Queue[C]) Has(w *Waiter[C]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return w.line != nil
}

// Len returns how many waiters are in a semaphore's line, including absent waiters and idle workers, and how many of
// them are workers.
func (q *Queue[C]) Len(sem string) (all, workers int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[sem]; l != nil {
		return l.all.Len(), l.workers.all.Len()
	}
	return 0, 0
}

// FirstWorker returns the weight of the first worker in a semaphore's line, and how many other waiters are ahead of it,
// including absent ones. ok is false if there is no worker in the line.
func (q *Queue[C]) FirstWorker(sem string) (weight uint32, ahead int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[sem]
	if l == nil {
		return 0, 0, false
	}
	w, ok := l.workers.all.Min()
	if !ok {
		return 0, 0, false
	}
	return w.Request.Weight, countUpTo(l.others.all, w.position), true
}

// Length returns the number of waiters in a semaphore's line when the given number of tasks are waiting. Unlike
// Len, it does not count idle workers. Absent waiters count.
func (q *Queue[C]) Length(sem string, tasks uint64) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[sem]; l != nil {
		return l.length(tasks)
	}
	return 0
}

// Empty reports whether there are no waiters, not even idle workers.
func (q *Queue[C]) Empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiters) == 0
}

// Total returns the sum of Length over all semaphores.
func (q *Queue[C]) Total(tasks func(sem string) uint64) (total int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for sem, l := range q.lines {
		if total += l.others.all.Len(); l.workers.all.Len() > 0 {
			total += l.busy(tasks(sem))
		}
	}
	return total
}

// Waiting returns a semaphore's waiters in order, so that their requests can be reevaluated after an edit.
func (q *Queue[C]) Waiting(sem string) []*Waiter[C] {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[sem]; l != nil {
		return l.all.Items()
	}
	return nil
}

// Semaphores returns the sorted names of the semaphores that have waiters.
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

// Snapshot is the state of a waiter at a point in time.
type Snapshot struct {
	Key
	Weight uint32
	Worker bool
	Firing *semaphore.Firing // must not be modified
	Joined time.Time
	Place  int // as returned by Queue.Place
	Cursor Cursor
	// Absent means that no call is attached. The place is kept for Linger.
	Absent bool
	// Offered means that the waiter's grant is being proposed.
	Offered bool
}

// Cursor is a waiter's position among all waiters in a leader's term. It remains valid after the waiter has left.
type Cursor struct {
	Semaphore string
	Rank      time.Duration
	Seq       uint64
}

// Waiters lists the waiters for the matching semaphores, ordered by semaphore and by position in line. It returns at
// most limit waiters, starting after the cursor; the zero Cursor is before the first waiter. tasks returns the number
// of tasks waiting for a semaphore's workers. Each line is consistent, but different lines may be read at different
// times, so that the queue is never locked for longer than it takes to read one line.
func (q *Queue[C]) Waiters(match func(sem string) bool, after Cursor, limit int, tasks func(sem string) uint64) []Snapshot {
	var out []Snapshot
	names := q.Semaphores()
	first, _ := slices.BinarySearch(names, after.Semaphore)
	for _, name := range names[first:] {
		if len(out) >= limit {
			break
		}
		if match(name) {
			out = q.appendLine(out, name, after, limit, tasks(name))
		}
	}
	return out
}

func (q *Queue[C]) appendLine(out []Snapshot, name string, after Cursor, limit int, tasks uint64) []Snapshot {
	var noCall C
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[name]
	if l == nil {
		return out
	}
	others, workers, busy := 0, 0, l.busy(tasks)
	if last := (position{after.Rank, after.Seq}); name == after.Semaphore {
		others, workers = countUpTo(l.others.all, last), countUpTo(l.workers.all, last)
	}
	for i := others + workers; i < l.all.Len() && len(out) < limit; i++ {
		w, _ := l.all.GetAt(i)
		if w.Request.Worker {
			workers++
		} else {
			others++
		}
		out = append(out, Snapshot{
			Key: w.Key, Weight: w.Request.Weight, Worker: w.Request.Worker, Firing: w.Request.Firing, Joined: w.Joined,
			Place: w.placeGiven(others, workers, busy), Cursor: Cursor{name, w.rank, w.seq}, Absent: w.call == noCall, Offered: w.offered,
		})
	}
	return out
}
