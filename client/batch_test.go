package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// inBatches marks the names of subtests whose clients send requests in batches where possible.
const inBatches = "in_batches"

// forceBatches makes a client send requests for these semaphores in batches, even with few callers.
func forceBatches(t *testing.T, client *Client, name string, semaphores ...string) *coalescer {
	t.Helper()
	conn := must(client.router.conn(endpoint(name)))(t)
	if conn.batches != nil {
		conn.batches.mu.Lock()
		defer conn.batches.mu.Unlock()
		conn.batches.callers += minConcurrent
		for _, s := range semaphores {
			conn.batches.denied[s] = true
		}
	}
	return conn.batches
}

// BatchTryAcquire leaves every request undecided unless the test sets tryBatch.
func (s *server) BatchTryAcquire(ctx context.Context, q *gatekeeperv1.BatchTryAcquireRequest) (*gatekeeperv1.BatchTryAcquireResponse, error) {
	s.set(func(s *server) { s.batches = append(s.batches, q) })
	if get(s, func(s *server) bool { return s.unreachable }) {
		return nil, errDown
	}
	if f := get(s, func(s *server) batchHook { return s.tryBatch }); f != nil {
		return f(ctx, q)
	}
	r := new(gatekeeperv1.BatchTryAcquireResponse)
	for range q.GetRequests() {
		r.Results = append(r.Results, new(gatekeeperv1.TryAcquireResult))
	}
	return r, nil
}

type batchHook = func(context.Context, *gatekeeperv1.BatchTryAcquireRequest) (*gatekeeperv1.BatchTryAcquireResponse, error)

func sentBatches(s *server) []*gatekeeperv1.BatchTryAcquireRequest {
	return get(s, func(s *server) []*gatekeeperv1.BatchTryAcquireRequest { return slices.Clone(s.batches) })
}

func noFreePermit() *gatekeeperv1.Denial {
	return &gatekeeperv1.Denial{Reason: gatekeeperv1.Reason_REASON_NO_FREE_PERMIT}
}

// denyAll makes the server deny every request, whether sent alone or in a batch.
func (s *server) denyAll() {
	s.set(func(s *server) {
		s.tryAcquire = func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			return &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Denial{Denial: noFreePermit()}}, nil
		}
		s.tryBatch = func(_ context.Context, q *gatekeeperv1.BatchTryAcquireRequest) (*gatekeeperv1.BatchTryAcquireResponse, error) {
			r := new(gatekeeperv1.BatchTryAcquireResponse)
			for range q.GetRequests() {
				r.Results = append(r.Results, &gatekeeperv1.TryAcquireResult{Result: &gatekeeperv1.TryAcquireResult_Denial{Denial: noFreePermit()}})
			}
			return r, nil
		}
	})
}

// A Client behaves the same whether or not its requests are sent in batches.
func TestCalls_InBatches_BehaveTheSame(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"retries":         TestTryAcquire_Retries_KeepIDsAndMeasureDurationFromSuccessfulAttempt,
		"denied":          TestTryAcquire_Denied_ReturnsTheReason,
		"late response":   TestTryAcquire_LateResponse_IsRetried,
		"unknown outcome": TestTryAcquire_ContextEndsWithUnknownOutcome_CancelsTheRequest,
		"stop time":       TestTryAcquire_StopTimeTooLong_FailsAndFreesPermit,
		"same holder":     TestTryAcquire_HolderIDInUse_IsRefusedUntilItsPermitHasEnded,
		"release":         TestRelease_HeldPermit_EndsBeforeRequestIsSent,
		"lost release":    TestRelease_Unanswered_TokenIsNotAcceptedAgain,
		"safe retries":    TestCall_Retries_OnlyIfSafe,
		"kept alive":      TestPermit_ReachableServer_IsKeptAliveForHours,
		"failover":        TestRelease_FailoverOutlastsDeadline_FreesTheSlot,
	} {
		t.Run(inBatches+" "+name, test)
	}
}

