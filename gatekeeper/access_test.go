package gatekeeper

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/api"
	"github.com/gatekeeperd/gatekeeper/internal/audit"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// securedCluster is a cluster that authenticates its callers. Its administrator is cert:client.
type securedCluster struct {
	t       *testing.T
	a       *authorities
	servers []*Server
	admin   gatekeeperv1.AuthServiceClient
}

func newSecuredCluster(t *testing.T, change func(*Config)) *securedCluster {
	a := newAuthorities(t)
	s := &securedCluster{t: t, a: a, servers: clusterWith(t, func(c *Config) {
		a.secure(c)
		if change != nil {
			change(c)
		}
	}, "gk1", "gk2", "gk3")}
	s.admin = gatekeeperv1.NewAuthServiceClient(newCaller(t, s.servers[0], a.client(a.api, time.Now(), nil)).conn)
	return s
}

// as returns a caller of the given server with a client certificate for leaf, or without a certificate if leaf has no
// name.
func (s *securedCluster) as(server int, leaf authority.Leaf) caller {
	s.t.Helper()
	cfg := &tls.Config{RootCAs: s.a.api.Pool(), MinVersion: tls.VersionTLS13}
	if leaf.Name != "" {
		leaf.Client = true
		pair := authoritytest.Pair(s.t, s.a.api.IssueAt(time.Now(), leaf))
		cfg.Certificates = []tls.Certificate{pair}
	}
	return newCaller(s.t, s.servers[server], grpc.WithTransportCredentials(credentials.NewTLS(cfg)))
}

func (s *securedCluster) named(server int, name string) caller {
	return s.as(server, authority.Leaf{Name: name})
}

// bind creates a binding for cert:NAME.
func (s *securedCluster) bind(name string, grants ...*gatekeeperv1.AccessGrant) *gatekeeperv1.Binding {
	s.t.Helper()
	r, err := withRetry(s.t, s.admin.SetBinding, &gatekeeperv1.SetBindingRequest{Binding: &gatekeeperv1.Binding{
		Name: name, Subjects: []string{"cert:" + name}, Grants: grants,
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	return r.GetBinding()
}

func roleGrant(role gatekeeperv1.Role, semaphores ...string) *gatekeeperv1.AccessGrant {
	return &gatekeeperv1.AccessGrant{Role: role, Semaphores: semaphores}
}

// eachMethod calls visit for every method of the gatekeeper.v1 services.
func eachMethod(visit func(fullMethod string, m protoreflect.MethodDescriptor)) {
	protoregistry.GlobalFiles.RangeFilesByPackage("gatekeeper.v1", func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			service := f.Services().Get(i)
			for j := range service.Methods().Len() {
				m := service.Methods().Get(j)
				visit("/"+string(service.FullName())+"/"+string(m.Name()), m)
			}
		}
		return true
	})
}

// call calls a method with an empty message and returns the error of its first response.
func call(t *testing.T, ctx context.Context, c caller, fullMethod string, m protoreflect.MethodDescriptor) error {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, err := protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
	if err != nil {
		t.Fatal(err)
	}
	out, err := protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, fullMethod)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(in.New().Interface()); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_ = stream.CloseSend() // always returns nil
	return stream.RecvMsg(out.New().Interface())
}

// handledLocally reports whether every server handles the method itself instead of forwarding it to the leader.
func handledLocally(fullMethod string) bool {
	return fullMethod == gatekeeperv1.ClusterService_GetStatus_FullMethodName ||
		fullMethod == gatekeeperv1.ClusterService_ListMembers_FullMethodName
}

func TestAccess_CallerWithoutBinding_IsRefusedByEveryServer(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	for i := range s.servers {
		unbound := s.named(i, "unbound")
		eachMethod(func(fullMethod string, m protoreflect.MethodDescriptor) {
			err := call(t, bounded(t), unbound, fullMethod, m)
			if fullMethod == gatekeeperv1.PermitService_BatchTryAcquire_FullMethodName && status.Code(err) == codes.InvalidArgument {
				return // a follower refuses an empty batch before the caller is authenticated
			}
			if handledLocally(fullMethod) && status.Code(err) == codes.Unavailable {
				return // a follower may lag behind, so it refers unknown callers to the leader
			}
			if status.Code(err) != codes.Unauthenticated {
				t.Errorf("server %d: %s = %v, want Unauthenticated", i, fullMethod, err)
			}
		})
	}
}

