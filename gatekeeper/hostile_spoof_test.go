package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// attempt is a call that uses another caller's identity, name, semaphore, permit or job.
type attempt struct {
	what string
	m    proto.Message
	want codes.Code
	// check verifies the response. If it is nil, any response without hidden data passes.
	check func(m proto.Message) bool
}

// tryCall sends one message to a method and returns the first response.
func tryCall(t *testing.T, ctx context.Context, c caller, fullMethod string, m protoreflect.MethodDescriptor, in proto.Message) (proto.Message, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, fullMethod)
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(in); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if fullMethod != gatekeeperv1.WorkService_Work_FullMethodName { // Work must stay open until its offer is refused
		_ = stream.CloseSend() // always returns nil
	}
	out := kind.New().Interface()
	return out, stream.RecvMsg(out)
}

// An acquirer with a limited scope uses other callers' identities, names, semaphores, permits and jobs in every method,
// on every server. A method that is missing from the table fails this test.
func TestHostile_Spoofing_GainsNothing(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	admin := s.named(0, "client")
	adminJobs := gatekeeperv1.NewWorkServiceClient(admin.conn)
	permitCount := uint32(9)
	var changes []uint64
	for _, name := range []string{"report-x", "secret-sem"} {
		r, err := withRetry(t, admin.CreateDefinition, &gatekeeperv1.CreateDefinitionRequest{
			Definition: &gatekeeperv1.Definition{Name: name, Permits: &permitCount}, RequestId: name,
		})
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, r.GetRecord().GetVersion())
	}
	s.bind("victim", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER))
	s.bind("app", &gatekeeperv1.AccessGrant{Role: gatekeeperv1.Role_ROLE_ACQUIRER, Semaphores: []string{"report-*"}, Group: "zone-a", Acquirer: "host-a"})
	victim := s.named(0, "victim")
	id := &gatekeeperv1.Identity{Group: "zone-a", Acquirer: "host-a", HolderId: "1"} // app may use it too
	take := func(sem, request string) *gatekeeperv1.Permit {
		r, err := victim.TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{
			Semaphore: sem, Identity: id, RequestId: request, Metadata: map[string]string{"of": sem},
			Firing: &gatekeeperv1.Firing{Name: "nightly"},
		})
		if err != nil || r.GetGrant() == nil {
			t.Fatalf("TryAcquire() = %v, %v, want a grant", r, err)
		}
		return r.GetGrant().GetPermit()
	}
	visible, hidden := take("report-x", "r1"), take("secret-sem", "r2")
	for job, sem := range map[string]string{"theirs": "report-x", "secret-job": "secret-sem"} {
		if _, err := submit(t, gatekeeperv1.NewWorkServiceClient(victim.conn), &gatekeeperv1.JobSpec{Id: job, Semaphore: sem}, []string{"secret-payload"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := admin.Cordon(bounded(t), &gatekeeperv1.CordonRequest{GroupPattern: "zone-q"}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: byName("secret-sem"), Reason: "secret-reason"}); err != nil {
		t.Fatal(err)
	}
	otherGroup, otherHost := &gatekeeperv1.Identity{Group: "zone-b", Acquirer: "host-a"}, &gatekeeperv1.Identity{Group: "zone-a", Acquirer: "host-b"}
	definition := func(name string) *gatekeeperv1.Definition { return &gatekeeperv1.Definition{Name: name} }
	refused := codes.PermissionDenied
	lost := func(rs []*gatekeeperv1.TokenResult) bool {
		return len(rs) == 1 && rs[0].GetStatus() == gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST
	}
	single := func(what string, m proto.Message, want codes.Code) []attempt {
		return []attempt{{what: what, m: m, want: want}}
	}
	onJob := func(newRequest func(id string) proto.Message) []attempt {
		return []attempt{{"another caller's job", newRequest("theirs"), refused, nil}, {"hidden job", newRequest("secret-job"), codes.NotFound, nil}}
	}
	tokens := []*gatekeeperv1.TokenRefresh{{Token: visible.GetToken(), Duration: visible.GetDuration()}}

	const (
		permits = "PermitService/"
		defs    = "DefinitionService/"
		ops     = "OperatorService/"
		jobs    = "WorkService/"
		members = "ClusterService/"
		auths   = "AuthService/"
	)
	table := map[string][]attempt{
		permits + "TryAcquire": {
			{"outside its scope", &gatekeeperv1.TryAcquireRequest{Semaphore: "secret-sem", Identity: id, RequestId: "r"}, refused, nil},
			{"another group", &gatekeeperv1.TryAcquireRequest{Semaphore: "report-x", Identity: otherGroup, RequestId: "r"}, refused, nil},
			{"another acquirer", &gatekeeperv1.TryAcquireRequest{Semaphore: "report-x", Identity: otherHost, RequestId: "r"}, refused, nil},
		},
		permits + "Acquire": {
			{"outside its scope", &gatekeeperv1.AcquireRequest{Semaphore: "secret-sem", Identity: id, RequestId: "r"}, refused, nil},
			{"another group", &gatekeeperv1.AcquireRequest{Semaphore: "report-x", Identity: otherGroup, RequestId: "r"}, refused, nil},
			{"another acquirer", &gatekeeperv1.AcquireRequest{Semaphore: "report-x", Identity: otherHost, RequestId: "r"}, refused, nil},
		},
		permits + "BatchTryAcquire": {{"all of the above", &gatekeeperv1.BatchTryAcquireRequest{Requests: []*gatekeeperv1.TryAcquireRequest{
			{Semaphore: "secret-sem", Identity: id}, {Semaphore: "report-x", Identity: otherGroup}, {Semaphore: "report-x", Identity: otherHost},
		}}, codes.OK, func(m proto.Message) bool {
			for _, r := range m.(*gatekeeperv1.BatchTryAcquireResponse).GetResults() {
				if codes.Code(r.GetError().GetCode()) != refused {
					return false
				}
			}
			return true
		}}},
		permits + "Refresh": {{"another caller's permit", &gatekeeperv1.RefreshRequest{Tokens: tokens, Identity: id}, codes.OK, func(m proto.Message) bool {
			return lost(m.(*gatekeeperv1.RefreshResponse).GetResults())
		}}},
		permits + "KeepAlive": {{"another caller's permit", &gatekeeperv1.KeepAliveRequest{Frame: 1, Tokens: tokens, Identity: id}, codes.OK, func(m proto.Message) bool {
			return lost(m.(*gatekeeperv1.KeepAliveResponse).GetResults())
		}}},
		permits + "Release": {{"another caller's permit", &gatekeeperv1.ReleaseRequest{Token: visible.GetToken(), Identity: id}, codes.OK, func(m proto.Message) bool {
			return !m.(*gatekeeperv1.ReleaseResponse).GetReleased()
		}}},
		permits + "Revoke": single("another caller's permit", &gatekeeperv1.RevokeRequest{Token: visible.GetToken(), Author: "victim"}, refused),
		permits + "TakeOver": {
			{"another caller's permit", &gatekeeperv1.TakeOverRequest{Token: visible.GetToken(), Identity: id}, codes.FailedPrecondition, nil},
			{"as another group", &gatekeeperv1.TakeOverRequest{Token: visible.GetToken(), Identity: otherGroup}, refused, nil},
			{"hidden permit", &gatekeeperv1.TakeOverRequest{Token: hidden.GetToken(), Identity: id}, codes.NotFound, nil},
		},
		permits + "Clear": single("another caller's permit", &gatekeeperv1.ClearRequest{Token: visible.GetToken(), Author: "victim"}, refused),
		permits + "Cancel": {
			{"as another group", &gatekeeperv1.CancelRequest{Semaphore: "report-x", Identity: otherGroup, RequestId: "r1"}, refused, nil},
			{"outside its scope", &gatekeeperv1.CancelRequest{Semaphore: "secret-sem", Identity: id, RequestId: "r2"}, refused, nil},
			{"another caller's request", &gatekeeperv1.CancelRequest{Semaphore: "report-x", Identity: id, RequestId: "r1"}, codes.OK, func(m proto.Message) bool {
				return !m.(*gatekeeperv1.CancelResponse).GetReleased()
			}},
		},
		permits + "Verify": {{"another caller's permit", &gatekeeperv1.VerifyRequest{Semaphore: "report-x", Token: visible.GetToken()}, codes.OK, func(m proto.Message) bool {
			return !m.(*gatekeeperv1.VerifyResponse).GetValid()
		}}, {"hidden permit", &gatekeeperv1.VerifyRequest{Semaphore: "report-x", Token: hidden.GetToken()}, codes.OK, func(m proto.Message) bool {
			return !m.(*gatekeeperv1.VerifyResponse).GetValid() && m.(*gatekeeperv1.VerifyResponse).GetPermit() == nil
		}}},
		permits + "ListHolders": single("all", &gatekeeperv1.ListHoldersRequest{}, codes.OK),
		permits + "ListWaiters": single("all", &gatekeeperv1.ListWaitersRequest{}, codes.OK),
		permits + "AwaitFiring": single("outside its scope", &gatekeeperv1.AwaitFiringRequest{Semaphore: "secret-sem", Firing: &gatekeeperv1.Firing{Name: "nightly"}}, codes.NotFound),
		permits + "CatchUp":     single("outside its scope", &gatekeeperv1.CatchUpRequest{Semaphore: "secret-sem", Identity: id, Name: "nightly"}, codes.OK),

		defs + "CreateDefinition":     single("new definition", &gatekeeperv1.CreateDefinitionRequest{Definition: definition("report-y"), Author: "admin"}, refused),
		defs + "GetDefinition":        single("outside its scope", &gatekeeperv1.GetDefinitionRequest{Name: "secret-sem"}, codes.NotFound),
		defs + "ListDefinitions":      single("all", &gatekeeperv1.ListDefinitionsRequest{}, codes.OK),
		defs + "SummarizeDefinitions": single("all", &gatekeeperv1.SummarizeDefinitionsRequest{}, codes.OK),
		defs + "ReplaceDefinition":    single("in its scope", &gatekeeperv1.ReplaceDefinitionRequest{Definition: definition("report-x"), ExpectedVersion: changes[0], Author: "admin"}, refused),
		defs + "DeleteDefinition":     single("in its scope", &gatekeeperv1.DeleteDefinitionRequest{Name: "report-x", ExpectedVersion: changes[0], Author: "admin"}, refused),
		defs + "BatchEdit": single("declaration", &gatekeeperv1.BatchEditRequest{Author: "admin", Edits: []*gatekeeperv1.Edit{
			{Change: &gatekeeperv1.Edit_Declare{Declare: definition("report-y")}},
		}}, refused),
		defs + "Explain": single("outside its scope", &gatekeeperv1.ExplainRequest{Semaphore: "secret-sem", Identity: id}, refused),

		ops + "Preview": {
			{"pause", &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Pause{Pause: &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{All: true}}}}, codes.OK, nil},
			{"cordon", &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Cordon{Cordon: &gatekeeperv1.CordonRequest{GroupPattern: ".*"}}}, codes.OK, nil},
			{"edit", &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Edits{Edits: &gatekeeperv1.BatchEditRequest{
				Edits: []*gatekeeperv1.Edit{{Change: &gatekeeperv1.Edit_Delete{Delete: "secret-sem"}, ExpectedVersion: changes[1]}},
			}}}, codes.NotFound, nil},
		},
		ops + "Move":          single("all", &gatekeeperv1.MoveRequest{Selector: &gatekeeperv1.Selector{All: true}, FromGroup: "zone-a", ToGroup: "zone-b", Author: "admin"}, refused),
		ops + "Pause":         single("all", &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{All: true}, Author: "admin"}, refused),
		ops + "Resume":        single("all", &gatekeeperv1.ResumeRequest{Selector: &gatekeeperv1.Selector{All: true}, Author: "admin"}, refused),
		ops + "Cordon":        single("its own group", &gatekeeperv1.CordonRequest{GroupPattern: "zone-a", Author: "admin"}, refused),
		ops + "Uncordon":      single("another caller's cordon", &gatekeeperv1.UncordonRequest{Id: "group:zone-q", Author: "admin"}, refused),
		ops + "ListCordons":   single("all", &gatekeeperv1.ListCordonsRequest{}, codes.OK),
		ops + "ListHistory":   single("all", &gatekeeperv1.ListHistoryRequest{}, codes.OK),
		ops + "ListFirings":   single("outside its scope", &gatekeeperv1.ListFiringsRequest{Semaphore: "secret-sem"}, codes.NotFound),
		ops + "ForgetFirings": single("in its scope", &gatekeeperv1.ForgetFiringsRequest{Semaphore: "report-x", Author: "admin"}, refused),
		ops + "Undo":          single("another caller's edit", &gatekeeperv1.UndoRequest{Change: changes[0], Author: "admin"}, refused),
		ops + "ListKnown":     single("all", &gatekeeperv1.ListKnownRequest{}, refused),
		ops + "ListDenied":    single("all", &gatekeeperv1.ListDeniedRequest{}, codes.OK),

		"WatchService/Watch": single("all", &gatekeeperv1.WatchRequest{}, codes.OK),

		jobs + "SubmitJob": {
			{"outside its scope", &gatekeeperv1.SubmitJobRequest{Job: &gatekeeperv1.JobSpec{Id: "mine", Semaphore: "secret-sem"}, Last: true}, refused, nil},
			{"another caller's permit", &gatekeeperv1.SubmitJobRequest{Job: &gatekeeperv1.JobSpec{
				Id: "mine", Semaphore: "report-x", SubmitterToken: visible.GetToken(),
			}, Last: true, Tasks: [][]byte{{1}}}, codes.NotFound, nil},
			{"another caller's name", &gatekeeperv1.SubmitJobRequest{Job: &gatekeeperv1.JobSpec{Id: "theirs", Semaphore: "report-x", Author: "victim"}, Last: true, Tasks: [][]byte{{1}}}, codes.AlreadyExists, nil},
		},
		jobs + "GetJob":      single("hidden job", &gatekeeperv1.GetJobRequest{Id: "secret-job"}, codes.NotFound),
		jobs + "ListJobs":    single("all", &gatekeeperv1.ListJobsRequest{}, codes.OK),
		jobs + "ListTasks":   single("hidden job", &gatekeeperv1.ListTasksRequest{Job: "secret-job", Payloads: true}, codes.NotFound),
		jobs + "FollowJob":   single("hidden job", &gatekeeperv1.FollowJobRequest{Id: "secret-job", Results: true}, codes.NotFound),
		jobs + "CancelJob":   onJob(func(id string) proto.Message { return &gatekeeperv1.CancelJobRequest{Id: id, Author: "victim"} }),
		jobs + "RetryTasks":  onJob(func(id string) proto.Message { return &gatekeeperv1.RetryTasksRequest{Id: id, Indexes: []uint32{0}} }),
		jobs + "DropTasks":   onJob(func(id string) proto.Message { return &gatekeeperv1.DropTasksRequest{Id: id, Indexes: []uint32{0}} }),
		jobs + "DeleteJob":   onJob(func(id string) proto.Message { return &gatekeeperv1.DeleteJobRequest{Id: id} }),
		jobs + "ListWorkers": single("all", &gatekeeperv1.ListWorkersRequest{}, codes.OK),
		jobs + "Work": {
			{"outside its scope", workOffer("secret-sem", id), refused, nil},
			{"another group", workOffer("report-x", otherGroup), refused, nil},
			{"another acquirer", workOffer("report-x", otherHost), refused, nil},
		},

		members + "GetStatus":          single("server status", &gatekeeperv1.GetStatusRequest{StateHash: true}, codes.OK),
		members + "ListMembers":        single("all", &gatekeeperv1.ListMembersRequest{}, codes.OK),
		members + "AddMember":          single("new member", &gatekeeperv1.AddMemberRequest{Id: "gk9", PeerAddress: "127.0.0.1:1"}, refused),
		members + "RemoveMember":       single("member", &gatekeeperv1.RemoveMemberRequest{Id: "gk3", Force: true}, refused),
		members + "TransferLeadership": single("to a member", &gatekeeperv1.TransferLeadershipRequest{Id: "gk2"}, refused),
		members + "GetSettings":        single("all", &gatekeeperv1.GetSettingsRequest{}, codes.OK),
		members + "SetSettings":        single("all", &gatekeeperv1.SetSettingsRequest{Settings: &gatekeeperv1.Settings{}, Author: "admin"}, refused),
		members + "SaveSnapshot":       single("all", &gatekeeperv1.SaveSnapshotRequest{}, refused),

		auths + "WhoAmI": {{"itself", &gatekeeperv1.WhoAmIRequest{}, codes.OK, func(m proto.Message) bool {
			return m.(*gatekeeperv1.WhoAmIResponse).GetPrincipal() == "app"
		}}},
		auths + "CanI": {{"outside its scope", &gatekeeperv1.CanIRequest{Role: gatekeeperv1.Role_ROLE_ACQUIRER, Semaphore: "secret-sem"}, codes.OK, func(m proto.Message) bool {
			return !m.(*gatekeeperv1.CanIResponse).GetAllowed()
		}}},
		auths + "ListBindings": single("all", &gatekeeperv1.ListBindingsRequest{}, refused),
		auths + "SetBinding": {
			{"own binding", &gatekeeperv1.SetBindingRequest{Binding: &gatekeeperv1.Binding{
				Name: "app", Subjects: []string{"cert:app"}, Grants: []*gatekeeperv1.AccessGrant{roleGrant(gatekeeperv1.Role_ROLE_ADMIN)},
			}}, refused, nil},
			{"new binding", &gatekeeperv1.SetBindingRequest{Binding: &gatekeeperv1.Binding{Name: "root", Subjects: []string{"cert:x"}}}, refused, nil},
		},
		auths + "RemoveBinding": single("another caller's binding", &gatekeeperv1.RemoveBindingRequest{Name: "victim"}, refused),
		auths + "CreateToken": {
			{"for an administrator", &gatekeeperv1.CreateTokenRequest{Binding: "admin"}, refused, nil},
			{"for itself", &gatekeeperv1.CreateTokenRequest{Binding: "app"}, refused, nil},
		},
		auths + "RevokeToken":       single("another caller's token", &gatekeeperv1.RevokeTokenRequest{Id: "abc"}, refused),
		auths + "BindAdministrator": single("itself", &gatekeeperv1.BindAdministratorRequest{Subject: "cert:app", Binding: "app", Author: "gk1"}, refused),
	}
	leader, _ := s.leader()
	before := leader.machine.State()
	bindings := before.AccessRevision()
	audited := map[string]bool{}
	for i := range s.servers {
		app := s.named(i, "app")
		eachMethod(func(fullMethod string, d protoreflect.MethodDescriptor) {
			method := strings.TrimPrefix(fullMethod, "/gatekeeper.v1.")
			attempts := table[method]
			if len(attempts) == 0 {
				t.Errorf("no attempts for %s", method)
			}
			for _, a := range attempts {
				resp, err := tryCall(t, bounded(t), app, fullMethod, d, a.m)
				what := fmt.Sprintf("server %d: %s: %s", i, method, a.what)
				switch {
				case status.Code(err) != a.want:
					t.Errorf("%s = %v, %v, want %v", what, resp, err, a.want)
				case err == nil && a.check != nil && !a.check(resp):
					t.Errorf("%s: unexpected response %v", what, resp)
				case err == nil && method != auths+"CanI" && method != permits+"BatchTryAcquire" && strings.Contains(fmt.Sprint(resp), "secret"):
					t.Errorf("%s: the response contains a secret: %v", what, resp)
				}
				if a.want == refused {
					audited[method[strings.IndexByte(method, '/')+1:]] = true
				}
			}
		})
	}
	after := leader.machine.State()
	if r := s.named(0, "victim").refresh(t, visible); r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		t.Errorf("refresh of the victim's permit = %v, want REFRESHED", r)
	}
	if after.AccessRevision() != bindings || after.JobCount() != 2 || after.DefinitionCount() != before.DefinitionCount() || len(after.Cordons()) != 1 ||
		after.Permit(hidden.GetToken()) != before.Permit(hidden.GetToken()) || after.Definition("report-x") != before.Definition("report-x") ||
		after.Definition("secret-sem") != before.Definition("secret-sem") {
		t.Error("the state changed")
	}
	if j, err := adminJobs.GetJob(bounded(t), &gatekeeperv1.GetJobRequest{Id: "theirs"}); err != nil || j.GetJob().GetState() != gatekeeperv1.JobState_JOB_STATE_OPEN {
		t.Errorf("the victim's job = %v, %v, want it open", j, err)
	}
	lines := map[string]bool{}
	for _, l := range s.closeAndReadAudit(t) {
		if l.Decision == "refused" && l.Principal == "app" {
			lines[l.Method] = true
		}
	}
	for method := range audited {
		if !lines[method] {
			t.Errorf("no audit line for the refusal of %s", method)
		}
	}
}

