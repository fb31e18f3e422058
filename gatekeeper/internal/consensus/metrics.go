package consensus

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the Prometheus metrics of this package.
type metrics struct {
	storeCalls      *prometheus.HistogramVec
	rejected        prometheus.Counter
	snapshotsSent   prometheus.Counter
	snapshotAlarms  prometheus.Counter
	transferRefused prometheus.Counter
	confirmRounds   prometheus.Counter
	unconfirmed     prometheus.Counter
	writes          writes
}

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "gatekeeper", Subsystem: "consensus", Name: name, Help: help})
	}
	return &metrics{
		storeCalls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "gatekeeper", Subsystem: "consensus", Name: "store_call_seconds",
			Help:    "Duration of calls to the log, stable and snapshot stores. Changes wait for these calls, and a call that takes ten seconds counts as a fault.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 13), // 0.1 ms to 6 s
		}, []string{"call"}),
		rejected:        counter("peers_rejected_total", "Connections to the peer port that did not come from an identified peer of this cluster."),
		snapshotsSent:   counter("snapshots_sent_total", "Snapshots sent to followers whose log was too far behind."),
		snapshotAlarms:  counter("snapshot_alarms_total", "Times a follower was sent several snapshots in a row without catching up."),
		transferRefused: counter("transfer_refusals_total", "Entries refused because leadership was being transferred."),
		confirmRounds:   counter("confirm_rounds_total", "Heartbeat rounds started to confirm leadership."),
		unconfirmed:     counter("unconfirmed_total", "Calls to Confirm that failed."),
	}
}

func (m *metrics) observeStore(call string, took time.Duration) {
	m.storeCalls.WithLabelValues(call).Observe(took.Seconds())
	if call == store.WriteCall {
		m.writes.record(took)
	}
}

// register registers the metrics, including gauges of the node's state, and returns a function that unregisters them.
func (m *metrics) register(registerer prometheus.Registerer, n *Node) (unregister func(), err error) {
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "gatekeeper", Subsystem: "consensus", Name: name, Help: help}, f)
	}
	all := []prometheus.Collector{
		m.storeCalls, m.rejected, m.snapshotsSent, m.snapshotAlarms, m.transferRefused, m.confirmRounds, m.unconfirmed,
		gauge("term", "The current term.", func() float64 { return float64(n.Term()) }),
		gauge("commit_index", "The highest index known to be committed.", func() float64 { return float64(n.CommitIndex()) }),
		gauge("applied_index", "The highest index handed to the state machine.", func() float64 { return float64(n.AppliedIndex()) }),
		gauge("leading", "1 on the leader, once it has been promoted.", func() float64 {
			if n.epoch.Load() != nil {
				return 1
			}
			return 0
		}),
	}
	var registered []prometheus.Collector
	unregister = func() {
		for _, c := range registered {
			registerer.Unregister(c)
		}
	}
	for _, c := range all {
		if err := registerer.Register(c); err != nil {
			unregister()
			return nil, err
		}
		registered = append(registered, c)
	}
	return unregister, nil
}
