package api

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	rules "github.com/gatekeeperd/gatekeeper/semaphore/work"
)

func TestSetSettings_ChangesOnlySetFields(t *testing.T) {
	g := open(t)
	want := fsm.DefaultSettings()
	m := &gatekeeperv1.SetSettingsRequest{Settings: &gatekeeperv1.Settings{MaxDuration: durationpb.New(2 * time.Hour)}, DryRun: true}
	if r, err := g.cluster.SetSettings(ctx(t), m); err != nil || r.GetRevision() != 0 || r.GetAfter().GetMaxDuration().AsDuration() != 2*time.Hour {
		t.Errorf("SetSettings() with dry run = %v, %v; want no revision and the new max_duration", r, err)
	}
	if got := g.keeper.machine.State().Settings(); got != want {
		t.Errorf("the dry run changed the settings to %+v", got)
	}
	m.DryRun = false
	r, err := g.cluster.SetSettings(ctx(t), m)
	if err != nil || r.GetRevision() == 0 || len(r.GetConfirm()) != 0 {
		t.Fatalf("SetSettings() = %v, %v; want a revision and no confirmation", r, err)
	}
	want.MaxDuration = 2 * time.Hour
	if got := g.keeper.machine.State().Settings(); got != want {
		t.Errorf("settings = %+v, want %+v", got, want)
	}
	got, err := g.cluster.GetSettings(ctx(t), new(gatekeeperv1.GetSettingsRequest))
	if err != nil || got.GetSettings().GetJournalLifetime().AsDuration() != fsm.DefaultJournalLifetime ||
		got.GetSettings().GetRequestBytes() != 64<<20 || got.GetSettings().GetMaxJobBytes() != 64<<20 || got.GetSettings().GetMaxTaskBytes() != 64<<10 || got.GetRevision() != r.GetRevision() {
		t.Errorf("GetSettings() = %v, %v", got, err)
	}
}

func TestSetSettings_LowerValues_NeedConfirmation(t *testing.T) {
	g := open(t)
	kept, total := uint32(5), uint32(7)
	r, err := g.cluster.SetSettings(ctx(t), &gatekeeperv1.SetSettingsRequest{
		Settings: &gatekeeperv1.Settings{RequestsKept: &kept, JournalTotal: &total}, DryRun: true,
	})
	if err != nil || len(r.GetConfirm()) != 2 {
		t.Errorf("SetSettings() with lower values = %v, %v; want two confirmations", r, err)
	}
}

func TestSetSettings_InvalidField_IsReported(t *testing.T) {
	g := open(t)
	zero, tooSmall := uint32(0), uint64(5)
	for field, s := range map[string]*gatekeeperv1.Settings{
		"settings.max_duration":          {MaxDuration: durationpb.New(-time.Second)},
		"settings.journal_lifetime":      {JournalLifetime: durationpb.New(semaphore.MaxSpan + time.Second)},
		"settings.request_lifetime":      {RequestLifetime: durationpb.New(0)},
		"settings.journal_per_semaphore": {JournalPerSemaphore: &zero},
		"settings.journal_total":         {JournalTotal: &zero},
		"settings.remembered_deletions":  {RememberedDeletions: &zero},
		"settings.requests_kept":         {RequestsKept: &zero},
		"settings.request_bytes":         {RequestBytes: &tooSmall},
		"settings.edit_bytes":            {EditBytes: &tooSmall},

		"settings.max_task_bytes":           {MaxTaskBytes: new(uint64(rules.MaxTaskBytes + 1))},
		"settings.max_job_bytes":            {MaxJobBytes: new(uint64(0))},
		"settings.max_semaphore_work_bytes": {MaxSemaphoreWorkBytes: new(uint64(0))},
		"settings.max_work_bytes":           {MaxWorkBytes: new(uint64(0))},
	} {
		for _, dry := range []bool{true, false} {
			_, err := g.cluster.SetSettings(ctx(t), &gatekeeperv1.SetSettingsRequest{Settings: s, DryRun: dry})
			if metadata := want(t, err, codes.InvalidArgument, reasonInvalidField); metadata["field"] != field {
				t.Errorf("invalid %s: got metadata %v", field, metadata)
			}
		}
	}
	if got := g.keeper.machine.State().Settings(); got != fsm.DefaultSettings() {
		t.Errorf("settings after refused calls = %+v, want the defaults", got)
	}
}

// Two operators change the same settings after a dry run. The second must not unknowingly overwrite the first one's
// change.
func TestSetSettings_ChangedSinceDryRun_IsRefused(t *testing.T) {
	t.Parallel()
	g := open(t)
	set := func(hours int, expected *gatekeeperv1.Settings) (*gatekeeperv1.SetSettingsResponse, error) {
		return g.cluster.SetSettings(ctx(t), &gatekeeperv1.SetSettingsRequest{
			Settings: &gatekeeperv1.Settings{MaxDuration: durationpb.New(time.Duration(hours) * time.Hour)}, DryRun: expected == nil, Expected: expected,
		})
	}
	shown := must(set(3, nil))(t)
	must(set(2, shown.GetBefore()))(t)
	_, err := set(3, shown.GetBefore())
	want(t, err, codes.Aborted, "CHANGED_SINCE")
	if got := g.keeper.machine.State().Settings().MaxDuration; got != 2*time.Hour {
		t.Errorf("max_duration = %v, want 2h from the first change", got)
	}
}
