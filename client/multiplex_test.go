package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// byStream is part of the name of a test in which all calls that can be carried are.
const byStream = "by_stream"

// openLines opens a stream to each endpoint that can be reached.
func (c *cluster) openLines(client *Client, endpoints []string) {
	c.t.Helper()
	for _, e := range endpoints {
		conn, err := client.router.conn(e)
		if err != nil {
			c.t.Fatal(err)
		}
		if conn.shared != nil {
			conn.shared.open()
		}
	}
	synctest.Wait()
}

// What a Client does is the same whichever way its calls go.
func TestCalls_GoByStream_NothingElseChanges(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"retries":             TestTryAcquire_Retries_KeepIDsAndCountFromTheAnsweredAttempt,
		"denied":              TestTryAcquire_Denied_SaysWhy,
		"too late":            TestTryAcquire_AnswerTooLate_IsAskedAgain,
		"unknown outcome":     TestTryAcquire_ContextEndsWithUnknownOutcome_TakesBack,
		"stop time":           TestTryAcquire_StopTimeTooLong_IsRefusedAndGivenBack,
		"same holder":         TestTryAcquire_HolderIDInUse_IsRefusedUntilItsPermitHasEnded,
		"belief":              TestRelease_BeliefEndsBeforeItIsSent,
		"ended context":       TestRelease_EndedContext_IsSentAllTheSame,
		"ended before":        TestRelease_EndedBefore_IsTruthful,
		"unanswered":          TestRelease_Unanswered_ItsTokenIsNotTakenAgain,
		"close":               TestClose_EndsBeliefAndReleasesNothing,
		"repeats":             TestCall_Repeats_OnlyWhatIsSafe,
		"kept alive":          TestPermit_ReachableServer_IsKeptAliveForHours,
		"fail-over":           TestRelease_FailOverThatOutlastsTheDeadline_FreesTheSlot,
		"after the deadline":  TestRelease_AfterTheDeadline_IsTriedAsLongAsAServerMayHoldThePermit,
		"no server":           TestRelease_NoServerAnswers_ReturnsWhenNoServerCanHoldThePermitAnyMore,
		"given up by context": TestRelease_CallersContextEnds_EndsIt,
	} {
		t.Run(byStream+" "+name, test)
	}
}

func muxStreams(s *server) int { return get(s, func(s *server) int { return s.muxStreams }) }

// until makes every TryAcquire wait until let is closed, and then be denied.
func until(let <-chan struct{}) func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
	return func(ctx context.Context, _ *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
		select {
		case <-let:
			d := &gatekeeperv1.Denial{Reason: gatekeeperv1.Reason_REASON_NO_FREE_PERMIT}
			return &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Denial{Denial: d}}, nil
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
}

func TestMultiplex_OneCallerAlone_HasNoStream_ManyShareOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		c := w.dial([]string{"a"})
		let := make(chan struct{})
		close(let)
		w.servers["a"].tryAcquire = until(let)
		for range 5 {
			if _, err := c.Semaphore("s").TryAcquire(t.Context()); !errors.As(err, new(*DeniedError)) {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n := muxStreams(w.servers["a"]); n != 0 {
			t.Fatalf("%d streams for one caller", n)
		}
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				for range 20 {
					if _, err := c.Semaphore("s").TryAcquire(t.Context()); !errors.As(err, new(*DeniedError)) {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		if n := muxStreams(w.servers["a"]); n != 1 {
			t.Fatalf("%d streams for many callers", n)
		}
		conn, _ := c.router.conn(endpoint("a"))
		pass(3 * idleMuxStream)
		synctest.Wait()
		if conn.shared.current.Load() != nil {
			t.Error("a stream that nobody uses is kept")
		}
		if _, err := c.Semaphore("s").TryAcquire(t.Context()); !errors.As(err, new(*DeniedError)) {
			t.Fatal(err)
		}
	})
}

// A server that does not know the call is asked as ever, and not for a stream again and again.
func TestMultiplex_OlderServer_IsCalledAsEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		c := w.dial([]string{"a"})
		let := make(chan struct{})
		close(let)
		a := w.servers["a"]
		a.tryAcquire = until(let)
		asked := 0
		a.multiplex = func(gatekeeperv1.PermitService_MultiplexServer) error {
			a.set(func(*server) { asked++ })
			return status.Error(codes.Unimplemented, "unknown method Multiplex")
		}
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				for range 10 {
					if _, err := c.Semaphore("s").TryAcquire(t.Context()); !errors.As(err, new(*DeniedError)) {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		if n := get(a, func(*server) int { return asked }); n != 1 {
			t.Errorf("it was asked for a stream %d times", n)
		}
	})
}

