package words

import (
	"testing"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"google.golang.org/protobuf/types/known/durationpb"
)

// gkctl decides whether a file says the same as what is stored, so its defaults must be the servers'.
func TestComplete_Defaults_AreTheServers(t *testing.T) {
	t.Parallel()
	d := Complete(&gatekeeperv1.Definition{Name: "x", MaxHold: durationpb.New(0)})
	for field, same := range map[string]bool{
		"group_pattern":    d.GetGroupPattern() == semaphore.DefaultPattern,
		"acquirer_pattern": d.GetAcquirerPattern() == semaphore.DefaultPattern,
		"permits":          d.GetPermits() == semaphore.DefaultPermits,
		"duration":         d.GetDuration().AsDuration() == semaphore.DefaultDuration,
		"firing_retention": d.GetFiringRetention().AsDuration() == semaphore.DefaultFiringRetention,
		"firing_limit":     d.GetFiringLimit() == semaphore.DefaultFiringLimit,
		"on_expiry":        d.GetOnExpiry() == gatekeeperv1.OnExpiry(semaphore.OnExpiryFree),
		"firing_on_loss":   d.GetFiringOnLoss() == gatekeeperv1.FiringOnLoss(semaphore.FiringSpent),
		"max_hold":         d.MaxHold == nil,
	} {
		if !same {
			t.Errorf("%s: %v", field, d)
		}
	}
	if !SameRule(d, &gatekeeperv1.Definition{Name: "x"}) || SameRule(d, &gatekeeperv1.Definition{Name: "y"}) {
		t.Error("the same rule is told from itself")
	}
}
