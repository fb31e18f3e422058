package keeper

import (
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// sightingInterval is the minimum interval between proposals of sightings.
	sightingInterval = time.Second
	// sightingTTL is how old a sighting may be before it is renewed. Sightings show which callers exist, not when each
	// last requested a permit.
	sightingTTL = 10 * time.Minute
	// maxSightings limits the sightings in one command, and those waiting to be proposed. Sightings that do not fit are
	// recorded on the caller's next call.
	maxSightings = 1000
	// maxSeen limits the cache that avoids lookups in the state.
	maxSeen = 100_000
)

// sightings records which callers request permits, for use in previews. A caller's first sighting is proposed promptly,
// and later ones only rarely. No call waits for a proposal.
type sightings struct {
	mu      sync.RWMutex // guards renewed and waiting
	renewed map[caller]time.Time
	waiting []fsm.Sighting
}

type caller struct{ group, acquirer string }

// record records that a caller requested a permit. For a caller seen recently, which is the common case, it takes a
// read lock and one lookup.
func (s *sightings) record(state *fsm.State, id semaphore.Identity, now time.Time) {
	c := caller{id.Group, id.Acquirer}
	s.mu.RLock()
	at, cached := s.renewed[c]
	s.mu.RUnlock()
	if cached && now.Sub(at) < sightingTTL {
		return
	}
	at = now
	if old, ok := state.Sighting(c.group, c.acquirer); ok && now.Sub(old.At) < sightingTTL {
		at = old.At // another leader recorded it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if renewedAt, ok := s.renewed[c]; ok && now.Sub(renewedAt) < sightingTTL {
		return
	}
	if at.Equal(now) {
		if len(s.waiting) >= maxSightings {
			return
		}
		s.waiting = append(s.waiting, fsm.Sighting{Group: c.group, Acquirer: c.acquirer, At: now.Truncate(time.Minute)})
	}
	if s.renewed == nil || len(s.renewed) >= maxSeen {
		s.renewed = make(map[caller]time.Time)
	}
	s.renewed[c] = at
}

func (s *sightings) take() []fsm.Sighting {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.waiting
	s.waiting = nil
	return waiting
}

// invalidate makes sure that sightings that could not be proposed are recorded on the callers' next calls.
func (s *sightings) invalidate(list []fsm.Sighting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range list {
		delete(s.renewed, caller{l.Group, l.Acquirer})
	}
}

// reset clears the cache, so that the next epoch starts from the state. Outcomes of this epoch's proposals are never
// delivered to the next one.
func (s *sightings) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewed = nil
}

// proposeSightings proposes the recorded sightings. A caller is recorded again only after sightingTTL, so known callers
// cause few log entries.
func (k *Keeper) proposeSightings(e *epoch.Epoch) {
	list := k.seen.take()
	if len(list) == 0 {
		return
	}
	cmd := fsm.Sight{Term: e.Term, Sightings: list}
	if fsm.Level(cmd) > k.cfg.Machine.State().FeatureLevel() {
		k.seen.invalidate(list)
		return
	}
	e.Propose(func(_ int, err error) {
		if err != nil {
			k.seen.invalidate(list)
		}
	}, cmd)
}
