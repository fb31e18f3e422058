package client

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is a set of fake servers on in-memory connections. It works inside a testing/synctest bubble.
type cluster struct {
	t       *testing.T
	servers map[string]*server
}

// newCluster starts a server for each name. A client reaches server a at the endpoint passthrough:///a.
func newCluster(t *testing.T, names ...string) *cluster {
	c := &cluster{t: t, servers: make(map[string]*server)}
	for _, name := range names {
		c.servers[name] = startServer(t, name)
	}
	return c
}

// withServer runs test in a bubble, with a server named a and a client for it.
func withServer(t *testing.T, test func(t *testing.T, c *Client, a *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		test(t, w.dial([]string{"a"}), w.servers["a"])
	})
}

func endpoint(name string) string { return "passthrough:///" + name }

// dial returns a client that tries the servers in the given order.
func (c *cluster) dial(names []string, opts ...Option) *Client {
	c.t.Helper()
	endpoints := make([]string, len(names))
	for i, name := range names {
		endpoints[i] = endpoint(name)
	}
	dialer := grpc.WithContextDialer(func(ctx context.Context, name string) (net.Conn, error) {
		s := c.servers[name]
		if s == nil {
			return nil, errors.New("no such host")
		}
		return s.dial(ctx)
	})
	opts = append([]Option{WithClock(processClock{time.Now()}), WithGroup("prod"), WithAcquirer("app1"), WithGRPC(dialer)}, opts...)
	client, err := Dial(c.t.Context(), endpoints, opts...)
	if err != nil {
		c.t.Fatal(err)
	}
	client.router.next = 0
	client.router.rotate() // tests rely on the first endpoint being the first target
	if strings.Contains(c.t.Name(), inBatches) {
		for _, name := range names {
			forceBatches(c.t, client, name, "export", "s")
		}
	}
	c.t.Cleanup(func() {
		if err := client.Close(); err != nil {
			c.t.Error(err)
		}
	})
	return client
}

// server is a fake cluster member. Most calls without a hook fail with Unimplemented.
type server struct {
	gatekeeperv1.UnimplementedPermitServiceServer
	gatekeeperv1.UnimplementedDefinitionServiceServer
	gatekeeperv1.UnimplementedOperatorServiceServer
	gatekeeperv1.UnimplementedWatchServiceServer
	gatekeeperv1.UnimplementedClusterServiceServer
	name     string
	listener *bufconn.Listener
	grpc     *grpc.Server

	mu                sync.Mutex // guards everything below
	unreachable       bool       // connections are refused
	redirect          *server    // if set, connections go to this server
	cluster           string     // the cluster sent to clients; if empty, none is sent
	calls             []string
	acquired          []*gatekeeperv1.TryAcquireRequest
	released          []uint64
	outcomes          []gatekeeperv1.ReleaseOutcome
	releaseIdentities []*gatekeeperv1.Identity // the identity in each release
	canceled          []*gatekeeperv1.CancelRequest
	frames            []sentFrame
	streams           int
	batches           []*gatekeeperv1.BatchTryAcquireRequest
	open              map[int]gatekeeperv1.PermitService_KeepAliveServer

	tryAcquire func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error)
	acquire    func(*gatekeeperv1.AcquireRequest, gatekeeperv1.PermitService_AcquireServer) error
	release    func(context.Context, *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error)
	cancel     func(context.Context, *gatekeeperv1.CancelRequest) (*gatekeeperv1.CancelResponse, error) // if nil, Cancel succeeds
	clear      func(context.Context, *gatekeeperv1.ClearRequest) (*gatekeeperv1.ClearResponse, error)
	batch      func(context.Context, *gatekeeperv1.BatchEditRequest) (*gatekeeperv1.BatchEditResponse, error)
	list       func(context.Context, *gatekeeperv1.ListDefinitionsRequest) (*gatekeeperv1.ListDefinitionsResponse, error)
	pause      func(context.Context, *gatekeeperv1.PauseRequest) (*gatekeeperv1.PauseResponse, error)
	takeOver   func(context.Context, *gatekeeperv1.TakeOverRequest) (*gatekeeperv1.TakeOverResponse, error)
	watch      func(*gatekeeperv1.WatchRequest, gatekeeperv1.WatchService_WatchServer) error
	holders    func(*gatekeeperv1.ListHoldersRequest) *gatekeeperv1.ListHoldersResponse
	status     func() *gatekeeperv1.GetStatusResponse
	verify     func(context.Context, *gatekeeperv1.VerifyRequest) (*gatekeeperv1.VerifyResponse, error)
	tryBatch   batchHook
	// older makes the server behave like an older version without support for token groups.
	older bool
	// keepAlive returns the response to a frame whose groups have been expanded into single tokens. If it returns nil,
	// no response is sent. The default refreshes every token.
	keepAlive func(*gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error)
}

