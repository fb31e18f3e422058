package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// claim claims a firing of "s", and completes it if done is set.
func (g *gate) claim(t *testing.T, f semaphore.Firing, done bool) uint64 {
	t.Helper()
	state := g.keeper.machine.State()
	r, _ := g.keeper.do(fsm.Grant{
		Semaphore: "s", Identity: semaphore.Identity{Group: "prod", Acquirer: "app-" + f.Name}, Weight: 1, Firing: &f, At: time.Now().UTC(),
		DefinitionVersion: state.Definition("s").Version, CordonRevision: state.CordonRevision(),
	}).(fsm.GrantResult)
	if r.Permit == nil {
		t.Fatalf("claim was not granted: %+v", r)
	}
	if done {
		g.keeper.do(fsm.Release{Token: r.Permit.Token})
	}
	return r.Permit.Token
}

// openPoisoned returns a gate with a semaphore "s" that remembers four firings. Two are due in more than a year, as
// if a clock had been a year ahead. It does not set the low-water mark. The returned time is a year from now.
func openPoisoned(t *testing.T) (*gate, gatekeeperv1.OperatorServiceClient, time.Time) {
	t.Helper()
	g, op := openOperator(t)
	d := definition("s")
	d.Permits, d.FiringMaxAhead = 10, semaphore.FiringUnbounded
	must(g.keeper.Edit(t.Context(), fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Create, Name: "s", Definition: d}}}, keeper.Ending{}))(t)
	nextYear := time.Now().UTC().Truncate(time.Second).Add(365 * 24 * time.Hour)
	g.claim(t, semaphore.Firing{Name: "undated"}, true)
	g.claim(t, semaphore.Firing{Name: "soon", Due: time.Now().UTC().Add(5 * time.Minute)}, true)
	g.claim(t, semaphore.Firing{Name: "a", Due: nextYear.Add(time.Hour)}, true)
	g.claim(t, semaphore.Firing{Name: "b", Due: nextYear.Add(2 * time.Hour)}, true)
	return g, op, nextYear
}

func forgetUpTo(g *gate, mark time.Time) {
	g.keeper.do(fsm.Forget{Semaphore: "s", Term: 1, UpTo: mark})
}

func namesOf(firings []*gatekeeperv1.FiringClaim) string {
	return strings.Join(mapSlice(firings, func(f *gatekeeperv1.FiringClaim) string { return f.GetFiring().GetName() }), " ")
}

func TestListFirings_PagesInOrderAndFilters(t *testing.T) {
	g, op, nextYear := openPoisoned(t)
	read := func(m *gatekeeperv1.ListFiringsRequest) (all []*gatekeeperv1.FiringClaim, last *gatekeeperv1.ListFiringsResponse) {
		t.Helper()
		m.Semaphore = "s"
		for {
			r := must(op.ListFirings(ctx(t), m))(t)
			all = append(all, r.GetFirings()...)
			if m.PageToken = r.GetNextPageToken(); m.PageToken == "" {
				return all, r
			}
		}
	}
	all, r := read(&gatekeeperv1.ListFiringsRequest{PageSize: 1})
	if namesOf(all) != "undated soon a b" || r.GetCount() != 4 || r.GetLimit() != 1000 || r.GetForgottenUpTo() != nil || r.GetRevision() == 0 {
		t.Errorf("ListFirings() returned %s, last page %v", namesOf(all), r)
	}
	if f := all[2]; f.GetToken() != 3 || f.GetWinner().GetAcquirer() != "app-a" || f.GetState() != gatekeeperv1.FiringState_FIRING_STATE_DONE ||
		f.GetClaimedAt() == nil || !f.GetFiring().GetDue().AsTime().Equal(nextYear.Add(time.Hour)) {
		t.Errorf("ListFirings() returned %v for firing a", f)
	}
	if some, _ := read(&gatekeeperv1.ListFiringsRequest{Name: "soon"}); namesOf(some) != "soon" {
		t.Errorf("ListFirings() by name returned %s, want soon", namesOf(some))
	}
	if some, _ := read(&gatekeeperv1.ListFiringsRequest{DueAfter: timestamppb.New(nextYear.Add(time.Hour))}); namesOf(some) != "b" {
		t.Errorf("ListFirings() by due time returned %s, want b", namesOf(some))
	}
	forgetUpTo(g, nextYear)
	if some, r := read(&gatekeeperv1.ListFiringsRequest{}); namesOf(some) != "undated a b" || !r.GetForgottenUpTo().AsTime().Equal(nextYear) {
		t.Errorf("ListFirings() with a low-water mark returned %s, last page %v", namesOf(some), r)
	}
	_, err := op.ListFirings(ctx(t), &gatekeeperv1.ListFiringsRequest{Semaphore: "none"})
	want(t, err, codes.NotFound, "NO_SUCH_DEFINITION")
}

