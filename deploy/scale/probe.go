package main

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

// shot is one grant of the probing client.
type shot struct {
	at   time.Time // when it was asked for
	took time.Duration
}

// snapshot is one that a server took by itself while a client acquired and released all the time.
type snapshot struct {
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"`
	// What grants waited, in ms, while the snapshot was made and in a time of the same length before it.
	LongestWithin float64 `json:"longest_within_ms"`
	LongestBefore float64 `json:"longest_before_ms"`
	P99Within     float64 `json:"p99_within_ms"`
	P99Before     float64 `json:"p99_before_ms"`
	Grants        int     `json:"grants_within"`
}

// added is by how much the longest wait was longer than usual, in ms.
func (s *snapshot) added() float64 { return max(s.LongestWithin-s.LongestBefore, 0) }

// snapshotWithin is how long a server may take to come to a snapshot: it looks every half to whole minute whether there is enough to
// leave behind, and a slow machine may need as long to write that.
const snapshotWithin = 5 * time.Minute

// measureSnapshot acquires and releases until the server has taken a snapshot. That it takes one needs no help: each grant and each
// release is an entry of the log.
func (s *scale) measureSnapshot(ctx context.Context, server *servers.Server, f *fleet) (*snapshot, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, snapshotWithin, fmt.Errorf("%s took no snapshot within %v", server.ID, snapshotWithin))
	defer cancel()
	probing, stop := context.WithCancel(ctx)
	var shots []shot
	var failed error
	var wg sync.WaitGroup
	wg.Go(func() { shots, failed = f.probe(probing, stop) })
	span, err := awaitSnapshot(probing, filepath.Join(server.Data(), "snapshots"))
	if err == nil {
		err = pause(probing, time.Second/2) // for the grant that was under way when it ended
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

// probe acquires and releases until ctx ends, and stops the others when that fails.
func (f *fleet) probe(ctx context.Context, stop func()) (shots []shot, err error) {
	defer stop()
	for {
		begin := time.Now()
		token, err := f.acquire(ctx, 0, probeName, "probe", "")
		took := time.Since(begin)
		if err == nil {
			shots = append(shots, shot{begin, took})
			err = f.release(ctx, 0, token)
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

// awaitSnapshot looks at the server's folder of snapshots until it makes one and has made it. One that is being made when it is called
// does not count: its beginning was not seen.
func awaitSnapshot(ctx context.Context, dir string) (span, error) {
	const unfinished = ".tmp"
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	var had []string
	var begun string
	var seen span
	for first := true; ; first = false {
		names, err := list(dir)
		if err != nil {
			return span{}, err
		}
		now := time.Now()
		for _, name := range names {
			whole, making := strings.CutSuffix(name, unfinished)
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

// list are the names in a folder, which need not be there yet.
func list(dir string) ([]string, error) {
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
func (s span) of(shots []shot) *snapshot {
	length := s.to.Sub(s.from)
	within := between(shots, s.from, s.to)
	before := between(shots, s.from.Add(-max(length, time.Second)), s.from)
	r := &snapshot{Seconds: length.Seconds(), Bytes: s.bytes, Grants: len(within)}
	r.LongestWithin, r.P99Within = longest(within)
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
