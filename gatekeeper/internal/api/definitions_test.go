package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestDefinition_CreateReplaceDelete_CanBeReadBack(t *testing.T) {
	g := open(t)
	created := must(g.definitions.CreateDefinition(ctx(t), &gatekeeperv1.CreateDefinitionRequest{
		Definition: &gatekeeperv1.Definition{Name: "nightly", Labels: map[string]string{"team": "data"}, Permits: new(uint32(2))},
		Author:     "ann@host", Reason: "why",
	}))(t)
	record := created.GetRecord()
	if record.GetVersion() == 0 || record.GetUpdatedBy() != "ann@host" || record.GetReason() != "why" || record.GetDefinition().GetGroupPattern() != ".*" {
		t.Errorf("CreateDefinition() returned record %v", record)
	}
	g.grant(t, "nightly", "host")

	got := must(g.definitions.GetDefinition(ctx(t), &gatekeeperv1.GetDefinitionRequest{Name: "nightly"}))(t)
	record = got.GetRecord()
	if record.GetUsed() != 1 || record.GetHolders() != 1 || record.GetPermitRevision() != got.GetRevision() {
		t.Errorf("GetDefinition() with a permit = %v at revision %d", record, got.GetRevision())
	}

	next := proto.CloneOf(record.GetDefinition())
	next.Duration = durationpb.New(5 * time.Minute)
	replaced := must(g.definitions.ReplaceDefinition(ctx(t), &gatekeeperv1.ReplaceDefinitionRequest{Definition: next, ExpectedVersion: record.GetVersion()}))(t)
	if r := replaced.GetRecord(); r.GetDefinition().GetDuration().AsDuration() != 5*time.Minute || r.GetVersion() <= record.GetVersion() || r.GetUpdatedBy() != "unknown" {
		t.Errorf("ReplaceDefinition() returned record %v", r)
	}

	deleted, err := g.definitions.DeleteDefinition(ctx(t), &gatekeeperv1.DeleteDefinitionRequest{Name: "nightly", ExpectedVersion: replaced.GetRecord().GetVersion()})
	if err != nil || deleted.GetLivePermits() != 1 || deleted.GetRevision() <= replaced.GetRecord().GetVersion() {
		t.Errorf("DeleteDefinition() = %v, %v; want one live permit", deleted, err)
	}
	_, err = g.definitions.GetDefinition(ctx(t), &gatekeeperv1.GetDefinitionRequest{Name: "nightly"})
	if info := want(t, err, codes.NotFound, "NO_SUCH_DEFINITION"); info["name"] != "nightly" {
		t.Errorf("GetDefinition() of a deleted name has metadata %v, want its name", info)
	}
}

func TestEdit_Conflict_ReportsIndexAndVersions(t *testing.T) {
	g := open(t)
	g.create("a", "b")
	version := g.keeper.machine.State().Definition("b").Version

	_, err := g.definitions.CreateDefinition(ctx(t), &gatekeeperv1.CreateDefinitionRequest{Definition: &gatekeeperv1.Definition{Name: "a"}})
	if info := want(t, err, codes.AlreadyExists, "ALREADY_EXISTS"); info["name"] != "a" || info["index"] != "0" {
		t.Errorf("CreateDefinition() of an existing name has metadata %v, want name a and index 0", info)
	}
	replace := func(name string, version uint64) *gatekeeperv1.Edit {
		return &gatekeeperv1.Edit{
			Change:          &gatekeeperv1.Edit_Replace{Replace: &gatekeeperv1.Definition{Name: name}},
			ExpectedVersion: version,
		}
	}
	before := g.keeper.machine.State().Revision()
	err = batchEditCall(creation(&gatekeeperv1.Definition{Name: "new"}), replace("b", version+100))(ctx(t), g)
	info := want(t, err, codes.Aborted, "STALE_VERSION")
	if info["name"] != "b" || info["index"] != "1" || info["expected"] != fmt.Sprint(version+100) || info["current"] != fmt.Sprint(version) {
		t.Errorf("BatchEdit() with a stale version has metadata %v", info)
	}
	err = batchEditCall(replace("gone", 1))(ctx(t), g)
	if info := want(t, err, codes.NotFound, "NO_SUCH_DEFINITION"); info["name"] != "gone" {
		t.Errorf("BatchEdit() of a missing name has metadata %v, want its name", info)
	}
	if g.keeper.machine.State().Revision() != before {
		t.Error("a refused batch changed the state")
	}
}

