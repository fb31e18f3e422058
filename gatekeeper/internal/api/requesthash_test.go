package api

import (
	"fmt"
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

func named(names ...string) *gatekeeperv1.Selector { return &gatekeeperv1.Selector{Names: names} }

// changer makes changes through the API and returns their ids.
type changer struct {
	t    *testing.T
	gate *gate
	op   gatekeeperv1.OperatorServiceClient
}

func (c changer) pause(m *gatekeeperv1.PauseRequest) (uint64, error) {
	r, err := c.op.Pause(ctx(c.t), m)
	return r.GetRevision(), err
}

func (c changer) resume(m *gatekeeperv1.ResumeRequest) (uint64, error) {
	r, err := c.op.Resume(ctx(c.t), m)
	return r.GetRevision(), err
}

func (c changer) cordon(m *gatekeeperv1.CordonRequest) (uint64, error) {
	r, err := c.op.Cordon(ctx(c.t), m)
	return r.GetCordon().GetRevision(), err
}

func (c changer) uncordon(m *gatekeeperv1.UncordonRequest) (uint64, error) {
	r, err := c.op.Uncordon(ctx(c.t), m)
	return r.GetRevision(), err
}

func (c changer) undo(m *gatekeeperv1.UndoRequest) (uint64, error) {
	r, err := c.op.Undo(ctx(c.t), m)
	return r.GetRevision(), err
}

func (c changer) edit(id string, edits ...*gatekeeperv1.Edit) (uint64, error) {
	r, err := c.gate.definitions.BatchEdit(ctx(c.t), &gatekeeperv1.BatchEditRequest{Edits: edits, RequestId: id})
	return r.GetRevision(), err
}

func (c changer) delete(id, name string, version uint64) (uint64, error) {
	r, err := c.gate.definitions.DeleteDefinition(ctx(c.t), &gatekeeperv1.DeleteDefinitionRequest{Name: name, ExpectedVersion: version, RequestId: id})
	return r.GetRevision(), err
}

// callWith returns a function that calls method with m.
func callWith[M any](method func(changer, M) (uint64, error), m M) func(changer) (uint64, error) {
	return func(c changer) (uint64, error) { return method(c, m) }
}

func TestOperatorChanges_ReusedRequestID_AreRefused(t *testing.T) {
	const id = "deploy-42"
	all := &gatekeeperv1.Selector{All: true}
	someday := &gatekeeperv1.PauseRequest_Until{Until: timestamppb.New(time.Unix(4_000_000_000, 0))}
	pauseA := callWith(changer.pause, &gatekeeperv1.PauseRequest{Selector: named("a"), RequestId: id})
	pauseUntil := callWith(changer.pause, &gatekeeperv1.PauseRequest{Selector: named("a"), End: someday, RequestId: id})
	resumeDark := callWith(changer.resume, &gatekeeperv1.ResumeRequest{Selector: named("dark"), RequestId: id})
	cordon := callWith(changer.cordon, &gatekeeperv1.CordonRequest{Id: "z", GroupPattern: "dr", RequestId: id})
	uncordon := callWith(changer.uncordon, &gatekeeperv1.UncordonRequest{Id: "rack", RequestId: id})
	createNew := func(c changer) (uint64, error) {
		return c.edit(id, creation(&gatekeeperv1.Definition{Name: "new", Permits: new(uint32(1))}))
	}
	undoPause := callWith(changer.undo, &gatekeeperv1.UndoRequest{Change: 5, RequestId: id})
	type changeFunc = func(changer) (uint64, error)
	for i, x := range []struct {
		first, other changeFunc
		remembered   string
	}{
		{pauseA, callWith(changer.resume, &gatekeeperv1.ResumeRequest{Selector: all, RequestId: id}), "a pause,"},
		{pauseA, cordon, "a pause,"},
		{pauseA, uncordon, "a pause,"},
		{pauseA, undoPause, "a pause,"},
		{cordon, uncordon, "a cordon,"},
		{uncordon, cordon, "an uncordon,"},
		{resumeDark, pauseA, "a resume,"},
		{undoPause, pauseA, "an undo,"},
		{createNew, pauseA, "an edit of definitions,"},
		{pauseA, callWith(changer.pause, &gatekeeperv1.PauseRequest{Selector: named("b"), RequestId: id}), "a pause with different parameters,"},
		{pauseA, callWith(changer.pause, &gatekeeperv1.PauseRequest{Selector: named("a", "b"), RequestId: id}), "a pause with different parameters,"},
		{pauseA, callWith(changer.pause, &gatekeeperv1.PauseRequest{Selector: named("a"), Stop: true, RequestId: id}), "a pause with different parameters,"},
		{pauseUntil, pauseA, "a pause with different parameters,"},
		{pauseA, pauseUntil, "a pause with different parameters,"},
		{resumeDark, callWith(changer.resume, &gatekeeperv1.ResumeRequest{Selector: named("b"), RequestId: id}), "a resume with different parameters,"},
		{resumeDark, callWith(changer.resume, &gatekeeperv1.ResumeRequest{Selector: named("dark"), Change: 2, RequestId: id}), "a resume with different parameters,"},
		{cordon, callWith(changer.cordon, &gatekeeperv1.CordonRequest{Id: "z", GroupPattern: "prod", RequestId: id}), "a cordon with different parameters,"},
		{uncordon, callWith(changer.uncordon, &gatekeeperv1.UncordonRequest{Id: "other", RequestId: id}), "an uncordon with different parameters,"},
		{undoPause, callWith(changer.undo, &gatekeeperv1.UndoRequest{Change: 6, RequestId: id}), "an undo with different parameters,"},
		{createNew, func(c changer) (uint64, error) { return c.delete(id, "new", 7) }, "an edit of definitions with different parameters,"},
		{createNew, func(c changer) (uint64, error) { return c.delete(id, "a", 2) }, "an edit of definitions with different parameters,"},
		{createNew, func(c changer) (uint64, error) {
			return c.edit(id, creation(&gatekeeperv1.Definition{Name: "new", Permits: new(uint32(2))}))
		}, "an edit of definitions with different parameters,"},
		{
			func(c changer) (uint64, error) { return c.delete(id, "a", 2) },
			func(c changer) (uint64, error) { return c.delete(id, "b", 3) }, "an edit of definitions with different parameters,",
		},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			g, op := openOperator(t, "a", "b", "dark")
			c := changer{t, g, op}
			if change, err := c.pause(&gatekeeperv1.PauseRequest{Selector: named("dark")}); err != nil || change != 5 {
				t.Fatal(change, err)
			}
			must(c.cordon(&gatekeeperv1.CordonRequest{Id: "rack", GroupPattern: "r7"}))(t)
			changeID, err := x.first(c)
			if err != nil || changeID == 0 {
				t.Fatal(changeID, err)
			}
			if retried, err := x.first(c); err != nil || retried != changeID {
				t.Fatalf("retry = change %d, %v; want change %d", retried, err, changeID)
			}
			before := g.keeper.machine.State().Revision()
			_, err = x.other(c)
			want := fmt.Sprintf(`request id "deploy-42" belongs to %s change %d: use a new one`, x.remembered, changeID)
			if status.Code(err) != codes.InvalidArgument || reasonOf(status.Convert(err)) != reasonRequestReused || !strings.Contains(err.Error(), want) {
				t.Errorf("reused request id: got %v, want %s", err, want)
			}
			if now := g.keeper.machine.State().Revision(); now != before {
				t.Errorf("the refused call changed the revision to %d", now)
			}
		})
	}
}

