package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Editing a semaphore's group pattern stops the holder, so that another group can acquire the permit. A second open
// page shows every step.
func TestEdit_GroupPattern_StopsHolderAndUpdatesOtherPages(t *testing.T) {
	c := cluster(t, 1, definitions)
	a, b := dial(t, c.Endpoints(), "zone-a", "host-1"), dial(t, c.Endpoints(), "zone-c", "host-2")
	held, err := a.Semaphore("nightly-export").TryAcquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	watching := open(t, c.Servers[0].HTTP, "/s/nightly-export")
	watching.shows("host-1 in zone-a")

	p := open(t, c.Servers[0].HTTP, "/s/nightly-export")
	p.click("Rule")
	p.click("Edit")
	p.fill("Group pattern", "zone-c")
	p.click("Review and save …")
	p.shows("1 holder must stop")
	p.fill("Reason", "zone a is closed")
	p.click("Save")
	p.shows("nightly-export saved")

	watching.shows("stopping: no longer admitted")
	<-held.Context().Done()
	if err := held.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	watching.shows("No permits are held.")
	if _, err := b.Semaphore("nightly-export").TryAcquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	watching.shows("host-2 in zone-c")
	watching.click("History")
	watching.shows("zone a is closed")
}

// Two users edit the same definition. The second user resolves the conflict field by field, and neither user's changes
// are lost.
func TestEdit_ConcurrentEdit_ShowsConflict(t *testing.T) {
	c := cluster(t, 1, definitions)
	ann, bob := open(t, c.Servers[0].HTTP, "/s/nightly-export?tab=rule&edit=1"), open(t, c.Servers[0].HTTP, "/s/nightly-export?tab=rule&edit=1")
	ann.fill("Permits", "3")
	bob.fill("Permits", "5")
	bob.fill("Description", "Exports the night's orders.")

	ann.fill("Max hold", "2h")
	ann.click("Review and save …")
	ann.click("Save")
	ann.shows("nightly-export saved")

	bob.shows("saved another version")
	bob.click("Review and save …")
	bob.shows("Another user saved first")
	bob.shows("Choose a value for 1 field that you both changed.")
	bob.clickAt(`document.querySelector("input[name=keep-permits]")`)
	bob.click("Review the result …")
	bob.click("Save")
	bob.shows("nightly-export saved")

	record := getRecord(t, c.Endpoints(), "nightly-export")
	if d := record.GetDefinition(); d.GetPermits() != 5 || d.GetMaxHold().GetSeconds() != 7200 || d.GetDescription() != "Exports the night's orders." {
		t.Errorf("got definition %v, want both users' changes", d)
	}
}

// The page and the list show the start and the end of a timed pause.
func TestPause_Timed_StartAndEndAreShown(t *testing.T) {
	c := cluster(t, 1, definitions)
	p := open(t, c.Servers[0].HTTP, "/s/nightly-export")
	list := open(t, c.Servers[0].HTTP, "/?q=nightly-export")
	p.click("Pause …")
	p.fill("For", "2s")
	p.click("Pause")
	p.shows("1 semaphore paused.")
	p.shows("Paused until")
	list.until("the pause in the list", `document.querySelector(".grid-row .c-state").innerText.replace(/\s+/g, " ").startsWith("paused until ")`)
	p.until("the end of the pause", control("Pause …"))
	list.until("the end of the pause in the list", `!document.querySelector(".grid").innerText.includes("paused")`)
}

