package gatekeeper

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// openAtNewestLevel returns a server at the newest feature level.
func openAtNewestLevel(t *testing.T) (*Server, caller) {
	t.Helper()
	cfg, _ := testConfig(t, "")
	s := open(t, cfg)
	waitReady(t, s)
	eventually(t, func() bool { return s.machine.State().FeatureLevel() == fsm.SupportedLevel })
	return s, newCaller(t, s)
}

func (c caller) createForGroup(t *testing.T, name, group string) {
	t.Helper()
	if _, err := c.CreateDefinition(bounded(t), &gatekeeperv1.CreateDefinitionRequest{
		Definition: &gatekeeperv1.Definition{Name: name, GroupPattern: &group},
	}); err != nil {
		t.Fatal(err)
	}
}

func (c caller) grantToGroup(t *testing.T, name, group string) *gatekeeperv1.Permit {
	t.Helper()
	a, err := c.TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{
		Semaphore: name, Identity: &gatekeeperv1.Identity{Group: group, Acquirer: "host"},
	})
	if err != nil || a.GetGrant() == nil {
		t.Fatalf("TryAcquire() = %v, %v, want a grant", a, err)
	}
	return a.GetGrant().GetPermit()
}

func byName(names ...string) *gatekeeperv1.Selector { return &gatekeeperv1.Selector{Names: names} }

// A move through a follower applies the plan from the dry run and drains holders, and an undo reverts it.
func TestOperator_MoveThroughFollower_DrainsAndUndoes(t *testing.T) {
	t.Parallel()
	servers := cluster(t, "gk1", "gk2", "gk3")
	_, followers := findLeader(t, servers)
	eventually(t, func() bool { return followers[0].machine.State().FeatureLevel() == fsm.SupportedLevel })
	c := newCaller(t, followers[0])
	for _, name := range []string{"a", "b", "c"} {
		c.createForGroup(t, name, "prod")
	}
	c.createForGroup(t, "odd", "prod.*")
	p := c.grantToGroup(t, "a", "prod")

	move := &gatekeeperv1.MoveRequest{
		FromGroup: "prod", ToGroup: "dr", Selector: &gatekeeperv1.Selector{All: true}, Drain: durationpb.New(time.Hour), DryRun: true,
	}
	plan, err := c.Move(bounded(t), move)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.GetMoves()) != 3 || len(plan.GetNotMoved()) != 1 || !plan.GetNotMoved()[0].GetProblem() {
		t.Fatalf("dry run of Move() = %v, want three moves and one problem", plan)
	}
	if stopped := plan.GetEffects()[0].GetStopped(); len(stopped) != 1 || stopped[0].GetPermit().GetToken() != p.GetToken() {
		t.Fatalf("effects of the dry run = %v, want one holder stopped", plan.GetEffects()[0])
	}
	move.DryRun, move.Expected, move.Reason, move.RequestId = false, plan.GetDigest(), "storm", "move"
	moved, err := c.Move(bounded(t), move)
	if err != nil {
		t.Fatal(err)
	}
	if r := c.refresh(t, p); r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED ||
		r.GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_NO_LONGER_ADMITTED || r.GetDrainLeft().AsDuration() < 50*time.Minute || r.GetMessage() != "storm" {
		t.Errorf("refresh of a draining holder = %v, want the cause and the remaining drain", r)
	}
	if again, err := c.Move(bounded(t), move); err != nil || again.GetChange() != moved.GetChange() {
		t.Errorf("retried Move() = %v, %v, want change %d", again, err, moved.GetChange())
	}
	move.RequestId = "another"
	_, err = c.Move(bounded(t), move)
	for _, name := range []string{"a", "b", "c"} {
		if status.Code(err) != codes.Aborted || !strings.Contains(status.Convert(err).Message(), name) {
			t.Errorf("Move() with an outdated plan = %v, want Aborted mentioning %s", err, name)
		}
	}
	move.Expected, move.DryRun = "", true
	if again, err := c.Move(bounded(t), move); err != nil || len(again.GetMoves()) != 0 || again.GetMistake() != "" || again.GetChosen() != 4 {
		t.Errorf("Move() after the move = %v, %v, want no moves", again, err)
	}
	move.FromGroup = "prdo"
	if again, err := c.Move(bounded(t), move); err != nil || !strings.Contains(again.GetMistake(), `did you mean "prod"?`) {
		t.Errorf("Move() of a mistyped group = %v, %v, want a suggestion", again, err)
	}
	c.release(t, p)
	c.grantToGroup(t, "a", "dr")

	undo := &gatekeeperv1.UndoRequest{Change: moved.GetRevision(), RequestId: "undo"}
	first, err := c.Undo(bounded(t), undo)
	if err != nil || first.GetRevision() <= moved.GetRevision() || len(first.GetEffects()) != 3 {
		t.Fatalf("Undo() = %v, %v, want a later change with three effects", first, err)
	}
	for _, id := range []string{"undo", "another", ""} { // retries after a lost response
		undo.RequestId = id
		again, err := c.Undo(bounded(t), undo)
		if err != nil || id == "undo" && again.GetRevision() != first.GetRevision() || id != "undo" && again.GetRevision() != 0 {
			t.Errorf("retried Undo() with request id %q = %v, %v, want the first response or no change", id, again, err)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		d, err := c.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: name})
		if err != nil || d.GetRecord().GetDefinition().GetGroupPattern() != "prod" {
			t.Errorf("GetDefinition(%s) after the undo = %v, %v, want group prod", name, d, err)
		}
	}
}

