package gatekeeper

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// labelled returns a definition with the label team.
func labelled(name, team string) *gatekeeperv1.Definition {
	return &gatekeeperv1.Definition{Name: name, GroupPattern: new("prod"), Labels: map[string]string{"team": team}}
}

func edits(all ...*gatekeeperv1.Edit) *gatekeeperv1.BatchEditRequest {
	return &gatekeeperv1.BatchEditRequest{Edits: all}
}

// A role scoped by labels must not let its holder affect definitions outside the scope, whether by moving a definition
// into or out of the scope or by a batch, undo, move or selector that covers both sides.
func TestHostile_Escalation_StaysWithinScope(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	admin := s.named(0, "client")
	version := map[string]uint64{}
	create := func(d *gatekeeperv1.Definition) {
		r, err := withRetry(t, admin.CreateDefinition, &gatekeeperv1.CreateDefinitionRequest{Definition: d, RequestId: d.GetName()})
		if err != nil {
			t.Fatal(err)
		}
		version[d.GetName()] = r.GetRecord().GetVersion()
	}
	replace := func(d *gatekeeperv1.Definition) {
		r, err := admin.ReplaceDefinition(bounded(t), &gatekeeperv1.ReplaceDefinitionRequest{Definition: d, ExpectedVersion: version[d.GetName()]})
		if err != nil {
			t.Fatal(err)
		}
		version[d.GetName()] = r.GetRecord().GetVersion()
	}
	create(labelled("mine", "a"))
	create(labelled("theirs", "b"))
	create(labelled("lost", "b"))
	replace(labelled("lost", "a")) // undoing this would move it out of the scope
	create(labelled("gone", "a"))
	replace(labelled("gone", "b")) // undoing this would move it into the scope
	both, err := admin.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: byName("mine", "theirs")})
	if err != nil {
		t.Fatal(err)
	}
	cordoned, err := admin.Cordon(bounded(t), &gatekeeperv1.CordonRequest{GroupPattern: "zone-q"})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := admin.Move(bounded(t), &gatekeeperv1.MoveRequest{Selector: byName("mine", "theirs"), FromGroup: "prod", ToGroup: "spare", DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	// ed and ops may view everything, so only the scope of their other role restricts them.
	viewer := roleGrant(gatekeeperv1.Role_ROLE_VIEWER)
	s.bind("ed", viewer, &gatekeeperv1.AccessGrant{Role: gatekeeperv1.Role_ROLE_EDITOR, Labels: "team=a"})
	s.bind("ops", viewer, &gatekeeperv1.AccessGrant{Role: gatekeeperv1.Role_ROLE_OPERATOR, Labels: "team=a"})
	s.bind("blind", &gatekeeperv1.AccessGrant{Role: gatekeeperv1.Role_ROLE_OPERATOR, Labels: "team=a"}) // sees only its scope

	leader, _ := s.leader()
	before := leader.machine.State()
	declare := func(d *gatekeeperv1.Definition) *gatekeeperv1.Edit {
		return &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Declare{Declare: d}}
	}
	put := func(d *gatekeeperv1.Definition) *gatekeeperv1.Edit {
		return &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Replace{Replace: d}, ExpectedVersion: version[d.GetName()]}
	}
	add := func(d *gatekeeperv1.Definition) *gatekeeperv1.Edit {
		return &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{Create: d}}
	}
	drop := func(name string) *gatekeeperv1.Edit {
		return &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Delete{Delete: name}, ExpectedVersion: version[name]}
	}
	moved := labelled("mine", "a")
	moved.GroupPattern, moved.Permits = new("spare"), new(uint32(5))
	wide := labelled("new", "a")
	wide.GroupPattern = new(".*")
	all := &gatekeeperv1.Selector{All: true}
	refused := codes.PermissionDenied
	for i := range s.servers {
		ed, ops, blind := s.named(i, "ed"), s.named(i, "ops"), s.named(i, "blind")
		edit := func(c caller, m *gatekeeperv1.BatchEditRequest) error {
			_, err := c.BatchEdit(bounded(t), m)
			return err
		}
		undo := func(c caller, change uint64) error {
			_, err := c.Undo(bounded(t), &gatekeeperv1.UndoRequest{Change: change})
			return err
		}
		move := func(c caller, selector *gatekeeperv1.Selector, expected string) error {
			_, err := c.Move(bounded(t), &gatekeeperv1.MoveRequest{Selector: selector, FromGroup: "prod", ToGroup: "spare", Expected: expected})
			return err
		}
		pause := func(c caller, selector *gatekeeperv1.Selector) error {
			_, err := c.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: selector})
			return err
		}
		resume := func(c caller, selector *gatekeeperv1.Selector) error {
			_, err := c.Resume(bounded(t), &gatekeeperv1.ResumeRequest{Selector: selector})
			return err
		}
		for what, c := range map[string]struct {
			err  error
			want codes.Code
		}{
			"edit that moves it out of scope":       {edit(ed, edits(put(labelled("mine", "b")))), refused},
			"edit into the scope":                   {edit(ed, edits(put(labelled("theirs", "a")))), refused},
			"edit that drops the label":             {edit(ed, edits(put(&gatekeeperv1.Definition{Name: "mine"}))), refused},
			"create outside the scope":              {edit(ed, edits(add(labelled("new", "b")))), refused},
			"create without a label":                {edit(ed, edits(add(&gatekeeperv1.Definition{Name: "new"}))), refused},
			"create inside and delete outside":      {edit(ed, edits(add(labelled("new", "a")), drop("theirs"))), refused},
			"declare inside and outside":            {edit(ed, edits(declare(labelled("new", "a")), declare(labelled("new2", "b")))), refused},
			"declare inside and replace outside":    {edit(ed, edits(declare(labelled("new", "a")), put(labelled("theirs", "a")))), refused},
			"rename that moves it out of scope":     {edit(ed, edits(drop("mine"), add(labelled("new", "b")))), refused},
			"rename into the scope":                 {edit(ed, edits(drop("theirs"), add(labelled("new", "a")))), refused},
			"move by an operator, with other edits": {edit(ops, edits(put(moved))), refused},
			"create by an operator":                 {edit(ops, edits(add(labelled("new", "a")))), refused},
			"undo that moves it out of scope":       {undo(ed, version["lost"]), refused},
			"undo that moves it into scope":         {undo(ed, version["gone"]), refused},
			"undo of an edit outside the scope":     {undo(ed, version["theirs"]), refused},
			"undo a pause that covers both":         {undo(ops, both.GetRevision()), refused},
			"undo of a cordon":                      {undo(ops, cordoned.GetCordon().GetRevision()), refused},
			"undo of a pause by an editor":          {undo(ed, both.GetRevision()), refused},
			"move both":                             {move(ops, byName("mine", "theirs"), ""), refused},
			"move both with another caller's plan":  {move(ops, byName("mine", "theirs"), plan.GetDigest()), refused},
			"move by an editor":                     {move(ed, byName("theirs"), ""), refused},
			"move everything":                       {move(ops, all, ""), refused},
			"move of an invisible definition":       {move(blind, byName("theirs"), ""), codes.NotFound},
			"pause both":                            {pause(ops, byName("mine", "theirs")), refused},
			"pause everything":                      {pause(ops, all), refused},
			"pause by label":                        {pause(ops, &gatekeeperv1.Selector{Labels: "team"}), refused},
			"pause by another label":                {pause(ops, &gatekeeperv1.Selector{Labels: "team=b"}), refused},
			"pause of an invisible definition":      {pause(blind, byName("theirs")), codes.NotFound},
			"resume outside the scope":              {resume(ops, byName("theirs")), refused},
			"resume of all":                         {resume(ops, all), refused},
		} {
			if status.Code(c.err) != c.want {
				t.Errorf("server %d: %s = %v, want %v", i, what, c.err, c.want)
			}
		}
		_, cordon := ops.Cordon(bounded(t), &gatekeeperv1.CordonRequest{GroupPattern: "prod"})
		_, uncordon := ops.Uncordon(bounded(t), &gatekeeperv1.UncordonRequest{Id: "group:zone-q"})
		_, forget := ops.ForgetFirings(bounded(t), &gatekeeperv1.ForgetFiringsRequest{
			Semaphore: "theirs", Firings: []*gatekeeperv1.Firing{{Name: "nightly"}},
		})
		for what, err := range map[string]error{"cordon": cordon, "uncordon": uncordon, "forget": forget} {
			// NotFound is allowed, because a viewer may see that the firing does not exist.
			if code := status.Code(err); code != refused && (what != "forget" || code != codes.NotFound) {
				t.Errorf("server %d: %s = %v, want PermissionDenied", i, what, err)
			}
		}
		// Declaring an existing definition has no effect, in or out of scope.
		if err := edit(ed, edits(declare(labelled("theirs", "a")))); err != nil && status.Code(err) != refused {
			t.Errorf("server %d: declaration of an existing definition = %v, want OK or PermissionDenied", i, err)
		}
		for _, who := range []string{"ed", "ops"} {
			auths := gatekeeperv1.NewAuthServiceClient(s.named(i, who).conn)
			_, token := auths.CreateToken(bounded(t), &gatekeeperv1.CreateTokenRequest{Binding: "admin"})
			_, binding := auths.SetBinding(bounded(t), &gatekeeperv1.SetBindingRequest{Binding: &gatekeeperv1.Binding{
				Name: who, Subjects: []string{"cert:" + who}, Grants: []*gatekeeperv1.AccessGrant{roleGrant(gatekeeperv1.Role_ROLE_ADMIN)},
			}})
			_, removed := auths.RemoveBinding(bounded(t), &gatekeeperv1.RemoveBindingRequest{Name: "admin"})
			for _, err := range []error{token, binding, removed} {
				if status.Code(err) != refused {
					t.Errorf("server %d: binding change by %s = %v, want PermissionDenied", i, who, err)
				}
			}
		}
	}
	after := leader.machine.State()
	if after.Revision() != before.Revision() {
		t.Errorf("Revision() = %d, want it unchanged at %d", after.Revision(), before.Revision())
	}
	for name := range version {
		if after.Definition(name) != before.Definition(name) {
			t.Errorf("definition %s was changed by a rejected call", name)
		}
	}
	// Both principals may still act within their scope.
	if err := applyEdits(t, s.named(1, "ed"), put(labelledWithPermits("mine", "a", 7))); err != nil {
		t.Errorf("edit within the editor's scope: %v", err)
	}
	if _, err := s.named(1, "ops").Resume(bounded(t), &gatekeeperv1.ResumeRequest{Selector: byName("mine")}); err != nil {
		t.Errorf("resume within the operator's scope: %v", err)
	}
	lines := map[string]bool{}
	for _, l := range s.closeAndReadAudit(t) {
		if l.Decision == "refused" {
			lines[l.Method+" by "+l.Principal] = true
		}
	}
	for _, want := range []string{"BatchEdit by ed", "Undo by ed", "Undo by ops", "Move by ops", "Pause by ops", "Resume by ops", "CreateToken by ed", "SetBinding by ops"} {
		if !lines[want] {
			t.Errorf("no audit line for %s in %v", want, lines)
		}
	}
}

