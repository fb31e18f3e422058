package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// startSecured starts a server that authenticates its callers, like `gatekeeperd --tls-ca ca.crt --bearer-tokens`.
// admin is the administrator's TLS configuration, and dir contains ca.crt.
func startSecured() (endpoints []string, dir string, admin client.TLS, stop func()) {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	dir, err := os.MkdirTemp("", "gatekeeper")
	must(err)
	in := func(name string) string { return filepath.Join(dir, name) }
	now := time.Now()
	ca, err := authority.New("example", now, time.Hour)
	must(err)
	must(os.WriteFile(in("ca.crt"), ca.CertPEM(), 0o600))
	for _, l := range []authority.Leaf{{Name: "server", Hosts: []string{"127.0.0.1"}, Server: true}, {Name: "admin", Client: true}} {
		l.Lifetime = time.Hour
		pair, err := ca.Issue(l, now)
		must(err)
		must(pair.Write(authority.Files{Cert: in(l.Name + ".crt"), Key: in(l.Name + ".key")}))
	}
	s, err := gatekeeper.Open(ctx, gatekeeper.Config{
		DataDir: in("data"), APIAddress: "127.0.0.1:0", PeerAddress: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler), BearerTokens: true,
		TLS: gatekeeper.TLS{CertFile: in("server.crt"), KeyFile: in("server.key"), CAFile: in("ca.crt")},
	})
	must(err)
	must(s.Ready(ctx))
	endpoints, admin = []string{s.APIAddress()}, client.TLS{CAFile: in("ca.crt"), CertFile: in("admin.crt"), KeyFile: in("admin.key")}
	return endpoints, dir, admin, func() {
		must(s.Close(ctx))
		must(os.RemoveAll(dir))
	}
}

// An administrator creates a binding and a token for an application, which can then do only what the binding grants.
// The token is stored in a file so that it can be replaced.
func ExampleClient_Auth() {
	endpoints, dir, asAdmin, stop := startSecured()
	defer stop()
	ctx := context.Background()
	admin, err := client.Dial(ctx, endpoints, silent(), client.WithTLS(asAdmin))
	if err != nil {
		log.Fatal(err)
	}
	defer admin.Close()
	if _, err := admin.Auth().SetBinding(ctx, &gatekeeperv1.SetBindingRequest{Binding: &gatekeeperv1.Binding{
		Name: "orders", Grants: []*gatekeeperv1.AccessGrant{{Role: gatekeeperv1.Role_ROLE_ACQUIRER, Semaphores: []string{"orders-*"}}},
	}}); err != nil {
		log.Fatal(err)
	}
	created, err := admin.Auth().CreateToken(ctx, &gatekeeperv1.CreateTokenRequest{Binding: "orders"})
	if err != nil {
		log.Fatal(err)
	}
	file := filepath.Join(dir, "orders.token")
	if err := os.WriteFile(file, []byte(created.GetSecret()), 0o600); err != nil {
		log.Fatal(err)
	}

	app, err := client.Dial(ctx, endpoints, silent(), client.WithTLS(client.TLS{CAFile: asAdmin.CAFile}), client.WithBearerTokenFile(file))
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close()
	who, err := app.Auth().WhoAmI(ctx, new(gatekeeperv1.WhoAmIRequest))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("principal:", who.GetPrincipal())
	_, err = app.Semaphore("billing").TryAcquire(ctx)
	if e, ok := errors.AsType[*client.ForbiddenError](err); ok {
		fmt.Println(e.Principal, "lacks the role", e.Role)
	}

	if _, err := admin.Auth().RevokeToken(ctx, &gatekeeperv1.RevokeTokenRequest{Id: created.GetToken().GetId()}); err != nil {
		log.Fatal(err)
	}
	_, err = app.Semaphore("orders-eu").TryAcquire(ctx)
	_, ok := errors.AsType[*client.UnauthenticatedError](err)
	fmt.Println("unauthenticated:", ok)
	// Output:
	// principal: orders
	// orders lacks the role acquirer
	// unauthenticated: true
}

// WithBearerToken takes a function that returns the token. Dial fails without TLS, because tokens are never sent in
// plain text.
func ExampleWithBearerToken() {
	source := func(context.Context) (string, error) { return os.Getenv("ORDERS_TOKEN"), nil }
	_, err := client.Dial(context.Background(), nil, client.WithBearerToken(source))
	fmt.Println(err != nil)
	// Output: true
}
