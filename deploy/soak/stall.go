package main

import (
	"context"
	"sync"
	"time"
)

// stalls notes for how long this process was given no processor. The servers run on the same machine, and a leader
// whose machine stood still for as long as its lease steps down, as it must: that is no fault of theirs, and has to be
// told from one.
type stalls struct {
	mu      sync.Mutex // guards both
	last    time.Time
	longest time.Duration
}

// stallTick is how often it looks at the clock.
const stallTick = 20 * time.Millisecond

// watch looks until ctx ends.
func (s *stalls) watch(ctx context.Context) {
	tick := time.NewTicker(stallTick)
	defer tick.Stop()
	for {
		s.look(time.Now())
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// look takes note of a tick at that time.
func (s *stalls) look(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.last.IsZero() {
		s.longest = max(s.longest, now.Sub(s.last)-stallTick)
	}
	s.last = now
}

// take returns the longest since it was last asked.
func (s *stalls) take() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest := s.longest
	s.longest = 0
	return longest
}
