package contexts_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/client/contexts"
	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// startServer starts a server with TLS, sets GK_CONFIG to a context file with relative certificate paths, and returns
// the server's address.
func startServer(t *testing.T) (address string) {
	t.Helper()
	ca := authoritytest.New(t)
	own, admin := ca.Issue(authority.Leaf{Name: "gk1", Server: true}), ca.Issue(authority.Leaf{Name: "admin", Client: true})
	s, err := gatekeeper.Open(t.Context(), gatekeeper.Config{
		DataDir: t.TempDir(), APIAddress: "127.0.0.1:0", PeerAddress: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
		TLS: gatekeeper.TLS{CertFile: own.Cert, KeyFile: own.Key, CAFile: ca.File},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GK_CONFIG", filepath.Join(filepath.Dir(admin.Cert), "config.yaml"))
	f := &contexts.File{Current: "prod", Contexts: []contexts.Context{{
		Name: "prod", Endpoints: []string{s.APIAddress()}, Group: "zone-a", TLS: contexts.TLS{CA: "ca.crt", Cert: "admin.crt", Key: "admin.key"},
	}, {Name: "none", Endpoints: []string{"127.0.0.1:1"}}}}
	if err := f.Write(os.Getenv("GK_CONFIG")); err != nil {
		t.Fatal(err)
	}
	return s.APIAddress()
}

func TestDial_NamedContext_ConnectsWithItsCredential(t *testing.T) {
	address := startServer(t)
	credential := func(name string) (string, error) {
		c, err := contexts.Dial(t.Context(), name)
		if err != nil {
			return "", err
		}
		defer c.Close()
		if group := c.Semaphore("s").Group(); group != "zone-a" {
			t.Errorf("Group() with context %q = %q, want zone-a", name, group)
		}
		r, err := c.Auth().WhoAmI(t.Context(), &gatekeeperv1.WhoAmIRequest{})
		return r.GetCredential(), err
	}
	for _, name := range []string{"prod", ""} {
		if got, err := credential(name); got != "cert:admin" || err != nil {
			t.Errorf("credential with context %q = %q, %v, want cert:admin", name, got, err)
		}
	}
	t.Setenv("GK_CONTEXT", "none")
	t.Setenv("GK_ENDPOINTS", "127.0.0.1:2")
	if got, err := credential("prod"); got != "cert:admin" || err != nil { // an explicit name takes precedence over variables
		t.Errorf("credential with context \"prod\" and variables set = %q, %v, want cert:admin", got, err)
	}
	if c, err := contexts.Load(""); err != nil || c.Name != "none" {
		t.Errorf("Load(\"\") = %+v, %v, want the context \"none\"", c, err)
	}
	if endpoints, _ := (&contexts.Context{Endpoints: []string{address}}).Options(false); len(endpoints) != 1 || endpoints[0] != "127.0.0.1:2" {
		t.Errorf("Options(false) = %v, want GK_ENDPOINTS to take precedence over the current context", endpoints)
	}
	if _, err := contexts.Dial(t.Context(), "prd"); err == nil || !strings.Contains(err.Error(), `no context "prd"`) {
		t.Errorf("Dial with an unknown context: error = %v, want an error naming the context", err)
	}
}

func TestBearer_ChosenContextWithCredential_IgnoresEnvironment(t *testing.T) {
	t.Setenv("GK_BEARER_TOKEN", "secret")
	byCertificate := contexts.Context{TLS: contexts.TLS{Cert: "c"}}
	for name, c := range map[string]struct {
		config      contexts.Context
		chosen      bool
		file, token string
	}{
		"chosen, with a certificate": {byCertificate, true, "", ""},
		"chosen, with a file":        {contexts.Context{TokenFile: "f"}, true, "f", ""},
		"chosen, with neither":       {contexts.Context{}, true, "", "secret"},
		"current":                    {contexts.Context{TokenFile: "f"}, false, "", "secret"},
	} {
		if file, token := c.config.Bearer(c.chosen); file != c.file || token != c.token {
			t.Errorf("%s: Bearer() = %q, %q, want %q, %q", name, file, token, c.file, c.token)
		}
	}
}
