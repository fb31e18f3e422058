package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/tasks"
	"github.com/gatekeeperd/gatekeeper/internal/ports"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// listener is a loopback address on which a test starts and stops servers.
type listener struct {
	t       *testing.T
	address string
	server  *http.Server
}

func newListener(t *testing.T) *listener {
	t.Helper()
	free, err := ports.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	return &listener{t: t, address: free[0]}
}

func (l *listener) url() string { return "http://" + l.address + "/tasks" }

func (l *listener) serve(h http.Handler) {
	l.t.Helper()
	inner, err := net.Listen("tcp", l.address)
	if err != nil {
		l.t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/tasks", h)
	server := &http.Server{Handler: mux}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(inner) // returns after Close
	}()
	l.server = server
	l.t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
}

func (l *listener) kill() {
	l.t.Helper()
	if err := l.server.Close(); err != nil {
		l.t.Error(err)
	}
}

// probe returns an HTTPProbe that does not reuse connections.
func probe(t *testing.T) tasks.HTTPProbe {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return tasks.HTTPProbe{Client: &http.Client{Transport: transport}}
}

// newProbedHost starts a host that runs the task and answers probes.
func newProbedHost(t *testing.T, srv *gktest.Server, c *client.Client, l *listener, j *job) *host {
	t.Helper()
	h := newHost(t, srv, c, tasks.WithProbeURL(l.url()))
	l.serve(h.m.Handler())
	h.register(j)
	return h
}

func TestHTTPProbe_HolderRunning_IsAliveUntilRunEnds(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	l, j := newListener(t), newJob(t, new(atomic.Int32))
	h := newProbedHost(t, srv, dialTCP(t, srv, "app1"), l, j)
	h.advanceToDue()
	r := receive(t, j.runs, "the run")
	held := srv.Holders(t, name)
	if len(held) != 1 || held[0].GetToken() != r.token {
		t.Fatalf("holders = %v, want the run's permit", held)
	}
	p := probe(t)
	if alive, err := p.Alive(testContext(t), held[0]); err != nil || !alive {
		t.Errorf("Alive() during the run = %v, %v, want true", alive, err)
	}
	r.end <- nil
	h.awaitIdle(1)
	if alive, err := p.Alive(testContext(t), held[0]); err != nil || alive {
		t.Errorf("Alive() after the run = %v, %v, want false", alive, err)
	}
}

// The holder's process was killed, and nothing is listening at its address. The successor waits until the holder's
// permit expires.
func TestHTTPProbe_HolderKilled_PermitIsTakenOver(t *testing.T) {
	t.Parallel()
	srv := start(t, shortDuration, freeOnLoss)
	busy := new(atomic.Int32)
	c1 := srv.Dial(t, "app1")
	l, j1 := newListener(t), newJob(t, busy)
	h1 := newProbedHost(t, srv, c1, l, j1)
	h2, j2 := newHost(t, srv, dialTCP(t, srv, "app2"), tasks.WithProbe(probe(t))), newJob(t, busy)
	h2.register(j2)
	h1.advanceToDue()
	dead := receive(t, j1.runs, "the run").token
	l.kill()
	srv.Crash(t, c1)
	h2.advanceToDue()
	r := receive(t, j2.runs, "the run of the second host")
	if r.token <= dead || j2.resets.Load() != 1 {
		t.Errorf("token = %d, want more than %d; reset %d times, want 1", r.token, dead, j2.resets.Load())
	}
	r.end <- nil
	h2.awaitIdle(1)
}

// The holder's process was killed and restarted. The new process has the same address and name, and acquires a permit
// for the same task. It must not be mistaken for the holder.
func TestHTTPProbe_HolderRestarted_PermitIsTakenOver(t *testing.T) {
	t.Parallel()
	srv := start(t, shortDuration, freeOnLoss)
	busy := new(atomic.Int32)
	c1 := srv.Dial(t, "app1")
	l, j1 := newListener(t), newJob(t, busy)
	h1 := newProbedHost(t, srv, c1, l, j1)
	h1.advanceToDue()
	dead := receive(t, j1.runs, "the run").token
	former := srv.Holders(t, name)[0]
	l.kill()
	srv.Crash(t, c1)

	restarted := newJob(t, busy)
	h := newHost(t, srv, dialTCP(t, srv, "app1"), tasks.WithProbeURL(l.url()), tasks.WithProbe(probe(t)))
	l.serve(h.m.Handler())
	h.register(restarted)
	if alive, err := probe(t).Alive(testContext(t), former); err != nil || alive {
		t.Errorf("Alive() for the killed process = %v, %v, want false", alive, err)
	}
	h.advanceToDue()
	r := receive(t, restarted.runs, "the run of the restarted process")
	if r.token <= dead || restarted.resets.Load() != 1 {
		t.Errorf("token = %d, want more than %d; reset %d times, want 1", r.token, dead, restarted.resets.Load())
	}
	r.end <- nil
	h.awaitIdle(1)
}

