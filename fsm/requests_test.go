package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// newLevel3LogWithBounds returns a log at feature level 3 with the given limits for remembered requests.
func newLevel3LogWithBounds(tb tester, bounds fsm.RequestBounds) *log {
	l := newLog(tb)
	settings := fsm.DefaultSettings()
	settings.Requests = bounds
	l.apply(fsm.RaiseFeatureLevel{Level: 3}, fsm.Configure{Settings: settings})
	return l
}

// run grants and releases a permit with a request id, and returns the grant.
func (l *log) run(sem, id string, change ...func(*fsm.Grant)) fsm.Grant {
	l.tb.Helper()
	g := l.request(sem, "a", append(change, requestID(id))...)
	r := applyOne[fsm.GrantResult](l, g)
	if r.Outcome != fsm.GrantGranted {
		l.tb.Fatalf("request %s of %s = %+v, want a grant", id, sem, r)
	}
	l.apply(fsm.Release{Token: r.Permit.Token})
	return g
}

func withRequestRevision(revision uint64) func(*fsm.Grant) {
	return func(g *fsm.Grant) { g.RequestRevision = revision }
}

// Busy semaphores must not evict the requests of a quiet one.
func TestRequests_BusySemaphore_EvictsOwnRequestsFirst(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{RequestBytes: 4096})
	for _, name := range []string{"quiet", "busy", "busier"} {
		l.define(name)
	}
	var quiet []fsm.Grant
	for i := range 3 {
		quiet = append(quiet, l.run("quiet", fmt.Sprint(i)))
	}
	for i := range 200 {
		l.run("busy", fmt.Sprint("x", i))
		l.run("busier", fmt.Sprint("y", i))
		l.run("busier", fmt.Sprint("z", i))
	}
	for _, g := range quiet {
		g.RequestRevision = l.state().Revision()
		equal(t, "repeat of "+g.RequestID, unchanged[fsm.GrantResult](l, g).Outcome, fsm.GrantRequestEnded)
	}
	requests, _, bytes, _ := l.state().RequestMemory()
	if bytes > 4096 || bytes < 3500 || requests < 10 {
		t.Errorf("RequestMemory() = %d requests in %d bytes, want at least 10 in 3500 to 4096", requests, bytes)
	}
	if l.state().Forgotten("quiet") >= quiet[0].DefinitionVersion+100 || l.state().Forgotten("busy") == 0 {
		t.Errorf("Forgotten(quiet) = %d, Forgotten(busy) = %d, want an early revision and a non-zero one", l.state().Forgotten("quiet"), l.state().Forgotten("busy"))
	}
}

func TestRequests_ForgottenRequestID_IsRefused(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{Kept: 1})
	l.define("s")
	issuedAt := l.state().Revision()
	first := l.run("s", "first", withRequestRevision(issuedAt))
	l.run("s", "second")
	equal(t, "trim", applyOne[fsm.RevisionResult](l, fsm.Trim{Term: l.term, UpTo: l.state().Revision(), Names: []string{"s"}}).Applied, true)
	restarted := restored(t, l.state())
	equal(t, "repeat", unchanged[fsm.GrantResult](l, first).Outcome, fsm.GrantRequestTooOld)
	if restarted.State().TooOld("s", issuedAt) == nil {
		t.Error("TooOld() = nil after a restart")
	}
	// With a newer revision, the same id counts as a new request.
	first.RequestRevision = l.state().Revision()
	equal(t, "newer revision", applyOne[fsm.GrantResult](l, first).Outcome, fsm.GrantGranted)
	// A request with a live permit is found regardless of its revision.
	first.RequestRevision = issuedAt
	equal(t, "live permit", unchanged[fsm.GrantResult](l, first).Outcome, fsm.GrantHeld)
}

func TestRequests_ReusedIDWithDifferentParameters_IsRefused(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
	l.define("s", permits(3))
	g := l.run("s", "r", firing("f", 60))
	for what, change := range map[string]func(*fsm.Grant){"weight": weight(2), "name": firing("g", 60), "due": firing("f", 61), "no due": firing("f", 0)} {
		other := g
		change(&other)
		equal(t, what, unchanged[fsm.GrantResult](l, other).Outcome, fsm.GrantRequestReused)
	}
	g.Metadata = map[string]string{"attempt": "2"}
	equal(t, "different metadata", unchanged[fsm.GrantResult](l, g).Outcome, fsm.GrantRequestEnded)
	equal(t, "after a restart", restored(t, l.state()).State().Request("s", g.Identity, "r").RequestHash, fsm.AcquisitionHash(1, g.Firing, false))
}

