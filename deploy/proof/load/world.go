// Package load is the clients of a fault run: they ask, hold, refresh, release, edit and watch, each writes down what
// it sees, and all are as careless as real ones.
package load

import (
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Semaphore is one that the clients share.
type Semaphore struct {
	Name       string
	Definition history.Definition
	// Firings: each acquire claims the one of the period; 0: none.
	Firings time.Duration
	// Weights: acquires ask for more than one.
	Weights bool
	// Edited: an editor replaces its definition all the time.
	Edited bool
	// Paused: an operator pauses and resumes it.
	Paused bool
	// Revoked: an operator revokes its permits.
	Revoked bool
	// Worked: its permits carry tasks. An operator does all that can keep workers out, each for a while.
	Worked bool
	// Most is the most permits that an edit gives it; 0: those of its definition.
	Most uint32
}

// World is the semaphores of a run; the seed decides on their durations.
func World(seed uint64) []Semaphore {
	random := rand.New(rand.NewPCG(seed, 1))
	var all []Semaphore
	add := func(name string, permits uint32, change func(*Semaphore)) {
		s := Semaphore{Name: name, Definition: history.Definition{
			GroupPattern: ".*", AcquirerPattern: ".*", Permits: permits, Duration: time.Duration(500+random.IntN(1500)) * time.Millisecond,
		}}
		if change != nil {
			change(&s)
		}
		all = append(all, s)
	}
	for i := range 8 {
		add(fmt.Sprintf("one/%d", i), 1, func(s *Semaphore) { s.Revoked, s.Definition.Takeover = i < 3, i < 2 })
	}
	for i := range 2 {
		add(fmt.Sprintf("some/%d", i), 4, func(s *Semaphore) { s.Weights = true })
	}
	add("cool/0", 1, func(s *Semaphore) {
		s.Definition.MinHold, s.Definition.LossDelay = 300*time.Millisecond, 400*time.Millisecond
	})
	add("held/0", 2, func(s *Semaphore) { s.Definition.HoldOnExpiry = true })
	add("fire/spent", 2, func(s *Semaphore) { s.Firings = 400 * time.Millisecond })
	add("fire/free", 2, func(s *Semaphore) { s.Firings, s.Definition.FreeOnLoss = 400*time.Millisecond, true })
	add("fire/handed", 2, func(s *Semaphore) { // several of its holders may die in a period
		s.Firings, s.Definition.FreeOnLoss, s.Definition.Takeover, s.Definition.MaxAttempts = 4*time.Second, true, true, 2
		s.Definition.Duration /= 2
	})
	add("fire/judged", 2, func(s *Semaphore) {
		s.Firings, s.Definition.Takeover = 2*time.Second, true
		s.Definition.Duration /= 2
	})
	add("edit/0", 2, func(s *Semaphore) { s.Edited = true })
	add("edit/1", 1, func(s *Semaphore) { s.Edited = true })
	add("pause/0", 1, func(s *Semaphore) { s.Paused = true })
	return all
}

// wire is the definition as the API has it.
func wire(name string, d history.Definition) *gatekeeperv1.Definition {
	def := &gatekeeperv1.Definition{
		Name: name, GroupPattern: &d.GroupPattern, AcquirerPattern: &d.AcquirerPattern, Permits: &d.Permits, Duration: durationpb.New(d.Duration),
	}
	if d.MinHold > 0 {
		def.MinHold = durationpb.New(d.MinHold)
	}
	if d.LossDelay > 0 {
		def.LossDelay = durationpb.New(d.LossDelay)
	}
	if d.HoldOnExpiry {
		def.OnExpiry = gatekeeperv1.OnExpiry_ON_EXPIRY_HOLD
	}
	def.Takeover, def.MaxAttempts = d.Takeover, d.MaxAttempts
	if d.FreeOnLoss {
		def.FiringOnLoss = gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE
	}
	return def
}

// read is the definition as the API gave it.
func read(d *gatekeeperv1.Definition) *history.Definition {
	return &history.Definition{
		GroupPattern: d.GetGroupPattern(), AcquirerPattern: d.GetAcquirerPattern(), Permits: d.GetPermits(), Duration: d.GetDuration().AsDuration(),
		MinHold: d.GetMinHold().AsDuration(), LossDelay: d.GetLossDelay().AsDuration(),
		HoldOnExpiry: d.GetOnExpiry() == gatekeeperv1.OnExpiry_ON_EXPIRY_HOLD,
		FreeOnLoss:   d.GetFiringOnLoss() == gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE,
		Takeover:     d.GetTakeover(), MaxAttempts: d.GetMaxAttempts(),
	}
}
