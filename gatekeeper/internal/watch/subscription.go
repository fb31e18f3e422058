package watch

import (
	"context"
	"errors"
	"sync"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// ErrClosed means that the subscription was closed.
var ErrClosed = errors.New("watch: the subscription is closed")

// Batch is one delivery to a watcher: the events of one log entry, or a notice that the watcher has missed some.
type Batch struct {
	// Events are all events above the revision of the last batch, up to Revision, in order. If there are none, only the
	// revision has advanced. They are shared and must not be modified.
	Events []fsm.Event
	// Revision is the last revision covered by this batch, and the one to resume from.
	Revision uint64
	// Missed is set if this watcher has missed events, in which case Events is empty. The watcher must read the state
	// again, at Revision or later. Subsequent batches continue after Revision.
	Missed bool
}

// Subscription is a watcher's position. Only one goroutine at a time may call Next. Close may be called from any
// goroutine.
type Subscription struct {
	hub       *Hub
	delivered uint64 // the revision up to which everything has been delivered
	closing   sync.Once
	closed    chan struct{}
}

// Subscribe starts watching after a revision. Pass the revision of the last batch read, here or on another server; the
// Hub's revision, to start now; or 0, to start at the very first event. If the revision is ahead of this server, the
// subscription waits for it. The caller must close the subscription.
func (h *Hub) Subscribe(after uint64) *Subscription {
	h.watchers.Add(1)
	return &Subscription{hub: h, delivered: after, closed: make(chan struct{})}
}

// Next waits for events after the last batch and returns the oldest of them. The error is ctx.Err() or ErrClosed.
func (s *Subscription) Next(ctx context.Context) (Batch, error) {
	for {
		select {
		case <-s.closed:
			return Batch{}, ErrClosed
		default:
		}
		if err := ctx.Err(); err != nil {
			return Batch{}, err
		}
		batch, news := s.read()
		if news == nil {
			s.delivered = batch.Revision
			return batch, nil
		}
		select {
		case <-news:
		case <-s.closed:
		case <-ctx.Done():
		}
	}
}

// Close ends the subscription and unblocks Next. It may be called more than once.
func (s *Subscription) Close() {
	s.closing.Do(func() {
		close(s.closed)
		s.hub.watchers.Add(-1)
	})
}

// read returns the next batch, or the channel to wait on.
func (s *Subscription) read() (batch Batch, news <-chan struct{}) {
	h := s.hub
	h.mu.RLock()
	defer h.mu.RUnlock()
	switch {
	case s.delivered >= h.revision:
		h.awaited.Store(true)
		return Batch{}, h.news
	case s.delivered < h.floor:
		return Batch{Revision: h.revision, Missed: true}, nil
	}
	if e, ok := h.after(s.delivered); ok {
		return Batch{Events: e.events, Revision: e.revision}, nil
	}
	return Batch{Revision: h.revision}, nil
}
