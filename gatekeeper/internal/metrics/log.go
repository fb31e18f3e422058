package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
)

// log holds the metrics for log entries and for leadership confirmations, which need no log entry.
type log struct {
	applied, refused, unknown prometheus.Counter
	commands, bytes, took     prometheus.Histogram
	confirmed                 prometheus.Histogram
}

func (l *log) collector() prometheus.Collector {
	entries := counterVec("log_entries_total",
		"Proposed log entries, by outcome: applied, refused (definitely not in the log) or unknown.", "outcome")
	l.applied = entries.WithLabelValues("applied")
	l.refused = entries.WithLabelValues("refused")
	l.unknown = entries.WithLabelValues("unknown")
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
	}
	l.commands = histogram("log_entry_commands", "Commands per log entry.", prometheus.ExponentialBuckets(1, 2, 9))
	l.bytes = histogram("log_entry_size_bytes", "Size of a log entry.", prometheus.ExponentialBuckets(64, 4, 8))
	l.took = histogram("log_entry_duration_seconds", "Time from proposing a log entry to its outcome.", durations())
	l.confirmed = histogram("confirm_duration_seconds", "Time spent confirming leadership for responses that need no log entry.", durations())
	return group{entries, l.commands, l.bytes, l.took, l.confirmed}
}

// Entry records an entry whose outcome is known; see batcher.WithObserver.
func (m *Metrics) Entry(e batcher.Entry) {
	l := &m.log
	switch {
	case e.Err == nil:
		l.applied.Inc()
	case errors.Is(e.Err, consensus.ErrNotAppended):
		l.refused.Inc()
	default:
		l.unknown.Inc()
	}
	l.commands.Observe(float64(e.Commands))
	l.bytes.Observe(float64(e.Bytes))
	l.took.Observe(e.Took.Seconds())
}

// Leadership wraps l to measure how long confirmations take.
func (m *Metrics) Leadership(l keeper.Leadership) keeper.Leadership {
	return leadership{l, m.log.confirmed}
}

type leadership struct {
	keeper.Leadership
	took prometheus.Histogram
}

func (l leadership) Confirm(ctx context.Context, term uint64, t time.Time) error {
	start := time.Now()
	err := l.Leadership.Confirm(ctx, term, t)
	l.took.Observe(time.Since(start).Seconds())
	return err
}

func (l leadership) ConfirmLater(term uint64, t time.Time, done func(error)) {
	start := time.Now()
	l.Leadership.ConfirmLater(term, t, func(err error) {
		l.took.Observe(time.Since(start).Seconds())
		done(err)
	})
}
