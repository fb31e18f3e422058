package queue

import (
	"sync"
	"time"

	"github.com/tidwall/btree"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// Linger is how long an absent waiter keeps its place.
	Linger = 5 * time.Second
	// MaxWaitedBefore is the most that a waiter can claim to have waited elsewhere.
	MaxWaitedBefore = 10 * time.Minute
)

// Key distinguishes waiters: one acquisition of one identity.
type Key struct {
	Semaphore string
	Identity  semaphore.Identity
	RequestID string
}

// host is an acquirer at a semaphore, whatever its holder ids.
type host struct{ semaphore, group, acquirer string }

// alone reports whether JoinAlone counts a request.
func alone(req *semaphore.Request) bool { return req.Firing == nil && !req.Worker }

func hostOf(k *Key) host { return host{k.Semaphore, k.Identity.Group, k.Identity.Acquirer} }

// Waiter is one acquisition with a place in a line. Its exported fields never change.
type Waiter[C comparable] struct {
	Key
	Request  semaphore.Request
	Metadata map[string]string
	// Joined is since when it waits, as it claims: when it joined less what it waited before, capped.
	Joined time.Time

	// Order in the line, fixed while in it.
	position

	// Guarded by the queue's lock.
	call    C         // zero: absent
	until   time.Time // when absent: how long the place is kept
	offered bool
	line    *line[C] // nil when it has left
}

// Queue is the waiting acquirers of one leader. C is a call that waits, usually a pointer; its zero value is no call.
// The methods may be called from any goroutine, and those that take a Waiter ignore one that has left.
type Queue[C comparable] struct {
	mu      sync.Mutex // guards everything below and the waiters' changing fields
	waiters map[Key]*Waiter[C]
	lines   map[string]*line[C] // none is empty
	// hosts counts the waiters without a firing that are no workers; none is 0.
	hosts map[host]int
	// absent holds the waiters whose place may be dropped, by until: those without a call that are not being proposed.
	absent *btree.BTreeG[*Waiter[C]]
	gather time.Time
	seq    uint64
}

// New returns an empty queue.
func New[C comparable]() *Queue[C] {
	q := &Queue[C]{}
	q.reset()
	return q
}

func (q *Queue[C]) reset() {
	q.waiters = make(map[Key]*Waiter[C])
	q.lines = make(map[string]*line[C])
	q.hosts = make(map[host]int)
	q.absent = btree.NewBTreeGOptions((*Waiter[C]).goesBefore, btree.Options{NoLocks: true})
	q.gather = time.Time{}
}

// Gather lets the lines gather until then: who joins before is placed by the age that it claims. It is for an empty
// queue, at the beginning of a leadership.
func (q *Queue[C]) Gather(until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gather = until
}

// Gathering reports whether the lines still gather.
func (q *Queue[C]) Gathering(now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return now.Before(q.gather)
}

// Join attaches call to the waiter of that key. A waiter that is known keeps its place, its request and its metadata,
// and replaced is the call that was attached before, or the zero C; it must hear that it no longer waits. A new one
// goes to the end of its line, or, while the lines gather, behind everybody who claims to have waited as long.
func (q *Queue[C]) Join(
	k Key, req semaphore.Request, metadata map[string]string, call C, now time.Time, waitedBefore time.Duration,
) (w *Waiter[C], replaced C) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.join(k, req, metadata, call, now, waitedBefore)
}

// JoinAlone is Join, but w is nil, and nothing is done, when another acquisition of the same semaphore, group and
// acquirer waits, neither of them with a firing or as a worker.
func (q *Queue[C]) JoinAlone(
	k Key, req semaphore.Request, metadata map[string]string, call C, now time.Time, waitedBefore time.Duration,
) (w *Waiter[C], replaced C) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiters[k] == nil && alone(&req) && q.hosts[hostOf(&k)] > 0 {
		return nil, replaced
	}
	return q.join(k, req, metadata, call, now, waitedBefore)
}

