package api

import (
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// While a member runs a version without bindings, every caller with a certificate has full access, because that member
// would grant it anyway. Bindings are enforced once the feature level has been raised.
func TestAccess_OlderMember_AuthenticationStartsAfterUpgrade(t *testing.T) {
	ca := authoritytest.New(t)
	g := open(t, func(c *Config) {
		c.TLS = issue(ca, authority.Leaf{Name: "gk1", Server: true})
		c.Authenticate, c.OptionalClientCerts = true, true
	})
	authenticated := gatekeeperv1.NewDefinitionServiceClient(dial(t, g.address, clientCreds(t, ca, ca, nil)))
	anonymous := gatekeeperv1.NewDefinitionServiceClient(dial(t, g.address, clientCreds(t, ca, nil, nil)))
	list := func(c gatekeeperv1.DefinitionServiceClient) codes.Code {
		_, err := c.ListDefinitions(ctx(t), &gatekeeperv1.ListDefinitionsRequest{})
		return status.Code(err)
	}
	watch, err := gatekeeperv1.NewWatchServiceClient(dial(t, g.address, clientCreds(t, ca, ca, nil))).Watch(ctx(t), &gatekeeperv1.WatchRequest{})
	if err == nil {
		_, err = watch.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string, withCertificate, without codes.Code) {
		t.Helper()
		if got := list(authenticated); got != withCertificate {
			t.Errorf("%s, with a certificate: got %v, want %v", when, got, withCertificate)
		}
		if got := list(anonymous); got != without {
			t.Errorf("%s, without a certificate: got %v, want %v", when, got, without)
		}
	}
	check("with an older member", codes.OK, codes.Unauthenticated)
	g.keeper.do(fsm.RaiseFeatureLevel{Level: fsm.AccessLevel})
	check("without an administrator", codes.Unavailable, codes.Unauthenticated)
	for err == nil {
		_, err = watch.Recv()
	}
	if status.Code(err) != codes.Unavailable {
		t.Errorf("Recv() on a stream opened before the upgrade = %v, want Unavailable", err)
	}
	g.keeper.do(fsm.SetBinding{Name: "admin", First: true, Binding: &access.Binding{Subjects: []string{"cert:other"}, Grants: []access.Grant{{Role: access.Admin}}}})
	check("with another administrator", codes.Unauthenticated, codes.Unauthenticated)
	g.keeper.do(fsm.SetBinding{Name: "app", Binding: &access.Binding{Subjects: []string{"cert:client"}, Grants: []access.Grant{{Role: access.Viewer}}}})
	check("with a binding", codes.OK, codes.Unauthenticated)
}

// A server that has just started has the state of its last snapshot, which may predate all bindings. It must not
// authorize callers based on that state.
func TestAccess_BeforeCatchingUp_OnlyGetStatusIsServed(t *testing.T) {
	ca := authoritytest.New(t)
	g := open(t, func(c *Config) {
		c.TLS = issue(ca, authority.Leaf{Name: "gk1", Server: true})
		c.Authenticate = true
	})
	g.consensus.setReady(errors.New("catching up"))
	conn := dial(t, g.address, clientCreds(t, ca, ca, nil))
	list := func() codes.Code {
		_, err := gatekeeperv1.NewDefinitionServiceClient(conn).ListDefinitions(ctx(t), &gatekeeperv1.ListDefinitionsRequest{Stale: true})
		return status.Code(err)
	}
	if got := list(); got != codes.Unavailable {
		t.Errorf("before catching up: got %v, want Unavailable", got)
	}
	if _, err := gatekeeperv1.NewClusterServiceClient(conn).GetStatus(ctx(t), &gatekeeperv1.GetStatusRequest{}); err != nil {
		t.Errorf("GetStatus() before catching up: %v", err)
	}
	g.consensus.setReady(nil)
	if got := list(); got != codes.OK {
		t.Errorf("after catching up, with an older member: got %v, want OK", got)
	}
	g.consensus.setReady(errors.New("the leader is silent"))
	if got := list(); got != codes.OK {
		t.Errorf("not ready after catching up: got %v, want OK", got)
	}
}
