package browser

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Changed settings are reviewed before they are saved. Validation errors from the servers are shown next to their
// fields, and another user's concurrent change is not lost.
func TestSettings_Edit_IsReviewedBeforeSaving(t *testing.T) {
	c := cluster(t, 1, "")
	conn, err := c.Servers[0].Conn()
	if err != nil {
		t.Fatal(err)
	}
	api := gatekeeperv1.NewClusterServiceClient(conn)
	p := open(t, c.Servers[0].HTTP, "/cluster")
	p.clickAt(inSection("Settings", "Edit"))
	p.until("the URL of the open form", `location.search === "?edit=settings"`)
	p.fill("journal_total", "0")
	p.fill("max_duration", "2h")
	p.keys(kb.Enter)
	p.until("the validation error next to its field", fieldShowsError("journal_total", "must be 1 or more"))
	p.fill("journal_total", "5000")
	p.keys(kb.Enter)
	p.shows("5,000")
	p.shows("Journal entries beyond the new limit are lost")
	set := &gatekeeperv1.SetSettingsRequest{Settings: &gatekeeperv1.Settings{RequestsKept: proto.Uint32(77)}}
	if _, err := api.SetSettings(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	p.fill("Reason", "nightly exports take long")
	p.click("Save")
	p.shows("CHANGED_SINCE")
	p.click("Try again")
	p.until("the error to disappear", `!document.querySelector("dialog .failure")`)
	p.click("Save")
	p.shows("2 settings changed (change")
	r, err := api.GetSettings(t.Context(), &gatekeeperv1.GetSettingsRequest{})
	s := r.GetSettings()
	if err != nil || s.GetMaxDuration().GetSeconds() != 7200 || s.GetJournalTotal() != 5000 || s.GetRequestsKept() != 77 {
		t.Errorf("GetSettings() = %v, %v; want both users' changes", s, err)
	}
	p.until("the form to close", `location.search === "" && document.body.innerText.includes("5,000")`)
}

// The removal dialog shows the consequences for the cluster. Removals that would stop the cluster, or remove its last
// voter, are refused.
func TestRemoveMember_Dialog_ShowsConsequences(t *testing.T) {
	c := cluster(t, 3, "")
	c.Servers[2].Kill()
	dead, other := c.Servers[2].ID, c.Servers[1].ID
	p := open(t, c.Servers[0].HTTP, "/cluster")
	p.clickInMember(other, "Remove …")
	p.shows("would leave 2 voters, of which 2 must respond")
	p.until("the button to be disabled", `document.querySelector("dialog button.danger").getAttribute("aria-disabled") === "true"`)
	p.keys(kb.Escape)
	p.clickInMember(dead, "Remove …")
	p.shows("2 voters remain: ")
	p.shows("The cluster needs 2 of them: it stops working if one is down.")
	p.click("Remove " + dead)
	p.shows(dead + " removed. 2 members remain.")

	single := cluster(t, 1, "")
	p = open(t, single.Servers[0].HTTP, "/cluster")
	p.clickInMember(single.Servers[0].ID, "Remove …")
	p.shows("last voter cannot be removed")
}

// inMember returns an expression for the button with the given text in the given member's row.
func inMember(id, text string) string {
	return `[...document.querySelectorAll("tr button")].find(b => b.innerText.trim() === ` + quote(text) +
		` && b.closest("tr").querySelector("th").innerText.trim().startsWith(` + quote(id) + `))`
}

func (p *page) clickInMember(id, text string) {
	p.t.Helper()
	p.until(text+" of "+id, inMember(id, text))
	p.clickAt(inMember(id, text))
}

// inSection returns an expression for the button with the given text in the section with the given heading.
func inSection(heading, text string) string {
	return `[...document.querySelectorAll("section button")].find(b => b.innerText.trim() === ` + quote(text) +
		` && b.closest("section").querySelector("h2").innerText.trim() === ` + quote(heading) + `)`
}
