package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func calls(s *server) []string {
	return get(s, func(s *server) []string { return slices.Clone(s.calls) })
}

func failing(err error) func(context.Context, *gatekeeperv1.ListDefinitionsRequest) (*gatekeeperv1.ListDefinitionsResponse, error) {
	return func(context.Context, *gatekeeperv1.ListDefinitionsRequest) (*gatekeeperv1.ListDefinitionsResponse, error) {
		return nil, err
	}
}

func listing(context.Context, *gatekeeperv1.ListDefinitionsRequest) (*gatekeeperv1.ListDefinitionsResponse, error) {
	return &gatekeeperv1.ListDefinitionsResponse{Revision: 1}, nil
}

func list(t *testing.T, c *Client) error {
	t.Helper()
	_, err := c.Definitions().ListDefinitions(t.Context(), &gatekeeperv1.ListDefinitionsRequest{})
	return err
}

func TestCall_NotLeader_FollowsTheHintImmediatelyAndKeepsTheTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b", "c")
		c := w.dial([]string{"a", "b", "c"})
		w.servers["a"].list, w.servers["c"].list = failing(notLeader("c", 5)), listing
		start := time.Now()
		for range 3 {
			if err := list(t, c); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("following the hint took %s, want 0s", took)
		}
		if a, b, n := calls(w.servers["a"]), calls(w.servers["b"]), calls(w.servers["c"]); len(a) != 1 || len(b) != 0 || len(n) != 3 {
			t.Errorf("calls to a: %v, b: %v, c: %v; want 1, 0 and 3", a, b, n)
		}
	})
}

// The address in a hint may now belong to a server in another cluster, which would grant the permit, so the call names
// the expected server.
func TestCall_AtHintedAddress_NamesExpectedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b")
		w.servers["a"].tryAcquire = func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			return nil, refused(codes.Unavailable, reasonNotLeader, "leader_id", "b", "leader_api", endpoint("b"), "term", "2", "leader_name", "cluster/b/data")
		}
		var expected []string
		w.servers["b"].tryAcquire = func(ctx context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			expected = metadata.ValueFromIncomingContext(ctx, leaderHeader)
			return granted(q.Semaphore, 7, time.Minute), nil
		}
		c := w.dial([]string{"a"})
		acquire(t, c.Semaphore("s"))
		if !slices.Equal(expected, []string{"cluster/b/data"}) {
			t.Errorf("call to b named server %q, want the name from the hint", expected)
		}
	})
}

func TestCall_HintFromOlderTerm_IsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b", "c")
		c := w.dial([]string{"a", "b", "c"})
		w.servers["a"].list, w.servers["b"].list, w.servers["c"].list = failing(notLeader("c", 5)), listing, listing
		if err := list(t, c); err != nil {
			t.Fatal(err)
		}
		w.servers["c"].set(func(s *server) { s.list = failing(notLeader("a", 4)) }) // c lags behind
		if err := list(t, c); err != nil {
			t.Fatal(err)
		}
		if a, b := calls(w.servers["a"]), calls(w.servers["b"]); len(a) != 1 || len(b) != 1 {
			t.Errorf("called a %d times and b %d times, want 1 each: an old hint was followed", len(a), len(b))
		}
	})
}

func TestCall_CircularHints_ArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b")
		c := w.dial([]string{"a", "b"})
		w.servers["a"].list, w.servers["b"].list = failing(notLeader("b", 5)), failing(notLeader("a", 5))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := c.Definitions().ListDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{})
		if !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ListDefinitions() error = %v, want DeadlineExceeded without an unknown outcome", err)
		}
		if n := len(calls(w.servers["a"])) + len(calls(w.servers["b"])); n > 100 {
			t.Errorf("made %d calls in 10 s, want at most 100", n)
		}
	})
}

