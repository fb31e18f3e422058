package gatekeeper

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// newSecuredServer opens a single server whose admin port listens on all interfaces.
func newSecuredServer(t *testing.T, change func(*Config)) *securedCluster {
	t.Helper()
	s := &securedCluster{t: t, a: newAuthorities(t)}
	cfg, _ := testConfig(t, "gk1")
	s.a.secure(&cfg)
	cfg.AdminAddress = "0.0.0.0:0"
	if change != nil {
		change(&cfg)
	}
	server := open(t, cfg)
	waitReady(t, server)
	s.servers = []*Server{server}
	s.admin = gatekeeperv1.NewAuthServiceClient(newCaller(t, server, s.a.client(s.a.api, time.Now(), nil)).conn)
	return s
}

// page gets a page from the admin port. If ca is not nil, it presents a client certificate for name issued by ca.
func (s *securedCluster) page(t *testing.T, ca *authoritytest.Authority, name, path string, header http.Header) (code int, body string, err error) {
	t.Helper()
	cfg := &tls.Config{RootCAs: s.a.api.Pool()}
	if ca != nil {
		pair := authoritytest.Pair(t, ca.Issue(authority.Leaf{Name: name, Client: true}))
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	_, port, err := net.SplitHostPort(s.servers[0].AdminAddress())
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: cfg}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(bounded(t), http.MethodGet, "https://127.0.0.1:"+port+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, values := range header {
		r.Header[key] = values
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func TestAdminPort_BeyondLoopback_RequiresCertificate(t *testing.T) {
	t.Parallel()
	s := newSecuredServer(t, nil)
	if code, _, err := s.page(t, s.a.api, "client", "/metrics", nil); code != http.StatusOK || err != nil {
		t.Errorf("GET with a certificate = %d, %v, want 200", code, err)
	}
	if code, _, err := s.page(t, nil, "", "/metrics", nil); err == nil {
		t.Errorf("GET without a certificate = %d, want a TLS error", code)
	}
	if code, _, err := s.page(t, s.a.members, "client", "/metrics", nil); err == nil {
		t.Errorf("GET with a certificate from another CA = %d, want a TLS error", code)
	}
	resp, err := http.Get("http://" + strings.Replace(s.servers[0].AdminAddress(), "[::]", "127.0.0.1", 1) + "/metrics")
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			t.Error("GET over plain HTTP = 200, want an error")
		}
	}
}

// Every page except the health checks requires a role. The list of pages is read from the index page.
func TestAdminPort_Pages_RequireRole(t *testing.T) {
	t.Parallel()
	s := newSecuredServer(t, nil)
	s.bind("viewer", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	s.bind("scoped", roleGrant(gatekeeperv1.Role_ROLE_VIEWER, "report-*"))
	s.bind("verifier", roleGrant(gatekeeperv1.Role_ROLE_VERIFIER))
	s.bind("editor", roleGrant(gatekeeperv1.Role_ROLE_EDITOR))
	_, listed, err := s.page(t, s.a.api, "client", "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	pages := append(strings.Fields(listed), "/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=2", "/debug/pprof/cmdline",
		"/elsewhere", "//metrics", "/healthz/../debug/pprof/heap", "/metrics/", "/METRICS")
	if !slices.Contains(pages, "/metrics") {
		t.Fatalf("the list of pages lacks /metrics: %v", pages)
	}
	for _, page := range pages {
		for who, want := range map[string]int{
			"client": 0, "viewer": http.StatusForbidden, "editor": http.StatusForbidden, "scoped": http.StatusForbidden,
			"verifier": http.StatusForbidden, "unbound": http.StatusUnauthorized,
		} {
			switch page {
			case "/healthz", "/readyz":
				want = http.StatusOK
			case "/metrics", "/":
				if who == "viewer" || who == "editor" {
					want = http.StatusOK
				}
			}
			code, body, err := s.page(t, s.a.api, who, page, http.Header{"Gatekeeper-Subject-Bin": {"Y2VydDpjbGllbnQ"}})
			switch {
			case err != nil:
				t.Errorf("GET %s as %s: %v", page, who, err)
			case want == 0:
				if code == http.StatusForbidden || code == http.StatusUnauthorized {
					t.Errorf("GET %s as an administrator = %d, want access: %s", page, code, body)
				}
			case code != want:
				t.Errorf("GET %s as %s = %d %.100s, want %d", page, who, code, body, want)
			case (page == "/healthz" || page == "/readyz") && body != "":
				t.Errorf("GET %s has body %q, want none", page, body)
			}
		}
	}
	// The admin port does not accept forwarded requests.
	code, _, err := s.page(t, s.a.api, "unbound", "/metrics", http.Header{"Gatekeeper-Hop": {"gk2"}, "Gatekeeper-Subject-Bin": {"Y2VydDpjbGllbnQ"}})
	if code != http.StatusUnauthorized || err != nil {
		t.Errorf("GET as if forwarded by a member = %d, %v, want 401", code, err)
	}
	found := map[string]bool{}
	for _, l := range s.closeAndReadAudit(t) {
		found[l.Method+"|"+l.Decision+"|"+strings.Join(l.Subjects, ",")] = true
	}
	for _, key := range []string{"admin port: metrics|refused|cert:unbound", "admin port: debug|refused|cert:viewer"} {
		if !found[key] {
			t.Errorf("no audit line for %s in %v", key, found)
		}
	}
}

func TestAdminPort_BearerTokens_ReplaceCertificates(t *testing.T) {
	t.Parallel()
	for _, withCA := range []bool{true, false} {
		s := newSecuredServer(t, func(c *Config) {
			c.BearerTokens = true
			if !withCA {
				c.TLS.CAFile = ""
				c.Admin = "cert:client"
			}
		})
		if !withCA { // client certificates are not verified
			if code, _, err := s.page(t, nil, "", "/metrics", nil); code != http.StatusUnauthorized || err != nil {
				t.Errorf("GET without a certificate or a token = %d, %v, want 401", code, err)
			}
			continue
		}
		s.bind("prometheus", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
		created, err := s.admin.CreateToken(bounded(t), &gatekeeperv1.CreateTokenRequest{Binding: "prometheus"})
		if err != nil {
			t.Fatal(err)
		}
		get := func(path, token string) int {
			code, body, err := s.page(t, nil, "", path, http.Header{"Authorization": {"Bearer " + token}})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(body, token) {
				t.Errorf("the response contains the token: %s", body)
			}
			return code
		}
		secret := created.GetSecret()
		if code := get("/metrics", secret); code != http.StatusOK {
			t.Errorf("GET /metrics with a token = %d, want 200", code)
		}
		if code := get("/debug/pprof/heap", secret); code != http.StatusForbidden {
			t.Errorf("GET of a profile as a viewer = %d, want 403", code)
		}
		if code, _, _ := s.page(t, nil, "", "/readyz", nil); code != http.StatusOK {
			t.Errorf("GET /readyz without credentials = %d, want 200", code)
		}
		last := 0
		for range 20 {
			last = get("/metrics", secret[:len(secret)-2]+"xx")
		}
		if last != http.StatusTooManyRequests {
			t.Errorf("the last guess = %d, want 429", last)
		}
		if code := get("/metrics", secret); code != http.StatusOK {
			t.Errorf("GET with a valid token after failed guesses = %d, want 200", code)
		}
		if _, err := s.admin.RevokeToken(bounded(t), &gatekeeperv1.RevokeTokenRequest{Id: created.GetToken().GetId()}); err != nil {
			t.Fatal(err)
		}
		if code := get("/metrics", secret); code != http.StatusUnauthorized {
			t.Errorf("GET with a revoked token = %d, want 401", code)
		}
	}
}