// A dry run lists the firings. Executing its plan forgets exactly those firings, and an undo restores them.
func TestForgetFirings_Ahead_RepairsPoisonedMemory(t *testing.T) {
	g, op, nextYear := openPoisoned(t)
	forgetUpTo(g, nextYear)
	now := semaphore.Firing{Name: "now", Due: time.Now().UTC().Add(time.Minute)}
	if !now.Forgotten(g.keeper.machine.State().LowWater("s")) {
		t.Fatal("the firing is not forgotten, but it is due before the low-water mark")
	}
	req := &gatekeeperv1.ForgetFiringsRequest{Semaphore: "s", Ahead: true, Author: "ann", Reason: "clock", RequestId: "r", DryRun: true}
	r, err := op.ForgetFirings(ctx(t), req)
	if err != nil || r.GetRevision() != 0 || namesOf(r.GetChange().GetFirings()) != "a b" || len(r.GetConfirm()) != 2 || r.GetPlan() == "" {
		t.Fatal(r, err)
	}
	if g.keeper.machine.State().ClaimCount("s") != 3 {
		t.Fatal("the dry run forgot firings")
	}
	req.DryRun, req.Plan = false, r.GetPlan()
	done, err := op.ForgetFirings(ctx(t), req)
	if err != nil || done.GetRevision() == 0 || namesOf(done.GetChange().GetFirings()) != "a b" || !done.GetChange().GetForgottenUpToBefore().AsTime().Equal(nextYear) {
		t.Fatal(done, err)
	}
	mark := g.keeper.machine.State().LowWater("s")
	if now.Forgotten(mark) || time.Since(mark) > time.Minute || !done.GetChange().GetForgottenUpTo().AsTime().Equal(mark) {
		t.Errorf("low-water mark = %v, want about now", mark)
	}
	again, err := op.ForgetFirings(ctx(t), req)
	if err != nil || again.GetRevision() != done.GetRevision() || namesOf(again.GetChange().GetFirings()) != "a b" {
		t.Errorf("retried ForgetFirings() = %v, %v; want the first response", again, err)
	}
	h, err := op.ListHistory(ctx(t), &gatekeeperv1.ListHistoryRequest{Change: done.GetRevision()})
	if e := h.GetEntries(); err != nil || len(e) != 1 || e[0].GetKind() != gatekeeperv1.EventKind_EVENT_KIND_FIRINGS_FORGOTTEN || e[0].GetAuthor() != "ann" ||
		namesOf(e[0].GetFirings().GetFirings()) != "a b" {
		t.Errorf("ListHistory() = %v, %v, want one entry with firings a and b", h, err)
	}
	undone, err := op.Undo(ctx(t), &gatekeeperv1.UndoRequest{Change: done.GetRevision()})
	if err != nil || len(undone.GetNotes()) != 2 {
		t.Fatal(undone, err)
	}
	if s := g.keeper.machine.State(); !s.LowWater("s").Equal(nextYear) || s.ClaimCount("s") != 3 {
		t.Errorf("after the undo: got %d firings and mark %v, want 3 firings and the old mark", s.ClaimCount("s"), s.LowWater("s"))
	}
}

