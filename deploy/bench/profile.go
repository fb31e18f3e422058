package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// profileResult breaks down the CPU time of a three-server cluster's leader during one kind of work.
type profileResult struct {
	Work    string `json:"work"`
	Callers int    `json:"callers"`
	// CPU is the leader's CPU time per operation, in µs.
	CPU float64 `json:"cpu_us"`
	// Samples is the number of distinct stacks. If it is small, the shares are not meaningful.
	Samples int     `json:"samples"`
	Parts   []share `json:"parts"`
}

type share struct {
	What    string  `json:"what"`
	Percent float64 `json:"percent"`
}

// part is a group of functions, identified by prefixes of their names. A sample counts toward the part of its
// innermost matching frame.
type part struct {
	what  string
	names []string
}

const (
	modulePath = "github.com/gatekeeperd/gatekeeper/"
	// elsewhere covers mostly system calls and goroutine scheduling.
	elsewhere = "the scheduler and the rest"
)

func profileParts() []part {
	return []part{
		{"garbage collection", []string{"runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcAssistAlloc"}},
		{"gRPC and protobuf", []string{"google.golang.org/", "golang.org/x/net/"}},
		{"log store", []string{"go.etcd.io/bbolt", "github.com/hashicorp/raft-wal", modulePath + "gatekeeper/internal/consensus/store"}},
		{"Raft and leadership confirmation", []string{"github.com/hashicorp/", modulePath + "gatekeeper/internal/consensus"}},
		{"state machine", []string{modulePath + "fsm", "github.com/tidwall/btree"}},
		{"API, limits and metrics", []string{
			modulePath + "gatekeeper/internal/api", modulePath + "gatekeeper/internal/admission", modulePath + "gatekeeper/internal/metrics",
			modulePath + "proto", "github.com/prometheus/",
		}},
		{"decisions and deadlines", []string{modulePath + "gatekeeper/", modulePath + "semaphore"}},
	}
}

// measureProfiles profiles the leader of a three-server cluster under each kind of work, with each number of callers.
func (b *bench) measureProfiles(ctx context.Context) (all []profileResult, err error) {
	cluster, leader, err := b.start(ctx, "profile", 3)
	if err != nil {
		return nil, err
	}
	defer cluster.Kill()
	conns, err := load.Dial(leader.API)
	if err != nil {
		return nil, err
	}
	defer conns.Close()
	t, err := b.newWorkloads(ctx, leader, conns)
	if err != nil {
		return nil, err
	}
	defer t.close()
	for _, callers := range b.callers {
		for _, work := range []struct{ name, kind string }{
			{"denials", "deny"}, {"refreshes by stream, one per frame", "stream"}, {"pairs", "acquire"},
		} {
			err := t.withWorkload(ctx, work.kind, callers, 1, func(call load.Call) error {
				one, err := b.profile(ctx, leader, callers, call)
				if err == nil {
					one.Work = work.name
					all = append(all, *one)
				}
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", work.name, err)
			}
		}
	}
	if now, err := cluster.Leader(ctx); err != nil {
		return nil, err
	} else if now != leader {
		return nil, errors.New("the leader changed during the profile")
	}
	return all, nil
}

// profile profiles the leader while callers make calls, for the total length of the windows.
func (b *bench) profile(ctx context.Context, leader *servers.Server, callers int, call load.Call) (*profileResult, error) {
	length := max(b.windows.window*time.Duration(b.windows.count), time.Second).Round(time.Second)
	if _, err := load.Measure(ctx, max(b.windows.warmUp, time.Millisecond), callers, call); err != nil {
		return nil, err
	}
	profiling, cancel := context.WithCancel(ctx)
	defer cancel()
	var p *profile.Profile
	var profileErr error
	var wait sync.WaitGroup
	wait.Go(func() { p, profileErr = cpuProfile(profiling, leader.Admin, length) })
	f, err := load.Measure(ctx, length, callers, call)
	if err != nil {
		cancel()
	}
	wait.Wait()
	if err := cmp.Or(err, profileErr); err != nil {
		return nil, err
	}
	nanos, parts := sharesOf(p)
	return &profileResult{Callers: callers, Samples: len(p.Sample), CPU: nanos / 1000 / (f.PerSecond * length.Seconds()), Parts: parts}, nil
}

// cpuProfile fetches a CPU profile from a server.
func cpuProfile(ctx context.Context, admin string, length time.Duration) (*profile.Profile, error) {
	ctx, cancel := context.WithTimeout(ctx, length+time.Minute)
	defer cancel()
	url := "http://" + admin + "/debug/pprof/profile?seconds=" + strconv.Itoa(int(length.Seconds()))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s returned %s", url, resp.Status)
	}
	return profile.Parse(resp.Body)
}

// sharesOf returns the total of a CPU profile, in ns, and the share of each part.
func sharesOf(p *profile.Profile) (total float64, shares []share) {
	parts := profileParts()
	took := make(map[string]float64)
	for _, s := range p.Sample {
		nanos := float64(s.Value[len(s.Value)-1])
		total += nanos
		took[partOf(s, parts)] += nanos
	}
	for what, nanos := range took {
		shares = append(shares, share{what, 100 * nanos / total})
	}
	slices.SortFunc(shares, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.Percent, a.Percent), strings.Compare(a.What, b.What))
	})
	return total, shares
}

func partOf(s *profile.Sample, parts []part) string {
	for _, location := range s.Location {
		for _, line := range location.Line {
			for _, p := range parts {
				if slices.ContainsFunc(p.names, func(name string) bool { return strings.HasPrefix(line.Function.Name, name) }) {
					return p.what
				}
			}
		}
	}
	return elsewhere
}

func printProfiles(out io.Writer, all []profileResult) {
	for _, one := range all {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "%s, %d callers: %.1f µs of the leader's CPU time per operation, %d stacks\t%%\t\n", one.Work, one.Callers, one.CPU, one.Samples)
		for _, s := range one.Parts {
			fmt.Fprintf(w, "%s\t%.0f\t\n", s.What, s.Percent)
		}
		_ = w.Flush()
	}
}