// Package api lists the role that each method requires. A method that is missing from that list fails this test.
func TestAccess_PrincipalWithoutRoles_MayOnlyCallWhoAmI(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	s.bind("no-roles")
	for i := range s.servers {
		noRoles := s.named(i, "no-roles")
		eachMethod(func(fullMethod string, m protoreflect.MethodDescriptor) {
			want := codes.PermissionDenied
			switch fullMethod {
			case gatekeeperv1.AuthService_WhoAmI_FullMethodName, gatekeeperv1.ClusterService_GetStatus_FullMethodName,
				gatekeeperv1.ClusterService_ListMembers_FullMethodName:
				want = codes.OK
			case gatekeeperv1.AuthService_CanI_FullMethodName:
				want = codes.InvalidArgument // the empty message has no role
			}
			err := call(t, bounded(t), noRoles, fullMethod, m)
			if fullMethod == gatekeeperv1.PermitService_BatchTryAcquire_FullMethodName && status.Code(err) == codes.InvalidArgument {
				return // as in the test above
			}
			if handledLocally(fullMethod) && status.Code(err) == codes.Unavailable {
				return
			}
			if status.Code(err) != want {
				t.Errorf("server %d: %s = %v, want %v", i, fullMethod, err, want)
			}
		})
	}
}

func TestAccess_SpoofedHeaders_GainNothing(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	s.bind("app", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	for i := range s.servers {
		app := s.named(i, "app")
		admin := metadata.AppendToOutgoingContext(bounded(t), api.SubjectHeader, "cert:client")
		if _, err := app.SetSettings(admin, &gatekeeperv1.SetSettingsRequest{}); status.Code(err) != codes.PermissionDenied {
			t.Errorf("server %d: SetSettings() claiming an administrator's subject = %v, want PermissionDenied", i, err)
		}
		hop := metadata.AppendToOutgoingContext(admin, api.HopHeader, "gk2")
		if _, err := app.SetSettings(hop, &gatekeeperv1.SetSettingsRequest{}); status.Code(err) != codes.Unauthenticated {
			t.Errorf("server %d: SetSettings() as if forwarded by a member = %v, want Unauthenticated", i, err)
		}
	}
}

func TestAccess_OtherPrincipalsPermit_LooksUnknown(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	s.bind("one", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER))
	s.bind("two", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER))
	s.named(0, "client").create(t, "job")
	held := s.named(0, "one").grant(t, "job", "host")
	unknownToken := held.GetToken() + 1<<30
	for i := range s.servers {
		two := s.named(i, "two")
		for what, do := range map[string]func(token uint64) (string, error){
			"refresh": func(token uint64) (string, error) {
				r, err := two.Refresh(bounded(t), &gatekeeperv1.RefreshRequest{Tokens: []*gatekeeperv1.TokenRefresh{{Token: token, Duration: held.GetDuration()}}})
				return r.String(), err
			},
			"release": func(token uint64) (string, error) {
				r, err := two.Release(bounded(t), &gatekeeperv1.ReleaseRequest{Token: token, Identity: held.GetIdentity()})
				return r.String(), err
			},
			"verify": func(token uint64) (string, error) {
				r, err := two.Verify(bounded(t), &gatekeeperv1.VerifyRequest{Token: token})
				r.Revision = 0
				return r.String(), err
			},
			"take over": func(token uint64) (string, error) {
				_, err := two.TakeOver(bounded(t), &gatekeeperv1.TakeOverRequest{Token: token, Identity: held.GetIdentity()})
				return "", err
			},
			"keep alive": func(token uint64) (string, error) {
				stream, err := two.KeepAlive(bounded(t))
				if err == nil {
					err = stream.Send(&gatekeeperv1.KeepAliveRequest{Frame: 1, Tokens: []*gatekeeperv1.TokenRefresh{{Token: token, Duration: held.GetDuration()}}})
				}
				if err != nil {
					return "", err
				}
				r, err := stream.Recv()
				return r.GetResults()[0].String(), err
			},
			"revoke": func(token uint64) (string, error) {
				_, err := two.Revoke(bounded(t), &gatekeeperv1.RevokeRequest{Token: token})
				return "", err
			},
		} {
			result := func(token uint64) string {
				resp, err := do(token)
				return strings.ReplaceAll(resp+status.Convert(err).Message(), decimal(token), "TOKEN")
			}
			if what == "take over" { // whether a semaphore allows takeovers is not secret
				continue
			}
			if theirs, unknown := result(held.GetToken()), result(unknownToken); theirs != unknown {
				t.Errorf("server %d: %s of another principal's permit = %q, of an unknown permit = %q, want the same", i, what, theirs, unknown)
			}
		}
	}
	if r := s.named(0, "one").refresh(t, held); r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		t.Errorf("refresh by the owner = %v, want REFRESHED", r)
	}
}

