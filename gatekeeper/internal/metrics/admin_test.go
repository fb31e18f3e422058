package metrics

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func get(t *testing.T, h http.Handler, method, target string) (status int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, nil))
	b, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(b)
}

func TestHandler_EveryPage_ReturnsStatusAndContent(t *testing.T) {
	bad := func() error { return errors.New("no leader is known") }
	h := Handler(newMetrics(t), nil, bad)
	for _, c := range []struct {
		target   string
		status   int
		contains string
	}{
		{"/", 200, "/metrics\n"},
		{"/metrics", 200, "gatekeeper_decisions_total"},
		{"/metrics", 200, "go_goroutines"},
		{"/healthz", 200, "ok\n"},
		{"/readyz", 503, "no leader is known\n"},
		{"/debug/pprof/", 200, "goroutine?debug=1"},
		{"/debug/pprof/goroutine?debug=1", 200, "TestHandler_EveryPage_ReturnsStatusAndContent"},
		{"/debug/pprof/heap?gc=1", 200, "\x1f\x8b"},
		{"/debug/pprof/profile?seconds=0", 200, "\x1f\x8b"},
		{"/debug/pprof/trace?seconds=0", 200, "trace"},
		{"/debug/pprof/profile?seconds=301", 400, `seconds is "301": it must be a number from 0 to 300`},
		{"/debug/pprof/heap?debug=x", 400, `debug is "x"`},
		{"/debug/pprof/none", 404, `no profile "none"`},
		{"/unknown", 404, ""},
	} {
		if status, body := get(t, h, http.MethodGet, c.target); status != c.status || !strings.Contains(body, c.contains) {
			t.Errorf("GET %s: got %d %.300q, want %d with %q", c.target, status, body, c.status, c.contains)
		}
	}
	if status, _ := get(t, h, http.MethodPost, "/metrics"); status != http.StatusMethodNotAllowed {
		t.Errorf("POST /metrics = %d, want 405", status)
	}
}

func TestHandler_HealthAndReadiness_ReflectTheirFunctions(t *testing.T) {
	var err error
	f := func() error { return err }
	h := Handler(newMetrics(t), f, f)
	for _, err = range []error{nil, errors.New("the store failed"), nil} {
		want := http.StatusOK
		if err != nil {
			want = http.StatusServiceUnavailable
		}
		for _, target := range []string{"/healthz", "/readyz"} {
			if status, body := get(t, h, http.MethodGet, target); status != want {
				t.Errorf("%s: got %d %q, want %d", target, status, body, want)
			}
		}
	}
}

// A program that embeds the server must not expose profiles on http.DefaultServeMux.
func TestPackage_DoesNotImportNetHTTPPprof(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	if strings.Contains("\n"+string(out), "\nnet/http/pprof\n") {
		t.Error("package metrics imports net/http/pprof")
	}
}