// A follower forwards every operator call to the leader.
func TestOperator_CallsThroughFollower_AreForwarded(t *testing.T) {
	t.Parallel()
	_, followers := findLeader(t, cluster(t, "gk1", "gk2", "gk3"))
	eventually(t, func() bool { return followers[0].machine.State().FeatureLevel() == fsm.SupportedLevel })
	c := newCaller(t, followers[0])
	c.createForGroup(t, "job", "prod")
	p := c.grantToGroup(t, "job", "prod")
	ctx := bounded(t)
	paused, err := c.Pause(ctx, &gatekeeperv1.PauseRequest{Selector: byName("j*"), Stop: true, Drain: durationpb.New(time.Hour), Reason: "disks"})
	if err != nil || !slices.Equal(paused.GetNames(), []string{"job"}) {
		t.Fatalf("Pause() = %v, %v, want job", paused, err)
	}
	if r := c.refresh(t, p); r.GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_PAUSED || r.GetDrainLeft() == nil {
		t.Errorf("refresh of a holder of the paused semaphore = %v, want PAUSED with a drain", r)
	}
	if resumed, err := c.Resume(ctx, &gatekeeperv1.ResumeRequest{Selector: &gatekeeperv1.Selector{All: true}}); err != nil || resumed.GetRevision() == 0 {
		t.Errorf("Resume() = %v, %v, want a change", resumed, err)
	}
	if again, err := c.Resume(ctx, &gatekeeperv1.ResumeRequest{Selector: byName("job")}); err != nil || again.GetRevision() != 0 {
		t.Errorf("second Resume() = %v, %v, want no change", again, err)
	}
	cordon, err := c.Cordon(ctx, &gatekeeperv1.CordonRequest{AcquirerPattern: "host", Reason: "disks"})
	if err != nil || cordon.GetCordon().GetId() == "" {
		t.Fatalf("Cordon() = %v, %v, want an id", cordon, err)
	}
	if list, err := c.ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{}); err != nil || len(list.GetCordons()) != 1 {
		t.Errorf("ListCordons() = %v, %v, want one cordon", list, err)
	}
	if d := c.try(t, "job", "host").GetDenial(); d == nil {
		t.Error("a cordoned host was granted a permit")
	}
	for range 2 {
		if undone, err := c.Undo(ctx, &gatekeeperv1.UndoRequest{Change: cordon.GetCordon().GetRevision()}); err != nil {
			t.Errorf("Undo() of the cordon = %v, %v", undone, err)
		}
	}
	if _, err := c.Uncordon(ctx, &gatekeeperv1.UncordonRequest{Id: cordon.GetCordon().GetId()}); status.Code(err) != codes.NotFound {
		t.Errorf("Uncordon() of an ended cordon = %v, want NotFound", err)
	}
	eventually(t, func() bool {
		known, err := c.ListKnown(bounded(t), &gatekeeperv1.ListKnownRequest{Group: "pro?"})
		return err == nil && len(known.GetCallers()) == 1 && known.GetCallers()[0].GetAcquirer() == "host"
	})
	if h, err := c.ListHistory(ctx, &gatekeeperv1.ListHistoryRequest{Names: []string{"job"}}); err != nil || len(h.GetEntries()) != 3 {
		t.Errorf("ListHistory() = %v, %v, want three entries", h, err)
	}
}

