package loop

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// longest is the longest latency that histograms distinguish. Longer ones are recorded as this value, but the
	// maximum is exact.
	longest = time.Hour
	// digits is the number of significant digits in percentiles: three digits give a precision of one thousandth.
	digits = 3
	// shards is the number of histograms among which callers are distributed, to reduce lock contention. Each uses a
	// quarter of a MiB.
	shards = 8
)

// Latency is a summary of latencies. If there are too few calls for a percentile, that percentile equals the maximum.
type Latency struct{ P50, P90, P99, P999, Max time.Duration }

// Recorder records latencies. Its methods are safe for concurrent use.
type Recorder struct{ shards [shards]shard }

type shard struct {
	mu        sync.Mutex // guards the fields below
	histogram *hdrhistogram.Histogram
	longest   time.Duration
}

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder {
	r := new(Recorder)
	for i := range r.shards {
		r.shards[i].histogram = newHistogram()
	}
	return r
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, longest.Nanoseconds(), digits)
}

// Record records the latency of a caller's call.
func (r *Recorder) Record(caller int, latency time.Duration) {
	latency = max(latency, 0)
	s := &r.shards[caller%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.histogram.RecordValue(min(latency, longest).Nanoseconds()) // the only possible error is a value out of range
	s.longest = max(s.longest, latency)
}

// Reset discards all recorded latencies.
func (r *Recorder) Reset() {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		s.histogram.Reset()
		s.longest = 0
		s.mu.Unlock()
	}
}

// Count returns the number of recorded calls.
func (r *Recorder) Count() int {
	all, _ := r.merged()
	return int(all.TotalCount())
}

// Latency returns a summary of all recorded calls. It is zero if there are none.
func (r *Recorder) Latency() Latency {
	all, longest := r.merged()
	at := func(percent float64) time.Duration {
		// A histogram returns the upper end of a range, which can exceed every recorded value.
		return min(time.Duration(all.ValueAtPercentile(percent)), longest)
	}
	return Latency{P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: longest}
}

func (r *Recorder) merged() (*hdrhistogram.Histogram, time.Duration) {
	all := newHistogram()
	var longest time.Duration
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		all.Merge(s.histogram)
		longest = max(longest, s.longest)
		s.mu.Unlock()
	}
	return all, longest
}