type sentFrame struct {
	at      time.Time
	stream  int
	message *gatekeeperv1.KeepAliveRequest // with groups expanded
	raw     *gatekeeperv1.KeepAliveRequest // as received
}

// ungrouped returns a frame with its groups expanded into single tokens.
func ungrouped(r *gatekeeperv1.KeepAliveRequest) *gatekeeperv1.KeepAliveRequest {
	out := &gatekeeperv1.KeepAliveRequest{Frame: r.GetFrame(), Tokens: r.GetTokens(), Forget: r.GetForget()}
	for _, g := range r.GetGroups() {
		for _, token := range g.GetTokens() {
			out.Tokens = append(out.Tokens, &gatekeeperv1.TokenRefresh{Token: token, Duration: g.GetDuration()})
		}
	}
	return out
}

// grouped returns a response with its plain refreshes moved into groups.
func grouped(answer *gatekeeperv1.KeepAliveResponse) *gatekeeperv1.KeepAliveResponse {
	out := &gatekeeperv1.KeepAliveResponse{Frame: answer.GetFrame(), Notices: answer.GetNotices()}
	for _, r := range answer.GetResults() {
		if r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED || r.GetStop() != 0 || r.GetDrainLeft() != nil || r.GetMessage() != "" {
			out.Results = append(out.Results, r)
			continue
		}
		n := len(out.Refreshed)
		if n == 0 || out.Refreshed[n-1].GetDuration().AsDuration() != r.GetDuration().AsDuration() {
			out.Refreshed = append(out.Refreshed, &gatekeeperv1.TokenGroup{Duration: r.GetDuration()})
			n++
		}
		out.Refreshed[n-1].Tokens = append(out.Refreshed[n-1].Tokens, r.GetToken())
	}
	return out
}

func startServer(t *testing.T, name string) *server {
	s := &server{name: name, listener: bufconn.Listen(64 << 10), open: make(map[int]gatekeeperv1.PermitService_KeepAliveServer)}
	s.keepAlive = func(r *gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error) {
		out := &gatekeeperv1.KeepAliveResponse{Frame: r.GetFrame()}
		for _, token := range r.GetTokens() {
			out.Results = append(out.Results, refreshed(token.GetToken(), token.GetDuration().AsDuration()))
		}
		return out, nil
	}
	s.grpc = grpc.NewServer(grpc.UnaryInterceptor(s.unary), grpc.StreamInterceptor(s.stream), grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}))
	gatekeeperv1.RegisterPermitServiceServer(s.grpc, s)
	gatekeeperv1.RegisterDefinitionServiceServer(s.grpc, s)
	gatekeeperv1.RegisterOperatorServiceServer(s.grpc, s)
	gatekeeperv1.RegisterWatchServiceServer(s.grpc, s)
	gatekeeperv1.RegisterClusterServiceServer(s.grpc, s)
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.grpc.Serve(s.listener) })
	t.Cleanup(func() {
		s.grpc.Stop()
		serving.Wait()
	})
	return s
}

func (s *server) dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	unreachable, redirect := s.unreachable, s.redirect
	s.mu.Unlock()
	if unreachable {
		return nil, errors.New("the server is down")
	}
	if redirect != nil {
		return redirect.dial(ctx)
	}
	return s.listener.DialContext(ctx)
}

// unary and stream send the cluster with every response, and refuse calls that expect a different one.
func (s *server) unary(ctx context.Context, q any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if err := s.checkCluster(ctx); err != nil {
		return nil, err
	}
	return handle(ctx, q)
}

func (s *server) stream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if err := s.checkCluster(stream.Context()); err != nil {
		return err
	}
	return handle(srv, stream)
}

func (s *server) checkCluster(ctx context.Context) error {
	cluster := get(s, func(s *server) string { return s.cluster })
	if cluster == "" {
		return nil
	}
	_ = grpc.SetHeader(ctx, metadata.Pairs(clusterHeader, cluster)) // fails only if headers have already been sent
	if checkCluster := metadata.ValueFromIncomingContext(ctx, clusterHeader); len(checkCluster) > 0 && checkCluster[0] != cluster {
		return refused(codes.FailedPrecondition, reasonWrongCluster, "cluster", cluster)
	}
	return nil
}

