package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// withWorkLimit limits the number of ordinary calls in progress.
func withWorkLimit(n int) func(*Config) {
	return func(c *Config) { c.Admission = admission.New(admission.NewLimits(n)) }
}

// blockCalls makes every TryAcquire on g block until release is called. started receives each call's acquirer.
func blockCalls(g *gate) (started chan string, release func()) {
	started, unblock := make(chan string, 1000), make(chan struct{})
	g.keeper.tryAcquire = func(ctx context.Context, c *keeper.AcquireCall) (keeper.Answer, error) {
		started <- c.Identity.Acquirer
		select {
		case <-unblock:
			return keeper.Answer{Outcome: semaphore.Denied, Denial: new(keeper.Denial)}, nil
		case <-ctx.Done():
			return keeper.Answer{}, ctx.Err()
		}
	}
	return started, sync.OnceFunc(func() { close(unblock) })
}

func request(acquirer string) *gatekeeperv1.TryAcquireRequest {
	return &gatekeeperv1.TryAcquireRequest{Semaphore: "s", Identity: &gatekeeperv1.Identity{Acquirer: acquirer}}
}

// occupy starts n blocked calls with different identities, at most perConn per connection. end lets them finish and
// checks that they succeed.
func occupy(t *testing.T, g *gate, n, perConn int) (end func()) {
	t.Helper()
	started, release := blockCalls(g)
	c := ctx(t)
	answers := make(chan error, n)
	var permits gatekeeperv1.PermitServiceClient
	for i := range n {
		if i%perConn == 0 {
			permits = gatekeeperv1.NewPermitServiceClient(dial(t, g.address, insecureCreds()))
		}
		go func(permits gatekeeperv1.PermitServiceClient) {
			_, err := permits.TryAcquire(c, request(fmt.Sprint("holder", i)))
			answers <- err
		}(permits)
	}
	for range n {
		receiveFrom(t, started)
	}
	return func() {
		t.Helper()
		release()
		for range n {
			if err := receiveFrom(t, answers); err != nil {
				t.Errorf("an admitted call failed: %v", err)
			}
		}
	}
}

// wantOverloaded checks that a call was refused because of the named limit, with a retry delay.
func wantOverloaded(t *testing.T, err error, scope string) {
	t.Helper()
	if got := want(t, err, codes.ResourceExhausted, "NOT_APPENDED")["of"]; got != scope {
		t.Fatalf("the %s limit refused the call, want the %s limit: %v", got, scope, err)
	}
	if retryAfter(err) <= 0 {
		t.Errorf("error without a retry delay: %v", err)
	}
}

func TestOverload_RefusesWithRetryDelayAndServesVitalCalls(t *testing.T) {
	g := open(t, withWorkLimit(16))
	end := occupy(t, g, 16, 4)

	_, err := g.permits.TryAcquire(ctx(t), request("another"))
	wantOverloaded(t, err, "server")

	// GetStatus and calls that refresh or end permits still work.
	g.keeper.refresh = func(_ context.Context, _ time.Time, r []keeper.TokenRefresh) ([]keeper.TokenResult, error) {
		return []keeper.TokenResult{{Token: r[0].Token, Status: keeper.StatusRefreshed}}, nil
	}
	g.keeper.release = func(fsm.Release) (fsm.ReleaseResult, error) { return fsm.ReleaseResult{}, nil }
	g.keeper.cancel = func(string, semaphore.Identity, string) (fsm.CancelResult, error) { return fsm.CancelResult{}, nil }
	one := &gatekeeperv1.TokenRefresh{Token: 1, Duration: durationpb.New(time.Minute)}
	stream, _ := keepAliveOn(t, g.permits, g)
	if err := stream.Send(&gatekeeperv1.KeepAliveRequest{Frame: 1, Tokens: []*gatekeeperv1.TokenRefresh{one}}); err != nil {
		t.Fatal(err)
	}
	_, keepAliveErr := stream.Recv()
	_, refreshErr := g.permits.Refresh(ctx(t), &gatekeeperv1.RefreshRequest{Tokens: []*gatekeeperv1.TokenRefresh{one}})
	_, releaseErr := g.permits.Release(ctx(t), &gatekeeperv1.ReleaseRequest{Token: 1})
	_, cancelErr := g.permits.Cancel(ctx(t), &gatekeeperv1.CancelRequest{Semaphore: "s", Identity: testIdentity(), RequestId: "r"})
	_, statusErr := g.cluster.GetStatus(ctx(t), new(gatekeeperv1.GetStatusRequest))
	_, healthErr := healthpb.NewHealthClient(g.conn).Check(ctx(t), new(healthpb.HealthCheckRequest))
	if err := errors.Join(keepAliveErr, refreshErr, releaseErr, cancelErr, statusErr, healthErr); err != nil {
		t.Errorf("a vital call failed: %v", err)
	}
	// Calls by operators and viewers work too.
	_, createErr := g.definitions.CreateDefinition(ctx(t), &gatekeeperv1.CreateDefinitionRequest{Definition: &gatekeeperv1.Definition{Name: "s"}})
	_, listErr := g.definitions.ListDefinitions(ctx(t), new(gatekeeperv1.ListDefinitionsRequest))
	if err := errors.Join(createErr, listErr); err != nil {
		t.Errorf("an operator's call failed: %v", err)
	}

	end()
	if _, err := g.permits.TryAcquire(ctx(t), request("another")); err != nil {
		t.Errorf("a call after the overload failed: %v", err)
	}
}