// A retry returns the original response even if the change is no longer in the journal.
func TestOperatorChanges_RetryAfterJournalTrim_ReturnsOriginalResponse(t *testing.T) {
	g, op := openOperator(t, "a", "b")
	c := changer{t, g, op}
	pause := &gatekeeperv1.PauseRequest{Selector: named("a", "b"), RequestId: "p"}
	cordon := &gatekeeperv1.CordonRequest{Id: "z", GroupPattern: "dr", RequestId: "c"}
	paused := must(c.pause(pause))(t)
	cordoned := must(c.cordon(cordon))(t)
	settings := g.keeper.machine.State().Settings()
	settings.JournalPerSemaphore = 0
	g.keeper.do(fsm.Configure{Settings: settings})
	if retried, err := c.pause(pause); err != nil || retried != paused {
		t.Errorf("retried Pause() = change %d, %v; want the original response", retried, err)
	}
	if retried, err := c.cordon(cordon); err != nil || retried != cordoned {
		t.Errorf("retried Cordon() = change %d, %v; want the original response", retried, err)
	}
}

func TestCordon_RetriedAfterEnd_ReturnsOriginalAnswer(t *testing.T) {
	g, op := openOperator(t)
	until := time.Now().Add(time.Hour)
	// The cordon has since ended, but its end time was in the future when it was set.
	g.keeper.do(fsm.SetCordon{ID: "z", GroupPattern: "dr", Until: until.Add(-2 * time.Hour), RequestID: "r"})
	set := g.keeper.machine.State().Revision()
	g.keeper.do(fsm.Uncordon{ID: "z"})
	r, err := op.Cordon(ctx(t), &gatekeeperv1.CordonRequest{
		Id: "z", GroupPattern: "dr", End: &gatekeeperv1.CordonRequest_Until{Until: timestamppb.New(until.Add(-2 * time.Hour))}, RequestId: "r",
	})
	if err != nil || r.GetCordon().GetRevision() != set || r.GetCordon().GetGroupPattern() != "dr" || len(g.keeper.machine.State().Cordons()) > 0 {
		t.Errorf("retried Cordon() = %v, %v; want the original cordon, and none in force", r, err)
	}
}

