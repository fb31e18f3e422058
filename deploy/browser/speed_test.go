package browser

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// speed is the file to which make bench-dashboard writes its results.
var speed = flag.String("speed", "", "measure the dashboard for a few minutes, and write the results to this file as JSON")

// extent sets the size of the measurement. Without -speed, it is too small for meaningful results, and the test only
// checks that everything can be measured.
type extent struct {
	definitions, rows int // definitions for loading and events, and rows for scrolling
	loads, events     int
	quiet             time.Duration // pause between events, so that the page does not throttle its updates
	pages             int
	window            time.Duration // how long CPU time is measured
	visit             time.Duration // how long a page's requests are recorded: twice its longest polling interval
	scroll            time.Duration
}

// figures are the results, with their targets.
type figures struct {
	Definitions int `json:"definitions"`
	// Times since the start of the navigation, one per load.
	FirstPaint []float64 `json:"first_paint_ms"` // target: 1000
	FirstRows  []float64 `json:"first_rows_ms"`
	// Times from the acquire call until the page shows the holder, one per event.
	Shown []float64 `json:"shown_ms"` // target: 200
	// Server CPU time as a fraction of one core, at five acquires and releases per second. Without is measured without
	// a page. OnePage and ManyPages are the increases caused by pages.
	Without   float64 `json:"cpu_without_page"`
	OnePage   float64 `json:"cpu_one_page"`   // target: 0.01
	Pages     int     `json:"pages"`          // number of pages for ManyPages
	ManyPages float64 `json:"cpu_many_pages"` // target: 0.20
	// Scrolling through the rows.
	Rows      int       `json:"rows"`
	LongTasks []float64 `json:"long_tasks_ms"` // target: none
	Frames    float64   `json:"frames_per_second"`
}