func TestOverload_RunawayConnection_OthersAreServed(t *testing.T) {
	g := open(t, withWorkLimit(16))
	end := occupy(t, g, 4, 4)
	defer end()
	// The calls made by occupy use a separate connection. This also tests that gRPC has one peer per
	// connection, as connectionOf assumes.
	runaway := gatekeeperv1.NewPermitServiceClient(dial(t, g.address, insecureCreds()))
	c := ctx(t)
	for i := range 4 {
		go func() { _, _ = runaway.TryAcquire(c, request(fmt.Sprint("runaway", i))) }()
	}
	eventually(t, "eight calls are in progress", func() bool { return g.api.cfg.Admission.CallsInProgress(admission.Ordinary) == 8 })
	_, err := runaway.TryAcquire(ctx(t), request("another"))
	wantOverloaded(t, err, "connection")
	refusedBefore := g.api.cfg.Admission.Refused(admission.Ordinary, admission.Connection)
	go func() { _, _ = g.permits.TryAcquire(c, request("another")) }()
	eventually(t, "a call on another connection is in progress", func() bool { return g.api.cfg.Admission.CallsInProgress(admission.Ordinary) == 9 })
	if n := g.api.cfg.Admission.Refused(admission.Ordinary, admission.Connection); n != refusedBefore {
		t.Errorf("the connection limit refused %d calls, want %d", n, refusedBefore)
	}
}

func TestOverload_RunawayIdentity_IsRefusedOnEveryConnection(t *testing.T) {
	g := open(t, withWorkLimit(16))
	started, release := blockCalls(g)
	defer release()
	c := ctx(t)
	for range 4 {
		permits := gatekeeperv1.NewPermitServiceClient(dial(t, g.address, insecureCreds()))
		go func() { _, _ = permits.TryAcquire(c, request("runaway")) }()
		receiveFrom(t, started)
	}
	_, err := g.permits.TryAcquire(ctx(t), request("runaway"))
	wantOverloaded(t, err, "identity")
}

// A connection from another member carries calls from many clients.
func TestOverload_ForwardedCalls_AreNotLimitedAsOneConnection(t *testing.T) {
	leader, follower := pair(t, withWorkLimit(16))
	started, release := blockCalls(leader)
	defer release()
	c := ctx(t)
	answers := make(chan error, 16)
	for i := range 16 { // one connection per call, because the follower limits connections too
		server := follower
		if i < 2 {
			server = leader
		}
		permits := gatekeeperv1.NewPermitServiceClient(dial(t, server.address, insecureCreds()))
		go func() {
			_, err := permits.TryAcquire(c, request(fmt.Sprint("client", i)))
			answers <- err
		}()
	}
	for range 16 {
		receiveFrom(t, started)
	}
	_, err := follower.permits.TryAcquire(ctx(t), request("another"))
	wantOverloaded(t, err, "server")
	release()
	for range 16 {
		if err := receiveFrom(t, answers); err != nil {
			t.Errorf("a forwarded call failed: %v", err)
		}
	}
}

// Waiters that have been sent their place in the queue do not count as calls in progress, so there may be many.
func TestWaiters_FarAboveWorkLimit_AllWait(t *testing.T) {
	g := open(t, withWorkLimit(16))
	g.keeper.acquire = keepPlace
	const waiters = 500
	c := ctx(t)
	var waiting sync.WaitGroup
	for range waiters {
		waiting.Go(func() {
			stream, err := g.permits.Acquire(c, &gatekeeperv1.AcquireRequest{Semaphore: "s", Identity: testIdentity(), RequestId: "r"})
			if err == nil {
				_, err = stream.Recv()
			}
			if err != nil {
				t.Errorf("a waiting call failed: %v", err)
			}
		})
	}
	waiting.Wait()
	if open, inWork := g.api.cfg.Admission.OpenCalls(), g.api.cfg.Admission.CallsInProgress(admission.Waiting); open != waiters || inWork != 0 {
		t.Errorf("%d calls are open and %d in progress, want %d and 0", open, inWork, waiters)
	}
	occupy(t, g, 16, 4)()
}

