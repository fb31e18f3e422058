package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// Only the rows on screen are in the DOM. The other rows can be reached with the keyboard, and found by searching.
func TestOverview_ManyDefinitions_AreReachable(t *testing.T) {
	for _, definitions := range []int{10_000, 100_000} {
		s := serverWith(t, definitions)
		p := open(t, s.HTTP, "/")
		p.shows(countText(definitions))
		p.shows("job-000000")
		eval[any](p, `document.querySelector(".grid-row").focus()`)
		p.keys(kb.End)
		p.until("the last row to be focused", fmt.Sprintf(`document.activeElement.innerText.includes("job-%06d")`, definitions-1))
		if rows := eval[int](p, `document.querySelectorAll(".grid-row").length`); rows > 100 {
			t.Errorf("got %d rows in the document, want only those on screen", rows)
		}
		p.keys(kb.Home)
		p.until("the first row to be focused", `document.activeElement.innerText.includes("job-000000")`)
		p.visit("/?q=004711&labels=team%3Dteam-1")
		p.shows("1 semaphore")
		p.shows("job-004711")
	}
}

// While the only server is down, the page shows a banner and keeps its data. When the server restarts, the page reloads
// the data.
func TestServerDown_PageShowsBannerAndRecovers(t *testing.T) {
	c := cluster(t, 1, definitions)
	p := open(t, c.Servers[0].HTTP, "/")
	p.until("the list", `document.querySelector(".grid-row a")`)
	c.Servers[0].Kill()
	p.until("the banner", `document.querySelector(".offline")`)
	p.shows("nightly-export")
	if err := c.Servers[0].Start(); err != nil {
		t.Fatal(err)
	}
	p.until("the banner to disappear", `!document.querySelector(".offline")`)
	holder := dial(t, c.Endpoints(), "zone-b", "host-4")
	if _, err := holder.Semaphore("nightly-export").TryAcquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.shows("host-4 in zone-b")
}