// set changes the hooks. It is safe to use while the server handles calls.
func (s *server) set(f func(*server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// down makes the server unreachable, and up makes it reachable again.
func (s *server) down() { s.set(func(s *server) { s.unreachable = true }); s.hangUp() }
func (s *server) up()   { s.set(func(s *server) { s.unreachable = false }) }

// ignoreFrames makes the server ignore KeepAlive frames. Otherwise, a new permit would be refreshed right away, and its
// deadline would no longer be based on the grant.
func (s *server) ignoreFrames() {
	s.setKeepAlive(func(*gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error) { return nil, nil })
}

// respondWith makes the server respond to every frame with these results.
func (s *server) respondWith(results ...*gatekeeperv1.TokenResult) {
	s.setKeepAlive(func(r *gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error) {
		return &gatekeeperv1.KeepAliveResponse{Frame: r.GetFrame(), Results: results}, nil
	})
}

// setKeepAlive replaces the keepAlive hook.
func (s *server) setKeepAlive(answer func(*gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error)) {
	s.set(func(s *server) { s.keepAlive = answer })
}

// hangUp ends every KeepAlive stream at its next frame.
func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.open)
}

func get[T any](s *server, read func(*server) T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return read(s)
}

var errDown = status.Error(codes.Unavailable, "down")

// enter records a call, and returns an error if the server is down.
func (s *server) enter(call string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
	if s.unreachable {
		return errDown
	}
	return nil
}

var errUnscripted = status.Error(codes.Unimplemented, "the test did not expect this call")

func serve[Q, A any](ctx context.Context, s *server, name string, q Q, hook *func(context.Context, Q) (A, error)) (none A, err error) {
	if err := s.enter(name); err != nil {
		return none, err
	}
	f := get(s, func(*server) func(context.Context, Q) (A, error) { return *hook })
	if f == nil {
		return none, errUnscripted
	}
	return f(ctx, q)
}

func (s *server) Pause(ctx context.Context, q *gatekeeperv1.PauseRequest) (*gatekeeperv1.PauseResponse, error) {
	return serve(ctx, s, "Pause", q, &s.pause)
}

func (s *server) TakeOver(ctx context.Context, q *gatekeeperv1.TakeOverRequest) (*gatekeeperv1.TakeOverResponse, error) {
	return serve(ctx, s, "TakeOver", q, &s.takeOver)
}

func (s *server) TryAcquire(ctx context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
	s.set(func(s *server) { s.acquired = append(s.acquired, q) })
	return serve(ctx, s, "TryAcquire", q, &s.tryAcquire)
}

func (s *server) Acquire(q *gatekeeperv1.AcquireRequest, stream gatekeeperv1.PermitService_AcquireServer) error {
	if err := s.enter("Acquire"); err != nil {
		return err
	}
	f := get(s, func(s *server) func(*gatekeeperv1.AcquireRequest, gatekeeperv1.PermitService_AcquireServer) error {
		return s.acquire
	})
	if f == nil {
		return errUnscripted
	}
	return f(q, stream)
}

func (s *server) Release(ctx context.Context, q *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error) {
	s.set(func(s *server) {
		s.released, s.outcomes = append(s.released, q.GetToken()), append(s.outcomes, q.GetOutcome())
		s.releaseIdentities = append(s.releaseIdentities, q.GetIdentity())
	})
	return serve(ctx, s, "Release", q, &s.release)
}

func (s *server) Cancel(ctx context.Context, q *gatekeeperv1.CancelRequest) (*gatekeeperv1.CancelResponse, error) {
	s.set(func(s *server) { s.canceled = append(s.canceled, q) })
	if f := get(s, func(s *server) func(context.Context, *gatekeeperv1.CancelRequest) (*gatekeeperv1.CancelResponse, error) {
		return s.cancel
	}); f != nil {
		return f(ctx, q)
	}
	return &gatekeeperv1.CancelResponse{}, s.enter("Cancel")
}

func (s *server) Clear(ctx context.Context, q *gatekeeperv1.ClearRequest) (*gatekeeperv1.ClearResponse, error) {
	return serve(ctx, s, "Clear", q, &s.clear)
}

func (s *server) BatchEdit(ctx context.Context, q *gatekeeperv1.BatchEditRequest) (*gatekeeperv1.BatchEditResponse, error) {
	return serve(ctx, s, "BatchEdit", q, &s.batch)
}

func (s *server) ListDefinitions(ctx context.Context, q *gatekeeperv1.ListDefinitionsRequest) (*gatekeeperv1.ListDefinitionsResponse, error) {
	return serve(ctx, s, "ListDefinitions", q, &s.list)
}

func (s *server) ListHolders(_ context.Context, q *gatekeeperv1.ListHoldersRequest) (*gatekeeperv1.ListHoldersResponse, error) {
	if err := s.enter("ListHolders"); err != nil {
		return nil, err
	}
	f := get(s, func(s *server) func(*gatekeeperv1.ListHoldersRequest) *gatekeeperv1.ListHoldersResponse {
		return s.holders
	})
	if f == nil {
		return nil, errUnscripted
	}
	return f(q), nil
}

