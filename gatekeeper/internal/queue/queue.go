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
	// MaxClaimedWait limits how long a waiter can claim to have waited under an earlier leader.
	MaxClaimedWait = 10 * time.Minute
)

// Key identifies a waiter: one acquisition by one identity.
type Key struct {
	Semaphore string
	Identity  semaphore.Identity
	RequestID string
}

// host is an acquirer at a semaphore, regardless of holder ids.
type host struct{ semaphore, group, acquirer string }

// isExclusive reports whether JoinExclusive applies to a request.
func isExclusive(req *semaphore.Request) bool { return req.Firing == nil && !req.Worker }

func hostOf(k *Key) host { return host{k.Semaphore, k.Identity.Group, k.Identity.Acquirer} }

// Waiter is one acquisition with a place in a line. Its exported fields never change.
type Waiter[C comparable] struct {
	Key
	Request  semaphore.Request
	Metadata map[string]string
	// Joined is the time at which the waiter claims to have started waiting: when it joined, minus its claimed earlier
	// wait, which is capped.
	Joined time.Time

	// position in the line, fixed while the waiter is in the line
	position

	// guarded by the queue's lock
	call    C         // zero if absent
	until   time.Time // the time until which an absent waiter's place is kept
	offered bool
	line    *line[C] // nil after it has left
}

// Queue holds the waiters of one leader. C is the type of a waiting call, usually a pointer; its zero value means no
// call. The methods may be called from any goroutine. Methods that take a Waiter have no effect once it has left.
type Queue[C comparable] struct {
	mu      sync.Mutex // guards the fields below and the mutable fields of the waiters
	waiters map[Key]*Waiter[C]
	lines   map[string]*line[C] // only nonempty lines
	// hosts counts the waiters that are not workers and have no firing. Zero counts are removed.
	hosts map[host]int
	// absent holds the waiters that have no call and are not being offered a permit, ordered by the time at which they
	// are dropped.
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
	q.absent = btree.NewBTreeGOptions((*Waiter[C]).expiresBefore, btree.Options{NoLocks: true})
	q.gather = time.Time{}
}

// Gather sets the time until which the lines are gathering: waiters that join before then are placed by the waiting
// time that they claim. It must be called on an empty queue, at the beginning of a term.
func (q *Queue[C]) Gather(until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gather = until
}

// Gathering reports whether the lines are still gathering.
func (q *Queue[C]) Gathering(now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return now.Before(q.gather)
}

// Join attaches call to the waiter with the given key. An existing waiter keeps its place, request and metadata, and
// Join returns the call that was attached to it, or the zero C, as replaced. The caller must notify the replaced call.
// A new waiter goes to the end of its line, or, while the lines are gathering, behind all waiters that claim to have
// waited at least as long.
func (q *Queue[C]) Join(
	k Key, req semaphore.Request, metadata map[string]string, call C, now time.Time, waitedBefore time.Duration,
) (w *Waiter[C], replaced C) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.join(k, req, metadata, call, now, waitedBefore)
}

// JoinExclusive is like Join, but refuses a second waiter from the same acquirer: if another acquisition for the same
// semaphore, group and acquirer is waiting, it does nothing and returns a nil w. Requests from workers and requests
// with a firing do not count and are never refused.
func (q *Queue[C]) JoinExclusive(
	k Key, req semaphore.Request, metadata map[string]string, call C, now time.Time, waitedBefore time.Duration,
) (w *Waiter[C], replaced C) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiters[k] == nil && isExclusive(&req) && q.hosts[hostOf(&k)] > 0 {
		return nil, replaced
	}
	return q.join(k, req, metadata, call, now, waitedBefore)
}

// join implements Join. The caller must hold the lock.
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
		Joined:   now.Add(-min(max(waitedBefore, 0), MaxClaimedWait)),
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
	if isExclusive(&req) {
		q.hosts[hostOf(&k)]++
	}
	return w, replaced
}

// Detach records that call has ended without a result, because the client will retry it or its connection broke. If
// call is still attached, the waiter becomes absent, and its place is kept for Linger.
func (q *Queue[C]) Detach(w *Waiter[C], call C, now time.Time) {
	var noCall C
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.line == nil || call == noCall || w.call != call {
		return
	}
	w.call, w.until = noCall, now.Add(Linger)
	if !w.offered {
		w.line.kindOf(w).ready.Delete(w)
		q.absent.Set(w)
	}
}

// Call returns the call attached to w: the zero C if w is absent, and the last attached call if w has left.
func (q *Queue[C]) Call(w *Waiter[C]) C {
	q.mu.Lock()
	defer q.mu.Unlock()
	return w.call
}

// Leave removes the waiter with the given key from its line because it was granted, denied or cancelled. It returns the
// attached call, or the zero C if the waiter was absent, and whether the waiter was in the queue. A later Join with the
// same key creates a new waiter.
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

// Expire drops and returns the absent waiters whose places are no longer kept. It is cheap if there are none.
func (q *Queue[C]) Expire(now time.Time) []*Waiter[C] {
	q.mu.Lock()
	defer q.mu.Unlock()
	var expired []*Waiter[C]
	for {
		w, ok := q.absent.Min()
		if !ok || now.Before(w.until) {
			return expired
		}
		q.drop(w)
		expired = append(expired, w)
	}
}

// NextExpiry returns the time at which Expire will next drop a waiter, or false if no waiter is absent.
func (q *Queue[C]) NextExpiry() (time.Time, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w, ok := q.absent.Min()
	if !ok {
		return time.Time{}, false
	}
	return w.until, true
}

// Clear empties the queue at the end of a term and stops gathering. It returns all waiters, in no particular order.
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

// drop removes w from all indexes. The caller must hold the lock.
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
	if h := hostOf(&w.Key); isExclusive(&w.Request) {
		if q.hosts[h]--; q.hosts[h] == 0 {
			delete(q.hosts, h)
		}
	}
}
