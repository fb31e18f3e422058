package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/api"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

var (
	_ keeper.Metrics = (*Metrics)(nil)
	_ api.Metrics    = (*Metrics)(nil)
)

func newMetrics(t *testing.T) *Metrics {
	t.Helper()
	m, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func wantMetrics(t *testing.T, m *Metrics, text string, names ...string) {
	t.Helper()
	if err := testutil.GatherAndCompare(m, strings.NewReader(text), names...); err != nil {
		t.Error(err)
	}
}

// recordAll records a value for each kind of metric.
func recordAll(m *Metrics) {
	m.Decided(semaphore.Granted, semaphore.NoReason)
	m.Decided(semaphore.Denied, semaphore.NoFreePermit)
	m.Refreshed(keeper.StatusRefreshed)
	m.CallEnded(gatekeeperv1.PermitService_TryAcquire_FullMethodName, codes.Unavailable, "NOT_LEADER", time.Millisecond)
	m.StreamOpened(gatekeeperv1.PermitService_KeepAlive_FullMethodName)
	m.Forwarded(gatekeeperv1.PermitService_TryAcquire_FullMethodName)
	m.Entry(batcher.Entry{Commands: 3, Bytes: 200, Took: time.Millisecond})
}

func TestMetrics_PassLinter(t *testing.T) {
	m := newMetrics(t)
	recordAll(m)
	problems, err := testutil.GatherAndLint(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "gatekeeper_") {
			t.Errorf("the linter rejects metric %s: %s", p.Metric, p.Text)
		}
	}
}

func TestDecided_CountsOutcomesAndReasons(t *testing.T) {
	m := newMetrics(t)
	m.Decided(semaphore.Granted, semaphore.NoReason)
	m.Decided(semaphore.Granted, semaphore.NoReason)
	m.Decided(semaphore.Refreshed, semaphore.NoReason)
	m.Decided(semaphore.Denied, semaphore.Cordoned)
	m.Decided(0, semaphore.NoReason) // undecided: not counted, but no panic
	if got := testutil.ToFloat64(m.decisions.byOutcome[semaphore.Granted]); got != 2 {
		t.Errorf("got %v grants, want 2", got)
	}
	if got := testutil.ToFloat64(m.decisions.denied[semaphore.Cordoned]); got != 1 {
		t.Errorf("got %v denials because of a cordon, want 1", got)
	}
	for r := semaphore.NoSuchSemaphore; r <= semaphore.NoFreePermit; r++ {
		if m.decisions.denied[r] == nil {
			t.Errorf("no counter for reason %v", r)
		}
	}
	if _, err := m.Gather(); err != nil {
		t.Error(err)
	}
}

func TestRefreshed_CountsEveryStatus(t *testing.T) {
	m := newMetrics(t)
	for s := keeper.StatusRefreshed; s <= keeper.StatusRetry; s++ {
		m.Refreshed(s)
	}
	wantMetrics(t, m, `
# HELP gatekeeper_refreshes_total Refreshes of single tokens answered by the leader, by result.
# TYPE gatekeeper_refreshes_total counter
gatekeeper_refreshes_total{status="lost"} 1
gatekeeper_refreshes_total{status="refreshed"} 1
gatekeeper_refreshes_total{status="retry"} 1
gatekeeper_refreshes_total{status="stopping"} 1
`, "gatekeeper_refreshes_total")
}

func TestApplied_CountsOnlyWhileLeading(t *testing.T) {
	m := newMetrics(t)
	leading := false
	a := fsm.Applied{Events: []fsm.Event{{Kind: fsm.Released}, {Kind: fsm.Released}, {Kind: fsm.Expired}, {Kind: 200}}}
	m.Applied(a) // not counted: the log is replayed before Attach
	m.Attach(Sources{Leading: func() bool { return leading }})
	m.Applied(a)
	leading = true
	m.Applied(a)
	for kind, n := range map[fsm.EventKind]float64{fsm.Released: 2, fsm.Expired: 1, fsm.Granted: 0} {
		if got := testutil.ToFloat64(m.changes.byKind[kind]); got != n {
			t.Errorf("got %v changes of kind %d, want %v", got, kind, n)
		}
	}
	for kind := range gatekeeperv1.EventKind_name { // same numbers as fsm.EventKind
		if kind != 0 && (int(kind) >= len(m.changes.byKind) || m.changes.byKind[kind] == nil) {
			t.Errorf("no counter for kind %d", kind)
		}
	}
}

