package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
)

const namespace = "gatekeeper"

// Metrics holds the metrics of one server. It is safe for concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	registerer tee
	own        group
	sources    atomic.Pointer[Sources]

	decisions decisions
	changes   changes
	calls     calls
	log       log
}

// New creates one server's metrics and registers them in a separate registry and, if extra is not nil, also in extra.
// If extra returns an error, nothing is registered. The usual cause is that it already contains another server's
// metrics.
func New(extra prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registerer = tee{m.registry}
	if extra != nil {
		m.registerer = append(m.registerer, extra)
	}
	m.own = group{m.decisions.collector(), m.changes.collector(), m.calls.collector(), m.log.collector(), m.newGauges()}
	if err := m.registerer.Register(&m.own); err != nil {
		return nil, err
	}
	return m, nil
}

// Close unregisters these metrics everywhere, including the registry that New was given. Metrics that were registered
// through Registerer remain.
func (m *Metrics) Close() { m.registerer.Unregister(&m.own) }

// Registerer returns the registerer through which other packages add their metrics.
func (m *Metrics) Registerer() prometheus.Registerer { return m.registerer }

// Gather returns all metrics that the admin port shows: these metrics, those added through Registerer, and the process
// metrics.
func (m *Metrics) Gather() ([]*dto.MetricFamily, error) { return m.registry.Gather() }

// group combines collectors that are registered together.
type group []prometheus.Collector

func (g group) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range g {
		c.Describe(ch)
	}
}

func (g group) Collect(ch chan<- prometheus.Metric) {
	for _, c := range g {
		c.Collect(ch)
	}
}

func counterVec(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

// durations returns buckets from 0.1 ms to 6 s.
func durations() []float64 { return prometheus.ExponentialBuckets(0.0001, 2.5, 13) }
