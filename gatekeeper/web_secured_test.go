package gatekeeper

import (
	"crypto/tls"
	"encoding/base64"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/api"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// newSecuredWeb returns a single server that also accepts tokens, with an HTTP port that other machines can reach.
func newSecuredWeb(t *testing.T) *securedCluster {
	return newSecuredServer(t, func(c *Config) { c.HTTPAddress, c.BearerTokens = "0.0.0.0:0", true })
}

// browser returns a browser for a server's HTTP port. It presents a client certificate with the given name, or none if
// name is "".
func (s *securedCluster) browser(server int, name string) *browser {
	s.t.Helper()
	cfg := &tls.Config{RootCAs: s.a.api.Pool(), MinVersion: tls.VersionTLS13}
	if name != "" {
		cfg.Certificates = []tls.Certificate{authoritytest.Pair(s.t, s.a.api.Issue(authority.Leaf{Name: name, Client: true}))}
	}
	_, port, err := net.SplitHostPort(s.servers[server].HTTPAddress())
	if err != nil {
		s.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: cfg, ForceAttemptHTTP2: true}}
	s.t.Cleanup(client.CloseIdleConnections)
	return &browser{s.t, "https://127.0.0.1:" + port, client}
}

func TestWeb_Credentials_MatchAPI(t *testing.T) {
	t.Parallel()
	s := newSecuredWeb(t)
	s.bind("viewer", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	secret, _ := s.token("viewer")

	s.browser(0, "client").request("GET", "/v1/whoami", "").expect(t, http.StatusOK, `"principal":"admin"`, `"credential":"cert:client"`)
	s.browser(0, "viewer").request("GET", "/session", "").expect(t, http.StatusOK, `"principal":"viewer"`, `"authenticates":true`)
	anonymous := s.browser(0, "")
	p := anonymous.request("GET", "/v1/definitions", "")
	if p.expect(t, http.StatusUnauthorized, `"reason":"UNAUTHENTICATED"`); p.Header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("headers = %v, want a WWW-Authenticate challenge", p.Header)
	}
	login := anonymous.request("GET", "/", "")
	if login.expect(t, http.StatusOK); login.ProtoMajor != 2 { // browsers limit HTTP/1.1 to six connections, and each stream uses one
		t.Errorf("the browser uses %s, want HTTP/2", login.Proto)
	}
	anonymous.request("GET", "/v1/whoami", "", "Authorization", "Bearer "+secret).expect(t, http.StatusOK, `"principal":"viewer"`)
	anonymous.request("GET", "/v1/whoami", "", "Authorization", "Bearer "+secret+"x").expect(t, http.StatusUnauthorized)
	anonymous.request("GET", "/v1/whoami", "", "Authorization", "Bearer \xff").expect(t, http.StatusUnauthorized)
	anonymous.request("GET", "/v1/whoami", "", "Host", "gatekeeper.example.com", "Authorization", "Bearer "+secret).expect(t, http.StatusOK)
}

