package queue

// Offer marks and returns, from the front, who can be granted: as many as fit into what is free once everybody who is
// being proposed already has got its part, and as many workers as tasks wait. The first who does not fit ends it; who
// is absent is passed over, as is a worker for whom there is no task. Each of them must later Leave or be given to
// Return.
//
// Offer again after a waiter left or was returned: until then it was counted, also when the state counted it as well.
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

// propose counts a waiter as being proposed, and settle no longer.
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

// Return puts a waiter whose grant was refused back to its place, where it can be offered again. If it has been absent
// for longer than Linger by now, the next Expire drops it.
func (q *Queue[C]) Return(w *Waiter[C]) {
	var none C
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.line == nil || !w.offered {
		return
	}
	w.line.settle(w)
	if w.call != none {
		w.line.kindOf(w).ready.Set(w)
	} else {
		q.absent.Set(w)
	}
}

// Offered reports whether w is being proposed.
func (q *Queue[C]) Offered(w *Waiter[C]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return w.offered
}

// Ahead reports whether anybody is in line ahead of the waiter of that key, absent ones and those being proposed
// included; for nil, and for a key that does not wait, whether anybody is in line at all. Workers count only while
// tasks wait, or one of them is being proposed. Expire first, so that nobody whose place is no longer kept is counted.
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