func TestBatch_ManyDeniedCallers_ShareBatches(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.denyAll()
		try := func() {
			if _, err := c.Semaphore("s").TryAcquire(t.Context()); !errors.Is(err, ErrDenied) {
				t.Error(err)
			}
		}
		for range 5 {
			try()
		}
		if n := len(sentBatches(a)); n != 0 {
			t.Fatalf("one caller sent %d batches, want 0", n)
		}
		const callers, each = 50, 20
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				for range each {
					try()
				}
			})
		}
		group.Wait()
		together := 0
		for _, b := range sentBatches(a) {
			together += len(b.GetRequests())
		}
		if alone := len(calls(a)) - 5; together+alone != callers*each || together < callers {
			t.Errorf("sent %d requests in batches and %d alone, want %d in total and at least %d in batches", together, alone, callers*each, callers)
		}
	})
}

// Batches never grant permits, so the next request for a semaphore is sent alone if the last one was granted.
func TestBatch_LastRequestGranted_IsSentAlone(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.tryAcquire = grants(7, time.Minute)
		forceBatches(t, c, "a", "s")
		for range 3 {
			must(c.Permits().TryAcquire(t.Context(), &gatekeeperv1.TryAcquireRequest{Semaphore: "s"}))(t)
		}
		if n := len(sentBatches(a)); n != 1 {
			t.Errorf("sent %d batches, want 1 for the first request", n)
		}
	})
}

