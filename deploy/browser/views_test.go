package browser

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// definitions contains strings that would be harmful as markup, or are too long for one line.
const definitions = `definitions:
  - name: nightly-export
    description: Exports the day's orders.
    labels: {team: data, tier: prod}
    group_pattern: zone-[ab]
    permits: 2
    duration: 1m
  - name: pool/images
    labels: {team: media}
    permits: 4
    duration: 1m
  - name: <img src=x onerror=alert(1)>
    description: "<script>document.title='owned'</script>"
    labels: {"<b>": "'\"><svg onload=alert(2)>"}
    duration: 1m
  - name: a-name-that-cannot-be-broken-anywhere-because-somebody-put-the-full-path-of-the-job-into-it-and-then-some-more
    group_pattern: a-group-that-is-just-as-long-as-the-name-of-the-semaphore-which-is-not-unusual-in-some-companies
    duration: 1m
`

// Every view renders in both themes and at widths from phone to wall display, without console errors, horizontal
// scrolling, or serious axe findings.
func TestViews_EverySizeAndTheme_PassAccessibilityChecks(t *testing.T) {
	c := cluster(t, 1, definitions)
	createContent(t, c.Endpoints())
	axe := axe(t)
	views := map[string]string{
		"overview":          "/",
		"overview filtered": "/?q=export&state=running",
		"no matches":        "/?q=nothing-has-this-name",
		"semaphore":         "/s/nightly-export",
		"long names":        "/s/a-name-that-cannot-be-broken-anywhere-because-somebody-put-the-full-path-of-the-job-into-it-and-then-some-more",
		"hostile names":     "/s/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E?tab=rule",
		"rule":              "/s/nightly-export?tab=rule",
		"edit":              "/s/nightly-export?tab=rule&edit=1",
		"history":           "/s/nightly-export?tab=history&permits=1",
		"firings":           "/s/nightly-export?tab=firings",
		"tasks":             "/s/pool%2Fimages?tab=tasks",
		"explain":           "/s/nightly-export?tab=explain&group=elsewhere&acquirer=host-9",
		"no such semaphore": "/s/none",
		"move":              "/move?names=nightly-export",
		"pause":             "/move?do=pause&labels=team%3Ddata",
		"resume":            "/move?do=resume",
		"cordon":            "/move?do=cordon",
		"activity":          "/activity",
		"a change":          "/activity?change=2",
		"jobs":              "/jobs",
		"workers":           "/jobs?tab=workers",
		"job":               "/jobs/holiday",
		"no such job":       "/jobs/none",
		"cluster":           "/cluster",
		"settings":          "/cluster?edit=settings",
		"access":            "/access",
		"login":             "/login",
	}
	for name, path := range views {
		t.Run(name, func(t *testing.T) {
			p := open(t, c.Servers[0].HTTP, path)
			p.checkAccessibility(axe)
			for _, text := range p.console() {
				if strings.Contains(text, "404") && strings.Contains(name, "no such") {
					continue // the browser logs 404 responses as errors
				}
				t.Error(text)
			}
			if title := eval[string](p, "document.title"); !strings.HasSuffix(title, "Gatekeeper") {
				t.Errorf("got title %q, want it to end with Gatekeeper", title)
			}
		})
	}
}

// checkAccessibility checks the page for overflow and axe findings, in both themes and at several sizes.
func (p *page) checkAccessibility(axe string) {
	p.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		for _, size := range [][2]int64{{360, 740}, {1280, 900}, {2560, 1440}} {
			p.theme(theme)
			p.size(size[0], size[1])
			p.until("the width to settle", "innerWidth > 0")
			if overflow := eval[float64](p, "document.documentElement.scrollWidth - innerWidth"); overflow > 0 {
				p.t.Errorf("at a width of %d px, the page is %.0f px too wide: %s", size[0], overflow, eval[string](p, widest))
			}
			if size[0] != 2560 {
				for _, violation := range eval[[]string](p, axe) {
					p.t.Errorf("%s at %d px: %s", theme, size[0], violation)
				}
			}
		}
	}
}

// widest lists the elements that extend beyond the right edge of the page.
const widest = `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
	.map(e => e.tagName + "." + e.className).slice(0, 5).join(", ")`

// axe returns an expression that runs axe on the page and returns one line per serious or critical finding.
func axe(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("../../gatekeeper/internal/gateway/dashboard/node_modules/axe-core/axe.min.js")
	if os.IsNotExist(err) {
		t.Skip("axe-core is not installed")
	}
	if err != nil {
		t.Fatal(err)
	}
	return `(async () => { if (!window.axe) { ` + string(source) + ` }
		const r = await axe.run(document, {resultTypes: ["violations"]});
		return r.violations.filter(v => v.impact === "serious" || v.impact === "critical")
			.map(v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 4).map(n => n.target.join(" ") + " (" + n.any.map(a => a.message).join("; ") + ")").join(" | "));
	})()`
}

// createContent creates content for the views: a holder, a denied caller, a pause, a cordon, a claimed firing, and a
// job.
func createContent(t *testing.T, endpoints []string) {
	t.Helper()
	ctx := t.Context()
	holder, other := dial(t, endpoints, "zone-a", "host-1"), dial(t, endpoints, "elsewhere", "host-9")
	if _, err := holder.Semaphore("nightly-export").TryAcquire(ctx, client.WithFiring("nightly", time.Now().Truncate(time.Hour))); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Semaphore("nightly-export").TryAcquire(ctx); err == nil {
		t.Fatal("TryAcquire() by a group that does not match succeeded, want a denial")
	}
	p, err := holder.Semaphore("pool/images").TryAcquire(ctx, client.WithWeight(3))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Release(ctx); err != nil {
		t.Fatal(err)
	}
	selector := &gatekeeperv1.Selector{Names: []string{"pool/images"}}
	if _, err := holder.Operator().Pause(ctx, &gatekeeperv1.PauseRequest{Selector: selector, Reason: "disk failures", Author: "ann"}); err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Operator().Cordon(ctx, &gatekeeperv1.CordonRequest{AcquirerPattern: "host-7", Reason: "kernel update", Author: "ann"}); err != nil {
		t.Fatal(err)
	}
	stream, err := holder.Work().SubmitJob(ctx)
	if err != nil {
		t.Fatal(err)
	}
	job := &gatekeeperv1.SubmitJobRequest{Job: &gatekeeperv1.JobSpec{Id: "holiday", Semaphore: "pool/images"}, Tasks: [][]byte{[]byte("a.jpg"), []byte("b.jpg")}, Last: true}
	if err := stream.Send(job); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.CloseAndRecv(); err != nil {
		t.Fatal(err)
	}
}

func dial(t *testing.T, endpoints []string, group, acquirer string) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), endpoints, client.WithGroup(group), client.WithAcquirer(acquirer))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