func TestTrim_KeepsNewestRequestsPerSemaphore(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{Kept: 2})
	d := l.define("gone")
	l.define("s")
	gone := l.run("gone", "g", withRequestRevision(l.state().Revision()))
	for i := range 5 {
		l.run("s", fmt.Sprint(i))
	}
	upTo := l.state().Revision()
	l.run("s", "after")
	l.apply(edits(remove("gone", d.Version)))
	equal(t, "from an earlier term", unchanged[fsm.RevisionResult](l, fsm.Trim{Term: l.term - 1, UpTo: upTo, Names: []string{"s"}}).Applied, false)
	before := l.state().Revision()
	trim := fsm.Trim{Term: l.term, UpTo: upTo, Names: []string{"none", "gone", "s", ""}}
	equal(t, "trimmable", fmt.Sprint(countTrimmable(l.state(), upTo)), "map[gone:1 s:4]")
	equal(t, "trim", applyOne[fsm.RevisionResult](l, trim), fsm.RevisionResult{Applied: true})
	equal(t, "revision", l.state().Revision(), before)
	equal(t, "again", unchanged[fsm.RevisionResult](l, trim).Applied, false)
	for id, kept := range map[string]bool{"3": false, "4": true, "after": true} {
		equal(t, id, l.state().Request("s", identity("a"), id) != nil, kept)
	}
	l.define("gone")
	equal(t, "a recreated name", unchanged[fsm.GrantResult](l, withVersion(l, gone)).Outcome, fsm.GrantRequestTooOld)
	restored(t, l.state())
}

func withVersion(l *log, g fsm.Grant) fsm.Grant {
	g.DefinitionVersion = l.state().Definition(g.Semaphore).Version
	return g
}

func countTrimmable(s *fsm.State, upTo uint64) map[string]int {
	count := map[string]int{}
	for name, n := range s.Trimmable(upTo) {
		count[name] = n
	}
	return count
}

func TestTrim_IsBounded(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{Kept: 1})
	var cancels []fsm.Command
	for i := range fsm.MaxTrimmed + 10 {
		cancels = append(cancels, fsm.Cancel{Semaphore: "s", Identity: identity("a"), RequestID: fmt.Sprint(i)})
	}
	l.apply(cancels...)
	trim := fsm.Trim{Term: l.term, UpTo: l.state().Revision(), Names: []string{"s"}}
	l.apply(trim)
	if requests, _, _, _ := l.state().RequestMemory(); requests != 10 {
		t.Errorf("RequestMemory() = %d requests, want 10", requests)
	}
	l.apply(trim)
	if requests, _, bytes, _ := l.state().RequestMemory(); requests != 0 || bytes != 0 {
		t.Errorf("RequestMemory() = %d requests in %d bytes, want none", requests, bytes)
	}
}

// A retry of e1 must return e1's result, even if another caller has made edit e2 since.
func TestEdits_Retry_ReturnsOriginalResult(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
	d := l.define("s")
	e1 := edits(replace(definition("s", permits(5)), d.Version))
	e1.RequestID, e1.RequestHash = "e1", 1
	first := applyOne[fsm.EditResult](l, e1)
	equal(t, "first", first.Definition, l.state().Definition("s"))
	l.apply(edits(replace(definition("s", permits(7)), first.Revision)))
	first.Repeated = true
	equal(t, "repeat", unchanged[fsm.EditResult](l, e1), first)
	equal(t, "after a restart", restored(t, l.state()).State().EditRequest("e1").OriginalResponse().Definition, first.Definition)

	l.grant("s", "a")
	gone := edits(remove("s", l.state().Definition("s").Version))
	gone.RequestID = "gone"
	equal(t, "deletion", applyOne[fsm.EditResult](l, gone).Permits, uint32(1))
	l.apply(fsm.Release{Token: l.state().LastToken()})
	equal(t, "repeated deletion", unchanged[fsm.EditResult](l, gone).Permits, uint32(1))

	l.define("a")
	l.define("b")
	pause := fsm.Pause{Names: []string{"b"}, RequestID: "p"}
	l.apply(pause)
	pause.Names = []string{"a", "b"} // the selector now matches both
	equal(t, "pause", unchanged[fsm.RevisionResult](l, pause).Names, []string{"b"})
	cordon := fsm.SetCordon{ID: "z", GroupPattern: "dr", RequestID: "c"}
	set := applyOne[fsm.RevisionResult](l, cordon).Cordon
	l.apply(fsm.SetCordon{ID: "z", GroupPattern: "other"})
	equal(t, "cordon", unchanged[fsm.RevisionResult](l, cordon).Cordon, set)
	restored(t, l.state())
}