func TestSpeed_Dashboard_CanBeMeasured(t *testing.T) {
	if chromium == "" {
		t.Skip("Chromium is not installed")
	}
	ext := extent{
		definitions: 200, rows: 1000, loads: 1, events: 2, quiet: 100 * time.Millisecond,
		pages: 3, window: time.Second, visit: time.Second, scroll: time.Second,
	}
	if *speed != "" {
		ext = extent{
			definitions: 10_000, rows: 100_000, loads: 9, events: 15, quiet: 4 * time.Second,
			pages: 200, window: 20 * time.Second, visit: time.Minute, scroll: 10 * time.Second,
		}
	}
	f := &figures{Definitions: ext.definitions, Pages: ext.pages, Rows: ext.rows}
	t.Run("load, events and cost", func(t *testing.T) {
		s := serverWith(t, ext.definitions)
		for range ext.loads {
			f.load(t, s, ext.definitions)
		}
		p := open(t, s.HTTP, "/")
		p.shows(countText(ext.definitions))
		f.event(t, s, p, ext)
		p.do(chromedp.Navigate("about:blank"))
		f.cost(t, s, ext)
	})
	t.Run("scroll", func(t *testing.T) {
		s := serverWith(t, ext.rows)
		p := open(t, s.HTTP, "/")
		p.shows(countText(ext.rows))
		f.scroll(p, ext)
	})
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", data)
	if len(f.FirstPaint) != ext.loads || len(f.Shown) != ext.events || slices.Min(f.FirstPaint) <= 0 || f.Without <= 0 || f.Frames <= 0 {
		t.Error("results are missing")
	}
	if *speed != "" {
		if err := os.WriteFile(*speed, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func countText(definitions int) string {
	text := fmt.Sprint(definitions)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text + " semaphores"
}

// serverWith starts a server with the given number of definitions.
func serverWith(t *testing.T, definitions int) *servers.Server {
	t.Helper()
	s := cluster(t, 1, "").Servers[0]
	conn, err := s.Conn()
	if err != nil {
		t.Fatal(err)
	}
	var edits []*gatekeeperv1.Edit
	for i := range definitions {
		def := &gatekeeperv1.Definition{
			Name: fmt.Sprintf("job-%06d", i), Description: "Runs every night.",
			Labels: map[string]string{"team": fmt.Sprintf("team-%d", i%10)},
		}
		edits = append(edits, &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{Create: def}})
	}
	for part := range slices.Chunk(edits, 10_000) {
		request := &gatekeeperv1.BatchEditRequest{Edits: part, Author: "ann"}
		if _, err := gatekeeperv1.NewDefinitionServiceClient(conn).BatchEdit(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// load measures one load of the overview.
func (f *figures) load(t *testing.T, s *servers.Server, definitions int) {
	p := open(t, s.HTTP, "/login")
	p.do(chromedp.Navigate("about:blank"))
	p.visit("/")
	f.FirstRows = append(f.FirstRows, eval[float64](p, `new Promise(resolve => {
		const look = () => document.querySelector(".grid-row a") ? resolve(performance.now()) : requestAnimationFrame(look);
		look();
	})`))
	p.shows(countText(definitions))
	f.FirstPaint = append(f.FirstPaint, eval[float64](p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	p.do(chromedp.Navigate("about:blank"))
}

// event measures the time from an acquire call until the page shows the holder. The browser and the acquirer use the
// same clock.
func (f *figures) event(t *testing.T, s *servers.Server, p *page, ext extent) {
	c := dial(t, []string{s.API}, "zone-a", "host-1")
	eval[bool](p, `window.seen = {}, new MutationObserver(() => {
		for (const row of document.querySelectorAll(".grid-row")) {
			const name = row.querySelector("a")?.innerText;
			if (name && !seen[name] && row.innerText.includes("host-1 in zone-a")) seen[name] = Date.now();
		}
	}).observe(document.body, {subtree: true, childList: true, characterData: true}), true`)
	for i := range ext.events {
		name := fmt.Sprintf("job-%06d", i%8) // a visible row
		<-time.After(ext.quiet)
		eval[bool](p, fmt.Sprintf(`delete seen[%q]`, name))
		called := time.Now()
		permit, err := c.Semaphore(name).TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.until("the holder of "+name, fmt.Sprintf(`seen[%q]`, name))
		f.Shown = append(f.Shown, eval[float64](p, fmt.Sprintf(`seen[%q]`, name))-float64(called.UnixMicro())/1000)
		if err := permit.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// cost measures how much server CPU time open pages consume. Only one page is real. Its requests are recorded, and
// replayed to simulate the other pages.
func (f *figures) cost(t *testing.T, s *servers.Server, ext extent) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	c := dial(t, []string{s.API}, "zone-a", "host-1")
	running.Go(func() { busyCaller(ctx, c) })

	f.Without = cpuShare(t, s, ext.window)
	recorded := new(requests)
	p := open(t, s.HTTP, "/login", recorded.record)
	p.do(enable(network.Enable, network.EnableParams{}))
	p.visit("/")
	p.shows(countText(ext.definitions))
	f.OnePage = cpuShare(t, s, ext.visit) - f.Without
	recorded.mu.Lock()
	all := slices.Clone(recorded.all)
	recorded.mu.Unlock()
	p.do(chromedp.Navigate("about:blank"))

	startedAt := all[0].at
	for i := range ext.pages {
		running.Go(func() { replay(ctx, all, startedAt, ext.visit, ext.window*time.Duration(i)/time.Duration(ext.pages)) })
	}
	<-time.After(ext.window + loadTime) // wait until all pages have loaded
	f.ManyPages = cpuShare(t, s, ext.window) - f.Without
}

// busyCaller acquires and releases permits on visible semaphores, five times per second.
func busyCaller(ctx context.Context, c *client.Client) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if p, err := c.Semaphore(fmt.Sprintf("job-%06d", i%10)).TryAcquire(ctx); err == nil {
			_ = p.Release(ctx)
		}
	}
}

// cpuShare returns the CPU time that a server uses during a window, as a fraction of one core.
func cpuShare(t *testing.T, s *servers.Server, window time.Duration) float64 {
	t.Helper()
	cpu := func() float64 {
		m, err := s.Metrics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m["process_cpu_seconds_total"]
	}
	before, startedAt := cpu(), time.Now()
	<-time.After(window)
	return (cpu() - before) / time.Since(startedAt).Seconds()
}

// requests are the API requests of a page.
type requests struct {
	mu  sync.Mutex
	all []request
}

type request struct {
	url string
	at  time.Time
}

func (r *requests) record(event any) {
	if e, ok := event.(*network.EventRequestWillBeSent); ok && e.Request.Method == http.MethodGet && strings.Contains(e.Request.URL, "/v1/") {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all = append(r.all, request{e.Request.URL, time.Now()})
	}
}

// loadTime is how long a page takes to load, counted from its first request. Requests after that are periodic.
const loadTime = time.Second

// replay repeats the requests of a recorded visit with the same timing, after a delay. It then repeats the requests
// that the page made after loading, and keeps the event stream open, until ctx is done.
func replay(ctx context.Context, all []request, startedAt time.Time, visit, delay time.Duration) {
	httpClient := &http.Client{Transport: new(http.Transport)}
	defer httpClient.CloseIdleConnections()
	shift := time.Since(startedAt) + delay
	var streams sync.WaitGroup
	defer streams.Wait()
	stop := func() {}
	defer func() { stop() }()
	for round := 0; ; round++ {
		for _, r := range all {
			if round > 0 && (strings.Contains(r.url, "/v1/watch") || r.at.Sub(startedAt) < loadTime) {
				continue
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Until(r.at.Add(shift))):
			}
			if !strings.Contains(r.url, "/v1/watch") {
				fetch(ctx, httpClient, r.url)
				continue
			}
			stop() // a page has one stream at a time, and replaces it when different names become visible
			stop = inBackground(ctx, &streams, func(ctx context.Context) { fetch(ctx, httpClient, r.url) })
		}
		shift += visit
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(startedAt.Add(shift))):
		}
	}
}

func inBackground(ctx context.Context, running *sync.WaitGroup, f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	running.Go(func() { f(ctx) })
	return cancel
}

func fetch(ctx context.Context, httpClient *http.Client, url string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	resp, err := httpClient.Do(r)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
}

// scroll scrolls quickly through all rows, and records long tasks and the frame rate.
func (f *figures) scroll(p *page, ext extent) {
	type result struct {
		Long   []float64 `json:"long"`
		Frames float64   `json:"frames"`
	}
	p.until("the page to be idle", `new Promise(r => requestIdleCallback(() => r(true)))`)
	r := eval[result](p, fmt.Sprintf(`new Promise(resolve => {
		const long = [];
		const observer = new PerformanceObserver(list => long.push(...list.getEntries().map(e => e.duration)));
		observer.observe({entryTypes: ["longtask"]});
		const start = performance.now(), total = document.documentElement.scrollHeight - innerHeight;
		let frames = 0;
		const step = now => {
			const progress = (now - start) / %d;
			frames++;
			scrollTo(0, total * Math.min(1, progress));
			if (progress < 1) requestAnimationFrame(step);
			else setTimeout(() => { observer.disconnect(); resolve({long, frames: frames / (now - start) * 1000}); }, 200);
		};
		requestAnimationFrame(step);
	})`, ext.scroll.Milliseconds()))
	f.LongTasks, f.Frames = append([]float64{}, r.Long...), r.Frames
}
