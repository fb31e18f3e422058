package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
)

const namespace = "gatekeeper"

// Metrics is what one server counts. Its methods may be called from any goroutine.
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

// New makes the metrics of one server, in a registry of their own and, unless it is nil, in the given one too. An error
// comes from the given one and means that nothing is registered: most often another server's metrics are there already.
func New(also prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registerer = tee{m.registry}
	if also != nil {
		m.registerer = append(m.registerer, also)
	}
	m.own = group{m.decisions.collector(), m.changes.collector(), m.calls.collector(), m.log.collector(), m.newGauges()}
	if err := m.registerer.Register(&m.own); err != nil {
		return nil, err
	}
	return m, nil
}

// Close takes these metrics back from the registry that New was given. What was registered through Registerer stays.
func (m *Metrics) Close() { m.registerer.Unregister(&m.own) }

// Registerer takes what other rooms measure to where these metrics are.
func (m *Metrics) Registerer() prometheus.Registerer { return m.registerer }

// Gather is what the admin port shows: these metrics, those of the other rooms, and those of the process.
func (m *Metrics) Gather() ([]*dto.MetricFamily, error) { return m.registry.Gather() }

// group is a collector made of several, registered together.
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

// durations are buckets from 0.1 ms to 6 s.
func durations() []float64 { return prometheus.ExponentialBuckets(0.0001, 2.5, 13) }
