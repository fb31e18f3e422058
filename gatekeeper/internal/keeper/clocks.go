package keeper

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// clockTolerance is how far a caller's wall clock may differ from the leader's before the difference is reported.
	// It is half of the default limit on how far ahead a firing may be due.
	clockTolerance = semaphore.DefaultFiringMaxAhead / 2
	// maxHostClocks is the maximum number of callers in hostClocks. Beyond it, the least recently seen caller is
	// dropped.
	maxHostClocks = 1000
	// clockRetention is how long a caller stays in hostClocks after its last call.
	clockRetention = 24 * time.Hour
	// warnAheadInterval is the minimum time between two log messages about one semaphore's firings that are due too far
	// ahead.
	warnAheadInterval = time.Minute
)

// HostClock describes a caller whose wall clock differs from this server's by more than clockTolerance.
type HostClock struct {
	Group, Acquirer string
	// Ahead is how far the caller's clock is ahead; negative if it is behind.
	Ahead time.Duration
	// Seen is when the caller last called, by this server's clock.
	Seen time.Time
}

// hostClocks records callers whose clocks are off. No decision depends on it.
type hostClocks struct {
	mu     sync.RWMutex // guards all fields
	off    map[caller]HostClock
	warned map[string]time.Time // by semaphore: when a firing due too far ahead was last logged
}

// compareClocks records the difference between the caller's clock and this server's. If the caller's clock is off, it
// logs that once, and again when the difference changes by more than the tolerance or disappears.
func (k *Keeper) compareClocks(call *AcquireCall) {
	if call.SentAt.IsZero() {
		return
	}
	now := k.cfg.WallClock()
	ahead := call.SentAt.Sub(now.Add(-time.Since(call.Received)))
	off := ahead.Abs() > clockTolerance
	c, s := caller{call.Identity.Group, call.Identity.Acquirer}, &k.clocks
	s.mu.RLock()
	_, wasOff := s.off[c]
	s.mu.RUnlock()
	if !off && !wasOff { // nearly all calls
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, wasOff := s.off[c]
	log := k.cfg.Logger.With("group", c.group, "acquirer", c.acquirer, "ahead", ahead.Round(time.Second))
	switch {
	case !off:
		delete(s.off, c)
		if wasOff {
			log.Info("a caller's clock no longer differs from this server's")
		}
		return
	case !wasOff || (ahead-old.Ahead).Abs() > clockTolerance:
		log.Warn("a caller's clock differs from this server's, so it may compute different due times than other callers")
	}
	if s.off == nil {
		s.off = make(map[caller]HostClock)
	}
	s.off[c] = HostClock{Group: c.group, Acquirer: c.acquirer, Ahead: ahead, Seen: now}
	if len(s.off) > maxHostClocks {
		oldest := c
		for other, clock := range s.off {
			if clock.Seen.Before(s.off[oldest].Seen) {
				oldest = other
			}
		}
		delete(s.off, oldest)
	}
}

// HostClocks returns the callers whose clocks are off, ordered by group and acquirer. It includes only callers that
// called this server within the last day, while it was the leader.
func (k *Keeper) HostClocks() []HostClock {
	now, s := k.cfg.WallClock(), &k.clocks
	s.mu.Lock()
	defer s.mu.Unlock()
	var clocks []HostClock
	for c, clock := range s.off {
		if now.Sub(clock.Seen) > clockRetention {
			delete(s.off, c)
			continue
		}
		clocks = append(clocks, clock)
	}
	slices.SortFunc(clocks, func(a, b HostClock) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Acquirer, b.Acquirer))
	})
	return clocks
}

// clearClocks forgets all callers, because they now call a different leader.
func (k *Keeper) clearClocks() {
	k.clocks.mu.Lock()
	defer k.clocks.mu.Unlock()
	k.clocks.off, k.clocks.warned = nil, nil
}

// warnAhead logs that a firing was denied because it is due too far ahead. For each semaphore, it logs at most once
// every warnAheadInterval.
func (k *Keeper) warnAhead(call *AcquireCall, d *Denial) {
	now, s := time.Now(), &k.clocks
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.warned[call.Semaphore]; ok && now.Sub(at) < warnAheadInterval {
		return
	}
	if s.warned == nil || len(s.warned) >= maxHostClocks {
		s.warned = make(map[string]time.Time)
	}
	s.warned[call.Semaphore] = now
	k.cfg.Logger.Warn("a firing was denied because it is due too far ahead: its due time, the caller's clock or this server's clock is wrong",
		"semaphore", call.Semaphore, "group", call.Identity.Group, "acquirer", call.Identity.Acquirer, "firing", call.Firing.Name,
		"due", call.Firing.Due, "leader_clock", d.LeaderClock, "caller_clock", d.CallerClock)
}
