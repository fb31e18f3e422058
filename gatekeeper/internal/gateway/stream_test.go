package gateway

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/metadata"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// deadlines records the read deadlines that a handler sets.
type deadlines struct {
	*httptest.ResponseRecorder
	read []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.read = append(d.read, t)
	return nil
}

// A request's read deadline must be cleared once its body has been read, because a stream may outlive it.
func TestServeHTTP_Stream_HasNoReadDeadline(t *testing.T) {
	t.Parallel()
	g, err := New(Config{
		API:    new(refusingAPI),
		Caller: func(*http.Request) metadata.MD { return nil }, Source: func(*http.Request) netip.Prefix { return netip.Prefix{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequest(http.MethodGet, "http://localhost/v1/watch", nil)
	if g.ServeHTTP(w, r); !slices.Equal(w.read, []time.Time{{}}) {
		t.Errorf("read deadlines = %v, want one zero time (response %d %s)", w.read, w.Code, w.Body)
	}
}

func TestRelay_WithoutEvents_SendsCommentsOnceStarted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		watch := &streamRoutes()[0]
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		response, all := httptest.NewRecorder(), make(chan received)
		done := make(chan struct{})
		go func() {
			defer close(done)
			watch.relay(ctx, newWriter(response), nil, all)
		}()
		time.Sleep(10 * heartbeat) //nolint:forbidigo // virtual time
		synctest.Wait()
		if response.Body.Len() > 0 {
			t.Errorf("got %q before the first message, want nothing, because that message may be an error", response.Body)
		}
		all <- received{message: &gatekeeperv1.WatchResponse{Revision: 7}}
		synctest.Wait()
		first := response.Body.String()
		time.Sleep(10 * heartbeat) //nolint:forbidigo // virtual time
		synctest.Wait()
		cancel()
		<-done
		want := "retry: 1000\n\nid: 7\nevent: message\ndata: {\"revision\":\"7\"}\n\n"
		if rest, ok := strings.CutPrefix(response.Body.String(), want); first != want || !ok || rest != strings.Repeat(":\n\n", 10) {
			t.Errorf("first part of the stream = %q, whole stream = %q, want an event and ten comments", first, response.Body)
		}
	})
}

// The id of an :acquire event is its caller's request_id, which may contain any text.
func TestEvent_IDWithNewline_IsOmitted(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(streamRoutes(), func(s streamRoute) bool {
		return s.method == gatekeeperv1.PermitService_Acquire_FullMethodName
	})
	acquire := &streamRoutes()[i]
	for id, want := range map[string]string{
		"r1":                           "id: r1\nevent: message\ndata: {}\n\n",
		"r1\n\nevent: error\ndata: {}": "event: message\ndata: {}\n\n",
		"r1\rretry: 1":                 "event: message\ndata: {}\n\n",
		"r1\r\nid: 2":                  "event: message\ndata: {}\n\n",
		"r1\x00":                       "event: message\ndata: {}\n\n",
	} {
		var out bytes.Buffer
		request := &gatekeeperv1.AcquireRequest{RequestId: id}
		acquire.event(&out, request, received{message: new(gatekeeperv1.AcquireResponse)})
		if out.String() != want {
			t.Errorf("request_id %q: got %q, want %q", id, out.String(), want)
		}
	}
}
