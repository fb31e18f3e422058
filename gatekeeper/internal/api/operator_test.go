package api

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// openOperator opens a server at feature level 3 and creates definitions with the given names.
func openOperator(t *testing.T, names ...string) (*gate, gatekeeperv1.OperatorServiceClient) {
	g := open(t)
	entry := must(fsm.Encode(1, []fsm.Command{fsm.RaiseFeatureLevel{Level: 3}}))(t)
	g.keeper.index++
	must(g.keeper.machine.Apply(g.keeper.index, 1, entry))(t)
	g.create(names...)
	return g, gatekeeperv1.NewOperatorServiceClient(g.conn)
}

func TestOperatorChanges_RepeatedRequest_ReturnsOriginalResponse(t *testing.T) {
	g, op := openOperator(t, "a", "b")
	all := &gatekeeperv1.Selector{All: true}
	revision := func() uint64 { return g.keeper.machine.State().Revision() }
	last := uint64(0) // the change to undo
	for _, x := range []struct {
		what string
		call func(id string) (uint64, []string, error)
	}{
		{"pause", func(id string) (uint64, []string, error) {
			r, err := op.Pause(ctx(t), &gatekeeperv1.PauseRequest{Selector: all, RequestId: id})
			return r.GetRevision(), r.GetNames(), err
		}},
		{"resume", func(id string) (uint64, []string, error) {
			r, err := op.Resume(ctx(t), &gatekeeperv1.ResumeRequest{Selector: all, RequestId: id})
			return r.GetRevision(), r.GetNames(), err
		}},
		{"cordon", func(id string) (uint64, []string, error) {
			r, err := op.Cordon(ctx(t), &gatekeeperv1.CordonRequest{Id: "z", GroupPattern: "dr", RequestId: id})
			return r.GetCordon().GetRevision(), []string{"", ""}, err
		}},
		{"uncordon", func(id string) (uint64, []string, error) {
			r, err := op.Uncordon(ctx(t), &gatekeeperv1.UncordonRequest{Id: "z", RequestId: id})
			return r.GetRevision(), []string{"", ""}, err
		}},
		{"undo", func(id string) (uint64, []string, error) {
			if last == 0 {
				last = revision()
			}
			r, err := op.Undo(ctx(t), &gatekeeperv1.UndoRequest{Change: last, RequestId: id})
			return r.GetRevision(), []string{"", ""}, err
		}},
	} {
		first, names, err := x.call(x.what)
		if err != nil || first == 0 || len(names) != 2 {
			t.Fatalf("%s: got revision %d, names %q, %v", x.what, first, names, err)
		}
		before := revision()
		again, names, err := x.call(x.what)
		if err != nil || again != first || len(names) != 2 || revision() != before {
			t.Errorf("%s retried: got revision %d, names %q, %v; state revision = %d, want %d", x.what, again, names, err, revision(), before)
		}
	}
}

func TestResume_ByChange_KeepsOtherPauses(t *testing.T) {
	g, op := openOperator(t, "a", "b")
	pause := func(authorName string, names ...string) uint64 {
		r := must(op.Pause(ctx(t), &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{Names: names}, Author: authorName}))(t)
		return r.GetRevision()
	}
	nightly := pause("cron", "a", "b")
	pause("ann", "a")
	r, err := op.Resume(ctx(t), &gatekeeperv1.ResumeRequest{Selector: &gatekeeperv1.Selector{All: true}, Change: nightly})
	if err != nil || strings.Join(r.GetNames(), ",") != "b" {
		t.Fatalf("Resume() = %v, %v; want only b resumed", r, err)
	}
	if s := g.keeper.machine.State(); s.Definition("a").Pause == nil || s.Definition("b").Pause != nil {
		t.Error("want a still paused and b resumed")
	}
}

