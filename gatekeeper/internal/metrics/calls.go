package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// calls counts API calls.
type calls struct {
	ended    *prometheus.CounterVec
	reasons  *prometheus.CounterVec
	byMethod map[string]*method // by full name; not changed after New
	other    *method
}

// method holds the metrics of one method, looked up in advance.
type method struct {
	name      string
	ok        prometheus.Counter
	took      prometheus.Observer // nil for streams, whose duration is up to the client
	open      prometheus.Gauge
	forwarded prometheus.Counter
}

// otherMethods is the label for all methods outside the API, such as health and reflection.
const otherMethods = "other"

func (c *calls) collector() prometheus.Collector {
	c.ended = counterVec("rpc_calls_total", "Calls and streams that ended, by method and gRPC status.", "method", "code")
	c.reasons = counterVec("rpc_errors_total", "Calls and streams that ended with an error, by gRPC status and reason.", "code", "reason")
	forwarded := counterVec("rpc_forwarded_total", "Calls and streams forwarded to the leader, by method.", "method")
	took := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: "rpc_duration_seconds", Buckets: durations(),
		Help: "Duration of calls, by method. Streams, including acquires waiting in a queue, are not counted.",
	}, []string{"method"})
	open := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "rpc_streams", Help: "Open streams, by method.",
	}, []string{"method"})

	add := func(name string, unary, stream bool) *method {
		m := &method{name: name, ok: c.ended.WithLabelValues(name, codes.OK.String()), forwarded: forwarded.WithLabelValues(name)}
		if unary {
			m.took = took.WithLabelValues(name)
		}
		if stream {
			m.open = open.WithLabelValues(name)
		}
		return m
	}
	c.byMethod = make(map[string]*method)
	for _, s := range []grpc.ServiceDesc{
		gatekeeperv1.PermitService_ServiceDesc, gatekeeperv1.DefinitionService_ServiceDesc, gatekeeperv1.OperatorService_ServiceDesc,
		gatekeeperv1.ClusterService_ServiceDesc, gatekeeperv1.WatchService_ServiceDesc, gatekeeperv1.WorkService_ServiceDesc,
		gatekeeperv1.AuthService_ServiceDesc,
	} {
		short := s.ServiceName[strings.LastIndexByte(s.ServiceName, '.')+1:]
		for _, d := range s.Methods {
			c.byMethod["/"+s.ServiceName+"/"+d.MethodName] = add(short+"/"+d.MethodName, true, false)
		}
		for _, d := range s.Streams {
			c.byMethod["/"+s.ServiceName+"/"+d.StreamName] = add(short+"/"+d.StreamName, false, true)
		}
	}
	c.other = add(otherMethods, false, true)
	return group{c.ended, c.reasons, forwarded, took, open}
}

func (c *calls) lookup(fullMethod string) *method {
	if m := c.byMethod[fullMethod]; m != nil {
		return m
	}
	return c.other
}

// CallEnded counts a unary call or a stream that ended. reason is taken from the ErrorInfo, if there is one.
func (m *Metrics) CallEnded(fullMethod string, code codes.Code, reason string, took time.Duration) {
	called := m.calls.lookup(fullMethod)
	if called.took != nil {
		called.took.Observe(took.Seconds())
	}
	if code == codes.OK {
		called.ok.Inc()
		return
	}
	m.calls.ended.WithLabelValues(called.name, code.String()).Inc()
	m.calls.reasons.WithLabelValues(code.String(), reason).Inc()
}

// StreamOpened counts an open stream. The caller must call StreamClosed when it ends.
func (m *Metrics) StreamOpened(fullMethod string) { m.streams(fullMethod, 1) }

// StreamClosed stops counting a stream as open.
func (m *Metrics) StreamClosed(fullMethod string) { m.streams(fullMethod, -1) }

func (m *Metrics) streams(fullMethod string, delta float64) {
	if called := m.calls.lookup(fullMethod); called.open != nil {
		called.open.Add(delta)
	}
}

// Forwarded counts a call or stream that is forwarded to the leader.
func (m *Metrics) Forwarded(fullMethod string) { m.calls.lookup(fullMethod).forwarded.Inc() }
