// Package snapshots measures how a server's snapshot delays concurrent grants.
package snapshots

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// Unfinished is the suffix of an unfinished snapshot's name.
const Unfinished = ".tmp"

// Delay compares the latency of grants during a snapshot with the latency before it.
type Delay struct {
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"`
	// Grant latencies in ms, during the snapshot and shortly before it.
	LongestDuring float64 `json:"longest_within_ms"`
	LongestBefore float64 `json:"longest_before_ms"`
	P99During     float64 `json:"p99_within_ms"`
	P99Before     float64 `json:"p99_before_ms"`
	Grants        int     `json:"grants_within"`
}

// Added returns the increase in the longest latency, in ms.
func (d *Delay) Added() float64 { return max(d.LongestDuring-d.LongestBefore, 0) }

// timeLimit is how long a server may take to finish a snapshot. The server checks every 30 to 60 s whether its log is
// long enough for one, and a slow machine may take just as long to write it.
const timeLimit = 5 * time.Minute

// Acquire acquires a permit and returns a function that releases it.
type Acquire func(ctx context.Context) (release func(ctx context.Context) error, err error)

// Measure acquires and releases permits until the server has taken a snapshot, and returns how much the snapshot
// delayed the grants. Each grant and each release is a log entry, so the server eventually takes a snapshot
// automatically.
func Measure(ctx context.Context, server *servers.Server, acquire Acquire) (*Delay, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, fmt.Errorf("%s took no snapshot within %v", server.ID, timeLimit))
	defer cancel()
	probeCtx, stop := context.WithCancel(ctx)
	var grants []grant
	var probeErr error
	var wg sync.WaitGroup
	wg.Go(func() {
		defer stop()
		grants, probeErr = probe(ctx, probeCtx.Done(), acquire)
	})
	span, err := await(probeCtx, filepath.Join(server.Data(), "snapshots"))
	if err == nil {
		select {
		case <-time.After(time.Second / 2): // let the last grant during the snapshot finish
		case <-probeCtx.Done():
			err = probeCtx.Err()
		}
	}
	stop()
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if probeErr != nil {
		return nil, probeErr
	}
	if err != nil {
		return nil, err
	}
	return span.compare(grants), nil
}

// grant is the time and latency of one grant.
type grant struct {
	at   time.Time // when it was requested
	took time.Duration
}

// probe acquires and releases permits until done is closed. It completes the last call, so that no permit remains held.
// Otherwise, the next caller would supersede that permit, and the slot would remain occupied after the caller's
// release.
func probe(ctx context.Context, done <-chan struct{}, acquire Acquire) (grants []grant, err error) {
	for {
		select {
		case <-done:
			return grants, nil
		default:
		}
		begin := time.Now()
		release, err := acquire(ctx)
		took := time.Since(begin)
		if err == nil {
			grants = append(grants, grant{begin, took})
			err = release(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
}

// span is the period in which a snapshot was taken.
type span struct {
	from, to time.Time
	bytes    float64
}

// await watches the server's snapshot directory until a snapshot has started and finished. A snapshot that is already
// in progress does not count, because its start was not observed.
func await(ctx context.Context, dir string) (span, error) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	var existing []string
	var inProgress string
	var seen span
	for first := true; ; first = false {
		names, err := Names(dir)
		if err != nil {
			return span{}, err
		}
		now := time.Now()
		for _, name := range names {
			base, ongoing := strings.CutSuffix(name, Unfinished)
			switch {
			case first:
				existing = append(existing, base)
			case slices.Contains(existing, base):
			case ongoing && inProgress == "":
				inProgress, seen.from = base, now
			case !ongoing && name == inProgress:
				seen.to = now
				info, err := os.Stat(filepath.Join(dir, name, "state.bin"))
				if err == nil {
					seen.bytes = float64(info.Size())
				}
				return seen, err
			case !ongoing && inProgress == "": // it started and finished between two polls
				existing = append(existing, base)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return span{}, ctx.Err()
		}
	}
}

// Names returns the names of the entries in a directory, which need not exist yet.
func Names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// compare compares the grants in progress during the snapshot with those in the period before it, which is just as long
// but at least a second.
func (s span) compare(grants []grant) *Delay {
	length := s.to.Sub(s.from)
	during := between(grants, s.from, s.to)
	before := between(grants, s.from.Add(-max(length, time.Second)), s.from)
	r := &Delay{Seconds: length.Seconds(), Bytes: s.bytes, Grants: len(during)}
	r.LongestDuring, r.P99During = maxAndP99(during)
	r.LongestBefore, r.P99Before = maxAndP99(before)
	return r
}

// between returns the latencies of the grants that overlap the period.
func between(grants []grant, from, to time.Time) []time.Duration {
	var took []time.Duration
	for _, s := range grants {
		if s.at.Before(to) && s.at.Add(s.took).After(from) {
			took = append(took, s.took)
		}
	}
	return took
}

// maxAndP99 returns the maximum and the 99th percentile, in ms.
func maxAndP99(took []time.Duration) (highest, p99 float64) {
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	return load.Micros(took[len(took)-1]) / 1000, load.Micros(took[len(took)*99/100]) / 1000
}