func TestAccess_Scopes_LimitRoles(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	admin := s.named(0, "client")
	admin.createForGroup(t, "report-a", "zone-a")
	admin.createForGroup(t, "report-b", "zone-b")
	admin.createForGroup(t, "other", ".*")
	s.bind("app", &gatekeeperv1.AccessGrant{Role: gatekeeperv1.Role_ROLE_ACQUIRER, Semaphores: []string{"report-*"}, Group: "zone-a"})
	s.bind("ops", &gatekeeperv1.AccessGrant{Role: gatekeeperv1.Role_ROLE_OPERATOR, Semaphores: []string{"report-*"}})
	s.bind("zone", &gatekeeperv1.AccessGrant{Role: gatekeeperv1.Role_ROLE_OPERATOR, Group: "zone-a"})
	s.bind("editor", &gatekeeperv1.AccessGrant{Role: gatekeeperv1.Role_ROLE_EDITOR, Semaphores: []string{"report-*"}})
	for i := range s.servers {
		app, ops, zone, editor := s.named(i, "app"), s.named(i, "ops"), s.named(i, "zone"), s.named(i, "editor")
		acquire := func(name, group string) error {
			_, err := app.TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{
				Semaphore: name, Identity: &gatekeeperv1.Identity{Group: group, Acquirer: "host"}, RequestId: name + group + decimal(uint64(i)),
			})
			return err
		}
		pause := func(c caller, name string) error {
			_, err := c.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{Names: []string{name}}, Author: "root"})
			return err
		}
		cordon := func(c caller, group string) error {
			_, err := c.Cordon(bounded(t), &gatekeeperv1.CordonRequest{GroupPattern: group})
			return err
		}
		edit := func(c caller, name string) error {
			_, err := c.BatchEdit(bounded(t), &gatekeeperv1.BatchEditRequest{Edits: []*gatekeeperv1.Edit{
				{Change: &gatekeeperv1.Edit_Declare{Declare: &gatekeeperv1.Definition{Name: name}}},
			}})
			return err
		}
		for what, c := range map[string]struct {
			err  error
			want codes.Code
		}{
			"acquire":                             {acquire("report-a", "zone-a"), codes.OK},
			"acquire as another group":            {acquire("report-b", "zone-b"), codes.PermissionDenied},
			"acquire outside the scope":           {acquire("other", "zone-a"), codes.PermissionDenied},
			"pause":                               {pause(ops, "report-a"), codes.OK},
			"pause outside the scope":             {pause(ops, "other"), codes.NotFound},
			"pause by group":                      {pause(zone, "report-a"), codes.OK},
			"pause of another group's definition": {pause(zone, "report-b"), codes.PermissionDenied},
			"pause of all groups":                 {pause(zone, "other"), codes.PermissionDenied},
			"pause by an acquirer":                {pause(app, "report-a"), codes.PermissionDenied},
			"pause by an editor":                  {pause(editor, "report-a"), codes.PermissionDenied},
			"cordon":                              {cordon(zone, "zone-a"), codes.OK},
			"cordon with a pattern":               {cordon(zone, "zone-.*"), codes.PermissionDenied},
			"cordon with a scope of names":        {cordon(ops, "zone-a"), codes.PermissionDenied},
			"edit":                                {edit(editor, "report-c"), codes.OK},
			"edit outside the scope":              {edit(editor, "new"), codes.PermissionDenied},
			"edit by an operator":                 {edit(ops, "report-d"), codes.PermissionDenied},
			"a batch with a definition outside the scope": {declareAll(t, editor, "report-e", "new"), codes.PermissionDenied},
		} {
			if status.Code(c.err) != c.want {
				t.Errorf("server %d: %s = %v, want %v", i, what, c.err, c.want)
			}
		}
		admin.uncordon(t)
		if _, err := admin.Resume(bounded(t), &gatekeeperv1.ResumeRequest{Selector: &gatekeeperv1.Selector{All: true}}); err != nil {
			t.Fatal(err)
		}
		listed, err := ops.ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range listed.GetRecords() {
			if !strings.HasPrefix(r.GetDefinition().GetName(), "report-") {
				t.Errorf("ListDefinitions() as ops contains %s", r.GetDefinition().GetName())
			}
		}
	}
	history, err := admin.ListHistory(bounded(t), &gatekeeperv1.ListHistoryRequest{Names: []string{"report-a"}})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, e := range history.GetEntries() {
		found = found || e.GetAuthor() == "ops (root)"
	}
	if !found {
		t.Errorf("no history entry has author %q: %v", "ops (root)", history.GetEntries())
	}
}

