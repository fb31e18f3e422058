package watch

import (
	"context"
	"errors"
	"sync"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// ErrClosed says that the subscription was closed.
var ErrClosed = errors.New("watch: the subscription is closed")

// Batch is what one log entry did, or what a watcher has to know instead.
type Batch struct {
	// Events are all events above the revision of the last batch, up to Revision, in order. They may be none: then only
	// the revision has moved. They are shared and must not be changed.
	Events []fsm.Event
	// Revision is the one to resume from: this batch ends there.
	Revision uint64
	// Missed: events were lost to this watcher, and there are none in this batch. It must read the state again, which
	// must be no older than Revision; what follows comes after Revision.
	Missed bool
}

// Subscription is a watcher's place. One goroutine at a time may call Next; Close may be called from any.
type Subscription struct {
	hub       *Hub
	delivered uint64 // everything up to this revision
	closing   sync.Once
	closed    chan struct{}
}

// Subscribe begins to watch after a revision: that of the last batch that was read, here or on another server; that of
// the Hub, to begin now; or 0, to begin at the very first. A revision that lies ahead of this server is waited for. The
// subscription must be closed.
func (h *Hub) Subscribe(after uint64) *Subscription {
	h.watchers.Add(1)
	return &Subscription{hub: h, delivered: after, closed: make(chan struct{})}
}

// Next waits for events above the last batch and returns the oldest of them. Its errors are ctx.Err() and ErrClosed.
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

// Close ends the subscription, and a Next that waits. It may be called more than once.
func (s *Subscription) Close() {
	s.closing.Do(func() {
		close(s.closed)
		s.hub.watchers.Add(-1)
	})
}

// read returns what is next, or else what to wait for.
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
