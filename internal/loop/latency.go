package loop

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// longest is the longest latency that is distinguished from longer ones, which count as this long. The maximum is
	// exact.
	longest = time.Hour
	// digits is how exact percentiles are: three digits are a thousandth.
	digits = 3
	// shards are how many histograms callers share out among themselves, so that they do not wait for each other. Each
	// takes a quarter of a MiB.
	shards = 8
)

// Latency is how long calls took. A percentile of fewer calls than it divides is the longest of them.
type Latency struct{ P50, P90, P99, P999, Max time.Duration }

// Recorder records latencies. Its methods may be called from any goroutine.
type Recorder struct{ shards [shards]shard }

type shard struct {
	mu        sync.Mutex // guards what follows
	histogram *hdrhistogram.Histogram
	longest   time.Duration
}

// NewRecorder returns one that has recorded nothing.
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

// Record records that a call of a caller took so long.
func (r *Recorder) Record(caller int, took time.Duration) {
	took = max(took, 0)
	s := &r.shards[caller%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.histogram.RecordValue(min(took, longest).Nanoseconds()) // its only error: out of range
	s.longest = max(s.longest, took)
}

// Reset forgets all that was recorded.
func (r *Recorder) Reset() {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		s.histogram.Reset()
		s.longest = 0
		s.mu.Unlock()
	}
}

// Count is how many calls were recorded.
func (r *Recorder) Count() int {
	all, _ := r.merged()
	return int(all.TotalCount())
}

// Latency is that of all calls recorded so far; of none it is zero.
func (r *Recorder) Latency() Latency {
	all, longest := r.merged()
	at := func(percent float64) time.Duration {
		// A histogram's answer is the upper end of a range, which may lie above all that was measured.
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