func TestMultiplex_CallGivenUp_LeavesTheOthersAlone_AndTheServerHearsOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		c := w.dial([]string{"a"})
		w.openLines(c, []string{endpoint("a")})
		let, ended := make(chan struct{}), make(chan string, 10)
		wait := until(let)
		w.servers["a"].tryAcquire = func(ctx context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			r, err := wait(ctx, q)
			if err != nil {
				ended <- q.GetSemaphore()
			}
			return r, err
		}
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for i := range 3 {
			group.Go(func() {
				ctx := ctx
				if i != 1 {
					ctx = t.Context()
				}
				_, err := c.Permits().TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{Semaphore: fmt.Sprint(i)})
				if u := new(UnavailableError); i == 1 && (!errors.As(err, &u) || !u.Unknown || !errors.Is(err, context.Canceled)) || i != 1 && err != nil {
					t.Errorf("call %d: %v", i, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if len(ended) != 1 || <-ended != "1" {
			t.Errorf("%d calls ended at the server", len(ended))
		}
		close(let)
		group.Wait()
	})
}

// Calls of which nothing was done are made in another way; what was sent is not known to be undone.
func TestMultiplex_StreamEnds_EachCallKnowsWhatItMeans(t *testing.T) {
	for name, test := range map[string]struct {
		taken   *uint64
		err     error
		repeats bool
	}{
		"in order, both taken on":   {new(uint64(2)), refused(codes.Unavailable, reasonNotLeader), false},
		"in order, one taken on":    {new(uint64(1)), refused(codes.Unavailable, reasonNotLeader), true},
		"it broke":                  {nil, status.Error(codes.Unavailable, "reset"), false},
		"it broke as if by refusal": {nil, refused(codes.Unavailable, reasonNotLeader), false},
		"it was refused for good":   {nil, refused(codes.InvalidArgument, reasonInvalidField), false},
		"it ended well":             {nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newCluster(t, "a")
				c := w.dial([]string{"a"})
				a := w.servers["a"]
				a.multiplex = func(stream gatekeeperv1.PermitService_MultiplexServer) error {
					if _, err := stream.Recv(); err != nil {
						return err
					}
					if err := stream.Send(new(gatekeeperv1.MultiplexResponse)); err != nil {
						return err
					}
					for n := 0; n < 2; {
						frame, err := stream.Recv()
						if err != nil {
							return err
						}
						n += len(frame.GetCalls())
					}
					if test.taken != nil {
						answer := &gatekeeperv1.NumberedAnswer{Number: 1, Answer: &gatekeeperv1.NumberedAnswer_TryAcquire{TryAcquire: granted("1", 1, time.Minute)}}
						if err := stream.Send(&gatekeeperv1.MultiplexResponse{Answers: []*gatekeeperv1.NumberedAnswer{answer}, Taken: test.taken}); err != nil {
							return err
						}
					}
					return test.err
				}
				a.tryAcquire = grants(7, time.Minute)
				w.openLines(c, []string{endpoint("a")})
				ask := func() error {
					_, err := c.Permits().TryAcquire(t.Context(), new(gatekeeperv1.TryAcquireRequest)) // without an id: no repeat is safe
					return err
				}
				errs := make([]error, 2)
				var group sync.WaitGroup
				for i := range errs {
					group.Go(func() { errs[i] = ask() })
					synctest.Wait()
				}
				group.Wait()
				if answered := test.taken != nil; (errs[0] == nil) != answered {
					t.Errorf("the first: %v", errs[0])
				}
				if (errs[1] == nil) != test.repeats || !test.repeats && !errors.Is(errs[1], ErrOutcomeUnknown) {
					t.Errorf("the second: %v", errs[1])
				}
				if n := len(calls(w, "a")); (n == 1) != test.repeats {
					t.Errorf("%d calls of their own", n)
				}
				if err := ask(); err != nil {
					t.Errorf("the next one: %v", err)
				}
			})
		})
	}
}