// Searching, selecting, opening and pausing a semaphore, and navigating between views need no mouse.
func TestKeyboard_SearchPauseAndNavigate_WorkWithoutMouse(t *testing.T) {
	c := cluster(t, 1, definitions)
	p := open(t, c.Servers[0].HTTP, "/")
	p.until("the list", `document.querySelector(".grid-row a")`)
	p.press("/", "Slash")
	p.until("the search field to be focused", `document.activeElement.id === "search"`)
	p.keys("nightly")
	p.until("the filtered list", `document.querySelectorAll(".grid-row").length === 1`)
	p.keys(kb.ArrowDown)
	p.until("the row to be focused", `document.activeElement.matches(".grid-row")`)
	p.keys(kb.Enter)
	p.until("the semaphore", `document.querySelector("h1").innerText === "nightly-export" && document.activeElement.tagName === "H1"`)
	p.keys("?")
	p.until("the key bindings dialog", `document.querySelector("dialog[open]")`)
	p.keys(kb.Escape)
	p.until("the dialog to close and the focus to return", `!document.querySelector("dialog") && document.activeElement.tagName === "H1"`)

	// Tab to the Pause button, then through its dialog.
	p.tabTo("Pause …")
	p.keys(kb.Enter)
	p.until("the dialog", `document.querySelector("dialog[open]")`)
	p.until("the preview", control("Pause"))
	p.tabTo("Pause")
	p.keys(kb.Enter)
	p.shows("1 semaphore paused.")
	p.until("the focus to return to the page", `!document.querySelector("dialog") && document.activeElement !== document.body || document.querySelector("h1")`)
	p.keys(kb.Escape)
	p.until("the overview", `location.pathname === "/"`)
	p.keys("gc")
	p.until("the cluster", `location.pathname === "/cluster"`)
}

// tabTo presses Tab until the button or link with the given text is focused.
func (p *page) tabTo(text string) {
	p.t.Helper()
	for range 60 {
		p.keys(kb.Tab)
		if eval[bool](p, fmt.Sprintf(`document.activeElement.innerText?.trim() === %s`, quote(text))) {
			return
		}
	}
	p.t.Fatalf("Tab does not reach %q", text)
}

// The leader is killed while another server's page is open. The page shows the next leader's events without being
// reloaded.
func TestLeaderKilled_PageRecoversWithoutReload(t *testing.T) {
	c := cluster(t, 3, definitions)
	old, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := c.Servers[0]
	if other == old {
		other = c.Servers[1]
	}
	p := open(t, other.HTTP, "/s/nightly-export")
	eval[bool](p, `window.notReloaded = true`)
	old.Kill()
	var remaining []string
	for _, s := range c.Servers {
		if s != old {
			remaining = append(remaining, s.API)
		}
	}
	holder := dial(t, remaining, "zone-a", "host-1")
	ctx, cancel := context.WithTimeout(t.Context(), untilTimeout)
	defer cancel()
	if _, err := holder.Semaphore("nightly-export").Acquire(ctx); err != nil {
		t.Fatal(err)
	}
	p.shows("host-1 in zone-a")
	p.until("the page to be online", `!document.querySelector(".offline")`)
	if !eval[bool](p, `window.notReloaded === true`) {
		t.Error("the page was reloaded")
	}
}

// A move of 510 semaphores is previewed, applied, followed to completion, and undone.
func TestMove_510Semaphores_ShowsProgressAndUndo(t *testing.T) {
	const tasks = 510
	var file strings.Builder
	file.WriteString("definitions:\n")
	for i := range tasks {
		fmt.Fprintf(&file, "  - {name: task/%03d, group_pattern: zone-a, duration: 30s}\n", i)
	}
	file.WriteString("  - {name: elsewhere, group_pattern: zone-b}\n")
	c := cluster(t, 1, file.String())
	a, b := dial(t, c.Endpoints(), "zone-a", "host-1"), dial(t, c.Endpoints(), "zone-b", "host-2")
	if _, err := b.Semaphore("elsewhere").TryAcquire(t.Context()); err != nil { // makes the group known
		t.Fatal(err)
	}
	stopped := make(chan error)
	for i := range tasks {
		p, err := a.Semaphore(fmt.Sprintf("task/%03d", i)).TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			<-p.Context().Done()
			stopped <- p.Release(context.WithoutCancel(t.Context()))
		}()
	}
	p := open(t, c.Servers[0].HTTP, "/move")
	p.fill("From group", "zone-a")
	p.fill("To group", "zone-b")
	p.click("Preview the move …")
	p.shows("510 semaphores move.")
	p.shows("510 holders must stop")
	p.fill("Reason", "zone a is closed")
	p.click("Move 510 semaphores")
	for range tasks {
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	}
	p.shows("510 holders have stopped.")
	if pattern := getRecord(t, c.Endpoints(), "task/000").GetDefinition().GetGroupPattern(); pattern != "zone-b" {
		t.Errorf("got pattern %q after the move, want zone-b", pattern)
	}
	// The page still shows the progress after a visit to another view and after a reload.
	p.click("Activity")
	p.shows("edited")
	p.click("Move and pause")
	p.shows("510 holders have stopped.")
	p.visit("/move")
	p.shows("510 holders have stopped.")
	p.clickAt(control("Undo …"))
	p.until("the undo dialog", `document.querySelector("dialog h2")`)
	undo, what, _ := strings.Cut(eval[string](p, `document.querySelector("dialog h2").innerText`), ": ")
	if what != "Moved from zone-a to zone-b" {
		t.Errorf("the undo dialog shows the change %q, want the move", what)
	}
	p.click(undo)
	p.shows("Undid " + strings.ToLower(undo[len("Undo "):]) + ": " + what) // the view also tracks the holders affected by the undo
	p.visit(eval[string](p, `document.querySelector("a.button[href*='change=']").getAttribute("href")`))
	p.clickAt(`[...document.querySelectorAll("a")].find((a) => a.innerText === "Show the change that it undoes")`)
	p.shows("undone by change")
	if pattern := getRecord(t, c.Endpoints(), "task/000").GetDefinition().GetGroupPattern(); pattern != "zone-a" {
		t.Errorf("got pattern %q after the undo, want zone-a", pattern)
	}
}

