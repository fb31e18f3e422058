package browser

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// screenshots is the directory where make screenshots stores the images for docs/dashboard.md.
var screenshots = flag.String("screenshots", "", "directory for the screenshots in docs/dashboard.md")

// screenshotViews lists the views shown in docs/dashboard.md. click is a button to click, and shows is text that
// appears once the page is ready.
var screenshotViews = []struct{ name, path, click, shows string }{
	{"overview", "/", "", "db-1 in zone-a"},
	{"semaphore", "/s/orders%2Fnightly-export", "", "No callers are waiting."},
	{"move", "/move?from=zone-a&to=zone-b&names=orders%2F*", "Preview the move …", "holder must stop"},
	{"explain", "/s/billing%2Finvoices?tab=explain&group=zone-c&acquirer=app-3", "", "zone-c"},
}

// This test checks only that the screenshots can be taken. They are not compared, but reviewed before they are
// committed.
func TestScreenshots_EveryView_CanBeTaken(t *testing.T) {
	c := cluster(t, 3, companyDefinitions(8))
	populate(t, c.Endpoints())
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := *screenshots
	if dir == "" {
		dir = t.TempDir()
	}
	for _, view := range screenshotViews {
		p := open(t, leader.HTTP, view.path)
		if view.click != "" {
			p.click(view.click)
		}
		p.shows(view.shows)
		for _, theme := range []string{"light", "dark"} {
			p.theme(theme)
			image, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			if len(image) < 10_000 {
				t.Errorf("the screenshot of %s has only %d bytes", view.name, len(image))
			}
			if err := os.WriteFile(filepath.Join(dir, view.name+"-"+theme+".png"), image, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// companyDefinitions returns definitions for a company with the given number of shops.
func companyDefinitions(shops int) string {
	var b strings.Builder
	b.WriteString(`definitions:
  - {name: orders/nightly-export, description: Exports the day's orders., labels: {team: orders}, group_pattern: 'zone-[ab]', duration: 1m}
  - {name: orders/reindex, description: Rebuilds the search index., labels: {team: orders}, group_pattern: zone-a, duration: 1m}
  - {name: billing/invoices, description: Sends invoices on the first of the month., labels: {team: billing}, group_pattern: zone-a, duration: 1m}
  - {name: billing/reminders, labels: {team: billing}, group_pattern: zone-b, duration: 1m}
  - {name: media/thumbnails, description: Scales images., labels: {team: media}, permits: 4, duration: 1m}
  - {name: backup/db, description: One dump at a time., labels: {team: platform}, duration: 1m}
`)
	for i := range shops {
		fmt.Fprintf(&b, "  - {name: shop-%02d/stock, description: Counts the stock on the shelves., labels: {team: shops}, group_pattern: 'zone-[bc]', duration: 1m}\n", i+1)
	}
	return b.String()
}

// populate creates holders, a denied caller, a paused semaphore, and a job with waiting tasks.
func populate(t *testing.T, endpoints []string) {
	t.Helper()
	ctx := t.Context()
	acquire := func(group, acquirer, name string, options ...client.AcquireOption) {
		if _, err := dial(t, endpoints, group, acquirer).Semaphore(name).TryAcquire(ctx, options...); err != nil {
			t.Fatal(err)
		}
	}
	acquire("zone-a", "app-1", "orders/nightly-export")
	acquire("zone-a", "app-2", "orders/reindex")
	acquire("zone-b", "media-1", "media/thumbnails", client.WithWeight(2))
	acquire("zone-a", "db-1", "backup/db")
	acquire("zone-b", "till-1", "shop-01/stock")
	acquire("zone-c", "till-2", "shop-02/stock")
	if _, err := dial(t, endpoints, "zone-c", "app-3").Semaphore("billing/invoices").TryAcquire(ctx); err == nil {
		t.Fatal("TryAcquire() by zone-c succeeded, want a denial")
	}
	operator := dial(t, endpoints, "ops", "ann")
	selector := &gatekeeperv1.Selector{Names: []string{"billing/reminders"}}
	if _, err := operator.Operator().Pause(ctx, &gatekeeperv1.PauseRequest{Selector: selector, Reason: "disk failures in zone b", Author: "ann"}); err != nil {
		t.Fatal(err)
	}
	stream, err := operator.Work().SubmitJob(ctx)
	if err != nil {
		t.Fatal(err)
	}
	job := &gatekeeperv1.SubmitJobRequest{Job: &gatekeeperv1.JobSpec{Id: "thumbnails", Semaphore: "media/thumbnails"}, Tasks: make([][]byte, 40), Last: true}
	for i := range job.GetTasks() {
		job.Tasks[i] = fmt.Appendf(nil, "%02d.jpg", i)
	}
	if err := stream.Send(job); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.CloseAndRecv(); err != nil {
		t.Fatal(err)
	}
}