func TestCall_UnreachableHint_FallsBackToEndpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "balancer", "inside")
		c := w.dial([]string{"balancer"})
		w.servers["inside"].down() // reachable only behind the balancer
		n := 0
		w.servers["balancer"].list = func(ctx context.Context, q *gatekeeperv1.ListDefinitionsRequest) (*gatekeeperv1.ListDefinitionsResponse, error) {
			if n++; n%2 == 1 {
				return nil, notLeader("inside", 5)
			}
			return listing(ctx, q)
		}
		for range 2 {
			if err := list(t, c); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestCall_DeadEndpoint_RotatesWithoutPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b")
		c := w.dial([]string{"a", "b"})
		w.servers["a"].down()
		w.servers["b"].list = listing
		start := time.Now()
		if err := list(t, c); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 100*time.Millisecond {
			t.Errorf("call took %s, want at most 100ms", took)
		}
	})
}

func TestCall_TooManyInvalidTokens_IsThrottled(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.list = failing(refused(codes.ResourceExhausted, reasonTooManyFailures))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := c.Definitions().ListDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{})
		u, ok := errors.AsType[*UnavailableError](err)
		if !ok || !u.Throttled() || u.Recovering() {
			t.Fatalf("ListDefinitions() error = %#v, want Throttled", err)
		}
		if !strings.HasPrefix(err.Error(), "the servers are responding, but are not checking tokens from this address for now: ") {
			t.Errorf("error = %q", err)
		}
	})
}

func TestCall_RecoveredCluster_IsRecovering(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.list = failing(refused(codes.Unavailable, reasonRecovering))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := c.Definitions().ListDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{})
		u, ok := errors.AsType[*UnavailableError](err)
		if !ok || !u.Recovering() || u.NoLeader() || !errors.Is(err, ErrUnavailable) {
			t.Fatalf("ListDefinitions() error = %#v, want Recovering", err)
		}
		if !strings.HasPrefix(err.Error(), "the servers are responding, but are not granting permits yet: "+endpoint("a")) {
			t.Errorf("error = %q", err)
		}
	})
}

func TestCall_NoServerResponds_ErrorListsEveryEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b")
		c := w.dial([]string{"a", "b"})
		w.servers["a"].down()
		w.servers["b"].list = failing(refused(codes.Unavailable, reasonNoLeader))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := c.Definitions().ListDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{})
		u, ok := errors.AsType[*UnavailableError](err)
		if !ok || len(u.Tried) != 2 || u.Unknown {
			t.Fatalf("ListDefinitions() error = %#v, want 2 endpoints tried", err)
		}
		if !u.NoLeader() {
			t.Error("NoLeader() = false, want true after NO_LEADER")
		}
		for _, want := range []string{"the servers are responding, but none of them is the leader: ", endpoint("a"), endpoint("b"), "the server is down", reasonNoLeader} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error = %q, want it to contain %q", err, want)
			}
		}
	})
}

