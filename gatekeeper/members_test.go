package gatekeeper

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// With TLS and roles, any server can list all members. It queries them on behalf of its caller, so the response
// contains only what the caller may view.
func TestListMembers_ServerDown_ReportsErrorAndOtherMembers(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	s.bind("wall", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	s.bind("app", roleGrant(gatekeeperv1.Role_ROLE_VIEWER, "mine-*"))
	// This semaphore has no definition, so only callers that may view everything can see it.
	s.named(0, "client").try(t, "secret", "host-1")
	list := func(server int, name string) (resp *gatekeeperv1.ListMembersResponse) {
		t.Helper()
		eventually(t, func() bool { // servers may not have the binding or all addresses yet
			var err error
			resp, err = s.named(server, name).ListMembers(bounded(t), new(gatekeeperv1.ListMembersRequest))
			for _, m := range resp.GetMembers() {
				if m.GetError() != "" && strings.Contains(m.GetError(), "not known") {
					return false
				}
			}
			return err == nil
		})
		return resp
	}
	for i := range s.servers {
		leaders := 0
		all := list(i, "wall")
		if !strings.Contains(all.String(), "secret") {
			t.Errorf("server %d: the list does not include semaphore secret: %v", i, all)
		}
		for _, m := range all.GetMembers() {
			status := m.GetStatus()
			own := status.GetId() == m.GetMember().GetId() && len(status.GetCertificates()) == 2
			if m.GetError() != "" || !own || m.Lag == nil {
				t.Errorf("server %d: member %v has an error or no lag", i, m)
			}
			if status.GetRole() == gatekeeperv1.ServerRole_SERVER_ROLE_LEADER {
				leaders++
			}
		}
		if leaders != 1 {
			t.Errorf("server %d lists %d leaders, want 1", i, leaders)
		}
		if seen := list(i, "app").String(); strings.Contains(seen, "secret") {
			t.Errorf("server %d: the list includes a semaphore outside the caller's scope: %s", i, seen)
		}
		for name, c := range map[string]caller{"a caller without a binding": s.named(i, "unbound"), "a caller without a certificate": s.named(i, "")} {
			if a, err := c.ListMembers(bounded(t), new(gatekeeperv1.ListMembersRequest)); err == nil {
				t.Errorf("server %d: ListMembers() as %s = %v, want an error", i, name, a)
			}
		}
	}
	leader, _ := s.leader()
	down := -1
	for i, server := range s.servers {
		if server != leader {
			down = i
		}
	}
	id := s.servers[down].cfg.ID
	closeServer(t, s.servers[down])
	for i := range s.servers {
		if i == down {
			continue
		}
		for _, m := range list(i, "wall").GetMembers() {
			if m.GetMember().GetId() != id {
				if m.GetError() != "" || m.Lag == nil {
					t.Errorf("server %d: member %v has an error or no lag", i, m)
				}
			} else if m.Status != nil || m.Lag != nil || !strings.Contains(m.GetError(), "refused") {
				t.Errorf("server %d: member = %v, want only a connection refused error", i, m)
			}
		}
		_, err := s.named(i, "unbound").ListMembers(bounded(t), new(gatekeeperv1.ListMembersRequest))
		if code := status.Code(err); code != codes.Unauthenticated && code != codes.Unavailable { // a follower may return Unavailable
			t.Errorf("server %d: ListMembers() by an unauthenticated caller = %v, want Unauthenticated or Unavailable", i, err)
		}
	}
}
