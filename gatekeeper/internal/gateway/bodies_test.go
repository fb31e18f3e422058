package gateway

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"google.golang.org/grpc/metadata"
)

// blockedBody delivers a complete body but no EOF, so its request remains in progress until the test ends it.
type blockedBody struct {
	io.Reader
	read chan<- struct{}
	end  <-chan struct{}
}

func (b *blockedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != io.EOF {
		return n, err
	}
	b.read <- struct{}{}
	<-b.end
	return n, io.ErrUnexpectedEOF
}

func (*blockedBody) Close() error { return nil }

func TestBodies_OverLimit_AreRefusedUntilOthersFinish(t *testing.T) {
	t.Parallel()
	g, err := New(Config{
		Caller: func(*http.Request) metadata.MD { return nil },
		Source: func(r *http.Request) netip.Prefix { return netip.MustParsePrefix(r.RemoteAddr) },
	})
	if err != nil {
		t.Fatal(err)
	}
	request := func(source string, body io.Reader) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/v1/nothing", body)
		r.RemoteAddr = source
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	read, end, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	started := 0
	start := func(source string) {
		started++
		body := &blockedBody{strings.NewReader(strings.Repeat(" ", maxBody)), read, end}
		go func() {
			g.ServeHTTP(httptest.NewRecorder(), request(source, body))
			done <- struct{}{}
		}()
		<-read
	}
	send := func(source string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		g.ServeHTTP(w, request(source, strings.NewReader("{}")))
		return w
	}
	wantRefused := func(source string) {
		t.Helper()
		w := send(source)
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "2" || !strings.Contains(w.Body.String(), "in a moment") {
			t.Errorf("request from %s: got %d, %v, %s", source, w.Code, w.Header(), w.Body)
		}
	}
	sources := []string{"192.0.2.1/32", "192.0.2.2/32", "192.0.2.3/32", "2001:db8::/64"}
	for i, source := range sources {
		if w := send(source); w.Code != http.StatusNotFound {
			t.Errorf("request from %s while others are sending: got %d, %s", source, w.Code, w.Body)
		}
		for range maxBodiesPerAddress / maxBody {
			start(source)
		}
		wantRefused(sources[i])
	}
	wantRefused("192.0.2.9/32")
	close(end)
	for range started {
		<-done
	}
	if w := send(sources[0]); w.Code != http.StatusNotFound {
		t.Errorf("after the others finished: got %d, %s", w.Code, w.Body)
	}
	if g.bodies.all != 0 || len(g.bodies.bySource) != 0 {
		t.Errorf("after all requests: %d bytes counted, by source %v, want none", g.bodies.all, g.bodies.bySource)
	}
}