// join is Join. The lock is held.
func (q *Queue[C]) join(
	k Key, req semaphore.Request, metadata map[string]string, call C, now time.Time, waitedBefore time.Duration,
) (w *Waiter[C], replaced C) {
	if w := q.waiters[k]; w != nil {
		replaced = w.call
		if w.call = call; !w.offered {
			q.absent.Delete(w)
			w.line.kindOf(w).ready.Set(w)
		}
		return w, replaced
	}
	q.seq++
	w = &Waiter[C]{
		Key: k, Request: req, Metadata: metadata,
		Joined:   now.Add(-min(max(waitedBefore, 0), MaxWaitedBefore)),
		position: position{seq: q.seq}, call: call,
	}
	if now.Before(q.gather) {
		w.rank = w.Joined.Sub(q.gather)
	}
	l := q.lines[k.Semaphore]
	if l == nil {
		l = newLine[C]()
		q.lines[k.Semaphore] = l
	}
	w.line = l
	l.all.Set(w)
	l.kindOf(w).all.Set(w)
	l.kindOf(w).ready.Set(w)
	q.waiters[k] = w
	if alone(&req) {
		q.hosts[hostOf(&k)]++
	}
	return w, replaced
}

// Detach says that call has ended without an answer, to be repeated or with its connection. If it is still the attached
// one, the waiter is absent from now on, and its place is kept for Linger.
func (q *Queue[C]) Detach(w *Waiter[C], call C, now time.Time) {
	var none C
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.line == nil || call == none || w.call != call {
		return
	}
	w.call, w.until = none, now.Add(Linger)
	if !w.offered {
		w.line.kindOf(w).ready.Delete(w)
		q.absent.Set(w)
	}
}

// Call is the call that is attached to w: the zero C when w is absent, and the last one when it has left.
func (q *Queue[C]) Call(w *Waiter[C]) C {
	q.mu.Lock()
	defer q.mu.Unlock()
	return w.call
}

// Leave takes the waiter of that key out of its line: it was granted, denied or cancelled. It returns the call that was
// attached at that moment, the zero C when the waiter was absent, and whether there was such a waiter. No call is
// attached to it any more; a later Join of the same key is a new waiter.
func (q *Queue[C]) Leave(k Key) (call C, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.waiters[k]
	if w == nil {
		return call, false
	}
	q.drop(w)
	return w.call, true
}

// Expire drops the absent waiters whose places were kept long enough, and returns them. It costs nothing when there are
// none.
func (q *Queue[C]) Expire(now time.Time) []*Waiter[C] {
	q.mu.Lock()
	defer q.mu.Unlock()
	var gone []*Waiter[C]
	for {
		w, ok := q.absent.Min()
		if !ok || now.Before(w.until) {
			return gone
		}
		q.drop(w)
		gone = append(gone, w)
	}
}

// NextExpiry is when Expire has something to do next; false when nobody is absent.
func (q *Queue[C]) NextExpiry() (time.Time, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w, ok := q.absent.Min()
	if !ok {
		return time.Time{}, false
	}
	return w.until, true
}

// Clear empties the queue, gathering included, and returns who waited, in no order: the leadership is over.
func (q *Queue[C]) Clear() []*Waiter[C] {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]*Waiter[C], 0, len(q.waiters))
	for _, w := range q.waiters {
		w.line = nil
		all = append(all, w)
	}
	q.reset()
	return all
}

// drop takes w out of everything. The lock is held.
func (q *Queue[C]) drop(w *Waiter[C]) {
	l := w.line
	l.all.Delete(w)
	l.kindOf(w).all.Delete(w)
	l.kindOf(w).ready.Delete(w)
	q.absent.Delete(w)
	if w.offered {
		l.settle(w)
	}
	if l.all.Len() == 0 {
		delete(q.lines, w.Semaphore)
	}
	delete(q.waiters, w.Key)
	w.line = nil
	if h := hostOf(&w.Key); alone(&w.Request) {
		if q.hosts[h]--; q.hosts[h] == 0 {
			delete(q.hosts, h)
		}
	}
}
