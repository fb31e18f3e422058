package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Of 10,000 definitions only those on the screen are in the document. The keyboard reaches the last one, and the search finds any.
func TestOverview_10000Definitions_AreReached(t *testing.T) {
	const definitions = 10_000
	c := cluster(t, 1, "")
	conn, err := c.Servers[0].Conn()
	if err != nil {
		t.Fatal(err)
	}
	var edits []*gatekeeperv1.Edit
	for i := range definitions {
		def := &gatekeeperv1.Definition{Name: fmt.Sprintf("job-%05d", i), Labels: map[string]string{"team": fmt.Sprintf("team-%d", i%10)}}
		edits = append(edits, &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{Create: def}})
	}
	if _, err := gatekeeperv1.NewDefinitionServiceClient(conn).BatchEdit(t.Context(), &gatekeeperv1.BatchEditRequest{Edits: edits, Author: "ann"}); err != nil {
		t.Fatal(err)
	}
	p := open(t, c.Servers[0].HTTP, "/")
	p.shows("10,000 semaphores")
	p.shows("job-00000")
	eval[any](p, `document.querySelector(".grid-row").focus()`)
	p.keys(kb.End)
	p.until("the last row to have the focus", `document.activeElement.innerText.includes("job-09999")`)
	if rows := eval[int](p, `document.querySelectorAll(".grid-row").length`); rows > 100 {
		t.Errorf("%d rows are in the document", rows)
	}
	p.keys(kb.Home)
	p.until("the first row to have the focus", `document.activeElement.innerText.includes("job-00000")`)
	p.visit("/?q=04711&labels=team%3Dteam-1")
	p.shows("1 semaphore")
	p.shows("job-04711")
}

// The only server is away for a while: the page says so, keeps what it showed, and reads again when the server is back.
func TestServerAway_PageSaysSo_AndRecovers(t *testing.T) {
	c := cluster(t, 1, definitions)
	p := open(t, c.Servers[0].HTTP, "/")
	p.until("the list", `document.querySelector(".grid-row a")`)
	c.Servers[0].Kill()
	p.until("the banner", `document.querySelector(".offline")`)
	p.shows("nightly-export")
	if err := c.Servers[0].Start(); err != nil {
		t.Fatal(err)
	}
	p.until("the banner to go", `!document.querySelector(".offline")`)
	holder := dial(t, c.Endpoints(), "zone-b", "host-4")
	if _, err := holder.Semaphore("nightly-export").TryAcquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.shows("host-4 in zone-b")
}
