package browser

import (
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A viewer logs in with a token, sees everything, and hears of each button why it cannot be used, and who can. When the token is revoked, the
// page leads to the login, and from there back.
func TestViewer_LogsIn_AndHearsWhyNot(t *testing.T) {
	secure, err := servers.NewSecure(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, servers.Options{Secure: secure}, definitions)
	conn, err := c.Servers[0].Conn()
	if err != nil {
		t.Fatal(err)
	}
	auth := gatekeeperv1.NewAuthServiceClient(conn)
	bound := &gatekeeperv1.Binding{Name: "watcher", Grants: []*gatekeeperv1.AccessGrant{{Role: gatekeeperv1.Role_ROLE_VIEWER}}}
	if _, err := auth.SetBinding(t.Context(), &gatekeeperv1.SetBindingRequest{Binding: bound}); err != nil {
		t.Fatal(err)
	}
	token := func() *gatekeeperv1.CreateTokenResponse {
		created, err := auth.CreateToken(t.Context(), &gatekeeperv1.CreateTokenRequest{Binding: "watcher"})
		if err != nil {
			t.Fatal(err)
		}
		return created
	}
	first, second := token(), token()

	p := open(t, c.Servers[0].HTTP, "/s/nightly-export?tab=rule")
	p.shows("Log in to Gatekeeper")
	p.fill("Bearer token", "gk_wrong")
	p.click("Log in")
	p.shows("The servers do not know this token.")
	p.fill("Bearer token", first.GetSecret())
	p.click("Log in")
	p.until("the page that was asked for", `location.pathname === "/s/nightly-export" && location.search === "?tab=rule"`)
	p.shows("watcher")
	for _, text := range []string{"Pause …", "Edit", "Delete …"} {
		p.until("why "+text+" cannot be used", `[...document.querySelectorAll("button[aria-disabled=true]")].some(b => b.innerText.trim() === `+quote(text)+
			` && document.getElementById(b.getAttribute("aria-describedby")).textContent.includes("It needs the role"))`)
	}
	if cookie := eval[string](p, "document.cookie"); strings.Contains(cookie, "gatekeeper") {
		t.Error("a script can read the cookie of the session")
	}

	if _, err := auth.RevokeToken(t.Context(), &gatekeeperv1.RevokeTokenRequest{Id: first.GetToken().GetId()}); err != nil {
		t.Fatal(err)
	}
	p.shows("Log in to Gatekeeper")
	p.fill("Bearer token", second.GetSecret())
	p.click("Log in")
	p.until("the page of before", `location.pathname === "/s/nightly-export" && document.body.innerText.includes("Rule")`)
	p.clickAt(`document.querySelector(".who")`)
	p.click("Log out")
	p.shows("Log in to Gatekeeper")
}