func TestCallEnded_OtherMethodsShareOneLabel(t *testing.T) {
	m := newMetrics(t)
	m.CallEnded(gatekeeperv1.PermitService_TryAcquire_FullMethodName, codes.OK, "", time.Millisecond)
	m.CallEnded(gatekeeperv1.PermitService_TryAcquire_FullMethodName, codes.Unavailable, "NOT_LEADER", time.Millisecond)
	m.CallEnded("/other.Service/Method1", codes.Unimplemented, "", time.Hour)
	m.CallEnded("/other.Service/Method2", codes.Unimplemented, "", time.Hour)
	m.CallEnded(gatekeeperv1.PermitService_KeepAlive_FullMethodName, codes.Unavailable, "NOT_LEADER", time.Hour)
	wantMetrics(t, m, `
# HELP gatekeeper_rpc_errors_total Calls and streams that ended with an error, by gRPC status and reason.
# TYPE gatekeeper_rpc_errors_total counter
gatekeeper_rpc_errors_total{code="Unavailable",reason="NOT_LEADER"} 2
gatekeeper_rpc_errors_total{code="Unimplemented",reason=""} 2
`, "gatekeeper_rpc_errors_total")
	if n := testutil.ToFloat64(m.calls.ended.WithLabelValues("other", "Unimplemented")); n != 2 {
		t.Errorf("got %v other calls, want 2", n)
	}
	if n := testutil.ToFloat64(m.calls.ended.WithLabelValues("PermitService/TryAcquire", "OK")); n != 1 {
		t.Errorf("got %v calls that ended with OK, want 1", n)
	}
	keepAlive := m.calls.lookup(gatekeeperv1.PermitService_KeepAlive_FullMethodName)
	if keepAlive.took != nil {
		t.Error("streams have a duration histogram")
	}
	m.StreamOpened(gatekeeperv1.PermitService_KeepAlive_FullMethodName)
	if n := testutil.ToFloat64(keepAlive.open); n != 1 {
		t.Errorf("%v open streams after StreamOpened(), want 1", n)
	}
	m.StreamClosed(gatekeeperv1.PermitService_KeepAlive_FullMethodName)
	if n := testutil.ToFloat64(keepAlive.open); n != 0 {
		t.Errorf("%v open streams after StreamClosed(), want 0", n)
	}
}

func TestEntry_CountsByOutcome(t *testing.T) {
	m := newMetrics(t)
	for _, err := range []error{nil, nil, consensus.ErrNotAppended, consensus.ErrUnknownOutcome, errors.New("some other error")} {
		m.Entry(batcher.Entry{Commands: 2, Bytes: 10, Took: time.Second, Err: err})
	}
	wantMetrics(t, m, `
# HELP gatekeeper_log_entries_total Proposed log entries, by outcome: applied, refused (definitely not in the log) or unknown.
# TYPE gatekeeper_log_entries_total counter
gatekeeper_log_entries_total{outcome="applied"} 2
gatekeeper_log_entries_total{outcome="refused"} 1
gatekeeper_log_entries_total{outcome="unknown"} 2
`, "gatekeeper_log_entries_total")
}

func TestAttach_GaugesAreReadAtEachScrape(t *testing.T) {
	m := newMetrics(t)
	machine, waiters := fsm.New("id"), 3
	text := `
# HELP gatekeeper_definitions Definitions stored.
# TYPE gatekeeper_definitions gauge
gatekeeper_definitions 0
# HELP gatekeeper_waiters Acquire calls waiting in the leader's queues, excluding idle workers.
# TYPE gatekeeper_waiters gauge
gatekeeper_waiters %
`
	wantMetrics(t, m, strings.Replace(text, "%", "0", 1), "gatekeeper_definitions", "gatekeeper_waiters")
	m.Attach(Sources{State: machine.State, Waiters: func() int { return waiters }})
	wantMetrics(t, m, strings.Replace(text, "%", "3", 1), "gatekeeper_definitions", "gatekeeper_waiters")
}

