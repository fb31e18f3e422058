package gatekeeper

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// eventStream is a browser's event stream.
type eventStream struct {
	t      *testing.T
	lines  *bufio.Reader
	cancel context.CancelFunc
	last   string // id of the last event
}

type event struct{ kind, id, data string }

// stream opens an event stream.
func (b *browser) stream(method, path, body string, headers ...string) *eventStream {
	b.t.Helper()
	ctx, cancel := context.WithCancel(bounded(b.t))
	b.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, b.base+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		b.t.Fatalf("GET %s = %s with headers %v, want an event stream", path, resp.Status, resp.Header)
	}
	return &eventStream{t: b.t, lines: bufio.NewReader(resp.Body), cancel: cancel}
}

// next returns the next event, or false at the end of the stream.
func (s *eventStream) next() (e event, ok bool) {
	s.t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return e, false
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			e.kind = value
		case "id":
			e.id, s.last = value, value
		case "data":
			e.data = value
		case "":
			if e.kind != "" {
				return e, true
			}
		}
	}
}

// until skips to the next event of the given kind whose data contains text, and returns it.
func (s *eventStream) until(kind, text string) event {
	s.t.Helper()
	for {
		e, ok := s.next()
		if !ok {
			s.t.Fatalf("stream ended without a %s event containing %q", kind, text)
		}
		if e.kind == kind && strings.Contains(e.data, text) {
			return e
		}
	}
}

func TestWeb_Watch_ResumesWithoutGaps(t *testing.T) {
	t.Parallel()
	servers := clusterWith(t, func(c *Config) { c.HTTPAddress = "127.0.0.1:0" }, "gk1", "gk2", "gk3")
	waitReady(t, servers...)
	c := newCaller(t, servers[0])
	stream := newBrowser(t, servers[0]).stream("GET", "/v1/watch?names=job-*", "")
	var want, got []string
	receive := func() {
		e, ok := stream.next()
		m := new(gatekeeperv1.WatchResponse)
		if err := protojson.Unmarshal([]byte(e.data), m); !ok || e.kind != "message" || e.id == "" || err != nil {
			t.Fatalf("got event %v, %v, want a message with an id", e, err)
		}
		for _, event := range m.GetEvents() {
			got = append(got, event.GetSemaphore())
		}
	}
	receive()
	for i := range servers { // disconnect, miss some events, and resume on another server
		for range 5 {
			want = append(want, "job-"+strconv.Itoa(len(want)))
			c.create(t, want[len(want)-1])
			if len(want)%5 == 0 {
				break // leave this event unread
			}
			for len(got) < len(want) {
				receive()
			}
		}
		last := stream.last
		stream.cancel()
		want = append(want, "job-"+strconv.Itoa(len(want)))
		c.create(t, want[len(want)-1])
		stream = newBrowser(t, servers[i]).stream("GET", "/v1/watch?names=job-*", "", "Last-Event-ID", last)
		for len(got) < len(want) {
			receive()
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got events about %v, want %v", got, want)
	}
	b := newBrowser(t, servers[0])
	b.request("GET", "/v1/watch?labels=%3D%3D", "").expect(t, http.StatusBadRequest, `"reason":"INVALID_FIELD"`)
	b.request("GET", "/v1/watch?nmaes=job", "").expect(t, http.StatusBadRequest, "nmaes is not a parameter")
	b.request("GET", "/v1/watch", "", "Last-Event-ID", "x").expect(t, http.StatusBadRequest, "Last-Event-ID")
	live := b.stream("GET", "/v1/watch?live_every=1s", "")
	live.until("live", `"live":`)
	live.until("live", `"live":`)
}

func TestWeb_PermitJobAndFiringStreams_DeliverEvents(t *testing.T) {
	t.Parallel()
	_, c, b := openWithBrowser(t)
	c.create(t, "report")
	first := b.stream("POST", "/v1/semaphores/report:acquire", `{"identity":{"group":"g","acquirer":"a"},"request_id":"r1"}`)
	if e := first.until("message", `"grant":`); e.id != "r1" {
		t.Errorf("got event id %q, want r1", e.id)
	}
	first.until("end", "{}")
	if _, more := first.next(); more {
		t.Error("got an event after the end")
	}
	second := b.stream("POST", "/v1/semaphores/report:acquire", `{"identity":{"group":"g","acquirer":"b"},"request_id":"r2"}`)
	second.until("message", `"place":1`)
	b.request("POST", "/v1/permits/1:release", `{}`).expect(t, http.StatusOK, `"released":true`)
	second.until("message", `"token":"2"`)
	b.stream("POST", "/v1/semaphores/report:acquire", `{"identity":{"group":"g","acquirer":"b"},"request_id":"r2"}`).until("message", `"token":"2"`)
	b.request("POST", "/v1/semaphores/report:acquire", `{"identty":{}}`).expect(t, http.StatusBadRequest, "identty")
	b.request("GET", "/v1/semaphores/report:acquire", "").expect(t, http.StatusNotFound)

	b.request("POST", "/v1/jobs", `{"job":{"id":"j","semaphore":"report"},"tasks":["YQ=="],"last":true}`).expect(t, http.StatusOK)
	follow := b.stream("GET", "/v1/jobs/j:follow", "")
	follow.until("message", `"state":"JOB_STATE_OPEN"`)
	follow.cancel()
	b.request("POST", "/v1/jobs/j:cancel", `{"reason":"obsolete"}`).expect(t, http.StatusOK)
	follow = b.stream("GET", "/v1/jobs/j:follow", "", "Last-Event-ID", follow.last)
	follow.until("message", `"state":"JOB_STATE_CANCELLED"`)
	follow.until("end", "{}")
	b.request("GET", "/v1/jobs/nothing:follow", "").expect(t, http.StatusNotFound, `"reason":"NO_SUCH_JOB"`)
	b.stream("GET", "/v1/firings:await?semaphore=report&firing.name=nightly", "").until("message", `"state":"FIRING_STATE_OPEN"`)
}

func TestWeb_Close_EndsStreamsWithoutWaitingForIdleConnections(t *testing.T) {
	t.Parallel()
	s, c, b := openWithBrowser(t)
	c.create(t, "report")
	stream := b.stream("GET", "/v1/watch", "")
	stream.until("message", `"revision"`)
	idle, err := net.Dial("tcp", s.HTTPAddress()) // browsers open idle connections in advance
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	closeServer(t, s)
	stream.until("error", `"reason":"SHUTTING_DOWN"`)
	if _, more := stream.next(); more {
		t.Error("got an event after the error")
	}
	if _, err := b.tryRequest("GET", "/", ""); err == nil {
		t.Error("GET / after Close succeeded, want an error")
	}
}

// A stream ends when its caller loses the role.
func TestWeb_RoleRevoked_EndsStream(t *testing.T) {
	t.Parallel()
	s := newSecuredWeb(t)
	binding := s.bind("viewer", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	stream := s.browser(0, "viewer").stream("GET", "/v1/watch", "")
	stream.until("message", `"revision"`)
	binding.Grants = []*gatekeeperv1.AccessGrant{roleGrant(gatekeeperv1.Role_ROLE_VERIFIER)}
	if _, err := s.admin.SetBinding(bounded(t), &gatekeeperv1.SetBindingRequest{Binding: binding, ExpectedRevision: binding.GetRevision()}); err != nil {
		t.Fatal(err)
	}
	stream.until("error", `"code":"PERMISSION_DENIED"`)
}
