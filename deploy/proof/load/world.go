// Package load contains the clients in a fault run. They acquire, hold, refresh, release, edit and watch, and record
// their observations. They are as careless as real clients.
package load

import (
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Semaphore is a semaphore that the clients share.
type Semaphore struct {
	Name       string
	Definition history.Definition
	// FiringInterval is the interval between firings. Each acquire claims the current interval's firing. 0 means no
	// firings.
	FiringInterval time.Duration
	// Weights means that acquires may request weights above one.
	Weights bool
	// Edited means that an operator constantly replaces its definition.
	Edited bool
	// Paused means that an operator pauses and resumes it.
	Paused bool
	// Revoked means that an operator revokes its permits.
	Revoked bool
	// HasTasks means that its permits carry tasks. An operator temporarily makes each kind of change that can exclude
	// workers.
	HasTasks bool
	// MaxPermits is the largest number of permits that an edit sets. 0 means the number in its definition.
	MaxPermits uint32
}

// World returns a run's semaphores. Their durations depend on the seed.
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
	add("fire/spent", 2, func(s *Semaphore) { s.FiringInterval = 400 * time.Millisecond })
	add("fire/free", 2, func(s *Semaphore) { s.FiringInterval, s.Definition.FreeOnLoss = 400*time.Millisecond, true })
	add("fire/handed", 2, func(s *Semaphore) { // more than one of its holders may die within a period
		s.FiringInterval, s.Definition.FreeOnLoss, s.Definition.Takeover, s.Definition.MaxAttempts = 4*time.Second, true, true, 2
		s.Definition.Duration /= 2
	})
	add("fire/judged", 2, func(s *Semaphore) {
		s.FiringInterval, s.Definition.Takeover = 2*time.Second, true
		s.Definition.Duration /= 2
	})
	add("edit/0", 2, func(s *Semaphore) { s.Edited = true })
	add("edit/1", 1, func(s *Semaphore) { s.Edited = true })
	add("pause/0", 1, func(s *Semaphore) { s.Paused = true })
	return all
}

// toProto converts a definition to the API's type.
func toProto(name string, d history.Definition) *gatekeeperv1.Definition {
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

// fromProto converts a definition from the API's type.
func fromProto(d *gatekeeperv1.Definition) *history.Definition {
	return &history.Definition{
		GroupPattern: d.GetGroupPattern(), AcquirerPattern: d.GetAcquirerPattern(), Permits: d.GetPermits(), Duration: d.GetDuration().AsDuration(),
		MinHold: d.GetMinHold().AsDuration(), LossDelay: d.GetLossDelay().AsDuration(),
		HoldOnExpiry: d.GetOnExpiry() == gatekeeperv1.OnExpiry_ON_EXPIRY_HOLD,
		FreeOnLoss:   d.GetFiringOnLoss() == gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE,
		Takeover:     d.GetTakeover(), MaxAttempts: d.GetMaxAttempts(),
	}
}
