package queue

// Offer marks and returns the waiters that can be granted a permit, from the front: as many as fit into the free
// permits that are not already being offered, and at most as many workers as there are waiting tasks. It stops at the
// first waiter that does not fit. It skips absent waiters and workers without a task. The caller must later call Leave
// or Return for each of the returned waiters.
//
// Call Offer again after a waiter has left or has been returned: until then its permits count as offered, even if the
// state already counts them as used.
func (q *Queue[C]) Offer(sem string, free, tasks uint64) []*Waiter[C] {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[sem]
	if l == nil {
		return nil
	}
	var offers []*Waiter[C]
	for {
		w, ok := l.next(tasks)
		if !ok || l.offered+uint64(w.Request.Weight) > free {
			return offers
		}
		l.kindOf(w).ready.Delete(w)
		l.propose(w)
		offers = append(offers, w)
	}
}

// propose marks a waiter as being offered, and settle removes the mark.
func (l *line[C]) propose(w *Waiter[C]) {
	w.offered = true
	l.offered += uint64(w.Request.Weight)
	if w.Request.Worker {
		l.taking++
	}
}

func (l *line[C]) settle(w *Waiter[C]) {
	w.offered = false
	l.offered -= uint64(w.Request.Weight)
	if w.Request.Worker {
		l.taking--
	}
}

// Return puts a waiter whose grant was refused back in its place, where it can be offered a permit again. If it has
// been absent for longer than Linger, the next Expire drops it.
func (q *Queue[C]) Return(w *Waiter[C]) {
	var noCall C
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.line == nil || !w.offered {
		return
	}
	w.line.settle(w)
	if w.call != noCall {
		w.line.kindOf(w).ready.Set(w)
	} else {
		q.absent.Set(w)
	}
}

// Offered reports whether w is being offered a permit.
func (q *Queue[C]) Offered(w *Waiter[C]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return w.offered
}

// Ahead reports whether any waiter is ahead of the waiter with the given key, including absent waiters and those being
// offered a permit. If the key is nil or unknown, it reports whether there are any waiters in the line. Workers count
// only if tasks are waiting or a worker is being offered a permit. Call Expire first, so that expired places do not
// count.
func (q *Queue[C]) Ahead(sem string, k *Key, tasks uint64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[sem]
	if l == nil {
		return false
	}
	first := l.first(tasks)
	if k == nil || first == nil {
		return first != nil
	}
	w := q.waiters[*k]
	return w == nil || first != w && first.isAhead(w.position)
}
