package gatekeeper

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/api"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// bindAdmin writes an administrator request to the data directory of a stopped server and restarts the server.
func bindAdmin(t *testing.T, s *Server, subject string) *Server {
	t.Helper()
	id, err := BindAdmin(BindAdminConfig{DataDir: s.cfg.DataDir, Subject: subject, Author: "ann@desk", Reason: "the card is lost"})
	if err != nil || id != s.cfg.ID {
		t.Fatalf("BindAdmin() = %s, %v, want the member's id", id, err)
	}
	cfg := s.cfg
	cfg.Listeners, cfg.APIAddress, cfg.PeerAddress = Listeners{}, "127.0.0.1:0", s.PeerAddress()
	return open(t, cfg)
}

// waitForAdmin waits until cert:NAME is an administrator and returns the journal and the bindings.
func (s *securedCluster) waitForAdmin(server *Server, name string) ([]*gatekeeperv1.HistoryEntry, map[string]*gatekeeperv1.Binding) {
	s.t.Helper()
	s.servers[0] = server
	c := s.named(0, name)
	bindings := make(map[string]*gatekeeperv1.Binding)
	eventually(s.t, func() bool {
		all, err := gatekeeperv1.NewAuthServiceClient(c.conn).ListBindings(bounded(s.t), &gatekeeperv1.ListBindingsRequest{})
		for _, b := range all.GetBindings() {
			bindings[b.GetName()] = b
		}
		return err == nil
	})
	eventually(s.t, func() bool { // the request was removed
		_, err := os.Stat(filepath.Join(server.cfg.DataDir, consensus.AdminFileName))
		return os.IsNotExist(err)
	})
	history, err := c.ListHistory(bounded(s.t), &gatekeeperv1.ListHistoryRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	return history.GetEntries(), bindings
}

// leader waits for a leader and returns it and a follower.
func (s *securedCluster) leader() (leader, follower *Server) {
	eventually(s.t, func() bool {
		leader, follower = nil, nil
		for _, server := range s.servers {
			if server.node.Role() == consensus.RoleLeader {
				leader = server
			} else {
				follower = server
			}
		}
		return leader != nil && follower != nil
	})
	return leader, follower
}

func wantJournal(t *testing.T, journal []*gatekeeperv1.HistoryEntry, member, subject string) {
	t.Helper()
	want := "the owner of the data directory of member " + member + " made " + subject + " an administrator: the card is lost"
	if !slices.ContainsFunc(journal, func(e *gatekeeperv1.HistoryEntry) bool {
		return e.GetAuthor() == "member "+member+" (ann@desk)" && e.GetReason() == want
	}) {
		t.Errorf("the journal has no entry with reason %q: %v", want, journal)
	}
}

func TestBindAdmin_FollowerDirectory_AddsAdministrator(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	s.bind("ann", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	_, follower := s.leader()
	closeServer(t, follower)
	restarted := bindAdmin(t, follower, "cert:ann")
	journal, bindings := s.waitForAdmin(restarted, "ann")
	wantJournal(t, journal, restarted.cfg.ID, "cert:ann")
	if len(bindings["ann"].GetGrants()) != 2 || len(bindings["admin"].GetSubjects()) != 1 {
		t.Errorf("bindings = %v, want two grants for ann and one subject for admin", bindings)
	}
}

func TestBindAdmin_LeaderDirectory_AddsAdministrator(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	leader, _ := s.leader()
	closeServer(t, leader)
	restarted := bindAdmin(t, leader, "cert:ann")
	journal, bindings := s.waitForAdmin(restarted, "ann")
	wantJournal(t, journal, restarted.cfg.ID, "cert:ann")
	if b := bindings["admin"]; !slices.Equal(b.GetSubjects(), []string{"cert:client", "cert:ann"}) {
		t.Errorf("binding admin = %v, want subjects cert:client and cert:ann", b)
	}
}

// The single server was restored from a backup.
func TestBindAdmin_SingleServerDirectory_AddsAdministrator(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	cfg, _ := testConfig(t, "gk1")
	a.secure(&cfg)
	s := &securedCluster{t: t, a: a, servers: []*Server{open(t, cfg)}}
	waitReady(t, s.servers[0])
	file, err := saveWithRetry(t, s.named(0, "client"))
	if err != nil {
		t.Fatal(err)
	}
	closeServer(t, s.servers[0])
	_, single := openRestored(t, RestoreConfig{File: file}, func(c *Config) { a.secure(c) })
	closeServer(t, single)
	restarted := bindAdmin(t, single, "spiffe://corp/ann")
	s.servers[0] = restarted
	waitReady(t, restarted)
	eventually(t, func() bool {
		return restarted.machine.State().Binding("admin") != nil && len(restarted.machine.State().Binding("admin").Subjects) == 2
	})
	history, err := s.named(0, "client").ListHistory(bounded(t), &gatekeeperv1.ListHistoryRequest{})
	if err != nil {
		t.Fatal(err)
	}
	wantJournal(t, history.GetEntries(), "gk1", "spiffe://corp/ann")
}

// A stale request in the data directory has no effect when the server starts.
func TestBindAdmin_RequestOlderThanOneDay_IsRefused(t *testing.T) {
	t.Parallel()
	log := &logBuffer{}
	s := newSecuredServer(t, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	closeServer(t, s.servers[0])
	cfg := s.servers[0].cfg
	for _, age := range []time.Duration{maxAdminRequestAge + time.Minute, -maxAdminRequestAge - time.Minute} {
		if _, _, err := consensus.LeaveAdminRequest(cfg.DataDir, consensus.AdminRequest{Subject: "cert:ann", Binding: "admin", Author: "ann", At: time.Now().Add(-age)}); err != nil {
			t.Fatal(err)
		}
		refused := strings.Count(log.String(), "not from the last 24 hours: run gatekeeperd bind-admin again")
		cfg.Listeners, cfg.APIAddress, cfg.PeerAddress = Listeners{}, "127.0.0.1:0", "127.0.0.1:0"
		restarted := open(t, cfg)
		waitReady(t, restarted)
		if strings.Count(log.String(), "not from the last 24 hours: run gatekeeperd bind-admin again") != refused+1 {
			t.Errorf("request of age %v: the log has no refusal:\n%s", age, log)
		}
		if b := restarted.machine.State().Binding("admin"); len(b.Subjects) != 1 {
			t.Errorf("request of age %v: binding = %v, want one subject", age, b)
		}
		closeServer(t, restarted)
	}
}

func TestBindAdmin_InvalidRequest_WritesNothing(t *testing.T) {
	t.Parallel()
	for field, cfg := range map[string]BindAdminConfig{
		"Subject": {Subject: "ann"},
		"Binding": {Subject: "cert:ann", Binding: "a*"},
		"Author":  {Subject: "cert:ann", Author: "a\nb"},
		"Reason":  {Subject: "cert:ann", Reason: "\x1b[2J"},
	} {
		cfg.DataDir = t.TempDir()
		_, err := BindAdmin(cfg)
		if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != field {
			t.Errorf("BindAdmin() with an invalid %s = %v, want a ConfigError for it", field, err)
		}
		if files, err := os.ReadDir(cfg.DataDir); err != nil || len(files) > 0 {
			t.Errorf("%s: the directory contains %v, %v, want it empty", field, files, err)
		}
	}
}

// A request that can never succeed is not retried.
func TestBindAdmin_BindingIsFull_FailsPermanently(t *testing.T) {
	t.Parallel()
	log := &logBuffer{}
	s := newSecuredServer(t, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	full := &gatekeeperv1.Binding{Name: "full", Grants: []*gatekeeperv1.AccessGrant{roleGrant(gatekeeperv1.Role_ROLE_VIEWER)}}
	for i := range access.MaxSubjects {
		full.Subjects = append(full.Subjects, fmt.Sprint("cert:", i))
	}
	if _, err := s.admin.SetBinding(bounded(t), &gatekeeperv1.SetBindingRequest{Binding: full}); err != nil {
		t.Fatal(err)
	}
	closeServer(t, s.servers[0])
	cfg := s.servers[0].cfg
	if _, err := BindAdmin(BindAdminConfig{DataDir: cfg.DataDir, Subject: "cert:ann", Binding: "full"}); err != nil {
		t.Fatal(err)
	}
	cfg.Listeners, cfg.APIAddress, cfg.PeerAddress = Listeners{}, "127.0.0.1:0", "127.0.0.1:0"
	waitReady(t, open(t, cfg))
	eventually(t, func() bool {
		return strings.Contains(log.String(), "at most 64 subjects") && strings.Contains(log.String(), "was not carried out")
	})
}

// Only members may call BindAdministrator. Clients, and servers that have a member certificate but are not members, are
// refused regardless of the headers they send.
func TestBindAdmin_CallByNonMember_IsRefused(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	s.bind("ann", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	for i := range s.servers {
		for _, name := range []string{"client", "ann", "unbound"} {
			for what, headers := range map[string][]string{
				"without headers": nil, "as a member": {api.HopHeader, "gk1", api.SubjectHeader, "member:"}, "with a member's subject": {api.SubjectHeader, "member:"},
			} {
				ctx := metadata.AppendToOutgoingContext(bounded(t), headers...)
				c := gatekeeperv1.NewAuthServiceClient(s.named(i, name).conn)
				_, err := c.BindAdministrator(ctx, &gatekeeperv1.BindAdministratorRequest{Subject: "cert:unbound"})
				if code := status.Code(err); code != codes.Unauthenticated && code != codes.PermissionDenied {
					t.Errorf("server %d: call by %s %s = %v, want a refusal", i, name, what, err)
				}
			}
		}
		// A joiner has a member certificate before it becomes a member.
		pair := authoritytest.Pair(t, s.a.members.Issue(authority.Leaf{Name: "gk9", Hosts: []string{"gk9.example.com"}, Server: true, Client: true}))
		joiner := newCaller(t, s.servers[i], s.a.client(nil, time.Now(), func(c *tls.Config) {
			c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}))
		for what, headers := range map[string][]string{"directly": nil, "as a forwarding member": {api.HopHeader, "gk1", api.SubjectHeader, "member:"}} {
			ctx := metadata.AppendToOutgoingContext(bounded(t), headers...)
			_, err := gatekeeperv1.NewAuthServiceClient(joiner.conn).BindAdministrator(ctx, &gatekeeperv1.BindAdministratorRequest{Subject: "cert:unbound"})
			if status.Code(err) != codes.Unauthenticated {
				t.Errorf("server %d: call by a joiner %s = %v, want Unauthenticated", i, what, err)
			}
		}
	}
	for _, server := range s.servers {
		for _, b := range server.machine.State().Bindings() {
			if slices.ContainsFunc(b.Subjects, func(s string) bool { return s == "cert:unbound" }) {
				t.Errorf("%s has binding %v, want none for cert:unbound", server.cfg.ID, b)
			}
		}
	}
}