func TestOperator_InvalidInput_IsRejectedAndChangesNothing(t *testing.T) {
	t.Parallel()
	s, c := openAtNewestLevel(t)
	c.createForGroup(t, "job", "prod")
	pause := func(m *gatekeeperv1.PauseRequest) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := c.Pause(ctx, m)
			_, previewed := c.Preview(ctx, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Pause{Pause: m}})
			if status.Code(err) != status.Code(previewed) {
				t.Errorf("Pause() = %v, its preview = %v, want the same code", err, previewed)
			}
			return err
		}
	}
	cordon := func(m *gatekeeperv1.CordonRequest) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := c.Cordon(ctx, m)
			_, previewed := c.Preview(ctx, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Cordon{Cordon: m}})
			if status.Code(err) != status.Code(previewed) {
				t.Errorf("Cordon() = %v, its preview = %v, want the same code", err, previewed)
			}
			return err
		}
	}
	undo := func(change uint64) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := c.Undo(ctx, &gatekeeperv1.UndoRequest{Change: change})
			return err
		}
	}
	past := timestamppb.New(time.Now().Add(-time.Hour))
	before := s.machine.State().Revision()
	for name, x := range map[string]struct {
		call func(context.Context) error
		code codes.Code
		text string
	}{
		"no selector":               {pause(&gatekeeperv1.PauseRequest{}), codes.InvalidArgument, "must specify which definitions"},
		"all and names":             {pause(&gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{All: true, Names: []string{"job"}}}), codes.InvalidArgument, "must not combine"},
		"unknown name":              {pause(&gatekeeperv1.PauseRequest{Selector: byName("job", "jbo")}), codes.NotFound, `"jbo"`},
		"drain without stop":        {pause(&gatekeeperv1.PauseRequest{Selector: byName("job"), Drain: durationpb.New(time.Minute)}), codes.InvalidArgument, "drain"},
		"drain too long":            {pause(&gatekeeperv1.PauseRequest{Selector: byName("job"), Stop: true, Drain: durationpb.New(48 * time.Hour)}), codes.InvalidArgument, "drain"},
		"pause ends in the past":    {pause(&gatekeeperv1.PauseRequest{Selector: byName("job"), End: &gatekeeperv1.PauseRequest_Until{Until: past}}), codes.InvalidArgument, "must be in the future"},
		"pause of zero duration":    {pause(&gatekeeperv1.PauseRequest{Selector: byName("job"), End: &gatekeeperv1.PauseRequest_Duration{Duration: durationpb.New(0)}}), codes.InvalidArgument, "greater than 0"},
		"no patterns":               {cordon(&gatekeeperv1.CordonRequest{}), codes.InvalidArgument, "must be set unless"},
		"broken pattern":            {cordon(&gatekeeperv1.CordonRequest{GroupPattern: "prod("}), codes.InvalidArgument, "group_pattern"},
		"cordon ends in the past":   {cordon(&gatekeeperv1.CordonRequest{GroupPattern: "prod", End: &gatekeeperv1.CordonRequest_Until{Until: past}}), codes.InvalidArgument, "must be in the future"},
		"undo of change 0":          {undo(0), codes.InvalidArgument, "must be a change id"},
		"undo of an unknown change": {undo(1 << 60), codes.NotFound, "is not in the journal"},
		"move to itself": {func(ctx context.Context) error {
			_, err := c.Move(ctx, &gatekeeperv1.MoveRequest{FromGroup: "prod", ToGroup: "prod", Selector: byName("job")})
			return err
		}, codes.InvalidArgument, "must differ from from_group"},
		"empty preview": {func(ctx context.Context) error {
			_, err := c.Preview(ctx, &gatekeeperv1.PreviewRequest{})
			return err
		}, codes.InvalidArgument, "must be edits, pause, cordon or resume"},
		"temporary creation": {func(ctx context.Context) error {
			_, err := c.BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{
				Edits: []*gatekeeperv1.Edit{{Change: &gatekeeperv1.Edit_Create{Create: &gatekeeperv1.Definition{Name: "new"}}}},
				End:   &gatekeeperv1.BatchEditRequest_Duration{Duration: durationpb.New(time.Hour)},
			})
			return err
		}, codes.FailedPrecondition, "only a replacement can be temporary"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := x.call(bounded(t)); status.Code(err) != x.code || !strings.Contains(err.Error(), x.text) {
				t.Errorf("got %v, want %v with %q", err, x.code, x.text)
			}
		})
	}
	if after := s.machine.State().Revision(); after != before {
		t.Errorf("Revision() = %d after the invalid calls, want it unchanged at %d", after, before)
	}
}

