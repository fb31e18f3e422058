package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// The client cannot stop a job that ignores its context. It reports an overrun, and the job keeps its slot until it
// returns or its permit expires.
func ExampleOverrun() {
	clients, end := connect("app1", "ops")
	defer end()
	ctx := context.Background()
	reported := make(chan struct{})

	stubborn := func(ctx context.Context) error {
		token := client.TokenOf(ctx)
		if _, err := clients[1].Permits().Revoke(ctx, &gatekeeperv1.RevokeRequest{Token: token, Author: "ops@desk", Reason: "disk is full"}); err != nil {
			return err
		}
		<-reported // ignores ctx
		return nil
	}

	sem := clients[0].Semaphore("nightly-export", client.WithStopTime(100*time.Millisecond))
	hooks := client.WithHooks(client.Hooks{Overrun: func(_ context.Context, o client.Overrun) {
		fmt.Println("still running although revoked:", errors.Is(o.Cause, client.ErrRevoked), "another may be running:", o.Gone)
		close(reported)
	}})
	err := client.NewRunner(sem, stubborn, hooks).Run(ctx)
	fmt.Println("returned:", err)
	// Output:
	// still running although revoked: true another may be running: false
	// returned: <nil>
}

// If no server responds, a job can be skipped, wait, or run unguarded. Choose the policy that does the least harm.
func ExampleWithOutagePolicy() {
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{unreachable}, silent())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	report := func(ctx context.Context) error {
		fmt.Println("reporting, under a permit:", client.PermitOf(ctx) != nil)
		return nil
	}
	impatient := client.WithOutageLimit(client.DefaultOutageLimit / 100)

	alarm := client.WithHooks(client.Hooks{Unavailable: func(_ context.Context, o client.Outage) { fmt.Println("alarm, unguarded:", o.Unguarded) }})
	skip := client.Wrap(c.Semaphore("report"), report, impatient, client.WithOutagePolicy(client.OutageSkip))
	fmt.Println("skipped:", errors.Is(skip(ctx), client.ErrUnavailable))

	unguarded := client.Wrap(c.Semaphore("report"), report, impatient, alarm, client.WithOutagePolicy(client.OutageRunUnguarded))
	fmt.Println(unguarded(ctx))
	// Output:
	// skipped: true
	// alarm, unguarded: true
	// reporting, under a permit: false
	// <nil>
}

// Schedulers that run jobs themselves call Begin before each job and End after it.
func ExampleRunner_Begin() {
	clients, end := connect("app1")
	defer end()
	due := time.Date(2026, 6, 1, 2, 30, 0, 0, time.UTC)
	runner := client.NewRunner(clients[0].Semaphore("nightly-export"), nil)

	run, err := runner.Begin(context.Background(), due)
	if err != nil {
		fmt.Println(err) // the same errors as from Run, for example a *client.DeniedError
		return
	}
	fmt.Println("held:", run.Permit().Held())
	err = run.Do(func(ctx context.Context) error {
		fmt.Println("exporting", ctx.Err())
		return nil
	})
	fmt.Println(run.End(err))
	// Output:
	// held: true
	// exporting <nil>
	// <nil>
}

// For a job that is not a function, call Start before the job starts, and stop the job when Context ends.
func ExampleRun_Start() {
	clients, end := connect("app1")
	defer end()
	ctx, shutdown := context.WithCancel(context.Background())
	defer shutdown()

	run, err := client.NewRunner(clients[0].Semaphore("nightly-export"), nil).Begin(ctx, time.Time{})
	if err != nil {
		fmt.Println(err)
		return
	}
	shutdown()
	<-run.Context().Done()
	err = run.Start()
	fmt.Println("must not start:", err)
	fmt.Println(run.End(err))
	// Output:
	// must not start: context canceled
	// context canceled
}

// A job that gives up midway returns ErrCutShort. If firing_on_loss is free, another host may then run the firing.
func ExampleRunner_RunDue_cutShort() {
	clients, end := connect("app1")
	defer end()
	due := time.Date(2026, 6, 1, 2, 30, 0, 0, time.UTC)

	report := client.WithHooks(client.Hooks{Finished: func(_ context.Context, r client.Report) { fmt.Println("cut short:", r.CutShort) }})
	export := func(context.Context) error { return fmt.Errorf("the disk is full: %w", client.ErrCutShort) }
	err := client.NewRunner(clients[0].Semaphore("nightly-export"), export, report).RunDue(context.Background(), due)
	fmt.Println(err)
	// Output:
	// cut short: true
	// the disk is full: the job was cut short
}

// Two schedules that share a semaphore need different firing names, so that the same due time yields two distinct
// firings.
func ExampleWithFiringName() {
	clients, end := connect("app1")
	defer end()
	ctx, sem := context.Background(), clients[0].Semaphore("nightly-export")
	due := time.Date(2026, 6, 1, 2, 30, 0, 0, time.UTC)

	for _, name := range []string{"orders", "customers", "orders"} {
		runner := client.NewRunner(sem, func(context.Context) error {
			fmt.Println("exporting", name)
			return nil
		}, client.WithFiringName(name))
		runner.Fire(ctx, due) // errors are logged
	}
	// Output:
	// exporting orders
	// exporting customers
}

func ExampleWithLoopDelay() {
	clients, end := connect("app1")
	defer end()
	ctx, stop := context.WithCancel(context.Background())
	runs := 0
	poll := func(context.Context) error {
		if runs++; runs == 3 {
			stop()
		}
		return nil
	}

	runner := client.NewRunner(clients[0].Semaphore("nightly-export"), poll, client.WithLoopDelay(client.DefaultLoopDelay/100))
	fmt.Println(runner.Loop(ctx), runs)
	// Output: context canceled 3
}

// A run blocks while no server responds to its release. With this limit, it gives up after 30 s.
func ExampleWithReleaseLimit() {
	clients, end := connect("app1")
	defer end()
	hooks := client.WithHooks(client.Hooks{Finished: func(_ context.Context, r client.Report) { fmt.Println("the slot is free:", r.Release == nil) }})
	export := func(context.Context) error { return nil }

	run := client.Wrap(clients[0].Semaphore("nightly-export"), export, client.WithReleaseLimit(30*time.Second), hooks)
	fmt.Println(run(context.Background()))
	// Output:
	// the slot is free: true
	// <nil>
}