func workOffer(sem string, id *gatekeeperv1.Identity) *gatekeeperv1.WorkRequest {
	return &gatekeeperv1.WorkRequest{Frame: 1, Kind: &gatekeeperv1.WorkRequest_Offer{Offer: &gatekeeperv1.WorkOffer{Semaphore: sem, Identity: id, Slots: 1}}}
}

// A submission in progress is not affected by another submission with the same id.
func TestHostile_SubmissionWithSameID_DoesNotAffectFirst(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	permitCount := uint32(9)
	if _, err := withRetry(t, s.named(0, "client").CreateDefinition, &gatekeeperv1.CreateDefinitionRequest{
		Definition: &gatekeeperv1.Definition{Name: "import", Permits: &permitCount}, RequestId: "1",
	}); err != nil {
		t.Fatal(err)
	}
	s.bind("one", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER))
	s.bind("two", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER))
	leader, _ := s.leader()
	stream, err := gatekeeperv1.NewWorkServiceClient(s.named(0, "one").conn).SubmitJob(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	first := newChunk(10) // spans more than one log entry
	first.Job = &gatekeeperv1.JobSpec{Id: "j", Semaphore: "import"}
	if err := stream.Send(first); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return leader.machine.State().Job("j") != nil })
	for i := range s.servers {
		r, err := submit(t, gatekeeperv1.NewWorkServiceClient(s.named(i, "two").conn), &gatekeeperv1.JobSpec{Id: "j", Semaphore: "import"}, []string{"a"})
		if status.Code(err) != codes.AlreadyExists {
			t.Errorf("server %d: second submission = %v, %v, want AlreadyExists", i, r, err)
		}
	}
	if err := stream.Send(&gatekeeperv1.SubmitJobRequest{Last: true}); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if r, err := stream.CloseAndRecv(); err != nil || r.GetJob().GetTasks() != 10 {
		t.Errorf("first submission = %v, %v, want 10 tasks", r, err)
	}
}
