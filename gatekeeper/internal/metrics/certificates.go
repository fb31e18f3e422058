package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// expiries reports when a server's certificates expire, according to the files on disk. A server without TLS has none.
type expiries struct {
	m    *Metrics
	desc *prometheus.Desc
}

func (m *Metrics) newExpiries() prometheus.Collector {
	return &expiries{m, prometheus.NewDesc(namespace+"_certificate_expiry_timestamp_seconds",
		"Expiry of a port's certificate, in seconds since 1970; 0 if its files cannot be used.", []string{"port"}, nil)}
}

func (e *expiries) Describe(ch chan<- *prometheus.Desc) { ch <- e.desc }

func (e *expiries) Collect(ch chan<- prometheus.Metric) {
	s := e.m.sources.Load()
	if s == nil || s.Certificates == nil {
		return
	}
	for port, expiry := range s.Certificates() {
		var seconds float64
		if !expiry.IsZero() {
			seconds = float64(expiry.UnixMilli()) / float64(time.Second/time.Millisecond)
		}
		ch <- prometheus.MustNewConstMetric(e.desc, prometheus.GaugeValue, seconds, port)
	}
}