// ForgetFirings uses the leader's clock, like the check that refuses firings too far ahead.
func TestForgetFirings_Ahead_UsesLeaderClock(t *testing.T) {
	g, op, nextYear := openPoisoned(t)
	g.keeper.wallClock = func() time.Time { return nextYear.Add(90 * time.Minute) } // after "a", and half an hour before "b"
	r, err := op.ForgetFirings(ctx(t), &gatekeeperv1.ForgetFiringsRequest{Semaphore: "s", Ahead: true})
	if got := namesOf(r.GetChange().GetFirings()); err != nil || got != "b" {
		t.Errorf("ForgetFirings() forgot %q, %v; want b", got, err)
	}
}

func TestForgetFirings_SelectsByNameOrTime(t *testing.T) {
	for _, x := range []struct {
		name string
		set  func(m *gatekeeperv1.ForgetFiringsRequest, nextYear time.Time)
		want string
		mark time.Duration // relative to nextYear
	}{
		{"after", func(m *gatekeeperv1.ForgetFiringsRequest, nextYear time.Time) {
			m.After = timestamppb.New(nextYear.Add(time.Hour))
		}, "b", 0},
		{"after, before the mark", func(m *gatekeeperv1.ForgetFiringsRequest, nextYear time.Time) {
			m.After = timestamppb.New(nextYear.Add(-time.Hour))
		}, "a b", -time.Hour},
		{"after, with keep_mark", func(m *gatekeeperv1.ForgetFiringsRequest, nextYear time.Time) {
			m.After, m.KeepMark = timestamppb.New(nextYear.Add(-time.Hour)), true
		}, "a b", 0},
		{"by name", func(m *gatekeeperv1.ForgetFiringsRequest, nextYear time.Time) {
			m.Firings = []*gatekeeperv1.Firing{{Name: "undated"}, {Name: "b", Due: timestamppb.New(nextYear.Add(2 * time.Hour))}}
		}, "undated b", 0},
	} {
		g, op, nextYear := openPoisoned(t)
		forgetUpTo(g, nextYear)
		m := &gatekeeperv1.ForgetFiringsRequest{Semaphore: "s"}
		x.set(m, nextYear)
		r, err := op.ForgetFirings(ctx(t), m)
		if got := g.keeper.machine.State().LowWater("s").Sub(nextYear); err != nil || namesOf(r.GetChange().GetFirings()) != x.want || got != x.mark {
			t.Errorf("%s: ForgetFirings() = %v, %v and moved the mark by %v", x.name, r, err, got)
		}
	}
}

// A firing whose permit occupies a slot may be running. The error names the holder and the command that frees the slot.
func TestForgetFirings_Held_IsRefused(t *testing.T) {
	g, op, nextYear := openPoisoned(t)
	token := g.claim(t, semaphore.Firing{Name: "runs", Due: nextYear.Add(3 * time.Hour)}, false)
	before := g.keeper.machine.State().Revision()
	_, err := op.ForgetFirings(ctx(t), &gatekeeperv1.ForgetFiringsRequest{Semaphore: "s", Ahead: true, DryRun: true})
	want(t, err, codes.FailedPrecondition, "FIRING_CONFLICT")
	if text := status.Convert(err).Message(); !strings.Contains(text, "app-runs in prod (token 5)") || !strings.Contains(text, "gkctl revoke 5") || token != 5 {
		t.Error(text)
	}
	if g.keeper.machine.State().Revision() != before {
		t.Error("a refused ForgetFirings() changed the state")
	}
}

