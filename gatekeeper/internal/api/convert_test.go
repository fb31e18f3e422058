package api

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// wantSameNames checks that every value of an API enum has the same name in the internal enum E.
func wantSameNames[E interface {
	~int | ~int32 | ~uint8
	String() string
}](t *testing.T, prefix string, theirs map[int32]string) {
	t.Helper()
	for n, name := range theirs {
		if n > 0 && E(n).String() != strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, prefix), "_", " ")) {
			t.Errorf("the API's %s corresponds to our %s", name, E(n))
		}
	}
}

// Enum values are converted directly, so every value must have the same name on both sides.
func TestEnums_SameValues_HaveSameNames(t *testing.T) {
	for n, name := range gatekeeperv1.Reason_name {
		if n > 0 && semaphore.Reason(n).String() != strings.TrimPrefix(name, "REASON_") {
			t.Errorf("the API's %s corresponds to our %s", name, semaphore.Reason(n))
		}
	}
	wantSameNames[semaphore.StopCause](t, "STOP_CAUSE_", gatekeeperv1.StopCause_name)
	wantSameNames[semaphore.PermitState](t, "PERMIT_STATE_", gatekeeperv1.PermitState_name)
	wantSameNames[semaphore.End](t, "PERMIT_END_", gatekeeperv1.PermitEnd_name)
	wantSameNames[consensus.Role](t, "SERVER_ROLE_", gatekeeperv1.ServerRole_name)
	wantSameNames[semaphore.ClaimState](t, "FIRING_STATE_", gatekeeperv1.FiringState_name)
	wantSameNames[semaphore.OnExpiry](t, "ON_EXPIRY_", gatekeeperv1.OnExpiry_name)
	wantSameNames[semaphore.FiringOnLoss](t, "FIRING_ON_LOSS_", gatekeeperv1.FiringOnLoss_name)
	statuses := map[keeper.Status]gatekeeperv1.RefreshStatus{
		keeper.StatusRefreshed: gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED,
		keeper.StatusStopping:  gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING,
		keeper.StatusLost:      gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST,
		keeper.StatusRetry:     gatekeeperv1.RefreshStatus_REFRESH_STATUS_RETRY,
	}
	for ours, theirs := range statuses {
		if gatekeeperv1.RefreshStatus(ours) != theirs {
			t.Errorf("keeper status %d corresponds to %s", ours, theirs)
		}
	}
	kinds := map[fsm.EventKind]gatekeeperv1.EventKind{
		fsm.Created: gatekeeperv1.EventKind_EVENT_KIND_CREATED, fsm.Replaced: gatekeeperv1.EventKind_EVENT_KIND_REPLACED,
		fsm.Deleted: gatekeeperv1.EventKind_EVENT_KIND_DELETED, fsm.PausedEvent: gatekeeperv1.EventKind_EVENT_KIND_PAUSED,
		fsm.ResumedEvent: gatekeeperv1.EventKind_EVENT_KIND_RESUMED, fsm.CordonedEvent: gatekeeperv1.EventKind_EVENT_KIND_CORDONED,
		fsm.UncordonedEvent: gatekeeperv1.EventKind_EVENT_KIND_UNCORDONED, fsm.Granted: gatekeeperv1.EventKind_EVENT_KIND_GRANTED,
		fsm.Released: gatekeeperv1.EventKind_EVENT_KIND_RELEASED, fsm.Expired: gatekeeperv1.EventKind_EVENT_KIND_EXPIRED,
		fsm.HeldEvent: gatekeeperv1.EventKind_EVENT_KIND_HELD, fsm.CoolingEvent: gatekeeperv1.EventKind_EVENT_KIND_COOLING,
		fsm.CoolingEnded: gatekeeperv1.EventKind_EVENT_KIND_COOLING_ENDED, fsm.Cleared: gatekeeperv1.EventKind_EVENT_KIND_CLEARED,
		fsm.StoppingEvent: gatekeeperv1.EventKind_EVENT_KIND_STOPPING, fsm.Abandoned: gatekeeperv1.EventKind_EVENT_KIND_ABANDONED,
		fsm.DurationChanged: gatekeeperv1.EventKind_EVENT_KIND_DURATION_CHANGED, fsm.Configured: gatekeeperv1.EventKind_EVENT_KIND_CONFIGURED,
		fsm.DrainedEvent: gatekeeperv1.EventKind_EVENT_KIND_DRAINED, fsm.RevertedEvent: gatekeeperv1.EventKind_EVENT_KIND_REVERTED,
		fsm.MissedEvent: gatekeeperv1.EventKind_EVENT_KIND_MISSED, fsm.HeardEvent: gatekeeperv1.EventKind_EVENT_KIND_HEARD,
		fsm.FreedUnsafely:     gatekeeperv1.EventKind_EVENT_KIND_FREED_UNSAFELY,
		fsm.QuarantineEnded:   gatekeeperv1.EventKind_EVENT_KIND_QUARANTINE_ENDED,
		fsm.RecoveredEvent:    gatekeeperv1.EventKind_EVENT_KIND_RECOVERED,
		fsm.SupersededEvent:   gatekeeperv1.EventKind_EVENT_KIND_SUPERSEDED,
		fsm.FiringsForgotten:  gatekeeperv1.EventKind_EVENT_KIND_FIRINGS_FORGOTTEN,
		fsm.FiringsRemembered: gatekeeperv1.EventKind_EVENT_KIND_FIRINGS_REMEMBERED,
		fsm.BindingChanged:    gatekeeperv1.EventKind_EVENT_KIND_BINDING_CHANGED,
	}
	if len(kinds)+1 != len(gatekeeperv1.EventKind_name) {
		t.Errorf("this test lists %d event kinds, but the API has %d", len(kinds), len(gatekeeperv1.EventKind_name)-1)
	}
	for ours, theirs := range kinds {
		if gatekeeperv1.EventKind(ours) != theirs {
			t.Errorf("event kind %d corresponds to %s", ours, theirs)
		}
	}
	missed := map[fsm.Missed]gatekeeperv1.MissedKind{
		fsm.NothingMissed: gatekeeperv1.MissedKind_MISSED_KIND_UNSPECIFIED, fsm.NoRequests: gatekeeperv1.MissedKind_MISSED_KIND_NO_REQUESTS,
		fsm.AllDenied: gatekeeperv1.MissedKind_MISSED_KIND_DENIED, fsm.NoProgress: gatekeeperv1.MissedKind_MISSED_KIND_NO_PROGRESS,
		fsm.HeldTooLong: gatekeeperv1.MissedKind_MISSED_KIND_HELD_TOO_LONG,
	}
	if len(missed) != len(gatekeeperv1.MissedKind_name) {
		t.Errorf("this test lists %d missed kinds, but the API has %d", len(missed), len(gatekeeperv1.MissedKind_name))
	}
	for ours, theirs := range missed {
		if gatekeeperv1.MissedKind(ours) != theirs {
			t.Errorf("missed kind %d corresponds to %s", ours, theirs)
		}
	}
	if toEvent(&fsm.Event{Kind: fsm.FiringsRemembered + 1}) != nil || toEvent(&fsm.Event{Kind: fsm.BindingChanged}) != nil || toEvent(&fsm.Event{}) != nil {
		t.Error("toEvent() returned an event that the API does not expose")
	}
}