// Entries added between pages must not cause other entries to be repeated or skipped.
func TestListHistory_EntriesAddedWhilePaging_ListsEachOnce(t *testing.T) {
	t.Parallel()
	_, c := openAtNewestLevel(t)
	var names []string
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		c.createForGroup(t, name, "prod")
		names = append(names, name)
	}
	if _, err := c.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: byName(names...)}); err != nil { // one change with five entries
		t.Fatal(err)
	}
	seen := make(map[string]int)
	request := &gatekeeperv1.ListHistoryRequest{PageSize: 2}
	for pages := 0; ; pages++ {
		page, err := c.ListHistory(bounded(t), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.GetEntries() {
			seen[e.GetSemaphore()+" "+e.GetKind().String()]++
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			break
		}
		if pages == 20 {
			t.Fatal("ListHistory() returned more than 20 pages")
		}
		if _, err := c.Resume(bounded(t), &gatekeeperv1.ResumeRequest{Selector: byName(names[pages%5])}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		for _, kind := range []gatekeeperv1.EventKind{gatekeeperv1.EventKind_EVENT_KIND_CREATED, gatekeeperv1.EventKind_EVENT_KIND_PAUSED} {
			if n := seen[name+" "+kind.String()]; n != 1 {
				t.Errorf("%s of %s was listed %d times, want once", kind, name, n)
			}
		}
	}
}

func TestListHolders_AtTime_ReturnsPastHolders(t *testing.T) {
	t.Parallel()
	_, c := openAtNewestLevel(t)
	c.createForGroup(t, "job", "prod")
	first := c.grantToGroup(t, "job", "prod")
	between := timestamppb.New(first.GetGrantedAt().AsTime().Add(time.Nanosecond))
	c.release(t, first)
	second := c.grantToGroup(t, "job", "prod")
	for _, x := range []struct {
		at    *timestamppb.Timestamp
		token uint64
	}{{between, first.GetToken()}, {timestamppb.New(time.Now().Add(time.Hour)), second.GetToken()}} {
		r, err := c.ListHolders(bounded(t), &gatekeeperv1.ListHoldersRequest{At: x.at})
		if err != nil || len(r.GetPermits()) != 1 || r.GetPermits()[0].GetToken() != x.token || r.GetHistoryBegins() != nil {
			t.Errorf("holders at %v = %v, %v, want token %d", x.at.AsTime(), r, err, x.token)
		}
	}
	r, err := c.ListHolders(bounded(t), &gatekeeperv1.ListHoldersRequest{At: timestamppb.New(first.GetGrantedAt().AsTime().Add(-time.Hour))})
	if err != nil || len(r.GetPermits()) != 0 {
		t.Errorf("holders before the first grant = %v, %v, want none", r, err)
	}
}

// An edit has the effects shown in its preview.
func TestPreview_Edit_MatchesEffects(t *testing.T) {
	t.Parallel()
	s, c := openAtNewestLevel(t)
	c.createForGroup(t, "job", ".*")
	p := c.grantToGroup(t, "job", "prod")
	eventually(t, func() bool { return s.machine.State().SightingCount() == 1 })
	d, err := c.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: "job"})
	if err != nil {
		t.Fatal(err)
	}
	after := d.GetRecord().GetDefinition()
	after.GroupPattern = proto.String("prd")
	batch := &gatekeeperv1.BatchEditRequest{Edits: []*gatekeeperv1.Edit{{
		Change: &gatekeeperv1.Edit_Replace{Replace: after}, ExpectedVersion: d.GetRecord().GetVersion(),
	}}}
	preview, err := c.Preview(bounded(t), &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Edits{Edits: batch}})
	if err != nil {
		t.Fatal(err)
	}
	e := preview.GetEffects()[0]
	if len(e.GetStopped()) != 1 || e.GetTotalShutOut() != 1 || !strings.Contains(strings.Join(e.GetWarnings(), " "), `nearest is "prod"`) {
		t.Errorf("Preview() = %v, want one holder stopped and a suggestion", e)
	}
	if r := c.refresh(t, p); r.GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_UNSPECIFIED {
		t.Errorf("refresh after the preview = %v, want no stop", r)
	}
	if _, err := c.BatchEdit(bounded(t), batch); err != nil {
		t.Fatal(err)
	}
	if r := c.refresh(t, p); r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING {
		t.Errorf("refresh after the edit = %v, want STOPPING", r)
	}
}

