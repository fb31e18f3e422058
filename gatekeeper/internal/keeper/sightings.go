package keeper

import (
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// sightEvery is the shortest time between two proposals of sightings.
	sightEvery = time.Second
	// sightAgain is how old a sighting may be before it is renewed. Sightings show which callers exist, not when each
	// of them last asked.
	sightAgain = 10 * time.Minute
	// maxSightings bounds one command, and the number of sightings that wait for it. Sightings that do not fit are
	// noted at the caller's next call.
	maxSightings = 1000
	// maxSeen bounds the cache that saves look-ups in the state.
	maxSeen = 100_000
)

// sightings records which callers ask, for previews. The first sighting of a caller is proposed soon, and later ones
// only rarely. No call waits for a proposal.
type sightings struct {
	mu      sync.RWMutex // guards renewed and waiting
	renewed map[caller]time.Time
	waiting []fsm.Sighting
}

type caller struct{ group, acquirer string }

// saw records that a caller asked. The common case, a caller seen recently, takes a read lock and one look-up.
func (s *sightings) saw(state *fsm.State, id semaphore.Identity, now time.Time) {
	c := caller{id.Group, id.Acquirer}
	s.mu.RLock()
	at, known := s.renewed[c]
	s.mu.RUnlock()
	if known && now.Sub(at) < sightAgain {
		return
	}
	at = now
	if old, ok := state.Sighting(c.group, c.acquirer); ok && now.Sub(old.At) < sightAgain {
		at = old.At // another leader recorded it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if again, ok := s.renewed[c]; ok && now.Sub(again) < sightAgain {
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

// lost makes sure that sightings which could not be proposed are recorded at the caller's next call.
func (s *sightings) lost(list []fsm.Sighting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range list {
		delete(s.renewed, caller{l.Group, l.Acquirer})
	}
}

// forget clears the cache, so that the next epoch reads the state. The outcomes of proposals from this epoch never
// reach the next one.
func (s *sightings) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewed = nil
}

// sight proposes the recorded sightings. Minutes pass between two sightings of the same caller, so an idle cluster
// writes nothing.
func (k *Keeper) sight(e *epoch.Epoch) {
	list := k.seen.take()
	if len(list) == 0 {
		return
	}
	cmd := fsm.Sight{Term: e.Term, Sightings: list}
	if fsm.Level(cmd) > k.cfg.Machine.State().FeatureLevel() {
		k.seen.lost(list)
		return
	}
	e.Propose(func(_ int, err error) {
		if err != nil {
			k.seen.lost(list)
		}
	}, cmd)
}