// Headers that claim an identity are ignored on both the HTTP port and the API port.
func TestWeb_IdentityHeaders_AreIgnored(t *testing.T) {
	t.Parallel()
	s := newSecuredWeb(t)
	s.bind("viewer", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	certificate := s.browser(0, "client").client.Transport.(*http.Transport).TLSClientConfig.Certificates[0].Certificate[0]
	inBase64 := base64.StdEncoding.EncodeToString(certificate)
	for _, prefix := range []string{"", "Grpc-Metadata-", "grpcgateway-"} {
		for _, header := range [][]string{
			{"gatekeeper-certificate-bin", inBase64},
			{"gatekeeper-subject-bin", base64.StdEncoding.EncodeToString([]byte("cert:client")), prefix + "gatekeeper-hop", "gk1"},
			{"gatekeeper-source", "10.1.2.3:4"},
			{"gatekeeper-cluster", "another"},
			{"authorization", "Bearer x"},
		} {
			if prefix+header[0] == "authorization" {
				continue
			}
			header[0] = prefix + header[0]
			s.browser(0, "").request("GET", "/v1/definitions", "", header...).expect(t, http.StatusUnauthorized)
			viewer := s.browser(0, "viewer")
			viewer.client.Transport.(*http.Transport).ForceAttemptHTTP2 = false // HTTP/2 has no Connection header
			viewer.request("GET", "/v1/whoami", "", append(header, "Connection", "authorization, gatekeeper-source")...).
				expect(t, http.StatusOK, `"principal":"viewer"`)
		}
	}
	unauthenticated := s.as(0, authority.Leaf{})
	ctx := metadata.AppendToOutgoingContext(bounded(t), "gatekeeper-certificate-bin", string(certificate), api.SourceHeader, "10.1.2.3:4")
	if _, err := gatekeeperv1.NewAuthServiceClient(unauthenticated.conn).WhoAmI(ctx, &gatekeeperv1.WhoAmIRequest{}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("WhoAmI() with a certificate in the headers = %v, want Unauthenticated", err)
	}
	viewer := s.named(0, "viewer")
	if r, err := gatekeeperv1.NewAuthServiceClient(viewer.conn).WhoAmI(ctx, &gatekeeperv1.WhoAmIRequest{}); err != nil || r.GetPrincipal() != "viewer" {
		t.Errorf("WhoAmI() with a certificate in the headers and a real certificate = %v, %v, want viewer", r, err)
	}
	for _, l := range s.closeAndReadAudit(t) {
		if strings.HasPrefix(l.Source, "10.") {
			t.Errorf("the audit log contains a spoofed source: %v", l)
		}
	}
}

// On the HTTP port, a member's certificate grants no special rights. It is rejected if members have a separate CA, and
// identifies an ordinary caller if both ports share a CA.
func TestWeb_MemberCertificate_GrantsNoMemberRights(t *testing.T) {
	t.Parallel()
	separate := newSecuredWeb(t)
	shared := newSecuredServer(t, func(c *Config) { c.HTTPAddress, c.PeerTLS = "0.0.0.0:0", TLS{} })
	for _, s := range []*securedCluster{separate, shared} {
		by := s.a.members
		if s == shared {
			by = s.a.api
		}
		leaf := authority.Leaf{Name: "gk1", Server: true, Client: true, Hosts: []string{"127.0.0.1"}}
		b := s.browser(0, "")
		b.client.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{authoritytest.Pair(t, by.Issue(leaf))}
		switch p, err := b.tryRequest("GET", "/v1/definitions", ""); {
		case s == separate && err == nil:
			p.expect(t, http.StatusUnauthorized) // the TLS client omits certificates from CAs that the server does not list
		case s == shared && err != nil:
			t.Error(err)
		case s == shared:
			p.expect(t, http.StatusUnauthorized, "cert:gk1")
		}
	}
}

func TestWeb_Session_EndsWhenTokenIsRevoked(t *testing.T) {
	t.Parallel()
	s := newSecuredWeb(t)
	s.bind("viewer", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	secret, id := s.token("viewer")
	b := s.browser(0, "")
	for _, bad := range []string{`{"token":"gk_no"}`, `{"token":` + quoted(secret[:len(secret)-2]+"AB") + `}`} {
		if p := b.request("POST", "/session", bad); p.StatusCode != http.StatusUnauthorized || len(p.Cookies()) > 0 {
			t.Errorf("login with %s = %s with cookies %v, want 401 without cookies", bad, p.Status, p.Cookies())
		}
	}
	for _, bad := range []string{`{}`, `{"token":"a;b"}`, `{"token":"x","user":"y"}`, `{"token":"x"}{}`, `x`} {
		if p := b.request("POST", "/session", bad); p.StatusCode != http.StatusBadRequest || len(p.Cookies()) > 0 {
			t.Errorf("login with %s = %s with cookies %v, want 400 without cookies", bad, p.Status, p.Cookies())
		}
	}
	b.request("POST", "/session", `{"token":`+quoted(secret)+`}`, "Sec-Fetch-Site", "cross-site").expect(t, http.StatusForbidden)

	login := b.request("POST", "/session", `{"token":`+quoted(secret)+`}`)
	login.expect(t, http.StatusOK, `"principal":"viewer"`)
	if strings.Contains(login.text, secret) || len(login.Cookies()) != 1 {
		t.Fatalf("login: cookies %v, response %s, want one cookie and no secret in the response", login.Cookies(), login.text)
	}
	c := login.Cookies()[0]
	if c.Name != "__Host-gatekeeper" || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 12*60*60 {
		t.Errorf("cookie = %v, want a secure host cookie with a max age of 12 hours", c)
	}
	cookie := c.Name + "=" + c.Value
	b.request("GET", "/v1/definitions", "", "Cookie", cookie).expect(t, http.StatusOK)
	b.request("POST", "/v1/definitions", `{"definition":{"name":"x"}}`, "Cookie", cookie).expect(t, http.StatusForbidden, `"reason":"FORBIDDEN"`)
	b.request("POST", "/v1/definitions", `{"definition":{"name":"x"}}`, "Cookie", cookie, "Origin", "https://evil.example").expect(t, http.StatusForbidden, "another site")
	b.request("GET", "/v1/definitions", "", "Cookie", cookie, "Authorization", "Bearer no").expect(t, http.StatusUnauthorized)
	b.request("GET", "/v1/definitions", "", "Cookie", "gatekeeper="+c.Value).expect(t, http.StatusUnauthorized)

	if p := b.request("DELETE", "/session", "", "Cookie", cookie); p.StatusCode != http.StatusNoContent || len(p.Cookies()) != 1 || p.Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout = %s with cookies %v, want 204 and an expired cookie", p.Status, p.Cookies())
	}
	if _, err := s.admin.RevokeToken(bounded(t), &gatekeeperv1.RevokeTokenRequest{Id: id}); err != nil {
		t.Fatal(err)
	}
	b.request("GET", "/session", "", "Cookie", cookie).expect(t, http.StatusUnauthorized)
	s.closeAndReadAudit(t) // checks that no line contains the token
}

func TestWeb_Edits_NeedRoleAndAreAuditedWithSource(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, func(c *Config) { c.HTTPAddress = "0.0.0.0:0" })
	s.bind("viewer", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	s.bind("editor", roleGrant(gatekeeperv1.Role_ROLE_EDITOR, "report-*"))
	for i := range s.servers {
		name := "report-" + s.servers[i].cfg.ID
		eventually(t, func() bool { // a lagging follower may return a different error at first
			return s.browser(i, "viewer").request("POST", "/v1/definitions", `{"definition":{"name":"`+name+`"}}`).StatusCode == http.StatusForbidden
		})
		eventually(t, func() bool {
			return s.browser(i, "editor").request("POST", "/v1/definitions", `{"definition":{"name":"`+name+`"},"author":"Ann","request_id":"`+name+`"}`).StatusCode == http.StatusOK
		})
		s.browser(i, "editor").request("POST", "/v1/definitions", `{"definition":{"name":"other"}}`).expect(t, http.StatusForbidden)
	}
	lines := s.closeAndReadAudit(t)
	has := func(decision, principal, about string) bool {
		return slices.ContainsFunc(lines, func(l auditLine) bool {
			host, _, err := net.SplitHostPort(l.Source)
			return l.Method == "CreateDefinition" && l.Decision == decision && l.Principal == principal && slices.Contains(l.About, about) &&
				err == nil && host == "127.0.0.1" && slices.Equal(l.Subjects, []string{"cert:" + principal})
		})
	}
	for _, server := range s.servers {
		if name := "report-" + server.cfg.ID; !has("allowed", "editor", name) {
			t.Errorf("no audit line for creating %s in %v", name, lines)
		}
	}
	if !has("refused", "viewer", "report-gk1") || !has("refused", "editor", "other") {
		t.Errorf("no audit lines for the refusals in %v", lines)
	}
}