// If a resume has no effect, a retry of it must not lift a pause that was set in the meantime.
func TestEdits_NoOps_AreRemembered(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
	l.define("a")
	resume, none := fsm.Resume{Names: []string{"a"}, RequestID: "r"}, fsm.Resume{RequestID: "none"}
	uncordon := fsm.Uncordon{ID: "z", RequestID: "u"}
	for range 2 {
		for _, cmd := range []fsm.Command{resume, none, uncordon} {
			r := applyOne[fsm.RevisionResult](l, cmd)
			r.Repeated = false
			equal(t, fmt.Sprintf("%T", cmd), r, fsm.RevisionResult{})
		}
		l.apply(fsm.Pause{Names: []string{"a"}}, fsm.SetCordon{ID: "z", GroupPattern: "dr"})
		resume.Names = []string{"a"}
		none.Names = []string{"a"} // the selector now matches a semaphore
	}
	for _, cmd := range []fsm.Command{resume, none, uncordon} {
		unchanged[fsm.RevisionResult](l, cmd)
	}
	if l.state().Definition("a").Pause == nil || len(l.state().Cordons()) == 0 {
		t.Error("a retry lifted a newer pause or cordon")
	}
	restored(t, l.state())
}

func TestEdits_ForgottenRequestID_IsRefused(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{Kept: 1})
	l.define("a")
	pause := fsm.Pause{Names: []string{"a"}, RequestID: "p", RequestRevision: l.state().Revision()}
	l.apply(pause, fsm.Resume{Names: []string{"a"}, RequestID: "q"})
	l.apply(fsm.Trim{Term: l.term, UpTo: l.state().Revision(), Names: []string{""}})
	if r := unchanged[fsm.InvalidResult](l, pause); r.TooOld == nil {
		t.Errorf("Pause with a forgotten request id = %+v, want TooOld", r)
	}
	other := fsm.Resume{Names: []string{"a"}, RequestID: "q", RequestHash: 1}
	l.apply(fsm.Resume{Names: []string{"a"}, RequestID: "r", RequestHash: 1})
	other.RequestID, other.RequestHash = "r", 2
	if r := unchanged[fsm.InvalidResult](l, other); r.UsedBy == nil || r.TooOld != nil {
		t.Errorf("another command with the same request id = %+v, want UsedBy", r)
	}
}

// A script that makes many edits must not evict remembered acquires.
func TestRequests_EditsHaveSeparateBudget(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{RequestBytes: 4096, EditBytes: 4096})
	l.define("s")
	g := l.run("s", "r")
	for i := range 50 {
		l.apply(fsm.Pause{Names: []string{"s"}, RequestID: fmt.Sprint(i)})
	}
	l.apply(fsm.Resume{Names: []string{"s"}})
	equal(t, "acquire", unchanged[fsm.GrantResult](l, g).Outcome, fsm.GrantRequestEnded)
	_, edits, _, bytes := l.state().RequestMemory()
	if edits < 5 || edits > 15 || bytes > 4096 || l.state().Forgotten("") == 0 || l.state().Forgotten("s") > g.DefinitionVersion {
		t.Errorf("RequestMemory() = %d edits in %d bytes, want 5 to 15 in at most 4096; Forgotten() = %d and %d", edits, bytes,
			l.state().Forgotten(""), l.state().Forgotten("s"))
	}
	// An edit larger than the whole limit is still remembered.
	var names []string
	var batch []fsm.Change
	for i := range 400 {
		names = append(names, fmt.Sprintf("name-%04d", i))
		batch = append(batch, create(definition(names[i])))
	}
	l.apply(fsm.EditBatch{Changes: batch}, fsm.Pause{Names: names, RequestID: "large"})
	equal(t, "names", l.state().EditRequest("large").OriginalResponse().Names, names)
	restored(t, l.state())
}

// Level 2 does not record which requests it forgets, so unknown requests from before level 3 count as too old.
func TestRaiseFeatureLevel_ToThree_MarksRequestsForgotten(t *testing.T) {
	l := newUndoLog(t)
	l.define("s")
	issuedAt := l.state().Revision()
	remembered := l.run("s", "r")
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	equal(t, "unknown", unchanged[fsm.GrantResult](l, l.request("s", "a", requestID("q"), withRequestRevision(issuedAt))).Outcome, fsm.GrantRequestTooOld)
	equal(t, "remembered", unchanged[fsm.GrantResult](l, remembered).Outcome, fsm.GrantRequestEnded)
	l.grant("s", "a", requestID("q"), withRequestRevision(l.state().Revision()))
	restored(t, l.state())
}

