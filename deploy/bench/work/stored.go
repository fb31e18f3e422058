package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/snapshots"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// stored fills the store and measures how that affects the servers.
func (b *bench) stored(ctx context.Context) error {
	for i, tasks := range []int{1000, 1000, 1000, 850} { // 64 KiB each; the last job stays below the limit
		if _, err := b.submit(ctx, fmt.Sprint("tasks-", i%3), tasks, 64<<10); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{b.transferLeadership, b.snapshot, b.killLeader, b.joinServer} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// transferLeadership transfers leadership and measures the time until the new leader grants a permit.
func (b *bench) transferLeadership(ctx context.Context) error {
	start := time.Now()
	_, err := gatekeeperv1.NewClusterServiceClient(b.conns.ForCaller(0)).TransferLeadership(ctx, &gatekeeperv1.TransferLeadershipRequest{})
	if err != nil {
		return err
	}
	if err := b.awaitGrant(ctx); err != nil {
		return err
	}
	fmt.Printf("time from a leadership transfer to the next grant, with 256 MiB stored: %.0f ms; target: at most 150\n", load.Micros(time.Since(start))/1000)
	return nil
}

// awaitGrant requests permits from the leader until one is granted.
func (b *bench) awaitGrant(ctx context.Context) error {
	for {
		err := b.dial(ctx)
		if err == nil {
			_, err = b.pair(ctx, 0)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// snapshot measures how much longer grants take while the leader takes a snapshot.
func (b *bench) snapshot(ctx context.Context) error {
	leader, err := b.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	d, err := snapshots.Measure(ctx, leader, func(ctx context.Context) (func(context.Context) error, error) { return b.acquire(ctx, 0) })
	if err != nil {
		return err
	}
	fmt.Printf("snapshot of %.0f MB: %.1f s; the longest grant took %.1f ms during it and %.1f ms before: %.1f ms more; target: at most 10\n",
		d.Bytes/1e6, d.Seconds, d.LongestDuring, d.LongestBefore, d.Added())
	return nil
}

// killLeader kills the leader and measures the time until another server grants a permit. It then restarts the dead
// server under load and measures the time until it catches up.
func (b *bench) killLeader(ctx context.Context) error {
	leader, err := b.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	leader.Kill()
	if err := b.awaitGrant(ctx); err != nil {
		return err
	}
	fmt.Printf("time from killing the leader to the next grant, with 256 MiB stored: %.1f s; target: at most 2.2\n", time.Since(start).Seconds())
	return b.underLoad(ctx, func() error {
		start := time.Now()
		if err := leader.Start(); err != nil {
			return err
		}
		if err := b.awaitCaughtUp(ctx, leader); err != nil {
			return err
		}
		fmt.Printf("time from restarting it under load until it caught up: %.1f s; target: at most 10\n", time.Since(start).Seconds())
		return nil
	})
}

// joinServer adds an empty server under a new id, like a server whose directory was wiped.
func (b *bench) joinServer(ctx context.Context) error {
	return b.underLoad(ctx, func() error {
		start := time.Now()
		joined, err := b.cluster.Join("n4")
		if err != nil {
			return err
		}
		if err := b.awaitCaughtUp(ctx, joined); err != nil {
			return err
		}
		fmt.Printf("time from adding an empty server under load until it caught up: %.1f s\n", time.Since(start).Seconds())
		return nil
	})
}

// underLoad calls f while four callers acquire and release permits.
func (b *bench) underLoad(ctx context.Context, f func() error) error {
	busy, stop := context.WithCancel(ctx)
	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		for busy.Err() == nil {
			_, _ = load.Measure(busy, time.Second, 4, b.pair) // it returns an error because busy is cancelled
		}
	}()
	defer func() { stop(); <-loaded }()
	return f()
}

// awaitCaughtUp waits until a server has applied everything that the leader had committed at the time of the call.
func (b *bench) awaitCaughtUp(ctx context.Context, s *servers.Server) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	leader, err := b.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	at, err := leader.Status(ctx)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		if status, err := s.Status(ctx); err == nil && status.GetAppliedIndex() >= at.GetCommitIndex() {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("%s has not caught up: %w\n%s", s.ID, ctx.Err(), s.LogTail())
}