func TestPause_RetriedLater_ReturnsSameChange(t *testing.T) {
	g, op := openOperator(t, "a")
	c := changer{t, g, op}
	lasts := &gatekeeperv1.PauseRequest_Duration{Duration: durationpb.New(time.Hour)}
	tomorrow := &gatekeeperv1.PauseRequest_Until{Until: timestamppb.New(time.Now().Add(25 * time.Hour))}
	for _, m := range []*gatekeeperv1.PauseRequest{
		{Selector: named("a"), RequestId: "r", End: lasts}, {Selector: named("a"), RequestId: "r", End: lasts},
		{Selector: named("a"), RequestId: "r", End: tomorrow},
	} {
		if change, err := c.pause(m); err != nil || change != 3 {
			t.Fatalf("Pause() = change %d, %v; want change 3", change, err)
		}
	}
}

// A caller that reads the state before it retries sends a replace, because its first attempt created the definition.
func TestEdit_RetriedAsReplace_ReturnsOriginalResponse(t *testing.T) {
	g, op := openOperator(t)
	c := changer{t, g, op}
	d := &gatekeeperv1.Definition{Name: "new", Permits: new(uint32(1))}
	changeID := must(c.edit("r", creation(d)))(t)
	retried, err := c.edit("r", &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Replace{Replace: d}, ExpectedVersion: changeID})
	if err != nil || retried != changeID || g.keeper.machine.State().Revision() != changeID {
		t.Errorf("retry as a replace = change %d, %v; want the original response and no new change", retried, err)
	}
}