func declareAll(t *testing.T, c caller, names ...string) error {
	m := &gatekeeperv1.BatchEditRequest{}
	for _, name := range names {
		m.Edits = append(m.Edits, &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Declare{Declare: &gatekeeperv1.Definition{Name: name}}})
	}
	_, err := c.BatchEdit(bounded(t), m)
	return err
}

func (c caller) uncordon(t *testing.T) {
	t.Helper()
	if _, err := c.Uncordon(bounded(t), &gatekeeperv1.UncordonRequest{Id: "group:zone-a"}); err != nil {
		t.Fatal(err)
	}
}

// An undo requires the same role as the change it undoes.
func TestAccess_Undo_RequiresRolesForItsChanges(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	admin := s.named(0, "client")
	s.bind("ops", roleGrant(gatekeeperv1.Role_ROLE_OPERATOR))
	s.bind("editor", roleGrant(gatekeeperv1.Role_ROLE_EDITOR))
	admin.create(t, "job")
	edited, err := admin.setPermits(t, "job", 5)
	if err != nil {
		t.Fatal(err)
	}
	paused, err := s.named(0, "ops").Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{Names: []string{"job"}}})
	if err != nil {
		t.Fatal(err)
	}
	undo := func(who string, change uint64) codes.Code {
		_, err := s.named(0, who).Undo(bounded(t), &gatekeeperv1.UndoRequest{Change: change})
		return status.Code(err)
	}
	if got := undo("ops", edited.GetVersion()); got != codes.PermissionDenied {
		t.Errorf("undo of an edit by an operator = %v, want PermissionDenied", got)
	}
	if got := undo("editor", paused.GetRevision()); got != codes.PermissionDenied {
		t.Errorf("undo of a pause by an editor = %v, want PermissionDenied", got)
	}
	if got := undo("ops", paused.GetRevision()); got != codes.OK {
		t.Errorf("undo of a pause by an operator = %v, want OK", got)
	}
	if got := undo("editor", edited.GetVersion()); got != codes.OK {
		t.Errorf("undo of an edit by an editor = %v, want OK", got)
	}
}