// Calls that never send a message are limited per connection, so they do not block other clients.
func TestSlowLoris_CallsWithoutMessage_AreLimited(t *testing.T) {
	limits := admission.NewLimits(16)
	limits.Open[admission.Ordinary] = 6
	g := open(t, func(c *Config) { c.Admission = admission.New(limits) })
	_, release := blockCalls(g)
	release()
	begin := func(conn *grpc.ClientConn) grpc.ClientStream {
		return must(conn.NewStream(ctx(t), &grpc.StreamDesc{ClientStreams: true}, gatekeeperv1.PermitService_TryAcquire_FullMethodName))(t)
	}
	silent := dial(t, g.address, insecureCreds())
	for range 4 {
		begin(silent)
	}
	eventually(t, "four calls are open", func() bool { return g.api.cfg.Admission.OpenCalls() == 4 })
	wantOverloaded(t, begin(silent).RecvMsg(new(gatekeeperv1.TryAcquireResponse)), "connection")
	if _, err := g.permits.TryAcquire(ctx(t), request("another")); err != nil {
		t.Errorf("call while other calls were open: %v", err)
	}
	silent.Close()
	eventually(t, "no calls are open", func() bool { return g.api.cfg.Admission.OpenCalls() == 0 })
}

func TestAdmission_CallFailsOrPanics_IsReleased(t *testing.T) {
	g := open(t, withWorkLimit(16))
	g.keeper.tryAcquire = func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) { panic("boom") }
	g.keeper.acquire = func(context.Context, *keeper.AcquireCall, func(keeper.Place) error) (keeper.Answer, error) {
		panic("boom")
	}
	for range 40 { // more than the limit
		_, err := g.permits.TryAcquire(ctx(t), plainRequest)
		want(t, err, codes.Internal, "INTERNAL")
		_, err = g.permits.TryAcquire(ctx(t), request(""))
		want(t, err, codes.InvalidArgument, "INVALID_FIELD")
		stream, err := g.permits.Acquire(ctx(t), &gatekeeperv1.AcquireRequest{Semaphore: "s", Identity: testIdentity(), RequestId: "r"})
		if err == nil {
			_, err = stream.Recv()
		}
		want(t, err, codes.Internal, "INTERNAL")
	}
	eventually(t, "no calls are open", func() bool { return g.api.cfg.Admission.OpenCalls() == 0 })
	for _, k := range admission.Kinds() {
		if n := g.api.cfg.Admission.CallsInProgress(k); n != 0 {
			t.Errorf("%d %v calls are still in progress, want 0", n, k)
		}
	}
}

// The methods that are never refused are listed here, so that no other method becomes vital by accident.
func TestTraitsOf_OnlyListedMethodsAreVital(t *testing.T) {
	vital := map[string]bool{
		"/gatekeeper.v1.PermitService/KeepAlive": true, "/gatekeeper.v1.PermitService/Refresh": true,
		"/gatekeeper.v1.PermitService/Release": true, "/gatekeeper.v1.PermitService/Cancel": true,
		"/gatekeeper.v1.ClusterService/GetStatus": true,
	}
	for _, service := range append(services(), &healthpb.Health_ServiceDesc, &reflectionpb.ServerReflection_ServiceDesc) {
		for _, m := range service.Methods {
			name := "/" + service.ServiceName + "/" + m.MethodName
			if expected := vital[name] || service == &healthpb.Health_ServiceDesc; (traitsOf(name).kind == admission.Vital) != expected {
				t.Errorf("traitsOf(%s).kind = %v, want vital if and only if it is listed", name, traitsOf(name).kind)
			}
			if traitsOf(name).kind == admission.Waiting {
				t.Errorf("%s is of kind Waiting but is not a stream", name)
			}
		}
		for _, m := range service.Streams {
			name := "/" + service.ServiceName + "/" + m.StreamName
			if expected := vital[name] || service == &healthpb.Health_ServiceDesc; (traitsOf(name).kind == admission.Vital) != expected {
				t.Errorf("traitsOf(%s).kind = %v, want vital if and only if it is listed", name, traitsOf(name).kind)
			}
		}
	}
}

func TestOverload_IsLoggedOncePerInterval(t *testing.T) {
	var log bytes.Buffer
	var o overloads
	logger := slog.New(slog.NewTextHandler(&log, nil))
	busy := admission.Identity{Group: "prod", Acquirer: "app1"}
	for range 100 {
		o.note(t.Context(), logger, &admission.OverloadedError{Kind: admission.Ordinary, Limit: 7}, busy)
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "7 ordinary calls in progress") || !strings.Contains(text, "group=prod acquirer=app1") {
		t.Errorf("100 refusals: want one log line with the limit and the identity, got:\n%s", text)
	}
	o.warned = o.warned.Add(-warnInterval)
	o.note(t.Context(), logger, &admission.OverloadedError{Kind: admission.Ordinary, Limit: 7}, busy)
	if text := log.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "refused=100") {
		t.Errorf("refusal after the interval: want a second log line with refused=100, got:\n%s", text)
	}
}