// A failed call is retried only if a retry is safe after that kind of failure.
func TestCall_Retries_OnlyIfSafe(t *testing.T) {
	notDone := []error{refused(codes.Unavailable, reasonNoLeader), refused(codes.Unavailable, reasonRecovering), refused(codes.Unavailable, reasonNotAppended),
		refused(codes.Unavailable, reasonHopLimit), notLeader("nowhere", 1), refused(codes.ResourceExhausted, reasonNotAppended),
		refused(codes.Aborted, reasonSubmissionLost)}
	unknown := []error{refused(codes.Unavailable, reasonOutcomeUnknown), refused(codes.Unavailable, reasonNotConfirmed),
		refused(codes.Unavailable, reasonShuttingDown), status.Error(codes.Unavailable, "reset"), status.Error(codes.Canceled, "reset")}
	final := []error{refused(codes.InvalidArgument, reasonInvalidField), refused(codes.Aborted, reasonStaleVersion),
		refused(codes.Internal, "INTERNAL"), status.Error(codes.PermissionDenied, "no"), refused(codes.Aborted, "SUPERSEDED")}

	methods := map[string]func(context.Context, *Client) error{
		"edit with request id": func(ctx context.Context, c *Client) error {
			_, err := c.Definitions().BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{RequestId: "r"})
			return err
		},
		"edit without request id": func(ctx context.Context, c *Client) error {
			_, err := c.Definitions().BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{})
			return err
		},
		"clear": func(ctx context.Context, c *Client) error {
			_, err := c.Permits().Clear(ctx, &gatekeeperv1.ClearRequest{Token: 1})
			return err
		},
		"release": func(ctx context.Context, c *Client) error {
			_, err := c.Permits().Release(ctx, &gatekeeperv1.ReleaseRequest{Token: 1})
			return err
		},
		"read": func(ctx context.Context, c *Client) error {
			_, err := c.Definitions().ListDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{})
			return err
		},
	}
	safe := map[string]bool{"edit with request id": true, "release": true, "read": true}
	for name, call := range methods {
		for kind, failures := range map[string][]error{"not done": notDone, "unknown": unknown, "final": final} {
			for _, failure := range failures {
				t.Run(name+"/"+kind+"/"+failure.Error(), func(t *testing.T) {
					withServer(t, func(t *testing.T, c *Client, a *server) {
						n := 0
						once := func() error {
							if n++; n == 1 {
								return failure
							}
							return nil
						}
						a.batch = func(context.Context, *gatekeeperv1.BatchEditRequest) (*gatekeeperv1.BatchEditResponse, error) {
							return &gatekeeperv1.BatchEditResponse{}, once()
						}
						a.clear = func(context.Context, *gatekeeperv1.ClearRequest) (*gatekeeperv1.ClearResponse, error) {
							return &gatekeeperv1.ClearResponse{}, once()
						}
						a.release = func(context.Context, *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error) {
							return &gatekeeperv1.ReleaseResponse{}, once()
						}
						a.list = func(context.Context, *gatekeeperv1.ListDefinitionsRequest) (*gatekeeperv1.ListDefinitionsResponse, error) {
							return &gatekeeperv1.ListDefinitionsResponse{}, once()
						}
						err := call(t.Context(), c)
						repeats := kind == "not done" || kind == "unknown" && safe[name]
						if repeated := n > 1; repeated != repeats || (err == nil) != repeats {
							t.Errorf("made %d calls, error = %v; want a retry only if it is safe", n, err)
						}
						if unsafe := kind == "unknown" && !safe[name]; errors.Is(err, ErrOutcomeUnknown) != unsafe {
							t.Errorf("error = %v, want ErrOutcomeUnknown only after an unsafe call with an unknown outcome", err)
						}
					})
				})
			}
		}
	}
}

func TestCall_UnreachableServer_IsRetriedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b")
		c := w.dial([]string{"a", "b"})
		w.servers["a"].down()
		w.servers["b"].clear = func(context.Context, *gatekeeperv1.ClearRequest) (*gatekeeperv1.ClearResponse, error) {
			return &gatekeeperv1.ClearResponse{}, nil
		}
		if _, err := c.Permits().Clear(t.Context(), &gatekeeperv1.ClearRequest{Token: 1}); err != nil {
			t.Error(err)
		}
	})
}

func TestErrors_AreClassifiedByReason(t *testing.T) {
	is := func(target any) func(error) bool {
		return func(err error) bool { return errors.As(err, target) }
	}
	for reason, matches := range map[string]func(error) bool{
		reasonInvalidField:     is(new(*InvalidFieldError)),
		reasonStaleVersion:     is(new(*StaleVersionError)),
		reasonAlreadyExists:    is(new(*AlreadyExistsError)),
		reasonNoSuchDefinition: is(new(*NoSuchDefinitionError)),
		reasonNoMatch:          is(new(*NoMatchError)),
		reasonNoSuchPermit:     is(new(*NoSuchPermitError)),
		reasonRevisionChanged:  is(new(*RevisionChangedError)),
		reasonRequestEnded:     is(new(*RequestEndedError)),
		"MEMBER_EXISTS":        is(new(*StatusError)),
	} {
		err := typed(t.Context(), refused(codes.FailedPrecondition, reason, "name", "n", "current", "9", "expected", "8", "index", "3", "token", "7"))
		var base *StatusError
		if !matches(err) || !errors.As(err, &base) || base.Reason != reason || status.Code(err) != codes.FailedPrecondition {
			t.Errorf("%s: typed() = %#v", reason, err)
		}
	}
	stale, _ := errors.AsType[*StaleVersionError](typed(t.Context(), refused(codes.Aborted, reasonStaleVersion, "name", "n", "current", "9", "expected", "8", "index", "3")))
	if stale == nil || stale.Name != "n" || stale.Current != 9 || stale.Expected != 8 || stale.Index != 3 {
		t.Errorf("typed() = %#v, want name n, current 9, expected 8, index 3", stale)
	}
}