// Requests that are missing from the recovered state may have been granted.
func TestRecovered_PermitsLost_MarksRequestsForgotten(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
	l.define("s")
	issuedAt := l.state().Revision()
	for _, keep := range []bool{false, true} {
		r := recovery()
		if r.KeepPermits = keep; keep {
			r.UnsafeGrantAfter = nil
		}
		s := recovered(t, l.state(), r)
		equal(t, fmt.Sprint("too old with KeepPermits = ", keep), []bool{s.TooOld("s", issuedAt) != nil, s.TooOld("", issuedAt) != nil}, []bool{!keep, !keep})
	}
}

func TestAcquisitionHash_DistinguishesRequests(t *testing.T) {
	seen := map[uint64]string{0: "no request"}
	for weight := range uint32(3) {
		for _, f := range []*semaphore.Firing{nil, newFiring("f", 0), newFiring("g", 0), newFiring("f", 60), newFiring("f", 61), newFiring("g", 61)} {
			requestHash, desc := fsm.AcquisitionHash(weight, f, false), fmt.Sprint(weight, f)
			if other, ok := seen[requestHash]; ok {
				t.Errorf("%s and %s have the same hash", desc, other)
			}
			seen[requestHash] = desc
		}
	}
}

func TestRestore_InconsistentRequests_AreRefused(t *testing.T) {
	find := func(records []*logv1.Record, matches func(*logv1.Record) bool) *logv1.Record {
		i := slices.IndexFunc(records, matches)
		if i < 0 {
			t.Fatal("the scenario has no matching record")
		}
		return records[i]
	}
	request := func(r []*logv1.Record, id string) *logv1.StoredRequest {
		return find(r, func(r *logv1.Record) bool { return r.GetRequest().GetRequestId() == id }).GetRequest()
	}
	marked := func(r []*logv1.Record, name string) *logv1.StoredSemaphore {
		return find(r, func(r *logv1.Record) bool { return r.GetSemaphore().GetName() == name }).GetSemaphore()
	}
	const tooHigh = 1 << 40
	for _, tc := range []struct {
		wantErr string
		change  func([]*logv1.Record)
	}{
		{"were forgotten up to", func(r []*logv1.Record) { r[0].GetHeader().EditsForgotten = tooHigh }},
		{"were forgotten up to", func(r []*logv1.Record) { r[0].GetHeader().NamesForgotten = tooHigh }},
		{"were forgotten up to", func(r []*logv1.Record) { marked(r, "left").RequestsForgotten = tooHigh }},
		{"forgotten requests but no other data", func(r []*logv1.Record) { marked(r, "left").Name = "lefu" }},
		{"a response to a different kind of request", func(r []*logv1.Record) { request(r, "r2").Names = []string{"a"} }},
		{"a response to a different kind of request", func(r []*logv1.Record) { request(r, "paused").Definition = request(r, "created").Definition }},
		{"a response to a different kind of request", func(r []*logv1.Record) { request(r, "paused").NoOp = true }},
		{"a response to a different kind of request", func(r []*logv1.Record) { request(r, "paused").Permits = 1 }},
		{"a response to a different kind of request", func(r []*logv1.Record) { request(r, "nothing").Names = []string{"a"} }},
		{"a response to a different kind of request", func(r []*logv1.Record) { request(r, "created").Cordon = request(r, "cordoned").Cordon }},
		{"has a cordon with revision", func(r []*logv1.Record) { request(r, "cordoned").Cordon.Revision = 1 }},
		{"has a definition with version", func(r []*logv1.Record) { request(r, "created").Definition.Version = 1 }},
		{"the pause in a response", func(r []*logv1.Record) { request(r, "created").Definition.Pause.Revision = tooHigh }},
		{"its requests take", func(r []*logv1.Record) {
			r[0].GetHeader().Settings.Requests.RequestBytes = 2048
			request(r, "r2").RequestId = strings.Repeat("x", 2000)
		}},
		{"its edits take", func(r []*logv1.Record) { r[0].GetHeader().Settings.Requests.EditBytes = 2048 }},
		{"its settings", func(r []*logv1.Record) { r[0].GetHeader().Settings.Requests.EditBytes = 1 }},
		{"its settings", func(r []*logv1.Record) { r[0].GetHeader().Settings.Requests.Lifetime = -1 }},
		{"data that requires feature level 3", func(r []*logv1.Record) { r[0].GetHeader().FeatureLevel = 2 }},
	} {
		t.Run(tc.wantErr, func(t *testing.T) {
			records := readRecords(t, snapshot(t, requestScenario(t).state()))
			tc.change(records)
			err := fsm.New("").Restore(bytes.NewReader(writeRecords(t, records)))
			if !errors.Is(err, fsm.ErrSnapshot) || !strings.Contains(err.Error(), tc.wantErr) {
				t.Fatalf("Restore() = %v, want an error that contains %s", err, tc.wantErr)
			}
		})
	}
}