func TestHTTPProbe_ResponseNotFromHolder_ReturnsError(t *testing.T) {
	t.Parallel()
	const instance = "instance"
	holder := func(url string) *gatekeeperv1.Permit {
		p := &gatekeeperv1.Permit{Semaphore: name, Token: 7, Identity: &gatekeeperv1.Identity{Group: "default", Acquirer: "app1"}}
		if url != "" {
			p.Metadata = map[string]string{"tasks.probe-url": url, "tasks.instance": instance}
		}
		return p
	}
	respond := func(acquirer, group, token string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(map[string]any{"acquirer": acquirer, "group": group, "token": token, "instance": instance, "running": true})
		}
	}
	hang := make(chan struct{})
	for what, c := range map[string]struct {
		handler http.HandlerFunc
		wrong   bool
	}{
		"another host":  {respond("app2", "default", "7"), true},
		"another group": {respond("app1", "prod", "7"), true},
		"another token": {respond("app1", "default", "8"), true},
		"garbage":       {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>welcome</html>") }, true},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "\""+string(make([]byte, 1<<20)))
		}, true},
		"not found":  {http.NotFound, true},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, true},
		"no answer":  {func(http.ResponseWriter, *http.Request) { <-hang }, false},
	} {
		t.Run(what, func(t *testing.T) {
			s := httptest.NewServer(c.handler)
			t.Cleanup(s.Close)
			ctx := testContext(t)
			if !c.wrong {
				cancellable, cancel := context.WithCancel(ctx)
				s.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel(); <-hang })
				t.Cleanup(func() { close(hang) }) // before the server is closed
				ctx = cancellable
			}
			alive, err := tasks.HTTPProbe{}.Alive(ctx, holder(s.URL))
			if alive || err == nil || errors.Is(err, tasks.ErrNotHolder) != c.wrong {
				t.Errorf("Alive() = %v, %v, want an error", alive, err)
			}
			http.DefaultClient.CloseIdleConnections()
		})
	}
	if alive, err := (tasks.HTTPProbe{}).Alive(t.Context(), holder("")); alive || !errors.Is(err, tasks.ErrNoProbeURL) {
		t.Errorf("Alive() without a URL = %v, %v, want ErrNoProbeURL", alive, err)
	}
	if alive, err := (tasks.HTTPProbe{}).Alive(t.Context(), holder("ftp://app1")); alive || err == nil {
		t.Errorf("Alive() with an unsupported URL scheme = %v, %v, want an error", alive, err)
	}
}

func TestHandler_InvalidProbe_IsRejected(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	h := newHost(t, srv, dialTCP(t, srv, "app1"))
	for _, c := range []struct {
		method, query string
		want          int
	}{
		{http.MethodPost, "?token=7", http.StatusMethodNotAllowed},
		{http.MethodGet, "?token=seven", http.StatusBadRequest},
		{http.MethodGet, "", http.StatusBadRequest},
		{http.MethodGet, "?semaphore=report&token=" + strconv.Itoa(7), http.StatusOK},
	} {
		w := httptest.NewRecorder()
		h.m.Handler().ServeHTTP(w, httptest.NewRequest(c.method, "/tasks"+c.query, nil))
		if w.Code != c.want {
			t.Errorf("%s %q = %d, want %d", c.method, c.query, w.Code, c.want)
		}
	}
}

func TestServerProbe_HolderMissedRefreshes_IsNotAlive(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]bool{time.Minute: true, 20 * time.Second: true, 19 * time.Second: false, 0: false} {
		p := &gatekeeperv1.Permit{Duration: durationpb.New(time.Minute), ExpiresIn: durationpb.New(left)}
		if alive, err := (tasks.ServerProbe{}).Alive(t.Context(), p); err != nil || alive != want {
			t.Errorf("Alive() with %s of 1m0s left = %v, %v, want %v", left, alive, err, want)
		}
	}
	if alive, err := (tasks.ServerProbe{}).Alive(t.Context(), new(gatekeeperv1.Permit)); err == nil || alive {
		t.Errorf("Alive() without ExpiresIn = %v, %v, want an error", alive, err)
	}
}
