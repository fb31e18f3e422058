package words

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// gkctl decides whether a file differs from the stored definition, so it must use the same defaults as the servers.
func TestComplete_Defaults_MatchServers(t *testing.T) {
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
			t.Errorf("%s differs from the servers' default: %v", field, d)
		}
	}
	if !Equivalent(d, &gatekeeperv1.Definition{Name: "x"}) || Equivalent(d, &gatekeeperv1.Definition{Name: "y"}) {
		t.Error("Equivalent() is false for equivalent definitions, or true for different ones")
	}
}

func TestFieldChanges_UnknownFields_OtherFieldsAreListed(t *testing.T) {
	t.Parallel()
	before := &gatekeeperv1.Definition{Name: "x"}
	before.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 7))
	after := proto.CloneOf(before)
	after.Permits = new(uint32(3))
	if got, want := FieldChanges(before, after), []string{"permits: 1 -> 3"}; !slices.Equal(got, want) {
		t.Errorf("FieldChanges() = %q, want %q", got, want)
	}
	after = proto.CloneOf(before)
	after.ProtoReflect().SetUnknown(nil)
	if got, want := FieldChanges(before, after), []string{"fields unknown to this version of gkctl"}; !slices.Equal(got, want) {
		t.Errorf("FieldChanges() = %q, want %q", got, want)
	}
}