func TestMembers_QueriesEachDirectly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b", "c")
		members := []*gatekeeperv1.Member{
			{Id: "c", ApiAddress: endpoint("c")}, {Id: "a", ApiAddress: endpoint("a"), Leader: true}, {Id: "b", ApiAddress: endpoint("b")}, {Id: "d"},
		}
		for name, s := range w.servers {
			s.status = func() *gatekeeperv1.GetStatusResponse {
				return &gatekeeperv1.GetStatusResponse{Id: name, Term: 3, Members: members}
			}
		}
		w.servers["c"].down()
		c := w.dial([]string{"b"}) // the client discovers the others from b's status
		all := must(c.Members(t.Context(), &gatekeeperv1.GetStatusRequest{}))(t)
		var ids []string
		for _, m := range all {
			ids = append(ids, m.ID())
			if reached := m.ID() == "a" || m.ID() == "b"; (m.Err == nil) != reached || (m.Status != nil) != reached || m.Member == nil {
				t.Errorf("%s: got %+v", m.ID(), m)
			}
		}
		if !slices.Equal(ids, []string{"a", "b", "c", "d"}) {
			t.Errorf("Members() ids = %v, want [a b c d]", ids)
		}
	})
}

func TestWatch_BrokenStream_ContinuesAfterTheLastRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b")
		c := w.dial([]string{"a", "b"})
		var from []uint64
		w.servers["a"].watch = func(q *gatekeeperv1.WatchRequest, s gatekeeperv1.WatchService_WatchServer) error {
			from = append(from, q.GetFromRevision())
			for r := uint64(10); r < 13; r++ {
				if err := s.Send(&gatekeeperv1.WatchResponse{Revision: r}); err != nil {
					return err
				}
			}
			return refused(codes.Unavailable, reasonShuttingDown)
		}
		w.servers["b"].watch = func(q *gatekeeperv1.WatchRequest, s gatekeeperv1.WatchService_WatchServer) error {
			from = append(from, q.GetFromRevision())
			return s.Send(&gatekeeperv1.WatchResponse{Revision: 13})
		}
		var revisions []uint64
		for r, err := range c.Watch(t.Context(), &gatekeeperv1.WatchRequest{}) {
			if err != nil {
				t.Fatal(err)
			}
			if revisions = append(revisions, r.GetRevision()); len(revisions) == 4 {
				break
			}
		}
		if !slices.Equal(revisions, []uint64{10, 11, 12, 13}) || !slices.Equal(from, []uint64{0, 13}) {
			t.Errorf("got revisions %v from streams starting at %v, want [10 11 12 13] from [0 13]", revisions, from)
		}
	})
}

// Calls share the router, so another call can move the target past an endpoint that this call has not tried.
func TestDo_EndpointNotTried_DoesNotCountAsACertificateError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b", "c")
		c := w.dial([]string{"a", "b", "c"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		attempts := make(map[string]int)
		err := c.do(ctx, call{harmless: true, timeout: time.Second}, func(_ context.Context, conn *link) error {
			at := conn.Target()
			attempts[at]++
			if at == endpoint("c") {
				return nil
			}
			if at == endpoint("b") && attempts[at] == 1 { // simulates another call failing at b and c
				c.router.failed(endpoint("b"))
				c.router.failed(endpoint("c"))
			}
			return &CertificateError{Endpoint: at, ByServer: true, Err: errors.New("bad certificate")}
		})
		if err != nil {
			t.Errorf("do() = %v after calls %v, want nil", err, attempts)
		}
	})
}