func TestBatchEdit_Declare_SkipsExistingDefinitions(t *testing.T) {
	g := open(t)
	g.create("there")
	declare := func(name string) *gatekeeperv1.Edit {
		return &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Declare{Declare: &gatekeeperv1.Definition{Name: name}}}
	}
	m := &gatekeeperv1.BatchEditRequest{Edits: []*gatekeeperv1.Edit{declare("there"), declare("new")}, RequestId: "r"}
	first, err := g.definitions.BatchEdit(ctx(t), m)
	if err != nil || len(first.GetSkipped()) != 1 || first.GetSkipped()[0] != "there" || first.GetRevision() == 0 {
		t.Fatalf("BatchEdit() = %v, %v; want the existing name skipped", first, err)
	}
	again, err := g.definitions.BatchEdit(ctx(t), m)
	if err != nil || !proto.Equal(first, again) {
		t.Errorf("retried BatchEdit() = %v, %v; want the first response", again, err)
	}
}

func TestListDefinitions_FilteredAndPaged_ListsEachOnce(t *testing.T) {
	g := open(t)
	for i := range 25 {
		must(g.definitions.CreateDefinition(ctx(t), &gatekeeperv1.CreateDefinitionRequest{Definition: &gatekeeperv1.Definition{
			Name: fmt.Sprintf("job-%02d", i), Labels: map[string]string{"parity": fmt.Sprint(i % 2)},
		}}))(t)
	}
	g.create("other")
	list := func(m *gatekeeperv1.ListDefinitionsRequest) (names []string, pages int) {
		for {
			reply := must(g.definitions.ListDefinitions(ctx(t), m))(t)
			pages++
			for _, r := range reply.GetRecords() {
				names = append(names, r.GetDefinition().GetName())
			}
			if m.PageToken = reply.GetNextPageToken(); m.GetPageToken() == "" {
				return names, pages
			}
		}
	}
	if names, pages := list(&gatekeeperv1.ListDefinitionsRequest{PageSize: 10}); len(names) != 26 || pages != 3 {
		t.Errorf("ListDefinitions() without filters returned %d names on %d pages", len(names), pages)
	}
	if names, pages := list(&gatekeeperv1.ListDefinitionsRequest{Labels: "parity=1", PageSize: 6}); len(names) != 12 || pages != 2 || names[11] != "job-23" {
		t.Errorf("ListDefinitions() by label returned %v on %d pages", names, pages)
	}
	if names, _ := list(&gatekeeperv1.ListDefinitionsRequest{Names: []string{"job-1?", "oth*"}, Labels: "!parity"}); len(names) != 1 || names[0] != "other" {
		t.Errorf("ListDefinitions() by globs and labels returned %v", names)
	}
	if names, _ := list(&gatekeeperv1.ListDefinitionsRequest{Names: []string{"none*"}}); len(names) != 0 {
		t.Errorf("ListDefinitions() with a glob that matches nothing returned %v", names)
	}
}

func TestListDefinitions_SkipAndTotal_CountMatchingDefinitions(t *testing.T) {
	g := open(t)
	for i := range 25 {
		g.create(fmt.Sprintf("job-%02d", i))
	}
	g.create("other")
	for _, c := range []struct {
		skip  uint32
		first string
		count int
	}{{0, "job-00", 10}, {1, "job-01", 10}, {20, "job-20", 5}, {25, "", 0}, {1000, "", 0}} {
		r := must(g.definitions.ListDefinitions(ctx(t), &gatekeeperv1.ListDefinitionsRequest{Names: []string{"job-*"}, PageSize: 10, Skip: c.skip}))(t)
		first := ""
		if len(r.GetRecords()) > 0 {
			first = r.GetRecords()[0].GetDefinition().GetName()
		}
		if r.GetTotal() != 25 || len(r.GetRecords()) != c.count || first != c.first || (r.GetNextPageToken() != "") != (c.skip < 15) {
			t.Errorf("skip %d: got %d of %d records from %q, next page token %q", c.skip, len(r.GetRecords()), r.GetTotal(), first, r.GetNextPageToken())
		}
	}
	skipped := must(g.definitions.ListDefinitions(ctx(t), &gatekeeperv1.ListDefinitionsRequest{PageSize: 10, Skip: 5}))(t)
	next := must(g.definitions.ListDefinitions(ctx(t), &gatekeeperv1.ListDefinitionsRequest{PageSize: 10, PageToken: skipped.GetNextPageToken()}))(t)
	if got := next.GetRecords()[0].GetDefinition().GetName(); got != "job-15" || next.GetTotal() != 0 {
		t.Errorf("the page after a skip starts with %s and has total %d, want job-15 and 0", got, next.GetTotal())
	}
}

