package api

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestReflection_ListsServices(t *testing.T) {
	g := open(t)
	stream := must(reflectionpb.NewServerReflectionClient(g.conn).ServerReflectionInfo(ctx(t)))(t)
	query := func(m *reflectionpb.ServerReflectionRequest) *reflectionpb.ServerReflectionResponse {
		if err := stream.Send(m); err != nil {
			t.Fatal(err)
		}
		return must(stream.Recv())(t)
	}
	list := query(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
	var names []string
	for _, s := range list.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	for _, service := range services() {
		if !slices.Contains(names, service.ServiceName) {
			t.Errorf("%s is missing from %v", service.ServiceName, names)
		}
		file := query(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: service.ServiceName,
		}})
		if len(file.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
			t.Errorf("%s has no descriptor: %v", service.ServiceName, file)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
}

// Calls to a method without an entitlement are refused, so every method needs one, including reflection and health.
func TestEntitlements_CoverEveryServedMethod(t *testing.T) {
	server := open(t).api.NewServer()
	defer server.Stop()
	for service, info := range server.GetServiceInfo() {
		for _, m := range info.Methods {
			if _, named := entitlements["/"+service+"/"+m.Name]; !named {
				t.Errorf("/%s/%s has no entitlement", service, m.Name)
			}
		}
	}
}

func TestHealth_FollowsConsensus(t *testing.T) {
	g := open(t)
	client := healthpb.NewHealthClient(g.conn)
	wantStatus := func(expected healthpb.HealthCheckResponse_ServingStatus) {
		t.Helper()
		for _, service := range []string{"", "gatekeeper.v1.PermitService", "gatekeeper.v1.DefinitionService", "gatekeeper.v1.ClusterService"} {
			eventually(t, service+" is "+expected.String(), func() bool {
				r := must(client.Check(ctx(t), &healthpb.HealthCheckRequest{Service: service}))(t)
				return r.GetStatus() == expected
			})
		}
	}
	wantStatus(healthpb.HealthCheckResponse_SERVING)
	g.consensus.setReady(errors.New("no leader known"))
	wantStatus(healthpb.HealthCheckResponse_NOT_SERVING)
	g.consensus.setReady(nil)
	wantStatus(healthpb.HealthCheckResponse_SERVING)
	g.api.Drain()
	wantStatus(healthpb.HealthCheckResponse_NOT_SERVING)
}

func TestDrain_EndsAndRefusesStreams_GracefulStopReturns(t *testing.T) {
	g := open(t)
	waiting := waitOn(t, g.permits, g)
	kept, listener := keepAliveOn(t, g.permits, g)
	watched, _ := openWatch(t, g, new(gatekeeperv1.WatchRequest))
	health := must(healthpb.NewHealthClient(g.conn).Watch(ctx(t), new(healthpb.HealthCheckRequest)))(t)
	must(health.Recv())(t)

	g.api.Drain()
	_, err := waiting.Recv()
	want(t, err, codes.Unavailable, "SHUTTING_DOWN")
	_, err = kept.Recv()
	want(t, err, codes.Unavailable, "SHUTTING_DOWN")
	receiveFrom(t, listener.closed)
	_, err = watched.Recv()
	want(t, err, codes.Unavailable, "SHUTTING_DOWN")
	want(t, keepAliveCall()(ctx(t), g), codes.Unavailable, "SHUTTING_DOWN")
	if _, err := g.cluster.GetStatus(ctx(t), new(gatekeeperv1.GetStatusRequest)); err != nil {
		t.Errorf("GetStatus() while draining: %v", err)
	}

	stopped := make(chan struct{})
	go func() { g.server.GracefulStop(); close(stopped) }()
	receiveFrom(t, stopped)
}

// The leader may already have granted the permit when the follower ends the forwarded stream.
func TestDrain_ForwardedAcquire_HasUnknownOutcome(t *testing.T) {
	leader, follower := pair(t)
	waiting := waitOn(t, follower.permits, leader)
	kept, _ := keepAliveOn(t, follower.permits, leader)
	follower.api.Drain()
	_, err := waiting.Recv()
	want(t, err, codes.Unavailable, "OUTCOME_UNKNOWN")
	_, err = kept.Recv()
	want(t, err, codes.Unavailable, "SHUTTING_DOWN")
}

// countingMetrics records its calls.
type countingMetrics struct {
	mu  sync.Mutex // guards log
	log []string
}

func (m *countingMetrics) note(s string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = append(m.log, s)
}

func (m *countingMetrics) has(s string) bool { return m.count(s) > 0 }

func (m *countingMetrics) count(s string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, line := range m.log {
		if line == s {
			n++
		}
	}
	return n
}

func (m *countingMetrics) CallEnded(method string, code codes.Code, reason string, _ time.Duration) {
	m.note(strings.TrimSpace("ended " + method + " " + code.String() + " " + reason))
}
func (m *countingMetrics) StreamOpened(method string) { m.note("opened " + method) }
func (m *countingMetrics) StreamClosed(method string) { m.note("closed " + method) }
func (m *countingMetrics) Forwarded(method string)    { m.note("forwarded " + method) }

func TestCalls_AreCounted_PanicsAreCaught(t *testing.T) {
	metrics := new(countingMetrics)
	g := open(t, func(c *Config) { c.Metrics = metrics })
	g.keeper.tryAcquire = func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) { panic("secret") }
	_, err := g.permits.TryAcquire(ctx(t), plainRequest)
	want(t, err, codes.Internal, "INTERNAL")
	if strings.Contains(status.Convert(err).Message(), "secret") {
		t.Error("the error contains the panic value")
	}
	must(g.cluster.GetStatus(ctx(t), new(gatekeeperv1.GetStatusRequest)))(t)
	stream, listener := keepAliveOn(t, g.permits, g)
	close(listener.notices)
	_, err = stream.Recv()
	want(t, err, codes.Unavailable, "NO_LEADER") // the known leader is this server itself

	for _, s := range []string{
		"ended /gatekeeper.v1.PermitService/TryAcquire Internal INTERNAL",
		"ended /gatekeeper.v1.ClusterService/GetStatus OK",
		"opened /gatekeeper.v1.PermitService/KeepAlive",
		"ended /gatekeeper.v1.PermitService/KeepAlive Unavailable NO_LEADER",
		"closed /gatekeeper.v1.PermitService/KeepAlive",
	} {
		eventually(t, s, func() bool { return metrics.has(s) })
	}
}