func TestDefinitionFrom_EmptyMessage_HasDefaults(t *testing.T) {
	got := must(DefinitionFrom(&gatekeeperv1.Definition{Name: "n"}))(t)
	expected := &semaphore.Definition{
		Name: "n", GroupPattern: ".*", AcquirerPattern: ".*", Permits: 1, Duration: time.Minute,
		OnExpiry: semaphore.OnExpiryFree, FiringOnLoss: semaphore.FiringSpent, FiringRetention: 24 * time.Hour, FiringLimit: 1000,
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Error(diff)
	}
	if err := got.Validate(semaphore.DefaultMaxDuration); err != nil {
		t.Errorf("Validate() of the defaults = %v", err)
	}
}

func TestDefinitionFrom_RoundTrip(t *testing.T) {
	for _, d := range []*semaphore.Definition{
		definition("plain"),
		{
			Name: "full", Description: "text", Labels: semaphore.LabelsOf(map[string]string{"a": "b", "c": ""}), GroupPattern: "prod", AcquirerPattern: "app[12]",
			Permits: 0, Duration: 1500 * time.Millisecond, MaxHold: time.Hour, MinHold: time.Second, LossDelay: 3 * time.Second,
			OnExpiry: semaphore.OnExpiryHold, FiringOnLoss: semaphore.FiringFree, ExpectEvery: 24 * time.Hour,
			FiringRetention: time.Hour, FiringLimit: 7,
		},
	} {
		wire := must(proto.Marshal(toDefinition(d)))(t)
		m := new(gatekeeperv1.Definition)
		if err := proto.Unmarshal(wire, m); err != nil {
			t.Fatal(err)
		}
		got := must(DefinitionFrom(m))(t)
		if diff := cmp.Diff(d, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestDefinitionFrom_Takeover_IsKept(t *testing.T) {
	d, err := DefinitionFrom(&gatekeeperv1.Definition{Name: "n", Takeover: true, MaxAttempts: 3})
	if err != nil || !d.Takeover || d.MaxAttempts != 3 {
		t.Errorf("DefinitionFrom() = %+v, %v; want takeover and 3 attempts", d, err)
	}
}

func TestDefinitionFrom_Misfire_IsKept(t *testing.T) {
	for m, want := range map[*gatekeeperv1.Definition]string{
		{Misfire: gatekeeperv1.Misfire_MISFIRE_SKIP}:                                                  "skip 1h0m0s",
		{Misfire: gatekeeperv1.Misfire_MISFIRE_ONCE}:                                                  "once 1h0m0s",
		{Misfire: gatekeeperv1.Misfire_MISFIRE_EACH, MisfireWindow: durationpb.New(90 * time.Minute)}: "each 1h30m0s",
	} {
		m.Name = "n"
		d := must(DefinitionFrom(m))(t)
		if got := d.Misfire.String() + " " + d.MaxLateness().String(); got != want {
			t.Errorf("DefinitionFrom() has misfire %q, want %q", got, want)
		}
		if again := must(DefinitionFrom(toDefinition(d)))(t); again.Misfire != d.Misfire || again.MaxLateness() != d.MaxLateness() {
			t.Errorf("DefinitionFrom() after a round trip = %+v, want the same misfire fields", again)
		}
	}
}

func TestDefinitionFrom_InvalidMisfireWindow_IsRefused(t *testing.T) {
	for _, m := range []*gatekeeperv1.Definition{
		{Name: "n", MisfireWindow: durationpb.New(2 * time.Hour)},
		{Name: "n", Misfire: gatekeeperv1.Misfire_MISFIRE_EACH, MisfireWindow: durationpb.New(0)},
		{Name: "n", Misfire: gatekeeperv1.Misfire_MISFIRE_EACH, MisfireWindow: durationpb.New(25 * time.Hour)},
	} {
		d, err := DefinitionFrom(m)
		if err == nil {
			err = d.Validate(semaphore.DefaultMaxDuration)
		}
		if bad, ok := errors.AsType[*semaphore.FieldError](err); !ok || bad.Field != "misfire_window" {
			t.Errorf("DefinitionFrom(%v): got %v, want an error for misfire_window", m, err)
		}
	}
}

// Invalid input must be refused, not silently replaced by a default.
func TestDefinitionFrom_ExplicitZero_IsNotReplacedByDefault(t *testing.T) {
	for field, m := range map[string]*gatekeeperv1.Definition{
		"group_pattern":    {Name: "n", GroupPattern: new(string)},
		"acquirer_pattern": {Name: "n", AcquirerPattern: new(string)},
		"duration":         {Name: "n", Duration: durationpb.New(0)},
		"firing_retention": {Name: "n", FiringRetention: durationpb.New(0)},
		"firing_limit":     {Name: "n", FiringLimit: new(uint32)},
	} {
		d, err := DefinitionFrom(m)
		if err == nil {
			err = d.Validate(semaphore.DefaultMaxDuration)
		}
		if bad, ok := errors.AsType[*semaphore.FieldError](err); !ok || bad.Field != field {
			t.Errorf("explicitly empty %s: got %v, want a FieldError", field, err)
		}
	}
	d, err := DefinitionFrom(&gatekeeperv1.Definition{Name: "n", Permits: new(uint32)})
	if err != nil || d.Permits != 0 {
		t.Errorf("DefinitionFrom() with explicit 0 permits = %v, %v; want 0 permits", d, err)
	}
}

func TestToPermit_ConvertsEveryField(t *testing.T) {
	due := time.Date(2026, 11, 21, 3, 0, 0, 5, time.UTC)
	p := &semaphore.Permit{
		Semaphore: "s", Identity: semaphore.Identity{Group: "g", Acquirer: "a", HolderID: "h"}, Weight: 3, Token: 9,
		Duration: time.Minute, Firing: &semaphore.Firing{Name: "f", Due: due}, State: semaphore.Live, Stop: semaphore.StopRevoked,
		Order: &semaphore.StopOrder{Reason: "why", Revision: 8}, GrantedRevision: 7, GrantedNanos: due.UnixNano(), RequestID: "r", Metadata: map[string]string{"k": "v"},
	}
	expected := &gatekeeperv1.Permit{
		Semaphore: "s", Identity: &gatekeeperv1.Identity{Group: "g", Acquirer: "a", HolderId: "h"}, Weight: 3, Token: 9,
		Duration: durationpb.New(time.Minute), Firing: &gatekeeperv1.Firing{Name: "f", Due: timestamppb.New(due)},
		State: gatekeeperv1.PermitState_PERMIT_STATE_LIVE, Stop: gatekeeperv1.StopCause_STOP_CAUSE_REVOKED, StopReason: "why",
		GrantedRevision: 7, GrantedAt: timestamppb.New(due), Metadata: map[string]string{"k": "v"},
	}
	if got := toPermit(p); !proto.Equal(got, expected) {
		t.Errorf("toPermit() = %v, want %v", got, expected)
	}
}

func TestToDenial_HasReasonAndHolders(t *testing.T) {
	firing := &semaphore.Firing{Name: "nightly"}
	claim := &semaphore.Claim{Firing: *firing, Token: 4, Winner: semaphore.Identity{Group: "g", Acquirer: "w"}, State: semaphore.ClaimDone}
	d := &keeper.Denial{
		Decision: semaphore.Decision{Outcome: semaphore.Denied, Reason: semaphore.FiringDone, Claim: claim},
		Message:  "it ran", Holders: []*semaphore.Permit{{Token: 1}, {Token: 2}}, HolderCount: 5, QueueLength: 3, RetryAfter: -1,
		Pause: &semaphore.Pause{Reason: "p", Stop: true, Revision: 3}, PermitRevision: 12,
	}
	got := toDenial(d, firing)
	if got.GetReason() != gatekeeperv1.Reason_REASON_FIRING_DONE || got.GetMessage() != "it ran" || len(got.GetHolders()) != 2 ||
		got.GetHolderCount() != 5 || got.GetQueueLength() != 3 || got.GetRetryAfter() != nil || got.GetPermitRevision() != 12 ||
		got.GetPause().GetReason() != "p" || !got.GetPause().GetStop() {
		t.Errorf("toDenial() = %v", got)
	}
	if f := got.GetFiring(); f.GetToken() != 4 || f.GetWinner().GetAcquirer() != "w" || f.GetState() != gatekeeperv1.FiringState_FIRING_STATE_DONE {
		t.Errorf("toDenial() has firing %v", f)
	}

	d.Decision.Reason, d.Decision.Claim, d.RetryAfter = semaphore.FiringForgotten, nil, 0
	got = toDenial(d, firing)
	if f := got.GetFiring(); f.GetState() != gatekeeperv1.FiringState_FIRING_STATE_FORGOTTEN || f.GetFiring().GetName() != "nightly" {
		t.Errorf("toDenial() of a forgotten firing has firing %v", f)
	}
	if got.GetRetryAfter() == nil {
		t.Error("toDenial() omitted a RetryAfter of 0")
	}
}

func TestToReleased_Retry_IsReportedAsReleased(t *testing.T) {
	for _, c := range []struct {
		result      fsm.ReleaseResult
		released    bool
		revision    uint64
		wantMessage string
	}{
		{fsm.ReleaseResult{Released: true, Revision: 3}, true, 3, ""},
		{fsm.ReleaseResult{Ended: &fsm.Remembered{Outcome: semaphore.EndReleased, Revision: 2}}, true, 2, "already"},
		{fsm.ReleaseResult{Ended: &fsm.Remembered{Outcome: semaphore.EndExpired}}, false, 0, "expired"},
		{fsm.ReleaseResult{Permit: &semaphore.Permit{State: semaphore.Held}}, false, 0, "held for an operator"},
		{fsm.ReleaseResult{}, false, 0, "long ago or was never granted"},
	} {
		got := toReleased(&c.result)
		if got.GetReleased() != c.released || got.GetRevision() != c.revision || !strings.Contains(got.GetMessage(), c.wantMessage) {
			t.Errorf("toReleased(%+v) = %v", c.result, got)
		}
	}
}

// FuzzEdits checks that every edit is either converted or refused with a FieldError, and that converted edits survive a
// round trip.
func FuzzEdits(f *testing.F) {
	seed, _ := proto.Marshal(&gatekeeperv1.BatchEditRequest{Edits: []*gatekeeperv1.Edit{
		creation(toDefinition(definition("a"))),
		{Change: &gatekeeperv1.Edit_Delete{Delete: "b"}, ExpectedVersion: 3},
	}})
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		m := new(gatekeeperv1.BatchEditRequest)
		if proto.Unmarshal(data, m) != nil {
			return
		}
		for i, change := range m.GetEdits() {
			e, err := editFrom(at("edits", i), change)
			if err != nil {
				if bad, ok := errors.AsType[*semaphore.FieldError](err); !ok || !strings.HasPrefix(bad.Field, at("edits", i)) {
					t.Fatalf("editFrom(): got %v, want a FieldError for the edit", err)
				}
				continue
			}
			if e.Definition == nil {
				continue
			}
			again := must(DefinitionFrom(toDefinition(e.Definition)))(t)
			if diff := cmp.Diff(e.Definition, again, cmpopts.EquateEmpty()); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