// A semaphore represents a job's submitter, and every retry of the submission creates it again. Only the submitter may
// create, hold and delete it, even if others may acquire every semaphore.
func TestAccess_SubmitterSemaphore_OnlySubmitterMayUseIt(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	s.bind("app", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER, "reports"))
	s.bind("other", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER, "*"))
	s.bind("viewer", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	zone, host := "zone-a", `host\.example`
	own := &gatekeeperv1.CreateDefinitionRequest{Definition: &gatekeeperv1.Definition{
		Name: "submitter/j", Labels: map[string]string{"gatekeeper/job": "j"}, GroupPattern: &zone, AcquirerPattern: &host,
	}}
	id := &gatekeeperv1.Identity{Group: "zone-a", Acquirer: "host.example"}
	version := uint64(0)
	remove := func(server int, who string) codes.Code {
		_, err := s.named(server, who).DeleteDefinition(bounded(t), &gatekeeperv1.DeleteDefinitionRequest{Name: "submitter/j", ExpectedVersion: version})
		return status.Code(err)
	}
	if _, err := s.named(0, "viewer").CreateDefinition(bounded(t), own); status.Code(err) != codes.PermissionDenied {
		t.Errorf("CreateDefinition() by a viewer = %v, want PermissionDenied", err)
	}
	for i, want := range []codes.Code{codes.OK, codes.AlreadyExists, codes.AlreadyExists} {
		r, err := s.named(i, "app").CreateDefinition(bounded(t), own)
		if status.Code(err) != want {
			t.Errorf("server %d: CreateDefinition() = %v, want %v", i, err, want)
		}
		version = max(version, r.GetRecord().GetVersion())
	}
	for _, d := range []*gatekeeperv1.Definition{{Name: "other"}, {Name: "job", Labels: map[string]string{"gatekeeper/job": "j"}}, {Name: "submitter/k"}} {
		if _, err := s.named(0, "app").CreateDefinition(bounded(t), &gatekeeperv1.CreateDefinitionRequest{Definition: d}); status.Code(err) != codes.PermissionDenied {
			t.Errorf("CreateDefinition(%v) = %v, want PermissionDenied", d, err)
		}
	}
	held, err := s.named(1, "app").TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{Semaphore: "submitter/j", Identity: id, RequestId: "a"})
	if err != nil || held.GetGrant() == nil {
		t.Fatalf("TryAcquire() by the submitter = %v, %v, want a grant", held, err)
	}
	for i := range s.servers {
		if got := remove(i, "other"); got != codes.PermissionDenied {
			t.Errorf("server %d: deletion by another principal = %v, want PermissionDenied", i, got)
		}
	}
	if _, err := s.named(2, "app").Release(bounded(t), &gatekeeperv1.ReleaseRequest{Token: held.GetGrant().GetPermit().GetToken()}); err != nil {
		t.Fatal(err)
	}
	if got := remove(2, "app"); got != codes.OK {
		t.Errorf("deletion by the submitter = %v, want OK", got)
	}
}

// Refused requests in a batch do not affect the allowed ones.
func TestAccess_Batch_ChecksEachRequest(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	s.named(0, "client").create(t, "reports")
	s.named(0, "client").create(t, "orders")
	s.bind("app", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER, "reports"))
	for i := range s.servers {
		m := &gatekeeperv1.BatchTryAcquireRequest{}
		for n, name := range []string{"orders", "reports", "orders", "none"} {
			m.Requests = append(m.Requests, &gatekeeperv1.TryAcquireRequest{
				Semaphore: name, Identity: &gatekeeperv1.Identity{Group: "g", Acquirer: "a" + decimal(uint64(n))}, RequestId: decimal(uint64(10*i + n)),
			})
		}
		r, err := s.named(i, "app").BatchTryAcquire(bounded(t), m)
		if err != nil {
			t.Fatalf("server %d: BatchTryAcquire() = %v", i, err)
		}
		for n, want := range []codes.Code{codes.PermissionDenied, codes.OK, codes.PermissionDenied, codes.PermissionDenied} {
			if got := codes.Code(r.GetResults()[n].GetError().GetCode()); got != want {
				t.Errorf("server %d: result of request %d = %v, want %v", i, n, got, want)
			}
		}
	}
}

// A server with a certificate from the members' CA can join only with an address that the certificate covers.
func TestAccess_MemberCertificate_JoinsOnlyAtItsOwnAddress(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	for i := range s.servers {
		leaf := authority.Leaf{Name: "gk9", Server: true, Client: true, Hosts: []string{"127.9.9.9"}}
		cfg := &tls.Config{RootCAs: s.a.api.Pool(), MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{authoritytest.Pair(t, s.a.members.Issue(leaf))}}
		gk9 := newCaller(t, s.servers[i], grpc.WithTransportCredentials(credentials.NewTLS(cfg)))
		_, err := gk9.AddMember(bounded(t), &gatekeeperv1.AddMemberRequest{Id: "gk9", PeerAddress: "127.0.0.1:7999", Joining: true})
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("server %d: AddMember() with an address that is not in the certificate = %v, want Unauthenticated", i, err)
		}
		if _, err := gk9.SetSettings(bounded(t), &gatekeeperv1.SetSettingsRequest{}); status.Code(err) != codes.Unauthenticated {
			t.Errorf("server %d: SetSettings() with a member certificate = %v, want Unauthenticated", i, err)
		}
	}
}