func TestForgetFirings_ChangedSinceDryRun_IsRefused(t *testing.T) {
	g, op, nextYear := openPoisoned(t)
	m := &gatekeeperv1.ForgetFiringsRequest{Semaphore: "s", Ahead: true, DryRun: true}
	r := must(op.ForgetFirings(ctx(t), m))(t)
	m.DryRun, m.Plan = false, r.GetPlan()
	g.keeper.concurrentChange = fsm.Forget{Semaphore: "s", Term: 1, Firings: []semaphore.Firing{{Name: "a", Due: nextYear.Add(time.Hour)}}}
	_, err := op.ForgetFirings(ctx(t), m)
	want(t, err, codes.FailedPrecondition, "FIRING_CONFLICT")
	_, err = op.ForgetFirings(ctx(t), m) // the plan has since changed
	want(t, err, codes.FailedPrecondition, "FIRING_CONFLICT")
	_, err = op.ForgetFirings(ctx(t), &gatekeeperv1.ForgetFiringsRequest{Semaphore: "s", Firings: []*gatekeeperv1.Firing{{Name: "a"}}})
	want(t, err, codes.NotFound, "NO_SUCH_FIRING")
	if n := g.keeper.machine.State().ClaimCount("s"); n != 3 {
		t.Errorf("ClaimCount() = %d, want 3", n)
	}
}

func TestForgetFirings_BadInput_IsRefused(t *testing.T) {
	_, op, nextYear := openPoisoned(t)
	twice := []*gatekeeperv1.Firing{{Name: "a"}, {Name: "a"}}
	for field, m := range map[string]*gatekeeperv1.ForgetFiringsRequest{
		"semaphore":  {Semaphore: "s*", Ahead: true},
		"firings":    {Semaphore: "s"},
		"firings[1]": {Semaphore: "s", Firings: twice},
		"after":      {Semaphore: "s", After: timestamppb.New(time.Unix(0, 0))},
		"author":     {Semaphore: "s", Ahead: true, Author: long(300)},
		"request_id": {Semaphore: "s", Ahead: true, RequestId: long(300)},
	} {
		_, err := op.ForgetFirings(ctx(t), m)
		if info := want(t, err, codes.InvalidArgument, "INVALID_FIELD"); info["field"] != field {
			t.Errorf("invalid %s: got metadata %v", field, info)
		}
	}
	_, err := op.ForgetFirings(ctx(t), &gatekeeperv1.ForgetFiringsRequest{Semaphore: "s", Ahead: true, After: timestamppb.New(nextYear)})
	want(t, err, codes.InvalidArgument, "INVALID_FIELD")
}

// The number of firings per call is limited, so that the journal entry stays readable. The error contains the due time
// from which to start.
func TestForgetFirings_TooMany_ReportsWhereToStart(t *testing.T) {
	g, op, nextYear := openPoisoned(t)
	for i := range preview.MaxForgotten {
		g.claim(t, semaphore.Firing{Name: "m", Due: nextYear.Add(24*time.Hour + time.Duration(i)*time.Second)}, true)
	}
	_, err := op.ForgetFirings(ctx(t), &gatekeeperv1.ForgetFiringsRequest{Semaphore: "s", Ahead: true})
	want(t, err, codes.InvalidArgument, "INVALID_FIELD")
	after := nextYear.Add(2 * time.Hour)
	if text := status.Convert(err).Message(); !strings.Contains(text, after.Format(time.RFC3339)) {
		t.Error(text)
	}
	r, err := op.ForgetFirings(ctx(t), &gatekeeperv1.ForgetFiringsRequest{Semaphore: "s", After: timestamppb.New(after)})
	if err != nil || len(r.GetChange().GetFirings()) != preview.MaxForgotten {
		t.Errorf("ForgetFirings() forgot %d firings, %v; want %d", len(r.GetChange().GetFirings()), err, preview.MaxForgotten)
	}
}

// Firings with the same due time cannot be split by time, so they must be selected by name.
func TestForgetFirings_TooManyAtSameTime_RequiresNames(t *testing.T) {
	g, op, nextYear := openPoisoned(t)
	due := nextYear.Add(24 * time.Hour)
	for i := range preview.MaxForgotten + 1 {
		g.claim(t, semaphore.Firing{Name: fmt.Sprint("m", i), Due: due}, true)
	}
	_, err := op.ForgetFirings(ctx(t), &gatekeeperv1.ForgetFiringsRequest{Semaphore: "s", Ahead: true})
	want(t, err, codes.InvalidArgument, "INVALID_FIELD")
	if text := status.Convert(err).Message(); !strings.Contains(text, "name 1000 of the firings due at "+due.Format(time.RFC3339)) {
		t.Error(text)
	}
}