func TestUndo_OfResume_AppliesPreviewAsOneChange(t *testing.T) {
	g, op := openOperator(t, "a", "b")
	for _, name := range []string{"a", "b"} { // two pauses, both of which the undo must restore
		must(op.Pause(ctx(t), &gatekeeperv1.PauseRequest{
			Selector: &gatekeeperv1.Selector{Names: []string{name}}, Stop: true, Reason: name, Author: "ann", Drain: durationpb.New(time.Hour),
		}))(t)
	}
	resumed := must(op.Resume(ctx(t), &gatekeeperv1.ResumeRequest{Selector: &gatekeeperv1.Selector{All: true}}))(t)
	g.grant(t, "a", "app1")
	before := g.keeper.machine.State().Revision()
	dry, err := op.Undo(ctx(t), &gatekeeperv1.UndoRequest{Change: resumed.GetRevision(), DryRun: true})
	if err != nil || len(dry.GetEffects()) != 2 || len(dry.GetEffects()[0].GetStopped()) != 1 || len(dry.GetNotes()) != 2 ||
		dry.GetEffects()[0].GetStopped()[0].GetFreeWithin().AsDuration() < time.Hour {
		t.Fatalf("Undo() with dry run = %v, %v", dry, err)
	}
	if g.keeper.machine.State().Revision() != before {
		t.Fatal("the dry run changed the state")
	}
	// Undo applies the previewed plan or nothing.
	if _, err := op.Undo(ctx(t), &gatekeeperv1.UndoRequest{Change: resumed.GetRevision(), Plan: "another"}); status.Code(err) != codes.FailedPrecondition ||
		!strings.Contains(err.Error(), "would no longer have the effect that was previewed") {
		t.Fatalf("Undo() with a different plan = %v, want FailedPrecondition", err)
	}
	done, err := op.Undo(ctx(t), &gatekeeperv1.UndoRequest{Change: resumed.GetRevision(), Author: "bob", Plan: dry.GetPlan()})
	if err != nil || done.GetRevision() != before+1 || g.keeper.machine.State().Revision() != before+1 {
		t.Fatalf("Undo() = %v, %v; want one new revision", done, err)
	}
	p := toPause(g.keeper.machine.State().Definition("b").Pause)
	if p.GetReason() != "b" || p.GetAuthor() != "ann" || p.GetDrain().AsDuration() != time.Hour || p.GetChange() == p.GetRevision() {
		t.Errorf("restored pause of b = %v, want the original reason, author and drain", p)
	}
	again, err := op.Undo(ctx(t), &gatekeeperv1.UndoRequest{Change: resumed.GetRevision()})
	if err != nil || again.GetRevision() != 0 || again.GetUndoneBy() != done.GetRevision() || len(again.GetNotes()) != 1 || len(again.GetEffects()) != 0 {
		t.Errorf("second Undo() = %v, %v; want no new revision", again, err)
	}
	history, err := op.ListHistory(ctx(t), &gatekeeperv1.ListHistoryRequest{Change: done.GetRevision()})
	if err != nil || len(history.GetEntries()) != 2 || history.GetEntries()[0].GetUndoes() != resumed.GetRevision() {
		t.Errorf("ListHistory() = %v, %v; want two entries that undo the resume", history, err)
	}
}

func TestUndo_PartlyForgotten_IsRefusedUnlessPartial(t *testing.T) {
	g, op := openOperator(t, "a", "b")
	settings := fsm.DefaultSettings()
	settings.JournalPerSemaphore = 1
	g.keeper.do(fsm.Configure{Settings: settings})
	paused := must(op.Pause(ctx(t), &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{All: true}}))(t)
	b := g.keeper.machine.State().Definition("b")
	again := *b.Definition
	again.Permits = 7
	g.keeper.do(fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Replace, Name: "b", Definition: &again, ExpectedVersion: b.Version}}})
	change := paused.GetRevision()
	_, err := op.Undo(ctx(t), &gatekeeperv1.UndoRequest{Change: change})
	if r := reasonOf(status.Convert(err)); r != "UNDO_INCOMPLETE" || !strings.Contains(err.Error(), "the effects of change "+decimal(change)+" on b") {
		t.Fatalf("Undo() of a partly forgotten change = %v, want UNDO_INCOMPLETE for b", err)
	}
	history, err := op.ListHistory(ctx(t), &gatekeeperv1.ListHistoryRequest{Change: change})
	if err != nil || len(history.GetEntries()) != 1 || !slices.Equal(history.GetMissing().GetSemaphores(), []string{"b"}) {
		t.Errorf("ListHistory() = %v, %v; want one entry, with b listed as missing", history, err)
	}
	done, err := op.Undo(ctx(t), &gatekeeperv1.UndoRequest{Change: change, Partial: true})
	if err != nil || done.GetRevision() == 0 || len(done.GetMissing()) != 1 {
		t.Fatalf("Undo() with partial = %v, %v; want one missing semaphore", done, err)
	}
	if state := g.keeper.machine.State(); state.Definition("a").Pause != nil || state.Definition("b").Pause == nil {
		t.Error("want a resumed and b still paused")
	}
}

func TestUndo_ConcurrentChange_ChangesNothing(t *testing.T) {
	g, op := openOperator(t, "a", "b")
	paused := must(op.Pause(ctx(t), &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{All: true}}))(t)
	g.keeper.concurrentChange = fsm.Resume{Names: []string{"b"}}
	_, err := op.Undo(ctx(t), &gatekeeperv1.UndoRequest{Change: paused.GetRevision()})
	if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "b: another user paused or resumed it in the meantime") {
		t.Fatalf("Undo() = %v, want FailedPrecondition for b", err)
	}
	if g.keeper.machine.State().Definition("a").Pause == nil {
		t.Error("the refused undo resumed a")
	}
}

