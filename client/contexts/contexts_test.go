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

// served is a secure server, and a file of contexts that leads to it, by paths relative to the file.
func served(t *testing.T) (address string) {
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

func TestDial_OfAContext_ReachesItsClusterAsItsCaller(t *testing.T) {
	address := served(t)
	who := func(name string) (string, error) {
		c, err := contexts.Dial(t.Context(), name)
		if err != nil {
			return "", err
		}
		defer c.Close()
		if group := c.Semaphore("s").Group(); group != "zone-a" {
			t.Errorf("context %q: group %q", name, group)
		}
		r, err := c.Auth().WhoAmI(t.Context(), &gatekeeperv1.WhoAmIRequest{})
		return r.GetCredential(), err
	}
	for _, name := range []string{"prod", ""} {
		if got, err := who(name); got != "cert:admin" || err != nil {
			t.Errorf("context %q: %q, %v", name, got, err)
		}
	}
	t.Setenv("GK_CONTEXT", "none")
	t.Setenv("GK_ENDPOINTS", "127.0.0.1:2")
	if got, err := who("prod"); got != "cert:admin" || err != nil { // a name counts before variables
		t.Errorf("by its name: %q, %v", got, err)
	}
	if c, err := contexts.Load(""); err != nil || c.Name != "none" {
		t.Errorf("in force: %+v, %v", c, err)
	}
	if endpoints, _ := (&contexts.Context{Endpoints: []string{address}}).Options(false); len(endpoints) != 1 || endpoints[0] != "127.0.0.1:2" {
		t.Errorf("a variable does not count before the present context: %v", endpoints)
	}
	if _, err := contexts.Dial(t.Context(), "prd"); err == nil || !strings.Contains(err.Error(), `no context "prd"`) {
		t.Errorf("a context that is not there: %v", err)
	}
}

func TestBearer_OfAChosenContextWithACredential_IsItsOwn(t *testing.T) {
	t.Setenv("GK_BEARER_TOKEN", "secret")
	byCertificate := contexts.Context{TLS: contexts.TLS{Cert: "c"}}
	for what, c := range map[string]struct {
		of          contexts.Context
		chosen      bool
		file, token string
	}{
		"chosen, with a certificate": {byCertificate, true, "", ""},
		"chosen, with a file":        {contexts.Context{TokenFile: "f"}, true, "f", ""},
		"chosen, without any":        {contexts.Context{}, true, "", "secret"},
		"present":                    {contexts.Context{TokenFile: "f"}, false, "", "secret"},
	} {
		if file, token := c.of.Bearer(c.chosen); file != c.file || token != c.token {
			t.Errorf("%s: %q, %q", what, file, token)
		}
	}
}