func TestBatch_BatchInFlight_CollectsRequests(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.denyAll()
		deny, unblock := a.tryBatch, make(chan struct{})
		a.tryBatch = func(ctx context.Context, q *gatekeeperv1.BatchTryAcquireRequest) (*gatekeeperv1.BatchTryAcquireResponse, error) {
			<-unblock
			return deny(ctx, q)
		}
		forceBatches(t, c, "a", "s")
		try := func(ctx context.Context) error {
			_, err := c.Permits().TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{Semaphore: "s"})
			return err
		}
		var group sync.WaitGroup
		group.Go(func() { _ = try(t.Context()) })
		synctest.Wait()
		// A caller waiting for the next batch gives up. Its request is not sent, and the other callers are not
		// affected.
		ctx, cancel := context.WithCancel(t.Context())
		group.Go(func() {
			u := new(UnavailableError)
			if err := try(ctx); !errors.As(err, &u) || u.Unknown || !errors.Is(err, context.Canceled) {
				t.Errorf("TryAcquire() error = %v, want context.Canceled without an unknown outcome", err)
			}
		})
		for range 10 {
			group.Go(func() {
				if err := try(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(unblock)
		group.Wait()
		var sizes []int
		for _, b := range sentBatches(a) {
			sizes = append(sizes, len(b.GetRequests()))
		}
		if !slices.Equal(sizes, []int{1, 10}) {
			t.Errorf("sent batches of %v requests, want [1 10]", sizes)
		}
	})
}

func TestBatch_CallerStopsWaiting_OthersAreNotAffected(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.denyAll()
		deny, unblock := a.tryBatch, make(chan struct{})
		a.tryBatch = func(ctx context.Context, q *gatekeeperv1.BatchTryAcquireRequest) (*gatekeeperv1.BatchTryAcquireResponse, error) {
			select {
			case <-unblock:
				return deny(ctx, q)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		forceBatches(t, c, "a", "s")
		ctx, cancel := context.WithCancel(t.Context())
		errs := make([]error, 3)
		var group sync.WaitGroup
		for i := range errs {
			group.Go(func() {
				ctx := ctx
				if i != 1 {
					ctx = t.Context()
				}
				q := &gatekeeperv1.TryAcquireRequest{Semaphore: "s"}
				_, errs[i] = c.Permits().TryAcquire(ctx, q)
				q.Semaphore = "changed by its caller" // the race detector reports a goroutine that still reads it
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(unblock)
		group.Wait()
		if errs[0] != nil || !errors.Is(errs[1], context.Canceled) || errors.Is(errs[1], ErrOutcomeUnknown) || errs[2] != nil {
			t.Errorf("TryAcquire() errors = %v, want nil, context.Canceled, nil", errs)
		}
	})
}

// A request that a batch leaves undecided is retried alone, and its outcome is not reported as unknown. This includes
// requests without an id, which are otherwise never retried.
func TestBatch_Results_AreReturnedToTheirCallers(t *testing.T) {
	undecided := &gatekeeperv1.BatchTryAcquireResponse{Results: []*gatekeeperv1.TryAcquireResult{{}}}
	answered := func(r *gatekeeperv1.TryAcquireResult) *gatekeeperv1.BatchTryAcquireResponse {
		return &gatekeeperv1.BatchTryAcquireResponse{Results: []*gatekeeperv1.TryAcquireResult{r}}
	}
	changed := status.Convert(refused(codes.Aborted, reasonRevisionChanged)).Proto()
	for name, test := range map[string]struct {
		reply    *gatekeeperv1.BatchTryAcquireResponse
		err      error
		alone    bool
		disables bool
	}{
		"denied":          {reply: answered(&gatekeeperv1.TryAcquireResult{Result: &gatekeeperv1.TryAcquireResult_Denial{Denial: noFreePermit()}})},
		"refused":         {reply: answered(&gatekeeperv1.TryAcquireResult{Result: &gatekeeperv1.TryAcquireResult_Error{Error: &gatekeeperv1.CallError{Code: changed.GetCode(), Message: changed.GetMessage(), Details: changed.GetDetails()}}})},
		"undecided":       {reply: undecided, alone: true},
		"no error":        {reply: answered(&gatekeeperv1.TryAcquireResult{Result: &gatekeeperv1.TryAcquireResult_Error{Error: new(gatekeeperv1.CallError)}}), alone: true},
		"too few results": {reply: new(gatekeeperv1.BatchTryAcquireResponse), alone: true},
		"connection lost": {err: status.Error(codes.Unavailable, "reset"), alone: true, disables: true},
		"leader changed":  {err: refused(codes.Unavailable, reasonOutcomeUnknown), alone: true, disables: true},
		"older server":    {err: status.Error(codes.Unimplemented, "unknown method BatchTryAcquire"), alone: true, disables: true},
		"overloaded":      {err: refused(codes.ResourceExhausted, reasonNotAppended), alone: true, disables: true},
	} {
		t.Run(name, func(t *testing.T) {
			withServer(t, func(t *testing.T, c *Client, a *server) {
				a.tryAcquire = grants(7, time.Minute)
				a.tryBatch = func(context.Context, *gatekeeperv1.BatchTryAcquireRequest) (*gatekeeperv1.BatchTryAcquireResponse, error) {
					return test.reply, test.err
				}
				b := forceBatches(t, c, "a", "s")
				r, err := c.Permits().TryAcquire(t.Context(), &gatekeeperv1.TryAcquireRequest{Semaphore: "s"})
				if test.alone != (r.GetGrant() != nil) || len(calls(a)) > 1 || test.alone && err != nil {
					t.Errorf("TryAcquire() = %v, %v after calls %v, want a separate TryAcquire only if the batch left the request undecided", r, err, calls(a))
				}
				if name == "denied" && r.GetDenial() == nil || name == "refused" && !errors.As(err, new(*RevisionChangedError)) {
					t.Errorf("TryAcquire() = %v, %v, want the denial or error from the batch", r, err)
				}
				b.mu.Lock()
				b.denied["s"] = true
				b.mu.Unlock()
				_, _ = c.Permits().TryAcquire(t.Context(), &gatekeeperv1.TryAcquireRequest{Semaphore: "s"})
				if n := len(sentBatches(a)); (n == 1) != test.disables {
					t.Errorf("sent %d batches, want batches disabled = %t", n, test.disables)
				}
			})
		})
	}
}

// Calls with gRPC metadata or call options, and requests that cannot be encoded, are sent alone, and do not affect
// other callers' requests.
func TestBatch_UnsupportedCall_IsSentAlone(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.denyAll()
		forceBatches(t, c, "a", "s", "\xff", "")
		plain := &gatekeeperv1.TryAcquireRequest{Semaphore: "s"}
		var header metadata.MD
		if _, err := c.Permits().TryAcquire(metadata.AppendToOutgoingContext(t.Context(), "k", "v"), plain); err != nil {
			t.Error(err)
		}
		if _, err := c.Permits().TryAcquire(t.Context(), plain, grpc.Header(&header)); err != nil || header == nil {
			t.Errorf("got header %v, error %v", header, err)
		}
		for _, q := range []*gatekeeperv1.TryAcquireRequest{
			{Semaphore: "s", Metadata: map[string]string{"k": strings.Repeat("v", maxRequestBytes)}},
			{Semaphore: "\xff"},
			{Semaphore: "s", Identity: &gatekeeperv1.Identity{Acquirer: "\xff"}},
		} {
			_, _ = c.Permits().TryAcquire(t.Context(), q)
		}
		if n := len(sentBatches(a)); n != 0 {
			t.Errorf("sent %d batches, want 0", n)
		}
		if _, err := c.Permits().TryAcquire(t.Context(), plain); err != nil || len(sentBatches(a)) != 1 {
			t.Errorf("plain request: error = %v, sent %d batches, want 1", err, len(sentBatches(a)))
		}
	})
}

func TestBatch_LargeRequests_AreSplit(t *testing.T) {
	b := newCoalescer(nil, 0)
	defer b.close()
	var want []string
	for i := range 2 * maxBatch {
		q := &gatekeeperv1.TryAcquireRequest{RequestId: fmt.Sprint(i)}
		if i%2 == 0 {
			q.Metadata = map[string]string{"k": strings.Repeat("v", maxRequestBytes-100)}
		}
		encoded, ok := encode(q)
		if !ok {
			t.Fatal("encode() = false, want true")
		}
		b.next = append(b.next, &batched{ctx: t.Context(), encoded: encoded})
		want = append(want, q.GetRequestId())
	}
	var got []string
	for calls := b.take(); calls != nil; calls = b.take() {
		var fields []byte
		for _, c := range calls {
			fields = append(fields, c.encoded...)
		}
		m := new(gatekeeperv1.BatchTryAcquireRequest)
		if err := proto.Unmarshal(fields, m); err != nil || len(m.GetRequests()) != len(calls) {
			t.Fatalf("decoded %d of %d requests: %v", len(m.GetRequests()), len(calls), err)
		}
		if len(fields) > maxBatchBytes || len(calls) > maxBatch {
			t.Errorf("batch has %d requests and %d bytes, want both within the limits", len(calls), len(fields))
		}
		for _, q := range m.GetRequests() {
			got = append(got, q.GetRequestId())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("sent %d requests, want %d in the original order", len(got), len(want))
	}
}

func TestClose_BatchInFlight_IsCanceled(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.tryBatch = func(ctx context.Context, _ *gatekeeperv1.BatchTryAcquireRequest) (*gatekeeperv1.BatchTryAcquireResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		forceBatches(t, c, "a", "s")
		done := make(chan error, 1)
		go func() {
			_, err := c.Permits().TryAcquire(t.Context(), &gatekeeperv1.TryAcquireRequest{Semaphore: "s"})
			done <- err
		}()
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err == nil {
			t.Error("TryAcquire() error = nil after Close, want an error")
		}
	})
}

func TestWithCallsAlone_SendsNoBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		c := w.dial([]string{"a"}, WithCallsAlone())
		a := w.servers["a"]
		a.denyAll()
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				for range 10 {
					_, _ = c.Semaphore("s").TryAcquire(t.Context())
				}
			})
		}
		group.Wait()
		if n := len(sentBatches(a)); n != 0 {
			t.Errorf("sent %d batches, want 0", n)
		}
	})
}