// A semaphore that the caller may not view looks like an unknown one and is never suggested.
func TestAccess_HiddenSemaphores_AreNotSuggested(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	s.named(0, "client").create(t, "orders")
	s.bind("ops", roleGrant(gatekeeperv1.Role_ROLE_OPERATOR, "report*"))
	for i := range s.servers {
		ops := s.named(i, "ops")
		var messages []string
		for _, name := range []string{"orders", "order"} {
			_, get := ops.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: name})
			_, pause := ops.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{Names: []string{name}}})
			messages = append(messages, strings.ReplaceAll(status.Convert(get).Message()+status.Convert(pause).Message(), name, "NAME"))
		}
		if messages[0] != messages[1] || strings.Contains(messages[1], "orders") {
			t.Errorf("server %d: errors for a hidden and an unknown name = %q, want the same error without a suggestion", i, messages)
		}
	}
}

// Moving a subject to another binding ends the streams it opened under the old one.
func TestAccess_SubjectMovedToAnotherBinding_StreamsEnd(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	one := s.bind("one", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	var streams []grpc.ServerStreamingClient[gatekeeperv1.WatchResponse]
	for i := range s.servers {
		w, err := s.named(i, "one").Watch(bounded(t), &gatekeeperv1.WatchRequest{})
		if err == nil {
			_, err = w.Recv()
		}
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, w)
	}
	for _, b := range []*gatekeeperv1.Binding{
		{Name: "one", Grants: one.GetGrants()}, {Name: "two", Subjects: one.GetSubjects(), Grants: one.GetGrants()},
	} {
		expected := uint64(0)
		if b.GetName() == one.GetName() {
			expected = one.GetRevision()
		}
		if _, err := s.admin.SetBinding(bounded(t), &gatekeeperv1.SetBindingRequest{Binding: b, ExpectedRevision: expected}); err != nil {
			t.Fatal(err)
		}
	}
	for i, w := range streams {
		var err error
		for err == nil {
			_, err = w.Recv()
		}
		// Between the two changes, no binding had the subject.
		if code := status.Code(err); code != codes.Unavailable && code != codes.Unauthenticated {
			t.Errorf("server %d: the stream ended with %v, want Unavailable or Unauthenticated", i, err)
		}
	}
	history, err := s.named(0, "client").ListHistory(bounded(t), &gatekeeperv1.ListHistoryRequest{})
	if err != nil || history.GetEntries()[0].GetBindingAfter().GetName() != "two" {
		t.Errorf("the newest history entry = %v, %v, want the binding two", history.GetEntries()[0], err)
	}
	history, err = s.named(0, "one").ListHistory(bounded(t), &gatekeeperv1.ListHistoryRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range history.GetEntries() {
		if e.GetKind() == gatekeeperv1.EventKind_EVENT_KIND_BINDING_CHANGED {
			t.Errorf("a viewer's history contains a change to bindings: %v", e)
		}
	}
}

type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}
func (bearer) RequireTransportSecurity() bool { return true }