func TestAttach_RefusedCalls_AreCountedByScope(t *testing.T) {
	m := newMetrics(t)
	limits := admission.NewLimits(1)
	control := admission.New(limits)
	m.Attach(Sources{Admission: control})
	for i := range 3 {
		call, err := control.Open(admission.Ordinary, i)
		if err != nil {
			t.Fatal(err)
		}
		defer call.End()
		_ = call.Work(t.Context(), admission.Identity{}) // all but the first are refused
	}
	wantMetrics(t, m, `
# HELP gatekeeper_rpc_open Open calls and streams: in progress, waiting, or not received yet. Calls that refresh or end permits are not counted.
# TYPE gatekeeper_rpc_open gauge
gatekeeper_rpc_open 3
`, "gatekeeper_rpc_open")
	text := scrape(t, m)
	for _, line := range []string{
		`gatekeeper_rpc_working{kind="ordinary"} 1`, `gatekeeper_rpc_working{kind="heavy"} 0`,
		`gatekeeper_rpc_refused_total{kind="ordinary",of="server"} 2`, `gatekeeper_rpc_refused_total{kind="waiting",of="identity"} 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("GET /metrics lacks the line %s", line)
		}
	}
}

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	_, body := get(t, Handler(m, nil, nil), "GET", "/metrics")
	return body
}

// Every API method must have its own counters. Other methods share one set.
func TestCalls_EveryAPIMethod_HasCounters(t *testing.T) {
	m := newMetrics(t)
	methods := 0
	protoregistry.GlobalFiles.RangeFilesByPackage("gatekeeper.v1", func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			for j := range s.Methods().Len() {
				methods++
				if name := fmt.Sprintf("/%s/%s", s.FullName(), s.Methods().Get(j).Name()); m.calls.lookup(name) == m.calls.other {
					t.Errorf("%s has no separate counters and is counted as %q", name, otherMethods)
				}
			}
		}
		return true
	})
	if methods == 0 {
		t.Error("the API has no methods")
	}
	if m.calls.lookup("/grpc.health.v1.Health/Check") != m.calls.other {
		t.Error("the health service is counted as part of the API")
	}
}

type fakeLeadership struct {
	keeper.Leadership
	err error
}

func (c fakeLeadership) Confirm(context.Context, uint64, time.Time) error { return c.err }

func TestLeadership_Confirm_IsMeasuredAndDelegated(t *testing.T) {
	m := newMetrics(t)
	l := m.Leadership(fakeLeadership{err: consensus.ErrNotConfirmed})
	if err := l.Confirm(t.Context(), 1, time.Now()); !errors.Is(err, consensus.ErrNotConfirmed) {
		t.Errorf("Confirm() = %v, want ErrNotConfirmed", err)
	}
	if n := testutil.CollectAndCount(m.log.confirmed); n != 1 {
		t.Errorf("%d confirmations measured, want 1", n)
	}
}

func TestNew_GivenRegistry_HasMetricsUntilClose(t *testing.T) {
	external := prometheus.NewRegistry()
	m, err := New(external)
	if err != nil {
		t.Fatal(err)
	}
	custom := prometheus.NewCounter(prometheus.CounterOpts{Name: "gatekeeper_room_total", Help: "A metric from another package."})
	m.Registerer().MustRegister(custom)
	for _, g := range []prometheus.Gatherer{m, external} {
		if n, err := testutil.GatherAndCount(g, "gatekeeper_revision", "gatekeeper_room_total"); n != 2 || err != nil {
			t.Errorf("GatherAndCount() = %d, %v, want 2", n, err)
		}
	}

	if _, err := New(external); err == nil {
		t.Error("New() registered the metrics of a second server in the same registry")
	}
	if !m.Registerer().Unregister(custom) || m.Registerer().Unregister(custom) {
		t.Error("Unregister() of the added metric did not return true once and then false")
	}
	m.Close()
	if n, err := testutil.GatherAndCount(external); n != 0 || err != nil {
		t.Errorf("GatherAndCount() after Close = %d, %v, want 0", n, err)
	}
	second, err := New(external)
	if err != nil {
		t.Fatalf("New() after Close: %v", err)
	}
	second.Close()
}

func TestMetrics_CountingACall_AllocatesNothing(t *testing.T) {
	m := newMetrics(t)
	m.Attach(Sources{Leading: func() bool { return true }})
	a := fsm.Applied{Events: make([]fsm.Event, 256)}
	for i := range a.Events {
		a.Events[i].Kind = fsm.Granted
	}
	if n := testing.AllocsPerRun(100, func() {
		m.Decided(semaphore.Denied, semaphore.NoFreePermit)
		m.Refreshed(keeper.StatusRefreshed)
		m.CallEnded(gatekeeperv1.PermitService_TryAcquire_FullMethodName, codes.OK, "", time.Millisecond)
		m.Entry(batcher.Entry{Commands: 3, Bytes: 200, Took: time.Millisecond})
		m.Applied(a)
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func BenchmarkDecided(b *testing.B) {
	m, _ := New(nil)
	b.ReportAllocs()
	for b.Loop() {
		m.Decided(semaphore.Denied, semaphore.NoFreePermit)
	}
}

func BenchmarkCallEnded(b *testing.B) {
	m, _ := New(nil)
	b.ReportAllocs()
	for b.Loop() {
		m.CallEnded(gatekeeperv1.PermitService_TryAcquire_FullMethodName, codes.OK, "", time.Millisecond)
	}
}