// A definition edited between the preview of a pause and the pause itself must not be paused, because the operator
// has not seen the new version.
func TestPauseAndResume_ConcurrentEdit_ChangeNothing(t *testing.T) {
	g, op := openOperator(t, "a", "b")
	all := &gatekeeperv1.Selector{All: true}
	previewDigest := func(m *gatekeeperv1.PreviewRequest) string {
		r := must(op.Preview(ctx(t), m))(t)
		return r.GetDigest()
	}
	definitions := func() [2]*fsm.StoredDefinition {
		state := g.keeper.machine.State()
		return [2]*fsm.StoredDefinition{state.Definition("a"), state.Definition("b")}
	}
	edit := func(permits uint32) fsm.Command {
		d := *definitions()[1].Definition
		d.Permits = permits
		return fsm.EditBatch{Author: "ann", Changes: []fsm.Change{
			{Kind: fsm.Replace, Name: "b", Definition: &d, ExpectedVersion: definitions()[1].Version},
		}}
	}
	wantRefused := func(err error) {
		t.Helper()
		if status.Code(err) != codes.Aborted || !strings.Contains(err.Error(), "edited since the dry run: b by ann") {
			t.Errorf("got %v, want Aborted with the edit of b", err)
		}
		g.keeper.concurrentChange = nil
	}

	pause := &gatekeeperv1.PauseRequest{Selector: all}
	pause.Expected = previewDigest(&gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Pause{Pause: pause}})
	g.keeper.concurrentChange = edit(5)
	_, err := op.Pause(ctx(t), pause)
	wantRefused(err)
	if d := definitions(); d[0].Pause != nil || d[1].Pause != nil {
		t.Error("the refused pause paused a definition")
	}

	pause.Expected = ""
	must(op.Pause(ctx(t), pause))(t)
	resume := &gatekeeperv1.ResumeRequest{Selector: all}
	resume.Expected = previewDigest(&gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Resume{Resume: resume}})
	g.keeper.concurrentChange = edit(6)
	_, err = op.Resume(ctx(t), resume)
	wantRefused(err)
	if d := definitions(); d[0].Pause == nil || d[1].Pause == nil {
		t.Error("the refused resume resumed a definition")
	}
	resume.Expected = ""
	if r, err := op.Resume(ctx(t), resume); err != nil || len(r.GetNames()) != 2 {
		t.Fatal(r, err)
	}
}

func TestExplain_DuringRecovery_ReportsWhenGrantsResume(t *testing.T) {
	g := open(t)
	outcome := semaphore.Granted
	g.keeper.explain = func(*semaphore.Request) ([]semaphore.Step, semaphore.Decision, string, uint64, error) {
		return nil, semaphore.Decision{Outcome: outcome}, "yes", 17, nil
	}
	g.keeper.recovering = time.Hour
	reply, err := g.definitions.Explain(ctx(t), &gatekeeperv1.ExplainRequest{Semaphore: "s", Identity: testIdentity()})
	if err != nil || reply.GetRecovering().AsDuration() != time.Hour || !strings.Contains(reply.GetSummary(), "will not grant permits for another 1h0m0s, until about ") {
		t.Errorf("Explain() during recovery = %v, %v; want the remaining time", reply, err)
	}
	outcome = semaphore.Refreshed // a permit granted before the recovery
	reply, err = g.definitions.Explain(ctx(t), &gatekeeperv1.ExplainRequest{Semaphore: "s", Identity: testIdentity()})
	if err != nil || reply.GetSummary() != "yes" {
		t.Errorf("Explain() for a permit from before the recovery = %v, %v; want yes", reply, err)
	}
}

func TestListHolders_TimeBeforeRecovery_ReportsWhenHistoryBegins(t *testing.T) {
	g := open(t)
	old := &fakeKeeper{machine: fsm.New("old")}
	old.do(fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Create, Name: "s", Definition: definition("s")}}})
	at := time.Unix(1_800_000_000, 0).UTC()
	state := must(old.machine.State().Recovered(fsm.Recovery{ClusterID: "test", At: at}))(t)
	var file bytes.Buffer
	if err := state.Snapshot(&file); err != nil {
		t.Fatal(err)
	}
	if err := g.keeper.machine.Restore(&file); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{{"s"}, {"never-heard-of"}, nil} {
		r, err := g.permits.ListHolders(ctx(t), &gatekeeperv1.ListHoldersRequest{Names: names, At: timestamppb.New(at.Add(-time.Hour))})
		if err != nil || !r.GetHistoryBegins().AsTime().Equal(at) {
			t.Errorf("ListHolders(%q) = %v, %v; want history_begins at the recovery time", names, r, err)
		}
	}
}

func TestToEvent_DrainEnded_IncludesChange(t *testing.T) {
	for _, kind := range []fsm.EventKind{fsm.DrainedEvent, fsm.RevertedEvent} {
		if e := toEvent(&fsm.Event{Kind: kind, Semaphore: "s", Change: 12}); e.GetChange() != 12 {
			t.Errorf("toEvent() = %v, want change 12", e)
		}
	}
}
