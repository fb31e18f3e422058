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

// stored fills the store and measures what that does to a server's duties.
func (b *bench) stored(ctx context.Context) error {
	for i, tasks := range []int{1000, 1000, 1000, 850} { // of 64 KiB; the last is what is left below the limit of the cluster
		if _, err := b.submit(ctx, fmt.Sprint("tasks-", i%3), tasks, 64<<10); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{b.handedOver, b.snapshot, b.killed, b.joined} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// handedOver hands leadership over, and measures until the new leader grants.
func (b *bench) handedOver(ctx context.Context) error {
	begun := time.Now()
	_, err := gatekeeperv1.NewClusterServiceClient(b.conns.Of(0)).TransferLeadership(ctx, &gatekeeperv1.TransferLeadershipRequest{})
	if err != nil {
		return err
	}
	if err := b.untilGranted(ctx); err != nil {
		return err
	}
	fmt.Printf("hand-over of leadership with 256 MiB stored until the next grant: %.0f ms, at most 150\n", load.Micros(time.Since(begun))/1000)
	return nil
}

// untilGranted asks for a permit at the server that leads, until it is granted.
func (b *bench) untilGranted(ctx context.Context) error {
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

// snapshot waits for one of the leader while it grants.
func (b *bench) snapshot(ctx context.Context) error {
	leader, err := b.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	d, err := snapshots.Measure(ctx, leader, func(ctx context.Context) (func(context.Context) error, error) { return b.acquire(ctx, 0) })
	if err != nil {
		return err
	}
	fmt.Printf("snapshot of %.0f MB: %.1f s; the longest grant within took %.1f ms, that before %.1f ms: %.1f ms more, at most 10\n",
		d.Bytes/1e6, d.Seconds, d.LongestWithin, d.LongestBefore, d.Added())
	return nil
}

// killed kills the leader, measures until another one grants, and then until the killed one has restarted under load.
func (b *bench) killed(ctx context.Context) error {
	leader, err := b.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	begun := time.Now()
	leader.Kill()
	if err := b.untilGranted(ctx); err != nil {
		return err
	}
	fmt.Printf("a killed leader with 256 MiB stored until the next grant: %.1f s, at most 2.2\n", time.Since(begun).Seconds())
	return b.underLoad(ctx, func() error {
		begun := time.Now()
		if err := leader.Start(); err != nil {
			return err
		}
		if err := b.caughtUp(ctx, leader); err != nil {
			return err
		}
		fmt.Printf("its restart under load until it has all: %.1f s, at most 10\n", time.Since(begun).Seconds())
		return nil
	})
}

// joined lets an empty server join, as one does whose folder was wiped: it needs a new id.
func (b *bench) joined(ctx context.Context) error {
	return b.underLoad(ctx, func() error {
		begun := time.Now()
		joined, err := b.cluster.Join("n4")
		if err != nil {
			return err
		}
		if err := b.caughtUp(ctx, joined); err != nil {
			return err
		}
		fmt.Printf("an empty server that joins under load until it has all: %.1f s\n", time.Since(begun).Seconds())
		return nil
	})
}

// underLoad calls f while four callers acquire and release.
func (b *bench) underLoad(ctx context.Context, f func() error) error {
	busy, rest := context.WithCancel(ctx)
	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		for busy.Err() == nil {
			_, _ = load.Measure(busy, time.Second, 4, b.pair) // its errors are those of the end
		}
	}()
	defer func() { rest(); <-loaded }()
	return f()
}

// caughtUp waits until a server has applied what the leader had committed.
func (b *bench) caughtUp(ctx context.Context, s *servers.Server) error {
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