func TestReads_Stale_NeedNoLeader(t *testing.T) {
	g := open(t)
	g.create("a")
	g.keeper.notLeader = &consensus.NotLeaderError{Leader: consensus.Leader{ID: "gk2", APIAddress: "x:1"}}
	_, err := g.definitions.GetDefinition(ctx(t), &gatekeeperv1.GetDefinitionRequest{Name: "a"})
	want(t, err, codes.Unavailable, "NOT_LEADER")
	if _, err := g.definitions.GetDefinition(ctx(t), &gatekeeperv1.GetDefinitionRequest{Name: "a", Stale: true}); err != nil {
		t.Error(err)
	}
	if r, err := g.definitions.ListDefinitions(ctx(t), &gatekeeperv1.ListDefinitionsRequest{Stale: true}); err != nil || len(r.GetRecords()) != 1 {
		t.Errorf("stale ListDefinitions() = %v, %v; want one record", r, err)
	}
	if _, err := g.permits.ListHolders(ctx(t), &gatekeeperv1.ListHoldersRequest{Stale: true}); err != nil {
		t.Error(err)
	}
}

func TestExplain_Steps_AreReturned(t *testing.T) {
	g := open(t)
	g.keeper.explain = func(r *semaphore.Request) ([]semaphore.Step, semaphore.Decision, string, uint64, error) {
		if r.Semaphore != "s" || r.Weight != 1 || r.Identity.Group != "default" {
			t.Errorf("keeper received request %+v", r)
		}
		return []semaphore.Step{{Number: 1, Name: "definition", Passed: true, Text: "there is one"}, {Number: 2, Name: "group"}},
			semaphore.Decision{Outcome: semaphore.Denied, Reason: semaphore.GroupMismatch}, "no", 17, nil
	}
	reply := must(g.definitions.Explain(ctx(t), &gatekeeperv1.ExplainRequest{Semaphore: "s", Identity: testIdentity()}))(t)
	if s := reply.GetSteps(); len(s) != 2 || s[0].GetNumber() != 1 || !s[0].GetPassed() || s[0].GetText() != "there is one" || s[1].GetPassed() ||
		reply.GetReason() != gatekeeperv1.Reason_REASON_GROUP_MISMATCH || reply.GetSummary() != "no" || reply.GetRevision() != 17 {
		t.Errorf("Explain() = %v", reply)
	}
}

func TestGetDefinition_AdmitsNoKnownCaller_Warns(t *testing.T) {
	t.Parallel()
	g := open(t)
	g.keeper.do(fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel})
	addSighting := func(group, acquirer string) {
		g.keeper.do(fsm.Sight{Term: 1, Sightings: []fsm.Sighting{{Group: group, Acquirer: acquirer, At: time.Unix(1, 0)}}})
	}
	create := func(name, groups, acquirers string, permits uint32) {
		t.Helper()
		must(g.definitions.CreateDefinition(ctx(t), &gatekeeperv1.CreateDefinitionRequest{Definition: &gatekeeperv1.Definition{
			Name: name, GroupPattern: &groups, AcquirerPattern: &acquirers, Permits: &permits, Duration: durationpb.New(time.Minute),
		}}))(t)
	}
	wantWarning := func(when, name, want string) {
		t.Helper()
		r := must(g.definitions.GetDefinition(ctx(t), &gatekeeperv1.GetDefinitionRequest{Name: name}))(t)
		if got := strings.Join(r.GetRecord().GetWarnings(), "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %s has warnings %q, want %q", when, name, got, want)
		}
	}
	create("north", "north", ".*", 1)
	create("typo", "suoth", ".*", 1)
	create("host", "south", "host-9", 1)
	create("closed", "north", ".*", 0)
	wantWarning("no caller seen", "north", "")
	addSighting("south", "host-1")
	wantWarning("south seen", "north", `No known groups match the group pattern "north"`)
	wantWarning("south seen", "typo", `the nearest is "south"`)
	wantWarning("south seen", "host", `none of its acquirers match the acquirer pattern "host-9"`)
	wantWarning("without permits", "closed", "")
	addSighting("north", "host-1")
	wantWarning("north seen", "north", "")
	wantWarning("north seen", "typo", `the nearest is "south"`)
	wantStates := func(name, want string) {
		t.Helper()
		r := must(g.definitions.GetDefinition(ctx(t), &gatekeeperv1.GetDefinitionRequest{Name: name}))(t)
		if got := fmt.Sprint(r.GetRecord().GetStates()); got != "["+want+"]" {
			t.Errorf("states of %s = %s, want [%s]", name, got, want)
		}
	}
	wantStates("north", "DEFINITION_STATE_IDLE")
	wantStates("typo", "DEFINITION_STATE_UNMATCHED")
	g.keeper.do(fsm.SetCordon{ID: "c", GroupPattern: "north"})
	wantStates("north", "DEFINITION_STATE_CORDONED")
	wantWarning("north cordoned", "north", "Every known caller that it admits is cordoned.")
	wantStates("closed", "DEFINITION_STATE_IDLE")
}