func labelledWithPermits(name, team string, permits uint32) *gatekeeperv1.Definition {
	d := proto.CloneOf(labelled(name, team))
	d.Permits = &permits
	return d
}

func applyEdits(t *testing.T, c caller, all ...*gatekeeperv1.Edit) error {
	t.Helper()
	_, err := c.BatchEdit(bounded(t), edits(all...))
	return err
}

// A principal can take over only permits in its scope, and is recorded as the author.
func TestHostile_TakeOver_StaysWithinScope(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	admin := s.named(0, "client")
	for _, name := range []string{"report-x", "other"} {
		if _, err := withRetry(t, admin.CreateDefinition, &gatekeeperv1.CreateDefinitionRequest{RequestId: name, Definition: &gatekeeperv1.Definition{
			Name: name, Takeover: true, Duration: durationpb.New(60_000_000_000),
		}}); err != nil {
			t.Fatal(err)
		}
	}
	s.bind("victim", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER))
	s.bind("app", &gatekeeperv1.AccessGrant{Role: gatekeeperv1.Role_ROLE_ACQUIRER, Semaphores: []string{"report-*"}, Group: "zone-a"})
	s.bind("ops", roleGrant(gatekeeperv1.Role_ROLE_OPERATOR))
	victim := s.named(0, "victim")
	visible, hidden := victim.grantToGroup(t, "report-x", "zone-a"), victim.grantToGroup(t, "other", "zone-a")
	take := func(server int, who string, token uint64, group string) error {
		_, err := s.named(server, who).TakeOver(bounded(t), &gatekeeperv1.TakeOverRequest{Token: token, Identity: &gatekeeperv1.Identity{Group: group, Acquirer: "host"}})
		return err
	}
	for i := range s.servers {
		for what, c := range map[string]struct {
			err  error
			want codes.Code
		}{
			"outside the scope": {take(i, "app", hidden.GetToken(), "zone-a"), codes.NotFound},
			"as another group":  {take(i, "app", visible.GetToken(), "zone-b"), codes.PermissionDenied},
			"by an operator":    {take(i, "ops", visible.GetToken(), "zone-a"), codes.PermissionDenied},
		} {
			if status.Code(c.err) != c.want {
				t.Errorf("server %d: %s = %v, want %v", i, what, c.err, c.want)
			}
		}
	}
	if r := victim.refresh(t, visible); r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		t.Errorf("refresh of the victim's permit = %v, want REFRESHED", r)
	}
	if err := take(1, "app", visible.GetToken(), "zone-a"); err != nil {
		t.Fatalf("takeover within the scope: %v", err)
	}
	history, err := admin.ListHistory(bounded(t), &gatekeeperv1.ListHistoryRequest{Names: []string{"report-x"}})
	if err != nil || history.GetEntries()[0].GetAuthor() != "app (host in group zone-a)" {
		t.Errorf("history after the takeover = %v, %v, want author app", history, err)
	}
}