func TestAccess_TokenRevoked_StreamsEnd(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, func(c *Config) { c.BearerTokens = true })
	s.bind("ci", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	created, err := s.admin.CreateToken(bounded(t), &gatekeeperv1.CreateTokenRequest{Binding: "ci", Reason: "for CI"})
	if err != nil {
		t.Fatal(err)
	}
	withToken := func(server int, secret string) caller {
		return newCaller(t, s.servers[server], grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: s.a.api.Pool(), MinVersion: tls.VersionTLS13})),
			grpc.WithPerRPCCredentials(bearer(secret)))
	}
	secret := created.GetSecret()
	for i := range s.servers {
		if _, err := withToken(i, secret).ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{}); err != nil {
			t.Errorf("server %d: ListDefinitions() with a valid token = %v", i, err)
		}
		for what, guess := range map[string]string{
			"another secret": secret[:len(secret)-1] + "x", "no secret": "gk_" + created.GetToken().GetId() + "_", "not a token": "abc", "empty": "",
			"another id": "gk_abc_" + strings.SplitN(secret, "_", 3)[2],
		} {
			if guess == secret {
				continue
			}
			if _, err := withToken(i, guess).ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{}); status.Code(err) != codes.Unauthenticated {
				t.Errorf("server %d: ListDefinitions() with %s = %v, want Unauthenticated", i, what, err)
			}
		}
		if _, err := s.as(i, authority.Leaf{}).ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{}); status.Code(err) != codes.Unauthenticated {
			t.Errorf("server %d: ListDefinitions() without a certificate or a token = %v, want Unauthenticated", i, err)
		}
	}
	var streams []grpc.ServerStreamingClient[gatekeeperv1.WatchResponse]
	for i := range s.servers {
		w, err := withToken(i, secret).Watch(bounded(t), &gatekeeperv1.WatchRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Recv(); err != nil {
			t.Fatal(err)
		}
		streams = append(streams, w)
	}
	if _, err := s.admin.RevokeToken(bounded(t), &gatekeeperv1.RevokeTokenRequest{Id: created.GetToken().GetId(), Reason: "leaked"}); err != nil {
		t.Fatal(err)
	}
	for i, w := range streams {
		var err error
		for err == nil {
			_, err = w.Recv()
		}
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("server %d: the stream ended with %v, want Unauthenticated", i, err)
		}
	}
}

func TestAccess_LastAdministrator_CannotBeRemoved(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	all, err := s.admin.ListBindings(bounded(t), &gatekeeperv1.ListBindingsRequest{})
	if err != nil || len(all.GetBindings()) != 1 || all.GetBindings()[0].GetSubjects()[0] != "cert:client" {
		t.Fatalf("ListBindings() = %v, %v, want one binding, with subject cert:client", all, err)
	}
	first := all.GetBindings()[0]
	_, err = s.admin.RemoveBinding(bounded(t), &gatekeeperv1.RemoveBindingRequest{Name: first.GetName(), ExpectedRevision: first.GetRevision()})
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("RemoveBinding() of the last administrator = %v, want FailedPrecondition", err)
	}
	s.bind("ann", roleGrant(gatekeeperv1.Role_ROLE_ADMIN))
	if _, err = s.admin.RemoveBinding(bounded(t), &gatekeeperv1.RemoveBindingRequest{Name: first.GetName(), ExpectedRevision: first.GetRevision()}); err != nil {
		t.Errorf("RemoveBinding() of one of two administrators: %v", err)
	}
	if _, err = s.admin.ListBindings(bounded(t), &gatekeeperv1.ListBindingsRequest{}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("ListBindings() by the removed administrator = %v, want Unauthenticated", err)
	}
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// auditLine is a line in the audit log, with the field names from docs/security.md.
type auditLine struct {
	Principal, Author, Source, Via, Method, Decision, Reason string
	Subjects, About                                          []string
	Times                                                    uint64
}