// What concerns gRPC, and what no server could read, goes on its own, and does no harm to calls of others.
func TestMultiplex_WhatCannotBeCarried_GoesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		c := w.dial([]string{"a"})
		w.openLines(c, []string{endpoint("a")})
		conn, _ := c.router.conn(endpoint("a"))
		carriedOn := func() uint64 { return conn.shared.current.Load().number }
		w.servers["a"].tryAcquire = grants(7, time.Minute)
		plain := &gatekeeperv1.TryAcquireRequest{Semaphore: "s"}
		for name, call := range map[string]func() error{
			"headers": func() error {
				_, err := c.Permits().TryAcquire(metadata.AppendToOutgoingContext(t.Context(), "k", "v"), plain)
				return err
			},
			"an option": func() error {
				var header metadata.MD
				_, err := c.Permits().TryAcquire(t.Context(), plain, grpc.Header(&header))
				if err == nil && header == nil {
					err = errors.New("no header came")
				}
				return err
			},
			"much text": func() error {
				_, err := c.Permits().TryAcquire(t.Context(), &gatekeeperv1.TryAcquireRequest{Semaphore: string(make([]byte, maxCarried+1))})
				return err
			},
		} {
			if err := call(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, bad := range []*gatekeeperv1.TryAcquireRequest{
			nil, {Semaphore: "\xff"}, {Identity: &gatekeeperv1.Identity{Acquirer: "\xff"}}, {Metadata: map[string]string{"\xff": ""}}, {Firing: &gatekeeperv1.Firing{Name: "\xff"}},
		} {
			_, _ = c.Permits().TryAcquire(t.Context(), bad)
		}
		if n := carriedOn(); n != 0 {
			t.Errorf("%d calls were carried", n)
		}
		if _, err := c.Permits().TryAcquire(t.Context(), plain); err != nil || carriedOn() != 1 {
			t.Errorf("a plain call: %v", err)
		}
	})
}

// A stream says once, when it is opened, which server is meant. When another one is meant at the same address, no more calls go by it.
func TestMultiplex_AnotherServerIsMeantAtTheAddress_TheStreamIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b")
		c := w.dial([]string{"a"})
		c.router.follow(endpoint("a"), leaderHint{address: endpoint("b"), name: "one/gk2", term: 1})
		w.openLines(c, []string{endpoint("b")})
		w.servers["b"].tryAcquire = grants(7, time.Minute)
		conn, _ := c.router.conn(endpoint("b"))
		ask := func() *muxStream {
			if _, err := c.Permits().TryAcquire(t.Context(), new(gatekeeperv1.TryAcquireRequest)); err != nil {
				t.Fatal(err)
			}
			return conn.shared.current.Load()
		}
		c.router.follow(endpoint("a"), leaderHint{address: endpoint("b"), name: "one/gk2", term: 2})
		if ask() == nil {
			t.Error("the stream was left for the same server")
		}
		c.router.follow(endpoint("a"), leaderHint{address: endpoint("b"), name: "two/gk2", term: 3})
		if ask() != nil {
			t.Error("a call went by the old stream")
		}
		synctest.Wait() // the old one has ended
		w.openLines(c, []string{endpoint("b")})
		if ask() == nil {
			t.Error("there is no new stream")
		}
	})
}

func TestWithCallsAlone_NoStreamIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		c := w.dial([]string{"a"}, WithCallsAlone())
		let := make(chan struct{})
		w.servers["a"].tryAcquire = until(let)
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() { _, _ = c.Semaphore("s").TryAcquire(t.Context()) })
		}
		synctest.Wait()
		close(let)
		group.Wait()
		if n := muxStreams(w.servers["a"]); n != 0 {
			t.Errorf("%d streams", n)
		}
	})
}
