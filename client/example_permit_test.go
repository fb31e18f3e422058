package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func ExamplePermit() {
	clients, end := connect("app1")
	defer end()
	ctx := context.Background()
	sem := clients[0].Semaphore("nightly-export", client.WithGroup("prod"), client.WithMetadata(map[string]string{"release": "4.2"}))

	permit, err := sem.TryAcquire(ctx, client.WithHolderID("worker-3"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(permit.Semaphore(), permit.Group(), permit.Acquirer(), permit.HolderID())
	fmt.Println("duration:", permit.Duration(), "expiration period:", permit.ExpirationPeriod())

	if err := permit.Refresh(ctx); err != nil { // not needed: the client does it automatically
		fmt.Println(err)
	}
	fmt.Println("safe for most of that:", time.Until(permit.SafeUntil()) > 50*time.Second)

	if err := permit.Release(ctx); err != nil {
		fmt.Println(err)
	}
	<-permit.Done()
	fmt.Println("held:", permit.Held(), "safe until:", permit.SafeUntil().IsZero())
	// Output:
	// nightly-export prod app1 worker-3
	// duration: 1m0s expiration period: 1m0s
	// safe for most of that: true
	// held: false safe until: true
}

// Releasing a permit twice is harmless. A released permit is never valid again.
func ExamplePermit_Release() {
	clients, end := connect("app1")
	defer end()
	ctx := context.Background()
	permit, err := clients[0].Semaphore("nightly-export").TryAcquire(ctx)
	if err != nil {
		panic(err)
	}

	fmt.Println(permit.Release(ctx), permit.Release(ctx))
	fmt.Println("refresh:", permit.Refresh(ctx))
	fmt.Println("context:", context.Cause(permit.Context()))
	fmt.Println(errors.Is(permit.Ensure(ctx, time.Second), client.ErrReleased))
	// Output:
	// <nil> <nil>
	// refresh: the permit was released
	// context: the permit was released
	// true
}

// If a run is stopped midway, the definition's firing_on_loss decides whether another host may run the firing.
func ExamplePermit_ReleaseCutShort() {
	clients, end := connect("app1", "app2")
	defer end()
	ctx := context.Background()
	due := client.WithFiring("nightly", time.Date(2026, 6, 2, 2, 30, 0, 0, time.UTC))

	permit, err := clients[0].Semaphore("nightly-export").TryAcquire(ctx, due)
	if err != nil {
		panic(err)
	}
	fmt.Println("app1 is shut down midway:", permit.ReleaseCutShort(ctx))

	_, err = clients[1].Semaphore("nightly-export").TryAcquire(ctx, due)
	if denied, ok := errors.AsType[*client.DeniedError](err); ok {
		fmt.Println("firing_on_loss is spent:", denied.Firing.GetState())
	}
	// Output:
	// app1 is shut down midway: <nil>
	// firing_on_loss is spent: FIRING_STATE_CUT_SHORT
}

// ReleaseFailed reports that a job has failed. Hosts that watch the firing receive its outcome without polling.
func ExamplePermit_ReleaseFailed() {
	clients, end := connect("app1", "app2")
	defer end()
	ctx := context.Background()
	due := time.Date(2026, 6, 4, 2, 30, 0, 0, time.UTC)

	permit, err := clients[0].Semaphore("nightly-export").TryAcquire(ctx, client.WithFiring("nightly", due))
	if err != nil {
		panic(err)
	}
	for claim, err := range clients[1].Semaphore("nightly-export").WatchFiring(ctx, "nightly", due, permit.Token()) {
		if err != nil {
			panic(err)
		}
		fmt.Println(strings.TrimSpace(claim.GetState().String() + " " + claim.GetFailure()))
		if claim.GetState() == gatekeeperv1.FiringState_FIRING_STATE_CLAIMED {
			if err := permit.ReleaseFailed(ctx, errors.New("the disk is full")); err != nil {
				panic(err)
			}
		}
	}
	// Output:
	// FIRING_STATE_CLAIMED
	// FIRING_STATE_FAILED the disk is full
}

// ExampleSemaphore_WatchFiring waits until another host's firing can be claimed again, or has ended.
func ExampleSemaphore_WatchFiring() {
	clients, end := connect("app1", "app2")
	defer end()
	ctx := context.Background()
	due := time.Date(2026, 6, 5, 2, 30, 0, 0, time.UTC)

	permit, err := clients[0].Semaphore("nightly-export").TryAcquire(ctx, client.WithFiring("nightly", due))
	if err != nil {
		panic(err)
	}
	for claim, err := range clients[1].Semaphore("nightly-export").WatchFiring(ctx, "nightly", due, 0) {
		if err != nil {
			panic(err)
		}
		if claim.GetState() == gatekeeperv1.FiringState_FIRING_STATE_OPEN {
			fmt.Println("it may be claimed")
			return
		}
		if err := permit.ReleaseNotRun(ctx); err != nil {
			panic(err)
		}
	}
	// Output: it may be claimed
}

// A host declares a firing's holder dead, takes over, and runs the firing as soon as possible. In this example the
// holder is still alive, so it must stop first.
func ExampleSemaphore_WatchFiring_takeOver() {
	clients, end := connect("app1", "app2")
	defer end()
	ctx, c := context.Background(), clients[1]
	due := time.Date(2026, 6, 6, 2, 30, 0, 0, time.UTC)
	if _, err := c.Declare(ctx, &gatekeeperv1.Definition{Name: "report", Takeover: true}); err != nil {
		panic(err)
	}
	held, err := clients[0].Semaphore("report").TryAcquire(ctx, client.WithFiring("report", due))
	if err != nil {
		panic(err)
	}
	go func() {
		<-held.Context().Done()
		_ = held.ReleaseCutShort(ctx)
	}()

	_, err = c.Permits().TakeOver(ctx, &gatekeeperv1.TakeOverRequest{
		Token: held.Token(), Identity: &gatekeeperv1.Identity{Group: "default", Acquirer: "app2"}, Reason: "its health check fails",
	})
	if err != nil {
		panic(err)
	}
	for claim, err := range c.Semaphore("report").WatchFiring(ctx, "report", due, held.Token()) {
		if err != nil || claim.GetState() == gatekeeperv1.FiringState_FIRING_STATE_OPEN {
			break // the slot is free: the holder has stopped, or its permit has expired
		}
	}
	permit, err := c.Semaphore("report").TryAcquire(ctx, client.WithFiring("report", due))
	if err != nil {
		panic(err)
	}
	fmt.Println("taken over:", errors.Is(context.Cause(held.Context()), client.ErrTakenOver))
	fmt.Println("the report runs on", permit.Acquirer())
	// Output:
	// taken over: true
	// the report runs on app2
}

// A run that cannot start its job releases the firing for another host.
func ExamplePermit_ReleaseNotRun() {
	clients, end := connect("app1", "app2")
	defer end()
	ctx := context.Background()
	due := client.WithFiring("nightly", time.Date(2026, 6, 1, 2, 30, 0, 0, time.UTC))

	permit, err := clients[0].Semaphore("nightly-export").TryAcquire(ctx, due)
	if err != nil {
		panic(err)
	}
	fmt.Println("app1 cannot reach the database:", permit.ReleaseNotRun(ctx))

	permit, err = clients[1].Semaphore("nightly-export").TryAcquire(ctx, due)
	fmt.Println("app2 runs the same firing:", err)
	fmt.Println(permit.Release(ctx))

	_, err = clients[0].Semaphore("nightly-export").TryAcquire(ctx, due)
	if denied, ok := errors.AsType[*client.DeniedError](err); ok {
		fmt.Println(denied.Reason)
	}
	// Output:
	// app1 cannot reach the database: <nil>
	// app2 runs the same firing: <nil>
	// <nil>
	// FIRING_DONE
}

// A permit that has ended is never valid again. Every use of it returns the reason.
func ExamplePermit_Refresh() {
	clients, end := connect("app1", "app2")
	defer end()
	ctx := context.Background()
	if _, err := clients[0].Declare(ctx, &gatekeeperv1.Definition{Name: "brief", Duration: durationpb.New(time.Second)}); err != nil {
		panic(err)
	}
	permit, err := clients[0].Semaphore("brief").TryAcquire(ctx)
	if err != nil {
		panic(err)
	}
	// An operator revokes the permit, but the job continues.
	if _, err := clients[1].Permits().Revoke(ctx, &gatekeeperv1.RevokeRequest{Token: permit.Token(), Author: "ops@desk"}); err != nil {
		panic(err)
	}
	if _, err := clients[1].Semaphore("brief").Acquire(ctx); err != nil { // granted once the first permit's deadline has passed
		panic(err)
	}

	fmt.Println("held:", permit.Held())
	fmt.Println("refresh:", errors.Is(permit.Refresh(ctx), client.ErrRevoked))
	fmt.Println("before the next step:", errors.Is(permit.Ensure(ctx, time.Millisecond), client.ErrRevoked))
	if ended, ok := errors.AsType[*client.EndedError](permit.Release(ctx)); ok {
		fmt.Println("release: already ended,", ended.Token == permit.Token())
	}
	// Output:
	// held: false
	// refresh: true
	// before the next step: true
	// release: already ended, true
}

// A step that takes longer than the permit's duration must not start.
func ExampleTooShortError() {
	clients, end := connect("app1")
	defer end()
	ctx := context.Background()
	permit, err := clients[0].Semaphore("nightly-export").TryAcquire(ctx)
	if err != nil {
		panic(err)
	}
	defer permit.Release(ctx)

	err = permit.Ensure(ctx, time.Hour)
	if short, ok := errors.AsType[*client.TooShortError](err); ok {
		fmt.Println(short.Wanted, "is longer than the permit's duration of", short.Duration)
	}
	// Output: 1h0m0s is longer than the permit's duration of 1m0s
}

// The stop time may be at most half of the permit's duration.
func ExampleWithStopTime() {
	clients, end := connect("app1")
	defer end()
	ctx, c := context.Background(), clients[0]

	_, err := c.Semaphore("nightly-export").TryAcquire(ctx, client.WithStopTime(50*time.Second))
	if e, ok := errors.AsType[*client.StopTimeError](err); ok {
		fmt.Println(e.StopTime, "is too long for a permit duration of", e.Duration)
	}
	permit, err := c.Semaphore("nightly-export").Acquire(ctx, client.WithStopTime(20*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("held:", permit.Held())
	// Output:
	// 50s is too long for a permit duration of 1m0s
	// held: true
}

// The cause of the permit's context says why the job must stop. Most jobs can ignore it.
func ExampleStopError() {
	clients, end := connect("app1", "ops")
	defer end()
	ctx := context.Background()
	permit, err := clients[0].Semaphore("nightly-export").TryAcquire(ctx)
	if err != nil {
		panic(err)
	}
	read, err := clients[1].Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: "nightly-export"})
	if err != nil {
		panic(err)
	}
	moved := &gatekeeperv1.Definition{Name: "nightly-export", GroupPattern: new("no-run"), Duration: durationpb.New(time.Minute)}
	_, err = clients[1].Definitions().ReplaceDefinition(ctx, &gatekeeperv1.ReplaceDefinitionRequest{
		Definition: moved, ExpectedVersion: read.GetRecord().GetVersion(), Author: "ops@desk", Reason: "maintenance",
	})
	if err != nil {
		panic(err)
	}
	_ = permit.Refresh(ctx) // not needed: only waits for the stop notice

	<-permit.Context().Done()
	cause := context.Cause(permit.Context())
	switch {
	case errors.Is(cause, client.ErrMoved):
		fmt.Println("an edit admits another holder")
	case errors.Is(cause, client.ErrPaused), errors.Is(cause, client.ErrCordoned):
		fmt.Println("no holder may run it now")
	case errors.Is(cause, client.ErrTakenOver):
		fmt.Println("another host declared this process dead")
	case errors.Is(cause, client.ErrStopped):
		fmt.Println("stopped, for another reason")
	case errors.Is(cause, client.ErrSuperseded):
		fmt.Println("another process uses this holder id")
	case errors.Is(cause, client.ErrClosed):
		fmt.Println("this process closed its client")
	}
	if stop, ok := errors.AsType[*client.StopError](cause); ok {
		fmt.Println("time left:", time.Until(stop.Until) > 0, "still held:", permit.Held())
	}
	// Output:
	// an edit admits another holder
	// time left: true still held: true
}

func ExamplePermit_Progress() {
	clients, end := connect("app1")
	defer end()
	sem := clients[0].Semaphore("nightly-export", client.WithStallLimit(50*time.Millisecond))

	hang := func(ctx context.Context) error { // never calls client.PermitOf(ctx).Progress()
		<-ctx.Done()
		return nil
	}

	stalled := client.WithHooks(client.Hooks{Lost: func(_ context.Context, l client.Loss) {
		fmt.Println("stalled:", errors.Is(l.Cause, client.ErrStalled), "held:", l.Permit.Held())
	}})
	_ = client.Wrap(sem, hang, stalled)(context.Background())
	// Output: stalled: true held: true
}

// A test can advance the clock to simulate the loss of a permit without waiting.
func ExampleWithClock() {
	srv := gktest.NewServer("nightly-export")
	defer srv.Close()
	ctx, manual := context.Background(), &manualClock{}
	var clock client.Clock = manual
	c, err := client.Dial(ctx, []string{srv.Endpoint()}, client.WithClock(clock))
	if err != nil {
		panic(err)
	}
	defer c.Close()
	permit, err := c.Semaphore("nightly-export").TryAcquire(ctx)
	if err != nil {
		panic(err)
	}

	fmt.Println(clock.Now(), "held:", permit.Held())
	manual.advance(2 * time.Minute) // the machine was suspended
	fmt.Println(clock.Now(), "held:", permit.Held())
	fmt.Println("lost:", errors.Is(permit.Refresh(ctx), client.ErrLost), errors.Is(permit.Ensure(ctx, time.Second), client.ErrLost))
	fmt.Println(context.Cause(permit.Context()))
	// Output:
	// 0s held: true
	// 2m0s held: false
	// lost: true true
	// the permit is lost: its deadline passed without a refresh
}

// manualClock is a clock that a test advances.
type manualClock struct{ now atomic.Int64 }

func (c *manualClock) Now() time.Duration      { return time.Duration(c.now.Load()) }
func (c *manualClock) advance(d time.Duration) { c.now.Add(int64(d)) }