// The first attempt may be applied before, between or after its retry's reads. The response is always the same.
func TestResume_FirstAttemptAppliedDuringRetry_ReturnsSameResponse(t *testing.T) {
	for applied := range 4 { // apply the first attempt before this read; read 3 never happens
		g, op := openOperator(t, "a")
		c := changer{t, g, op}
		paused := must(c.pause(&gatekeeperv1.PauseRequest{Selector: named("a")}))(t)
		m := &gatekeeperv1.ResumeRequest{Selector: named("a"), RequestId: "r"}
		reads := 0
		g.keeper.onRead = func() {
			if reads == applied {
				g.keeper.do(fsm.Resume{Names: []string{"a"}, RequestID: "r", RequestHash: requestHash(m)})
			}
			reads++
		}
		r, err := op.Resume(ctx(t), m)
		if err != nil || r.GetRevision() != paused+1 || len(r.GetNames()) != 1 || g.keeper.machine.State().Revision() != paused+1 {
			t.Errorf("first attempt applied before read %d: retried Resume() = %v, %v", applied, r, err)
		}
	}
}

// A retry returns the definitions that the selector matched originally, even if it now matches more of them.
func TestPause_Retried_SelectorIsNotEvaluatedAgain(t *testing.T) {
	g, op := openOperator(t, "a")
	all := &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{All: true}, RequestId: "p"}
	first := must(op.Pause(ctx(t), all))(t)
	g.create("b")
	retried, err := op.Pause(ctx(t), all)
	if err != nil || retried.GetRevision() != first.GetRevision() || strings.Join(retried.GetNames(), " ") != "a" {
		t.Errorf("retried Pause() = %v, %v; want the original response", retried, err)
	}
	if g.keeper.machine.State().Definition("b").Pause != nil {
		t.Error("the retry paused a definition created later")
	}
	all.Selector = named("a") // matches the same definition, but is a different request
	if _, err := op.Pause(ctx(t), all); reasonOf(status.Convert(err)) != reasonRequestReused {
		t.Errorf("Pause() with a different selector: got %v, want REQUEST_REUSED", err)
	}
}

func TestOperatorChanges_ForgottenRequest_AreRefusedAsTooOld(t *testing.T) {
	g, op := openOperator(t, "a", "b")
	c := changer{t, g, op}
	settings := g.keeper.machine.State().Settings()
	settings.Requests.Kept = 1
	requestRevision := g.keeper.machine.State().Revision()
	g.keeper.do(fsm.Configure{Settings: settings})
	calls := map[string]func(id string, revision uint64) (uint64, error){
		"pause": func(id string, revision uint64) (uint64, error) {
			return c.pause(&gatekeeperv1.PauseRequest{Selector: named("a"), RequestId: id, RequestRevision: revision})
		},
		"resume": func(id string, revision uint64) (uint64, error) {
			_, err := c.resume(&gatekeeperv1.ResumeRequest{Selector: named("a"), RequestId: id, RequestRevision: revision})
			return 1, err
		},
		"cordon": func(id string, revision uint64) (uint64, error) {
			return c.cordon(&gatekeeperv1.CordonRequest{GroupPattern: "z", RequestId: id, RequestRevision: revision})
		},
		"uncordon": func(id string, revision uint64) (uint64, error) {
			_, err := c.uncordon(&gatekeeperv1.UncordonRequest{Id: "none", RequestId: id, RequestRevision: revision})
			if status.Code(err) == codes.NotFound {
				err = nil // the request is still remembered
			}
			return 1, err
		},
		"edit": func(id string, revision uint64) (uint64, error) {
			r, err := g.definitions.CreateDefinition(ctx(t), &gatekeeperv1.CreateDefinitionRequest{
				Definition: &gatekeeperv1.Definition{Name: "new"}, RequestId: id, RequestRevision: revision,
			})
			return r.GetRecord().GetVersion(), err
		},
	}
	for name, call := range calls {
		if changeID, err := call(name, requestRevision); err != nil || changeID == 0 {
			t.Fatalf("%s: got change %d, %v; want a change", name, changeID, err)
		}
	}
	must(c.pause(&gatekeeperv1.PauseRequest{Selector: named("b"), RequestId: "last"}))(t)
	g.keeper.do(fsm.Trim{Term: 1, UpTo: g.keeper.machine.State().Revision(), Names: []string{""}})
	before := g.keeper.machine.State().Revision()
	for name, call := range calls {
		_, err := call(name, requestRevision)
		if status.Code(err) != codes.FailedPrecondition || reasonOf(status.Convert(err)) != reasonRequestTooOld {
			t.Errorf("%s: got %v, want REQUEST_TOO_OLD", name, err)
		}
	}
	if now := g.keeper.machine.State().Revision(); now != before {
		t.Errorf("the refused calls changed the revision to %d, want %d", now, before)
	}
}