// A resumed watch delivers the events that were missed.
func TestWatch_Resumed_IncludesAutomaticReverts(t *testing.T) {
	t.Parallel()
	s, c := openAtNewestLevel(t)
	c.createForGroup(t, "job", "prod")
	c.grantToGroup(t, "job", "prod")
	from := s.machine.State().Revision() + 1
	short := durationpb.New(100 * time.Millisecond)
	d, err := c.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: "job"})
	if err != nil {
		t.Fatal(err)
	}
	edited := d.GetRecord().GetDefinition()
	edited.GroupPattern = proto.String("dr")
	if _, err := c.BatchEdit(bounded(t), &gatekeeperv1.BatchEditRequest{
		Edits: []*gatekeeperv1.Edit{{
			Change: &gatekeeperv1.Edit_Replace{Replace: edited}, ExpectedVersion: d.GetRecord().GetVersion(),
		}},
		Drain: short, End: &gatekeeperv1.BatchEditRequest_Duration{Duration: short},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Cordon(bounded(t), &gatekeeperv1.CordonRequest{
		GroupPattern: "dr", Drain: short, End: &gatekeeperv1.CordonRequest_Duration{Duration: durationpb.New(time.Second)},
	}); err != nil {
		t.Fatal(err)
	}
	want := map[gatekeeperv1.EventKind]int{
		gatekeeperv1.EventKind_EVENT_KIND_REPLACED: 1, gatekeeperv1.EventKind_EVENT_KIND_DRAINED: 3, // the third drain starts when the edit ends
		gatekeeperv1.EventKind_EVENT_KIND_REVERTED: 1,
		gatekeeperv1.EventKind_EVENT_KIND_CORDONED: 1, gatekeeperv1.EventKind_EVENT_KIND_UNCORDONED: 1,
	}
	remaining := 7
	for remaining > 0 { // open a new watch after each batch of events
		ctx, cancel := context.WithCancel(bounded(t))
		watch, err := c.Watch(ctx, &gatekeeperv1.WatchRequest{FromRevision: from})
		if err != nil {
			t.Fatal(err)
		}
		for gotEvents := false; !gotEvents; {
			m, err := watch.Recv()
			if err != nil || m.GetMissed() {
				t.Fatalf("Recv() = %v, %v, still want %v", m, err, want)
			}
			for _, e := range m.GetEvents() {
				want[e.GetKind()]--
				remaining--
				gotEvents = true
			}
			from = m.GetRevision() + 1
		}
		cancel()
	}
	for kind, n := range want {
		if n != 0 {
			t.Errorf("events of kind %v: %d missing", kind, n)
		}
	}
}

// A pause or resume with a preview's digest is rejected if the selected definitions have changed since.
func TestOperator_PauseAndResume_RejectOutdatedPreview(t *testing.T) {
	t.Parallel()
	c := newCaller(t, cluster(t, "gk1")[0])
	c.createForGroup(t, "a", "prod")
	all := &gatekeeperv1.Selector{All: true}
	pause, resume := &gatekeeperv1.PauseRequest{Selector: all}, &gatekeeperv1.ResumeRequest{Selector: all}
	previewDigest := func(m *gatekeeperv1.PreviewRequest) string {
		t.Helper()
		r, err := c.Preview(bounded(t), m)
		if err != nil || r.GetDigest() == "" {
			t.Fatal(r, err)
		}
		return r.GetDigest()
	}
	wantAborted := func(err error, text string) {
		t.Helper()
		if status.Code(err) != codes.Aborted || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want Aborted with %q", err, text)
		}
	}

	pausePreview := &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Pause{Pause: pause}}
	pause.Expected = previewDigest(pausePreview)
	c.createForGroup(t, "b", "prod")
	_, err := c.Pause(bounded(t), pause)
	wantAborted(err, "edited since the dry run: b by ")
	pause.Expected = previewDigest(pausePreview)
	if r, err := c.Pause(bounded(t), pause); err != nil || len(r.GetNames()) != 2 {
		t.Fatal(r, err)
	}

	resumePreview := &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Resume{Resume: resume}}
	resume.Expected = previewDigest(resumePreview)
	if r, err := c.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{Names: []string{"b"}}, Author: "bob"}); err != nil {
		t.Fatal(r, err)
	}
	_, err = c.Resume(bounded(t), resume)
	wantAborted(err, "edited since the dry run: b by bob")
	resume.Expected = previewDigest(resumePreview)
	if r, err := c.Resume(bounded(t), resume); err != nil || len(r.GetNames()) != 2 {
		t.Fatal(r, err)
	}
	resume.Expected = "garbage"
	if _, err := c.Resume(bounded(t), resume); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "digest") {
		t.Errorf("Resume() with an invalid digest = %v, want InvalidArgument", err)
	}
}
