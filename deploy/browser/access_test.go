package browser

import (
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A viewer logs in with a token and can see everything. Buttons that a viewer may not use are disabled and explain why.
// When the token is revoked, the page redirects to the login page, and returns to the same view after the next login.
func TestViewer_LogsIn_AndSeesWhyActionsAreDisabled(t *testing.T) {
	c, auth := startSecured(t, 1)
	binding := &gatekeeperv1.Binding{Name: "watcher", Grants: []*gatekeeperv1.AccessGrant{{Role: gatekeeperv1.Role_ROLE_VIEWER}}}
	if _, err := auth.SetBinding(t.Context(), &gatekeeperv1.SetBindingRequest{Binding: binding}); err != nil {
		t.Fatal(err)
	}
	first, second := createToken(t, auth, "watcher"), createToken(t, auth, "watcher")

	p := open(t, c.Servers[0].HTTP, "/s/nightly-export?tab=rule")
	p.shows("Log in to Gatekeeper")
	p.fill("Bearer token", "gk_wrong")
	p.click("Log in")
	p.shows("The servers do not recognize this token.")
	p.logIn(first.GetSecret())
	p.until("the requested page", `location.pathname === "/s/nightly-export" && location.search === "?tab=rule"`)
	p.shows("watcher")
	for _, text := range []string{"Pause …", "Edit", "Delete …"} {
		p.until("the reason why "+text+" is disabled", `[...document.querySelectorAll("button[aria-disabled=true]")].some(b => b.innerText.trim() === `+quote(text)+
			` && document.getElementById(b.getAttribute("aria-describedby")).textContent.includes("lacks the role"))`)
	}
	if cookie := eval[string](p, "document.cookie"); strings.Contains(cookie, "gatekeeper") {
		t.Error("the session cookie is readable by scripts")
	}

	if _, err := auth.RevokeToken(t.Context(), &gatekeeperv1.RevokeTokenRequest{Id: first.GetToken().GetId()}); err != nil {
		t.Fatal(err)
	}
	p.logIn(second.GetSecret())
	p.until("the view from before the redirect", `location.pathname === "/s/nightly-export" && document.body.innerText.includes("Rule")`)
	p.clickAt(`document.querySelector(".who")`)
	p.click("Log out")
	p.shows("Log in to Gatekeeper")
}

// startSecured starts a cluster with authentication, and returns an auth client for it.
func startSecured(t *testing.T, count int) (*servers.Cluster, gatekeeperv1.AuthServiceClient) {
	t.Helper()
	secure, err := servers.NewSecure(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, servers.Options{Secure: secure, Count: count}, definitions)
	conn, err := c.Servers[0].Conn()
	if err != nil {
		t.Fatal(err)
	}
	return c, gatekeeperv1.NewAuthServiceClient(conn)
}

func createToken(t *testing.T, auth gatekeeperv1.AuthServiceClient, binding string) *gatekeeperv1.CreateTokenResponse {
	t.Helper()
	created, err := auth.CreateToken(t.Context(), &gatekeeperv1.CreateTokenRequest{Binding: binding})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// loggedIn opens a page in a separate browser context, and logs in with a new token for the given binding.
func loggedIn(t *testing.T, c *servers.Cluster, auth gatekeeperv1.AuthServiceClient, binding, path string) *page {
	t.Helper()
	p := open(t, c.Servers[0].HTTP, path)
	p.logIn(createToken(t, auth, binding).GetSecret())
	p.until("the view of "+path, `document.querySelector("h1") && !document.querySelector(".loading, .login")`)
	p.clearErrors() // ignore errors from before the login
	return p
}

func (p *page) logIn(secret string) {
	p.t.Helper()
	p.shows("Log in to Gatekeeper")
	p.fill("Bearer token", secret)
	p.click("Log in")
}