// closeAndReadAudit closes all servers and returns the calls in their audit logs.
func (s *securedCluster) closeAndReadAudit(t *testing.T) (lines []auditLine) {
	t.Helper()
	for _, server := range s.servers {
		closeServer(t, server)
		path := filepath.Join(server.cfg.DataDir, "audit", "audit.log")
		report, err := audit.Verify(t.Context(), path)
		if err != nil || !report.Intact() {
			t.Fatalf("audit log of %s: %v, %v", server.cfg.ID, report, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "gk_") {
			t.Errorf("the audit log contains a token:\n%s", text)
		}
		for line := range strings.Lines(string(text)) {
			var l auditLine
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			if l.Method != "" {
				l.Method = l.Method[strings.LastIndexByte(l.Method, '/')+1:]
				lines = append(lines, l)
			}
		}
	}
	return lines
}

func TestAccess_RefusalsAndChanges_AreAuditedByDecidingServer(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, func(c *Config) { c.BearerTokens = true })
	s.bind("one", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER, "job"))
	s.bind("two", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER, "job"), roleGrant(gatekeeperv1.Role_ROLE_OPERATOR, "job"))
	s.named(0, "client").create(t, "job")
	_, created := s.token("two")
	held := s.named(0, "one").grant(t, "job", "host")
	for i := range s.servers {
		one, two := s.named(i, "one"), s.named(i, "two")
		_, err := one.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{Names: []string{"job"}}, Author: "root\nlevel=INFO"})
		if status.Code(err) != codes.PermissionDenied {
			t.Fatal(err)
		}
		for range 5 {
			if _, err := s.named(i, "unbound").ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{}); status.Code(err) != codes.Unauthenticated {
				t.Fatal(err)
			}
		}
		if _, err := two.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{Names: []string{"job"}}, Author: "Ann"}); err != nil {
			t.Fatal(err)
		}
		if _, err := two.Release(bounded(t), &gatekeeperv1.ReleaseRequest{Token: held.GetToken()}); err != nil {
			t.Fatal(err)
		}
		two.refresh(t, held)
	}
	guess := func() error {
		c := newCaller(t, s.servers[0], grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: s.a.api.Pool(), MinVersion: tls.VersionTLS13})),
			grpc.WithPerRPCCredentials(bearer("gk_abcdefghijkl_"+strings.Repeat("x", 43))))
		_, err := c.ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{})
		return err
	}
	var last error
	for range 20 {
		last = guess()
	}
	if status.Code(last) != codes.ResourceExhausted {
		t.Errorf("the last guess = %v, want ResourceExhausted", last)
	}
	if _, err := s.named(0, "one").ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{}); err != nil {
		t.Errorf("ListDefinitions() with a certificate from the same address: %v", err)
	}

	count := map[string]uint64{}
	forwardPaths := map[string]bool{}
	first := 0
	for _, l := range s.closeAndReadAudit(t) {
		if l.Method == "SetBinding" && l.Source == "" && len(l.Subjects) == 1 && strings.HasPrefix(l.Subjects[0], "member:gk") && slices.Equal(l.About, []string{"admin", "cert:client"}) {
			first++
			continue
		}
		key := strings.Join([]string{l.Method, l.Decision, l.Principal, l.Author, l.Reason, strings.Join(l.Subjects, ","), strings.Join(l.About, ",")}, "|")
		count[key] += max(1, l.Times)
		forwardPaths[l.Via] = true
		if host, _, err := net.SplitHostPort(l.Source); err != nil || host != "127.0.0.1" {
			t.Errorf("source %q in %v, want 127.0.0.1", l.Source, l)
		}
	}
	token := "token " + decimal(held.GetToken())
	for key, minCount := range map[string]uint64{
		"Pause|refused|one|root\nlevel=INFO|operator|cert:one|job":                       3,
		"Pause|allowed|two|Ann||cert:two|job":                                            3,
		"Release|refused|two||the permit belongs to another principal|cert:two|" + token: 3,
		"Refresh|refused|two||the permit belongs to another principal|cert:two|" + token: 3,
		"ListDefinitions|refused|||TOO_MANY_FAILURES|token:abcdefghijkl|":                1,
		"CreateDefinition|allowed|admin|test||cert:client|job":                           1,
		"CreateToken|allowed|admin|||cert:client|two," + created:                         1,
	} {
		if count[key] < minCount {
			t.Errorf("got %d audit lines for %q, want at least %d", count[key], key, minCount)
		}
	}
	unauthenticated := uint64(0) // these refusals are aggregated by source
	for key, n := range count {
		if strings.HasPrefix(key, "ListDefinitions|refused|||UNAUTHENTICATED|") {
			unauthenticated += n
		}
	}
	if unauthenticated < 25 {
		t.Errorf("got %d audited refusals of unauthenticated callers, want at least 25", unauthenticated)
	}
	if first != 1 {
		t.Errorf("got %d audit lines for the first administrator, want 1", first)
	}
	if len(forwardPaths) != 3 {
		t.Errorf("forwarding paths in the audit log = %v, want 3", forwardPaths)
	}
	if t.Failed() {
		t.Log(count)
	}
}
