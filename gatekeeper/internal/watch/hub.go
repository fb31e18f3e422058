package watch

import (
	"sort"
	"sync"
	"sync/atomic"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// DefaultCapacity is the number of events that a Hub retains by default.
const DefaultCapacity = 16384

// Hub retains the latest events and wakes watchers waiting for more. Its methods may be called from any goroutine.
type Hub struct {
	mu sync.RWMutex // guards the fields below, down to awaited; only the applying goroutine locks it for writing, and never for long
	// ring holds the entries [head, head+count), in revision order. Its length is the maximum number of events to
	// retain. It never holds more entries than that, because each has at least one event.
	ring        []entry
	head, count int
	events      int // in all entries of the ring; at most len(ring)
	// floor is the revision above which all events are retained.
	floor uint64
	// revision is the latest revision.
	revision uint64
	started  bool
	// news is closed and replaced when there is something new, but only if awaited is set, which means that a watcher
	// may be waiting.
	news    chan struct{}
	awaited atomic.Bool // set while mu is held for reading

	watchers atomic.Int64
}

// entry holds the effects of one log entry. Its events are shared and never changed.
type entry struct {
	revision uint64 // the revision after the log entry
	events   []fsm.Event
}

// New returns a Hub that retains the latest events, at most capacity of them. A capacity of 0 means DefaultCapacity.
func New(capacity int) *Hub {
	if capacity <= 0 {
		capacity = DefaultCapacity
	}
	return &Hub{ring: make([]entry, capacity), news: make(chan struct{})}
}

// Applied passes the effects of a log entry to the Hub. It must be subscribed to the state machine before the first
// entry is applied, because the Hub has no other source of events. It never waits for a watcher.
func (h *Hub) Applied(a fsm.Applied) { h.add(a.State.Revision(), a.Events, a.Restored) }

// Revision returns the latest revision that the Hub has received.
func (h *Hub) Revision() uint64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.revision
}

// Watchers returns the number of open subscriptions.
func (h *Hub) Watchers() int { return int(h.watchers.Load()) }

func (h *Hub) add(revision uint64, events []fsm.Event, restored bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if restored || !h.started {
		h.reset(revision, events, restored)
	}
	if revision == h.revision && len(events) == 0 && !restored {
		return
	}
	h.revision = revision
	if len(events) > 0 {
		h.remember(entry{revision, events})
	}
	if h.awaited.Swap(false) {
		go close(h.news)
		h.news = make(chan struct{})
	}
}

// reset forgets all entries, because the Hub does not have the events before this entry.
func (h *Hub) reset(revision uint64, events []fsm.Event, restored bool) {
	for h.count > 0 {
		h.forget()
	}
	h.started = true
	switch {
	case restored:
		h.floor = revision
	case len(events) > 0:
		h.floor = events[0].Revision - 1
	case revision > 0:
		h.floor = revision - 1 // the entry made a change that has no event, such as a new feature level
	}
}

func (h *Hub) remember(e entry) {
	for h.count > 0 && h.events+len(e.events) > len(h.ring) {
		h.forget()
	}
	if len(e.events) > len(h.ring) {
		h.floor = e.revision // more events than the ring can hold
		return
	}
	h.ring[(h.head+h.count)%len(h.ring)] = e
	h.count++
	h.events += len(e.events)
}

// forget drops the oldest entry.
func (h *Hub) forget() {
	e := &h.ring[h.head]
	h.floor = e.revision
	h.events -= len(e.events)
	*e = entry{}
	h.head = (h.head + 1) % len(h.ring)
	h.count--
}

// after returns the first retained entry with events above the revision, and those events.
func (h *Hub) after(revision uint64) (e entry, ok bool) {
	i := sort.Search(h.count, func(i int) bool { return h.ring[(h.head+i)%len(h.ring)].revision > revision })
	if i == h.count {
		return entry{}, false
	}
	e = h.ring[(h.head+i)%len(h.ring)]
	first := sort.Search(len(e.events), func(i int) bool { return e.events[i].Revision > revision })
	e.events = e.events[first:len(e.events):len(e.events)]
	return e, true
}
