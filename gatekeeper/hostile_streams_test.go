package gatekeeper

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// withToken returns a caller of the given server with a bearer token and no certificate.
func (s *securedCluster) withToken(server int, secret string) caller {
	s.t.Helper()
	return newCaller(s.t, s.servers[server],
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: s.a.api.Pool(), MinVersion: tls.VersionTLS13})),
		grpc.WithPerRPCCredentials(bearer(secret)))
}

// token creates a bearer token for a binding and returns its secret and id.
func (s *securedCluster) token(binding string) (secret, id string) {
	s.t.Helper()
	r, err := s.admin.CreateToken(bounded(s.t), &gatekeeperv1.CreateTokenRequest{Binding: binding})
	if err != nil {
		s.t.Fatal(err)
	}
	return r.GetSecret(), r.GetToken().GetId()
}

// longCall is an open long-running call.
type longCall struct {
	what string
	// next reads a response and returns any grant, task or refreshed permit in it as text.
	next func() (gained string, err error)
}

// longCalls opens one long-running call of each kind. Acquire waits for the permit of "job", and Work waits for a job
// on "import".
func (s *securedCluster) longCalls(t *testing.T, server int, c caller) []longCall {
	t.Helper()
	jobs := gatekeeperv1.NewWorkServiceClient(c.conn)
	host := fmt.Sprintf("host%d", server)
	id := &gatekeeperv1.Identity{Group: "prod", Acquirer: host}

	acquire, err := c.Acquire(bounded(t), &gatekeeperv1.AcquireRequest{Semaphore: "job", Identity: id, RequestId: host})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := acquire.Recv(); err != nil || m.GetPlace() == nil {
		t.Fatalf("Acquire stream = %v, %v, want a place", m, err)
	}

	held := c.grant(t, "kept", host)
	keepAlive, err := c.KeepAlive(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	frame := uint64(0)
	sendKeepAlive := func() error {
		frame++
		err := keepAlive.Send(&gatekeeperv1.KeepAliveRequest{Frame: frame, Tokens: []*gatekeeperv1.TokenRefresh{{Token: held.GetToken(), Duration: held.GetDuration()}}})
		if errors.Is(err, io.EOF) {
			return nil // Recv returns the error
		}
		return err
	}
	if err := sendKeepAlive(); err != nil {
		t.Fatal(err)
	}
	if m, err := keepAlive.Recv(); err != nil || m.GetResults()[0].GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		t.Fatalf("KeepAlive stream = %v, %v, want REFRESHED", m, err)
	}

	follow, err := jobs.FollowJob(bounded(t), &gatekeeperv1.FollowJobRequest{Id: "followed"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := follow.Recv(); err != nil {
		t.Fatal(err)
	}
	firing, err := c.AwaitFiring(bounded(t), &gatekeeperv1.AwaitFiringRequest{Semaphore: "job", Firing: &gatekeeperv1.Firing{Name: "nightly"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := firing.Recv(); err != nil {
		t.Fatal(err)
	}
	watch, err := c.Watch(bounded(t), &gatekeeperv1.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	work := newWorker(t, jobs, "prod", host, 1)
	eventually(t, func() bool {
		all, err := jobs.ListWorkers(bounded(t), &gatekeeperv1.ListWorkersRequest{Semaphore: "import"})
		if err != nil {
			return false
		}
		for _, w := range all.GetWorkers() {
			if w.GetIdentity().GetAcquirer() == host && w.GetFree() == 1 {
				return true
			}
		}
		return false
	})

	return []longCall{
		{"Acquire", func() (string, error) {
			m, err := acquire.Recv()
			return describe(m.GetGrant()), err
		}},
		{"KeepAlive", func() (string, error) {
			if err := sendKeepAlive(); err != nil {
				return "", err
			}
			m, err := keepAlive.Recv()
			for _, r := range m.GetResults() {
				if r.GetStatus() == gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
					return r.String(), err
				}
			}
			return "", err
		}},
		{"FollowJob", func() (string, error) {
			_, err := follow.Recv()
			return "", err
		}},
		{"AwaitFiring", func() (string, error) {
			_, err := firing.Recv()
			return "", err
		}},
		{"Watch", func() (string, error) {
			_, err := watch.Recv()
			return "", err
		}},
		{"Work", func() (string, error) {
			m, err := work.stream.Recv()
			return describe(m.GetTask()), err
		}},
	}
}

// describe returns m as text, or "" if m is nil.
func describe[M interface {
	comparable
	String() string
}](m M) string {
	var none M
	if m == none {
		return ""
	}
	return m.String()
}

// Revoking a token ends the long-running calls that use it, even if a permit and tasks become available at the same
// time.
func TestHostile_RevokedToken_EndsStreamsWithoutGrants(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, func(c *Config) { c.BearerTokens = true })
	admin := s.named(0, "client")
	jobs := gatekeeperv1.NewWorkServiceClient(admin.conn)
	admin.create(t, "job")
	permitCount := uint32(len(s.servers))
	for _, name := range []string{"kept", "import", "other"} {
		if _, err := admin.CreateDefinition(bounded(t), &gatekeeperv1.CreateDefinitionRequest{Definition: &gatekeeperv1.Definition{Name: name, Permits: &permitCount}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := submit(t, jobs, &gatekeeperv1.JobSpec{Id: "followed", Semaphore: "other"}, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	s.bind("ci", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER))
	secret, id := s.token("ci")
	held := admin.grant(t, "job", "admin")
	var all []longCall
	for i := range s.servers {
		for _, l := range s.longCalls(t, i, s.withToken(i, secret)) {
			l.what = fmt.Sprintf("%s on server %d", l.what, i)
			all = append(all, l)
		}
	}
	if _, err := s.admin.RevokeToken(bounded(t), &gatekeeperv1.RevokeTokenRequest{Id: id, Reason: "leaked"}); err != nil {
		t.Fatal(err)
	}
	admin.release(t, held)
	if _, err := submit(t, jobs, &gatekeeperv1.JobSpec{Id: "late", Semaphore: "import"}, []string{"a", "b", "c"}); err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		for {
			gained, err := l.next()
			if gained != "" && err == nil {
				t.Errorf("%s received %s after the token was revoked", l.what, gained)
			}
			if err == nil {
				continue
			}
			if status.Code(err) != codes.Unauthenticated {
				t.Errorf("%s ended with %v, want Unauthenticated", l.what, err)
			}
			break
		}
	}
	for _, name := range []string{"job", "import"} {
		holders, err := admin.ListHolders(bounded(t), &gatekeeperv1.ListHoldersRequest{Names: []string{name}})
		if err != nil || len(holders.GetPermits()) > 0 {
			t.Errorf("holders of %s = %v, %v, want none", name, holders, err)
		}
	}
	lines := map[string]int{}
	for _, l := range s.closeAndReadAudit(t) {
		if l.Decision == "refused" && len(l.Subjects) == 1 && l.Subjects[0] == "token:"+id {
			lines[l.Method]++
		}
	}
	for _, m := range []string{"Acquire", "KeepAlive", "FollowJob", "AwaitFiring", "Watch", "Work"} {
		if lines[m] == 0 {
			t.Errorf("no audit line for the refusal of %s in %v", m, lines)
		}
	}
}
