package keeper

import (
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// sightEvery is how often what was seen is proposed, at most.
	sightEvery = time.Second
	// sightAgain is how old a sighting may be before it is renewed: it shows who is around, not when each last asked.
	sightAgain = 10 * time.Minute
	// maxSightings bounds one command, and how many wait for it. What does not fit is seen again.
	maxSightings = 1000
	// maxSeen bounds what is remembered here to save looking into the state.
	maxSeen = 100_000
)

// sightings notes who asks, for previews: first sight at once, then coarsely. No call waits for it.
type sightings struct {
	mu      sync.RWMutex // guards both
	renewed map[caller]time.Time
	waiting []fsm.Sighting
}

type caller struct{ group, acquirer string }

// saw notes that somebody asked. The common case, that it is known and fresh, takes a read lock and one look-up.
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
		at = old.At // another leader noted it
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

// lost makes sure that what could not be proposed is noted when it is seen again.
func (s *sightings) lost(list []fsm.Sighting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range list {
		delete(s.renewed, caller{l.Group, l.Acquirer})
	}
}

// forget makes sure that the next epoch asks the state what was noted: it does not hear the outcomes of proposals from
// this one.
func (s *sightings) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewed = nil
}

// sight proposes what was seen. Between two sightings of the same caller lie minutes, so that a cluster at rest writes
// nothing.
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
