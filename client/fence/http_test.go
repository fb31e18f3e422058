package fence_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/client/fence"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// send sends a request with the given token, or without a token if it is 0.
func send(h http.Handler, ctx context.Context, method, path string, token uint64) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, path, nil)
	if token != 0 {
		r.Header.Set(fence.Header, strconv.FormatUint(token, 10))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func ok(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

func TestHandler_OlderToken_IsRejected(t *testing.T) {
	h := fence.Handler(http.HandlerFunc(ok))
	for _, c := range []struct {
		method string
		token  uint64
		want   int
	}{
		{http.MethodPut, 7, 204},
		{http.MethodPut, 7, 204},
		{http.MethodPost, 9, 204},
		{http.MethodPut, 7, 412},
		{http.MethodDelete, 8, 412},
		{http.MethodPut, 9, 204},
		{http.MethodPut, 0, 428},
		{http.MethodGet, 0, 204},
		{http.MethodGet, 7, 204},
	} {
		w := send(h, t.Context(), c.method, "/", c.token)
		if w.Code != c.want {
			t.Errorf("%s with token %d = %d %s, want %d", c.method, c.token, w.Code, w.Body, c.want)
		}
		if c.want == 412 && !strings.Contains(w.Body.String(), "token 9 has been seen") {
			t.Errorf("body = %q, want it to contain the newest token", w.Body)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", nil)
	r.Header.Set(fence.Header, "seven")
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 400 {
		t.Errorf("status with a malformed token = %d, want 400", w.Code)
	}
}

func TestHandler_Resources_AreIndependent(t *testing.T) {
	h := fence.Handler(http.HandlerFunc(ok), fence.WithResource(func(r *http.Request) string { return r.URL.Path }))
	for path, token := range map[string]uint64{"/a": 9, "/b": 3} {
		if w := send(h, t.Context(), http.MethodPut, path, token); w.Code != 204 {
			t.Errorf("PUT %s with its first token = %d, want 204", path, w.Code)
		}
	}
	if w := send(h, t.Context(), http.MethodPut, "/a", 3); w.Code != 412 {
		t.Errorf("PUT /a with an older token = %d, want 412", w.Code)
	}
}

// A request from a newer holder waits for the older holder's running requests. Once it has arrived, new requests from
// the older holder are rejected.
func TestHandler_OlderRequestRunning_NewerRequestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		note := func(s string) { mu.Lock(); order = append(order, s); mu.Unlock() }
		proceed := make(chan struct{})
		h := fence.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			note(r.Header.Get(fence.Header) + " begins")
			if r.URL.Path == "/slow" {
				<-proceed
			}
			note(r.Header.Get(fence.Header) + " ends")
		}))
		var group sync.WaitGroup
		group.Go(func() { send(h, t.Context(), http.MethodPut, "/slow", 1) })
		synctest.Wait()
		group.Go(func() { send(h, t.Context(), http.MethodPut, "/", 1) }) // concurrent with the first request
		synctest.Wait()
		group.Go(func() { send(h, t.Context(), http.MethodPut, "/", 2) })
		synctest.Wait()
		if w := send(h, t.Context(), http.MethodPut, "/", 1); w.Code != 412 {
			t.Errorf("status of an older token's request while a newer one waits = %d, want 412", w.Code)
		}
		ctx, cancel := context.WithCancel(t.Context())
		group.Go(func() {
			if w := send(h, ctx, http.MethodPut, "/", 2); w.Code != 503 {
				t.Errorf("status of a cancelled request = %d, want 503", w.Code)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(proceed)
		group.Wait()
		if got := strings.Join(order, ", "); got != "1 begins, 1 begins, 1 ends, 1 ends, 2 begins, 2 ends" {
			t.Errorf("order = %s, want the requests with token 2 after those with token 1", got)
		}
	})
}

// memory is a Store that counts calls to Raise, and returns fail if it is set.
type memory struct {
	newest map[string]uint64
	calls  int
	fail   error
}

func (m *memory) Raise(_ context.Context, resource string, token uint64) error {
	m.calls++
	if m.fail != nil {
		return m.fail
	}
	if newest := m.newest[resource]; token < newest {
		return &fence.StaleError{Resource: resource, Token: token, Newest: newest}
	}
	m.newest[resource] = token
	return nil
}

func TestHandler_Store_SurvivesRestartAndIsCalledOncePerToken(t *testing.T) {
	store := &memory{newest: make(map[string]uint64)}
	h := fence.Handler(http.HandlerFunc(ok), fence.WithStore(store))
	for range 3 {
		if w := send(h, t.Context(), http.MethodPut, "/", 5); w.Code != 204 {
			t.Errorf("status with the Store = %d, want 204", w.Code)
		}
	}
	if store.calls != 1 {
		t.Errorf("Raise was called %d times, want 1", store.calls)
	}
	restarted := fence.Handler(http.HandlerFunc(ok), fence.WithStore(store))
	if w := send(restarted, t.Context(), http.MethodPut, "/", 4); w.Code != 412 || !strings.Contains(w.Body.String(), "token 5") {
		t.Errorf("status of an older token after a restart = %d %s, want 412", w.Code, w.Body)
	}
	store.fail = errors.New("disk full")
	if w := send(restarted, t.Context(), http.MethodPut, "/", 6); w.Code != 503 || !strings.Contains(w.Body.String(), "disk full") {
		t.Errorf("status with a failing Store = %d %s, want 503", w.Code, w.Body)
	}
	store.fail = nil
	if w := send(restarted, t.Context(), http.MethodPut, "/", 6); w.Code != 204 {
		t.Errorf("status after the Store recovered = %d %s, want 204", w.Code, w.Body)
	}
}

func TestTransport_TokenInContext_IsSent(t *testing.T) {
	got := make(chan string, 2)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header.Get(fence.Header) }))
	defer s.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	type key struct{}
	c := http.Client{Transport: fence.Transport(nil, func(ctx context.Context) uint64 { n, _ := ctx.Value(key{}).(uint64); return n })}
	for want, ctx := range map[string]context.Context{"7": context.WithValue(t.Context(), key{}, uint64(7)), "": t.Context()} {
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if token := <-got; token != want || r.Header.Get(fence.Header) != "" {
			t.Errorf("sent %q, want %q", token, want)
		}
	}
}

// Services that use this package must not need gRPC.
func TestDependencies_OnlyStandardLibrary(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(string(out)); len(got) != 1 {
		t.Errorf("the package depends on %s, want only the standard library", got)
	}
}
