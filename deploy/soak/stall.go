package main

import (
	"context"
	"sync"
	"time"
)

// stalls records how long this process went without CPU time. The servers run on the same machine. If the machine
// stalls for as long as a leader's lease, the leader steps down, as it must. judge must not mistake that for a bug in
// the servers.
type stalls struct {
	mu      sync.Mutex // guards the fields below
	last    time.Time
	longest time.Duration
}

// stallTick is the interval at which watch reads the clock.
const stallTick = 20 * time.Millisecond

// watch records stalls until ctx ends.
func (s *stalls) watch(ctx context.Context) {
	tick := time.NewTicker(stallTick)
	defer tick.Stop()
	for {
		s.record(time.Now())
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// record records a tick at the given time.
func (s *stalls) record(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.last.IsZero() {
		s.longest = max(s.longest, now.Sub(s.last)-stallTick)
	}
	s.last = now
}

// take returns the longest stall since the last call.
func (s *stalls) take() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest := s.longest
	s.longest = 0
	return longest
}
