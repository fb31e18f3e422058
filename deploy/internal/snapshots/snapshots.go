// Package snapshots measures what a snapshot of a server does to the grants that are made meanwhile.
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

// Unfinished is how the name of a snapshot ends that is being made.
const Unfinished = ".tmp"

// Delay is what grants waited for while a snapshot was made, and before it.
type Delay struct {
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"`
	// What grants waited, in ms, while the snapshot was made and in a time of the same length before it.
	LongestWithin float64 `json:"longest_within_ms"`
	LongestBefore float64 `json:"longest_before_ms"`
	P99Within     float64 `json:"p99_within_ms"`
	P99Before     float64 `json:"p99_before_ms"`
	Grants        int     `json:"grants_within"`
}

// Added is by how much the longest wait was longer than usual, in ms.
func (d *Delay) Added() float64 { return max(d.LongestWithin-d.LongestBefore, 0) }

// within is how long a server may take to come to a snapshot: it looks every half to whole minute whether there is
// enough to leave behind, and a slow machine may need as long to write that.
const within = 5 * time.Minute

// Acquire acquires a permit and returns what releases it.
type Acquire func(ctx context.Context) (release func(ctx context.Context) error, err error)

// Measure acquires and releases until the server has taken a snapshot. Each grant and each release is an entry of the
// log, so after enough of them it takes one without help.
func Measure(ctx context.Context, server *servers.Server, acquire Acquire) (*Delay, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("%s took no snapshot within %v", server.ID, within))
	defer cancel()
	probing, stop := context.WithCancel(ctx)
	var shots []shot
	var failed error
	var wg sync.WaitGroup
	wg.Go(func() { shots, failed = probe(probing, stop, acquire) })
	span, err := await(probing, filepath.Join(server.Data(), "snapshots"))
	if err == nil {
		select {
		case <-time.After(time.Second / 2): // for the grant that was under way when it ended
		case <-probing.Done():
			err = probing.Err()
		}
	}
	stop()
	wg.Wait()
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, context.Cause(ctx)
	}
	return span.of(shots), nil
}

// shot is one grant.
type shot struct {
	at   time.Time // when it was asked for
	took time.Duration
}

// probe acquires and releases until ctx ends, and stops the others when that fails.
func probe(ctx context.Context, stop func(), acquire Acquire) (shots []shot, err error) {
	defer stop()
	for {
		begin := time.Now()
		release, err := acquire(ctx)
		took := time.Since(begin)
		if err == nil {
			shots = append(shots, shot{begin, took})
			err = release(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return shots, nil
		case err != nil:
			return nil, err
		}
	}
}

// span is when a snapshot was made.
type span struct {
	from, to time.Time
	bytes    float64
}

// await looks at the server's folder of snapshots until it makes one and has made it. One that is being made when it is
// called does not count: its beginning was not seen.
func await(ctx context.Context, dir string) (span, error) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	var had []string
	var begun string
	var seen span
	for first := true; ; first = false {
		names, err := Names(dir)
		if err != nil {
			return span{}, err
		}
		now := time.Now()
		for _, name := range names {
			whole, making := strings.CutSuffix(name, Unfinished)
			switch {
			case first:
				had = append(had, whole)
			case slices.Contains(had, whole):
			case making && begun == "":
				begun, seen.from = whole, now
			case !making && name == begun:
				seen.to = now
				info, err := os.Stat(filepath.Join(dir, name, "state.bin"))
				if err == nil {
					seen.bytes = float64(info.Size())
				}
				return seen, err
			case !making && begun == "": // it was made between two looks
				had = append(had, whole)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return span{}, ctx.Err()
		}
	}
}

// Names are the names in a folder, which need not be there yet.
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

// of compares the grants that were under way while the snapshot was made with those of an equally long time before.
func (s span) of(shots []shot) *Delay {
	length := s.to.Sub(s.from)
	during := between(shots, s.from, s.to)
	before := between(shots, s.from.Add(-max(length, time.Second)), s.from)
	r := &Delay{Seconds: length.Seconds(), Bytes: s.bytes, Grants: len(during)}
	r.LongestWithin, r.P99Within = longest(during)
	r.LongestBefore, r.P99Before = longest(before)
	return r
}

// between returns how long the grants took of which at least a part was between the two.
func between(shots []shot, from, to time.Time) []time.Duration {
	var took []time.Duration
	for _, s := range shots {
		if s.at.Before(to) && s.at.Add(s.took).After(from) {
			took = append(took, s.took)
		}
	}
	return took
}

// longest returns the longest, and the one that only a hundredth is above, in ms.
func longest(took []time.Duration) (most, p99 float64) {
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	return load.Micros(took[len(took)-1]) / 1000, load.Micros(took[len(took)*99/100]) / 1000
}