// A late retry of a forgotten change would be evaluated against the state after that change, so it must be
// refused first.
func TestOperatorChanges_ForgottenRequest_AreRefusedBeforeEvaluation(t *testing.T) {
	g, op := openOperator(t, "a", "b", "gone")
	settings := g.keeper.machine.State().Settings()
	settings.Requests.Kept = 1
	g.keeper.do(fsm.Configure{Settings: settings})
	requestRevision := g.keeper.machine.State().Revision()
	preview, err := op.Preview(ctx(t), &gatekeeperv1.PreviewRequest{
		Change: &gatekeeperv1.PreviewRequest_Pause{Pause: &gatekeeperv1.PauseRequest{Selector: named("a")}},
	})
	if err != nil || preview.GetDigest() == "" {
		t.Fatal(preview, err)
	}
	g.keeper.do(fsm.EditBatch{Author: "test", Changes: []fsm.Change{{Kind: fsm.Create, Name: "moving", Definition: func() *semaphore.Definition {
		d := definition("moving")
		d.GroupPattern = "prod"
		return d
	}()}}})
	paused := g.keeper.machine.State().Revision() + 2
	calls := []struct {
		name string
		call func() (uint64, error)
	}{
		{"a move", func() (uint64, error) {
			r, err := op.Move(ctx(t), &gatekeeperv1.MoveRequest{
				Selector: named("moving"), FromGroup: "prod", ToGroup: "dr", RequestId: "move", RequestRevision: requestRevision,
			})
			return r.GetChange(), err
		}},
		{"a pause of the previewed definitions", func() (uint64, error) {
			r, err := op.Pause(ctx(t), &gatekeeperv1.PauseRequest{
				Selector: named("a"), Expected: preview.GetDigest(), RequestId: "pause", RequestRevision: requestRevision,
			})
			return r.GetRevision(), err
		}},
		{"a pause of a deleted definition", func() (uint64, error) {
			r, err := op.Pause(ctx(t), &gatekeeperv1.PauseRequest{Selector: named("gone"), RequestId: "gone", RequestRevision: requestRevision})
			return r.GetRevision(), err
		}},
		{"an undo", func() (uint64, error) {
			r, err := op.Undo(ctx(t), &gatekeeperv1.UndoRequest{Change: paused, RequestId: "undo", RequestRevision: requestRevision})
			return r.GetRevision(), err
		}},
	}
	for _, x := range calls {
		if changeID, err := x.call(); err != nil || changeID == 0 {
			t.Fatalf("%s: got change %d, %v; want a change", x.name, changeID, err)
		}
	}
	must(op.Pause(ctx(t), &gatekeeperv1.PauseRequest{Selector: named("b"), RequestId: "last"}))(t)
	g.keeper.do(fsm.EditBatch{Author: "test", Changes: []fsm.Change{
		{Kind: fsm.Delete, Name: "gone", ExpectedVersion: g.keeper.machine.State().Definition("gone").Version},
	}})
	g.keeper.do(fsm.Trim{Term: 1, UpTo: g.keeper.machine.State().Revision(), Names: []string{""}})
	for _, x := range calls {
		_, err := x.call()
		if info := want(t, err, codes.FailedPrecondition, reasonRequestTooOld); info["revision"] == "" {
			t.Errorf("%s: got metadata %v, want a revision", x.name, info)
		}
	}
}
