package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/root"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// moveCluster is a cluster with two tasks in group prod. It intercepts the edits sent by gkctl.
type moveCluster struct {
	t         *testing.T
	servers   map[string]*gatekeeper.Server
	endpoints []string
	// onEdit intercepts batches of edits and moves. It calls send to send the request.
	onEdit func(ctx context.Context, send func() error) error
}

func newMoveCluster(t *testing.T, count int) *moveCluster {
	t.Helper()
	w := &moveCluster{t: t, servers: map[string]*gatekeeper.Server{}, onEdit: func(_ context.Context, send func() error) error { return send() }}
	ctx, cancel := context.WithTimeout(t.Context(), awaitTimeout)
	defer cancel()
	members := make([]gatekeeper.Member, count)
	listeners := make([]net.Listener, count)
	for i := range members {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[i], members[i] = l, gatekeeper.Member{ID: fmt.Sprintf("gk%d", i+1), PeerAddress: l.Addr().String()}
	}
	servers, err := openAll(ctx, members, listeners, t.TempDir())
	for i, s := range servers {
		if s != nil {
			w.servers[members[i].ID], w.endpoints = s, append(w.endpoints, s.APIAddress())
			t.Cleanup(func() { w.stop(members[i].ID) })
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range w.servers {
		if err := waitSettled(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	c := w.client()
	for _, name := range []string{"a", "b"} {
		if _, err := c.Declare(ctx, &gatekeeperv1.Definition{Name: name, GroupPattern: new("prod")}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// stop closes a server if it is still running.
func (w *moveCluster) stop(id string) {
	s := w.servers[id]
	delete(w.servers, id)
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), awaitTimeout)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		w.t.Error(err)
	}
}

// stopLeader closes the leader.
func (w *moveCluster) stopLeader() {
	status, err := w.client().Cluster().GetStatus(w.t.Context(), &gatekeeperv1.GetStatusRequest{})
	if err != nil {
		w.t.Error(err)
		return
	}
	w.stop(status.GetLeaderId())
}

func (w *moveCluster) client() *client.Client {
	w.t.Helper()
	c, err := client.Dial(w.t.Context(), w.endpoints, client.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// run runs gkctl and returns its exit code and output.
func (w *moveCluster) run(args ...string) (int, string) {
	var out bytes.Buffer
	interceptor := grpc.WithUnaryInterceptor(func(
		ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
	) error {
		send := func() error { return invoke(ctx, method, req, reply, cc, opts...) }
		move, isMove := req.(*gatekeeperv1.MoveRequest)
		if method != gatekeeperv1.DefinitionService_BatchEdit_FullMethodName && (!isMove || move.GetDryRun()) {
			return send()
		}
		return w.onEdit(ctx, send)
	})
	a := &conn.Factory{IO: &ui.IO{In: &bytes.Buffer{}, Out: &out, Err: &out}, Dial: func(ctx context.Context, _ []string, opts ...client.Option) (*client.Client, error) {
		return client.Dial(ctx, w.endpoints, append(opts, client.WithGRPC(interceptor), client.WithLogger(slog.New(slog.DiscardHandler)))...)
	}}
	code := root.Execute(w.t.Context(), a, args)
	return code, out.String()
}

// editBeforeNextBatch edits b as bob just before gkctl sends its next batch.
func (w *moveCluster) editBeforeNextBatch() {
	w.onEdit = func(_ context.Context, send func() error) error {
		w.onEdit = func(_ context.Context, send func() error) error { return send() }
		if code, out := w.run("set", "b", "permits=9", "--author", "bob"); code != ui.ExitOK {
			w.t.Errorf("gkctl set b permits=9: exit code %d, want 0; output:\n%s", code, out)
		}
		return send()
	}
}

// groups returns the group patterns of both tasks and the number of changes that replaced definitions.
func (w *moveCluster) groups() (patterns string, changes int) {
	w.t.Helper()
	c := w.client()
	var all []string
	for r, err := range c.AllDefinitions(w.t.Context(), &gatekeeperv1.ListDefinitionsRequest{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, r.GetDefinition().GetGroupPattern())
	}
	h, err := c.Operator().ListHistory(w.t.Context(), &gatekeeperv1.ListHistoryRequest{Names: []string{"*"}})
	if err != nil {
		w.t.Fatal(err)
	}
	seen := map[uint64]bool{}
	for _, e := range h.GetEntries() {
		if e.GetKind() == gatekeeperv1.EventKind_EVENT_KIND_REPLACED {
			seen[e.GetRevision()] = true
		}
	}
	return strings.Join(all, " "), len(seen)
}

func TestMove_LeaderStopsDuringEdit_MovesOnce(t *testing.T) {
	t.Parallel()
	for name, edited := range map[string]bool{"before the edit": false, "after the edit, before the response": true} {
		t.Run(name, func(t *testing.T) {
			w := newMoveCluster(t, 3)
			var first atomic.Bool
			w.onEdit = func(_ context.Context, send func() error) error {
				if first.Swap(true) {
					return send()
				}
				if edited {
					if err := send(); err != nil {
						return err
					}
				}
				w.stopLeader()
				return status.Error(codes.Unavailable, "leader stopped")
			}
			code, out := w.run("move", "--from", "prod", "--to", "dr", "--yes", "--force", "--timeout", "40s")
			patterns, changes := w.groups()
			if code != ui.ExitOK || patterns != "dr dr" || changes != 1 || !strings.Contains(out, "moved 2 tasks from prod to dr\nno permits were held\nundo with: gkctl undo ") {
				t.Errorf("gkctl move: exit code %d, groups %q, %d changes; want 0, \"dr dr\", 1; output:\n%s", code, patterns, changes, out)
			}
		})
	}
}

func TestMove_OutcomeUnknown_PrintsHowToCheck(t *testing.T) {
	t.Parallel()
	w := newMoveCluster(t, 1)
	w.onEdit = func(ctx context.Context, send func() error) error {
		if err := send(); err != nil {
			return err
		}
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}
	code, out := w.run("move", "--from", "prod", "--to", "dr", "--yes", "--force", "--timeout", "3s")
	if code != ui.ExitUnreachable || !strings.Contains(out, "Either the whole move was made or none of it. `gkctl history -n 1 a` shows which") {
		t.Errorf("gkctl move: exit code %d, want 69 and a hint that the move is atomic; output:\n%s", code, out)
	}
	w.onEdit = func(context.Context, func() error) error {
		t.Error("gkctl made the move twice")
		return status.Error(codes.Internal, "twice")
	}
	if code, out := w.run("move", "--from", "prod", "--to", "dr", "--yes", "--force"); code != ui.ExitOK || !strings.Contains(out, "Nothing to move") {
		t.Errorf("second gkctl move: exit code %d, want 0 and nothing to move; output:\n%s", code, out)
	}
}

func TestMove_EditedBetweenPlanAndMove_ChangesNothing(t *testing.T) {
	t.Parallel()
	w := newMoveCluster(t, 1)
	w.editBeforeNextBatch()
	code, out := w.run("move", "--from", "prod", "--to", "dr", "--yes", "--force")
	patterns, _ := w.groups()
	if code != ui.ExitFailure || patterns != "prod prod" || !strings.Contains(out, "nothing was changed, because these definitions were edited since the dry run: b by bob") ||
		!strings.Contains(out, "To move them anyway, run the command again.") {
		t.Errorf("gkctl move after an edit by bob: exit code %d, groups %q; want 1 and unchanged groups; output:\n%s", code, patterns, out)
	}
}

// gkctl must also follow a permit granted between the plan and the move.
func TestMove_GrantedBetweenPlanAndMove_IsFollowed(t *testing.T) {
	t.Parallel()
	w := newMoveCluster(t, 1)
	w.onEdit = func(ctx context.Context, send func() error) error {
		p, err := w.client().Semaphore("a").TryAcquire(ctx, client.WithGroup("prod"), client.WithAcquirer("late"))
		if err != nil {
			t.Error(err)
			return err
		}
		go func() {
			<-p.Context().Done() // the holder must stop
			releaseCtx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), awaitTimeout)
			defer cancel()
			_ = p.Release(releaseCtx)
		}()
		return send()
	}
	code, out := w.run("move", "--from", "prod", "--to", "dr", "--yes", "--force")
	if code != ui.ExitOK || !strings.Contains(out, "a released by late in prod") || !strings.Contains(out, "1 old holder stopped (1 released its permit)") {
		t.Errorf("gkctl move: exit code %d, want 0 and the late holder's release; output:\n%s", code, out)
	}
}

func TestMove_TimeoutWhileFollowing_IsNotReverted(t *testing.T) {
	t.Parallel()
	w := newMoveCluster(t, 1)
	if _, err := w.client().Permits().TryAcquire(t.Context(), &gatekeeperv1.TryAcquireRequest{
		Semaphore: "a", Identity: &gatekeeperv1.Identity{Group: "prod", Acquirer: "stuck"},
	}); err != nil {
		t.Fatal(err)
	}
	code, out := w.run("move", "--from", "prod", "--to", "dr", "--yes", "--force", "--timeout", "2s")
	patterns, _ := w.groups()
	if code != ui.ExitFailure || patterns != "dr dr" || !strings.Contains(out, "1 old holder has not stopped after 2s: stuck in prod") || !strings.Contains(out, "undo with: gkctl undo ") {
		t.Errorf("gkctl move --timeout 2s: exit code %d, groups %q; want 1 and \"dr dr\"; output:\n%s", code, patterns, out)
	}
}

// A holder that ignores the drain keeps its slot until its deadline. The output names the holder, and the slot is then
// granted to the waiter.
func TestMove_HolderIgnoresDrain_KeepsSlotAndIsReported(t *testing.T) {
	t.Parallel()
	w := newMoveCluster(t, 1)
	c := w.client()
	if _, err := c.Declare(t.Context(), &gatekeeperv1.Definition{Name: "c", GroupPattern: new("prod"), Duration: durationpb.New(2 * time.Second)}); err != nil {
		t.Fatal(err)
	}
	p, err := c.Semaphore("c").TryAcquire(t.Context(), client.WithGroup("prod"), client.WithAcquirer("deaf"))
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() {
		<-p.Context().Done() // the move was made, and the holder was notified
		ctx, cancel := context.WithTimeout(t.Context(), awaitTimeout)
		defer cancel()
		next, err := w.client().Semaphore("c").Acquire(ctx, client.WithGroup("dr"), client.WithAcquirer("next"))
		if err == nil && next.Token() <= p.Token() {
			err = fmt.Errorf("new holder's token = %d, want more than the old holder's %d", next.Token(), p.Token())
		}
		waited <- err
	}()
	code, out := w.run("move", "--from", "prod", "--to", "dr", "c", "--drain", "1s", "--yes", "--force")
	if err := <-waited; err != nil {
		t.Error(err)
	}
	expired, granted := strings.Index(out, "c of deaf in prod"), strings.Index(out, "c granted to next in dr")
	if code != ui.ExitOK || expired < 0 || granted < expired || !strings.Contains(out, "did not stop in time: c expired after") ||
		!strings.Contains(out, "1 old holder stopped (0 released their permits)") || !strings.Contains(out, "1 new holder was granted") {
		t.Errorf("gkctl move --drain 1s: exit code %d, want 0 and an expiry followed by a grant; output:\n%s", code, out)
	}
}

// Each edit carries the version shown in the preview, so that set makes either the confirmed change or no change.
func TestSet_EditedBetweenPreviewAndCommit_ChangesNothing(t *testing.T) {
	t.Parallel()
	w := newMoveCluster(t, 1)
	w.editBeforeNextBatch()
	code, out := w.run("set", "a", "b", "permits=0", "--yes")
	if code != ui.ExitFailure || !strings.Contains(out, "b has been changed since you read it") || !strings.Contains(out, "To set it anyway, run the command again.") {
		t.Errorf("gkctl set after an edit by bob: exit code %d, want 1 and a message about b; output:\n%s", code, out)
	}
	if _, out := w.run("get", "-o", "yaml"); strings.Contains(out, "permits: 0") || !strings.Contains(out, "permits: 9") {
		t.Errorf("gkctl set changed some of the definitions:\n%s", out)
	}
}