// A cordon's preview names the cordoned host. The overview shows the host's denials until the cordon ends.
func TestCordon_PreviewAndOverview_ShowDeniedCallers(t *testing.T) {
	c := cluster(t, 1, definitions)
	host := dial(t, c.Endpoints(), "zone-a", "host-1")
	list := open(t, c.Servers[0].HTTP, "/?q=nightly-export")
	list.shows("idle")
	p := open(t, c.Servers[0].HTTP, "/move?do=cordon")
	p.fill("Host (acquirer) pattern", "host-1")
	p.fill("For", "1h")
	p.click("Preview the cordon …")
	p.shows("Host host-1 will be shut out of every semaphore for 1h.")
	p.fill("Reason", "kernel update")
	p.click("Cordon host host-1")
	p.shows("Host host-1 is cordoned until")

	var denied *client.DeniedError
	if _, err := host.Semaphore("nightly-export").TryAcquire(t.Context()); !errors.As(err, &denied) {
		t.Fatalf("TryAcquire() by a cordoned acquirer = %v, want a denial", err)
	}
	list.shows("cordoned: host-1 in zone-a, once at")
	list.until("the count of cordoned semaphores", `[...document.querySelectorAll(".stat")].some((s) => s.innerText.replace(/\s+/g, " ") === "1 cordoned")`)
	p.visit("/s/nightly-export")
	p.click("Explain")
	p.shows("Denied: cordoned.") // the form is filled in with the denied caller

	p.click("Remove …")
	p.shows("Host host-1 will get permits again")
	p.click("Remove")
	p.shows("Host host-1 is no longer cordoned.")
	list.until("the end of the denial in the list", `!document.querySelector(".grid").innerText.includes("cordoned")`)
	p.shows("This caller would get a permit.")
}

// Strings from callers are never interpreted as markup.
func TestHostileNames_AreShownAsText(t *testing.T) {
	c := cluster(t, 1, definitions)
	a := dial(t, c.Endpoints(), `"><script>alert(1)</script>`, `<img src=x onerror=alert(2)>`)
	p := open(t, c.Servers[0].HTTP, "/s/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
	if _, err := a.Semaphore("<img src=x onerror=alert(1)>").TryAcquire(t.Context(), client.WithMetadata(map[string]string{"<i>": "</script><script>alert(3)</script>"})); err != nil {
		t.Fatal(err)
	}
	p.shows(`<img src=x onerror=alert(2)> in "><script>alert(1)</script>`)
	if eval[bool](p, `document.title.includes("owned") || !!document.querySelector("main img, main script, main i")`) {
		t.Error("a caller's text was interpreted as markup")
	}
	for _, text := range p.console() {
		t.Error(text)
	}
}

func getRecord(t *testing.T, endpoints []string, name string) *gatekeeperv1.DefinitionRecord {
	t.Helper()
	c := dial(t, endpoints, "zone-a", "tester")
	r, err := c.Definitions().GetDefinition(t.Context(), &gatekeeperv1.GetDefinitionRequest{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return r.GetRecord()
}
