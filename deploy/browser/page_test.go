package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// untilTimeout is the timeout of page.until. Only failing tests reach it.
const untilTimeout = 30 * time.Second

// page is a tab in its own browser context. It shares no state with other pages, as if it belonged to another user.
type page struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu     sync.Mutex
	errors []string // errors on the console, and uncaught exceptions
}

// open opens the dashboard at an HTTP address. listeners receive the tab's events.
func open(t *testing.T, address, path string, listeners ...func(any)) *page {
	t.Helper()
	p := &page{t: t, base: "http://" + address}
	options := []chromedp.ContextOption{chromedp.WithNewBrowserContext()}
	for _, listener := range append(listeners, p.record) {
		options = append(options, chromedp.WithListener(listener))
	}
	ctx, cancel := chromedp.NewContext(browser, options...)
	t.Cleanup(cancel)
	p.ctx = ctx
	t.Cleanup(func() {
		if t.Failed() {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
			t.Logf("page:\n%.4000s\nconsole:\n%s", text, strings.Join(p.console(), "\n"))
		}
	})
	// The tab is closed when its first call's context is done, so that context has no timeout.
	if err := chromedp.Do(ctx, enable(log.Enable, cdp.Empty{}), enable(runtime.Enable, cdp.Empty{})); err != nil {
		t.Fatal(err)
	}
	p.size(1280, 900)
	p.visit(path)
	return p
}

func (p *page) record(event any) {
	text := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			text = fmt.Sprint("console: ", e.Args)
		}
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			text = e.Entry.Text + " " + e.Entry.URL
		}
	}
	if text != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.errors = append(p.errors, text)
	}
}

// console returns the errors on the page's console.
func (p *page) console() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.errors...)
}

// clearErrors clears the recorded errors.
func (p *page) clearErrors() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = nil
}

func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, untilTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// eval evaluates an expression in the page.
func eval[T any](p *page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, untilTimeout)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func (p *page) size(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// theme emulates a light or dark system theme.
func (p *page) theme(name string) {
	p.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	}))
}

// visit navigates to a path and waits until its view is shown.
func (p *page) visit(path string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.base + path))
	p.until("the view of "+path, `document.querySelector("h1") && !document.querySelector(".loading")`)
}

// until waits until an expression is true.
func (p *page) until(what, expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, untilTimeout+time.Second)
	defer cancel()
	poll := chromedp.Poll[chromedp.Void]("!!("+expression+")", chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(untilTimeout))
	if err := chromedp.Do(ctx, poll); err != nil {
		p.t.Fatalf("waiting for %s: %v", what, err)
	}
}

// shows waits until the page, including an open dialog, contains the given text.
func (p *page) shows(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%q", text), fmt.Sprintf(`document.body.innerText.includes(%s)`, quote(text)))
}

// control returns an expression for the enabled button or link with the given text. If a dialog is open, the expression
// searches only the dialog.
func control(text string) string {
	return fmt.Sprintf(`[...(document.querySelector("dialog[open]") ?? document).querySelectorAll("button, a, summary")]
		.find(e => e.innerText.trim() === %s && e.getAttribute("aria-disabled") !== "true" && e.offsetParent)`, quote(text))
}

// field returns an expression for the input with the given label.
func field(label string) string {
	return fmt.Sprintf(`[...(document.querySelector("dialog[open]") ?? document).querySelectorAll("label")]
		.find(e => e.innerText.replace(" · changed", "").trim() === %s && e.control)?.control`, quote(label))
}

// click clicks a button or a link with the mouse.
func (p *page) click(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("the button %q", text), control(text))
	p.clickAt(control(text))
}

// clickAt clicks an element once it has stopped moving and is not covered by another element. Elements can move while
// content is still loading.
func (p *page) clickAt(element string) {
	p.t.Helper()
	p.until("a stable position of "+element, fmt.Sprintf(`(() => {
		const e = %s;
		if (!e) return false;
		e.scrollIntoView({block: "center"});
		const b = e.getBoundingClientRect(), at = [b.x + b.width / 2, b.y + b.height / 2];
		const stable = String(window.clickAt) === String(at), top = document.elementFromPoint(...at);
		window.clickAt = at;
		return stable && top && (e.contains(top) || top.contains(e) || [...(e.labels ?? [])].some((l) => l.contains(top)));
	})()`, element))
	at := eval[[]float64](p, "window.clickAt")
	p.do(chromedp.MouseClickXY(at[0], at[1]))
}

// fill replaces the text in an input.
func (p *page) fill(label, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("the field %q", label), field(label))
	eval[chromedp.Void](p, fmt.Sprintf(`(() => { const e = %s; e.focus(); e.select(); })()`, field(label)))
	if text == "" {
		p.keys("\b")
		return
	}
	p.keys(text)
}

// keys presses keys, including those defined in package kb.
func (p *page) keys(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// press presses a key that the page may handle as a shortcut. Unlike keys, it does not enter text.
func (p *page) press(key, code string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
			if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: code}); err != nil {
				return err
			}
		}
		return nil
	}))
}

func quote(text string) string {
	data, _ := json.Marshal(text) // marshalling a string cannot fail
	return string(data)
}

// enable enables a domain's events.
func enable[Params any](domain cdp.Command[Params, cdp.Empty], params Params) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, domain, params)
		return err
	})
}