func (s *server) Watch(q *gatekeeperv1.WatchRequest, stream gatekeeperv1.WatchService_WatchServer) error {
	if err := s.enter("Watch"); err != nil {
		return err
	}
	return get(s, func(s *server) func(*gatekeeperv1.WatchRequest, gatekeeperv1.WatchService_WatchServer) error {
		return s.watch
	})(q, stream)
}

func (s *server) GetStatus(context.Context, *gatekeeperv1.GetStatusRequest) (*gatekeeperv1.GetStatusResponse, error) {
	if err := s.enter("GetStatus"); err != nil {
		return nil, err
	}
	if f := get(s, func(s *server) func() *gatekeeperv1.GetStatusResponse { return s.status }); f != nil {
		return f(), nil
	}
	return new(gatekeeperv1.GetStatusResponse), nil // clients query every endpoint before their first change
}

// KeepAlive responds to frames until the client or hangUp ends the stream.
func (s *server) KeepAlive(stream gatekeeperv1.PermitService_KeepAliveServer) error {
	if err := s.enter("KeepAlive"); err != nil {
		return err
	}
	var number int
	s.set(func(s *server) {
		s.streams++
		number = s.streams
		s.open[number] = stream
	})
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		plain, older := ungrouped(r), false
		s.set(func(s *server) {
			s.frames = append(s.frames, sentFrame{time.Now(), number, plain, r})
			older = s.older
		})
		if get(s, func(s *server) bool { return s.open[number] == nil }) {
			return errDown
		}
		answer, err := get(s, func(s *server) func(*gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error) {
			return s.keepAlive
		})(plain)
		if err != nil {
			return err
		}
		if answer == nil {
			continue
		}
		if r.GetGrouped() && !older {
			answer = grouped(answer)
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
}

// notify sends notices on every open stream.
func (s *server) notify(notices ...*gatekeeperv1.TokenResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range s.open {
		_ = stream.Send(&gatekeeperv1.KeepAliveResponse{Notices: notices}) // fails only if the stream has ended
	}
}

// grants returns a TryAcquire hook that grants a permit with the given token and duration.
func grants(token uint64, duration time.Duration) func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
	return func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
		return granted(q.GetSemaphore(), token, duration), nil
	}
}

func granted(semaphore string, token uint64, duration time.Duration) *gatekeeperv1.TryAcquireResponse {
	return &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Grant{Grant: grant(semaphore, token, duration, 0)}}
}

func grant(semaphore string, token uint64, duration, waited time.Duration) *gatekeeperv1.Grant {
	return &gatekeeperv1.Grant{
		Permit: &gatekeeperv1.Permit{Semaphore: semaphore, Token: token, Duration: durationpb.New(duration)},
		Waited: durationpb.New(waited),
	}
}

func releases(_ context.Context, q *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error) {
	return &gatekeeperv1.ReleaseResponse{Released: true}, nil
}

func refreshed(token uint64, duration time.Duration) *gatekeeperv1.TokenResult {
	return &gatekeeperv1.TokenResult{Token: token, Status: gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED, Duration: durationpb.New(duration)}
}

func result(token uint64, s gatekeeperv1.RefreshStatus, cause gatekeeperv1.StopCause, message string) *gatekeeperv1.TokenResult {
	return &gatekeeperv1.TokenResult{Token: token, Status: s, Stop: cause, Message: message}
}

// refused returns an error with an ErrorInfo, as a server would.
func refused(code codes.Code, reason string, pairs ...string) error {
	metadata := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		metadata[pairs[i]] = pairs[i+1]
	}
	s, err := status.New(code, "refused: "+reason).WithDetails(&errdetails.ErrorInfo{Domain: domain, Reason: reason, Metadata: metadata})
	if err != nil {
		panic(err)
	}
	return s.Err()
}

func notLeader(leader string, term int) error {
	return refused(codes.Unavailable, reasonNotLeader, "leader_id", leader, "leader_api", endpoint(leader), "term", strconv.Itoa(term))
}

// atomicDuration is a duration that is safe for concurrent use.
type atomicDuration struct{ n atomic.Int64 }

func (d *atomicDuration) load() time.Duration  { return time.Duration(d.n.Load()) }
func (d *atomicDuration) add(by time.Duration) { d.n.Add(int64(by)) }

// pass advances the bubble's clock.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the only sleep, on the bubble's clock

// must returns the result of a call, and fails the test if the call failed: must(call())(t).
func must[R any](r R, err error) func(testing.TB) R {
	return func(t testing.TB) R {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}
