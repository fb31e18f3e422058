package browser

import (
	"fmt"
	"testing"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Any server's page shows all servers and their certificates to a viewer. If a server is killed, the page shows why it
// does not respond.
func TestCluster_KilledServer_IsShownWithError(t *testing.T) {
	secure, err := servers.NewSecure(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, servers.Options{Count: 3, Secure: secure}, definitions)
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var server, down *servers.Server
	for _, s := range c.Servers {
		switch {
		case s == leader:
		case server == nil:
			server = s
		default:
			down = s
		}
	}
	p := open(t, server.HTTP, "/cluster")
	p.shows("Log in to Gatekeeper")
	p.fill("Bearer token", viewerToken(t, leader))
	p.click("Log in")
	p.until("the requested page", `location.pathname === "/cluster"`)

	for _, s := range c.Servers { // the certificates were just issued for 7 days, so 6 full days are left
		p.until("the certificate of "+s.ID, row("Members", s.ID)+`?.includes("certificate expires in 6 days")`)
		p.until("the clock of "+s.ID, row("Members", s.ID)+`.includes("in sync")`)
		p.until("the certificate expiry of "+s.ID, row("Server certificates", s.ID)+`.includes("expires in 6 days")`)
	}
	p.until("the leader's role", row("Members", leader.ID)+`.includes("leader")`)
	p.until("the mark on the server that serves this page", row("Members", server.ID)+`.includes("(serves this page)")`)
	p.shows("3 of 3 responding")

	down.Kill()
	p.until("the killed server's error", fmt.Sprintf("/not responding: .*refused/.test(%s)", row("Members", down.ID)))
	p.shows("2 of 3 responding")
	p.shows("No data from " + down.ID + ": not responding.")
	for _, s := range []*servers.Server{server, leader} {
		p.until(s.ID+" to be reachable and in sync", fmt.Sprintf("!%[1]s.includes('not responding') && %[1]s.includes('in sync')", row("Members", s.ID)))
	}
	for _, width := range []int64{360, 800, 1280} {
		p.size(width, 900)
		p.until("the width to settle", "innerWidth > 0")
		if wide := eval[float64](p, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
			t.Errorf("at a width of %d px, the page is %.0f px too wide: %s", width, wide, eval[string](p, widest))
		}
	}
}

// viewerToken creates a token for a principal with only the viewer role.
func viewerToken(t *testing.T, server *servers.Server) string {
	t.Helper()
	conn, err := server.Conn()
	if err != nil {
		t.Fatal(err)
	}
	auth := gatekeeperv1.NewAuthServiceClient(conn)
	binding := &gatekeeperv1.Binding{Name: "watcher", Grants: []*gatekeeperv1.AccessGrant{{Role: gatekeeperv1.Role_ROLE_VIEWER}}}
	if _, err := auth.SetBinding(t.Context(), &gatekeeperv1.SetBindingRequest{Binding: binding}); err != nil {
		t.Fatal(err)
	}
	created, err := auth.CreateToken(t.Context(), &gatekeeperv1.CreateTokenRequest{Binding: "watcher"})
	if err != nil {
		t.Fatal(err)
	}
	return created.GetSecret()
}

// row returns an expression for the text of a server's row in the table with the given caption.
func row(caption, id string) string {
	return fmt.Sprintf(`[...[...document.querySelectorAll("table")].find(t => t.caption.innerText === %s)?.querySelectorAll("tbody tr") ?? []]
		.find(r => r.querySelector("th").innerText.startsWith(%s))?.innerText`, quote(caption), quote(id))
}
