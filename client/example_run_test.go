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

// A job that ignores its context cannot be stopped by a library. It is reported, and keeps its slot until it returns.
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
		<-reported // it does not look at ctx
		return nil
	}

	sem := clients[0].Semaphore("nightly-export", client.WithStopTime(100*time.Millisecond))
	hooks := client.WithHooks(client.Hooks{Overrun: func(_ context.Context, o client.Overrun) {
		fmt.Println("still running although revoked:", errors.Is(o.Cause, client.ErrRevoked), "another may run beside it:", o.Gone)
		close(reported)
	}})
	err := client.NewRunner(sem, stubborn, hooks).Run(ctx)
	fmt.Println("in the end:", err)
	// Output:
	// still running although revoked: true another may run beside it: false
	// in the end: <nil>
}

// When no server answers, a job is skipped, waits, or runs unguarded: its author knows which is worse.
func ExampleWithOutagePolicy() {
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{nobody}, silent())
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
	skips := client.Wrap(c.Semaphore("report"), report, impatient, client.WithOutagePolicy(client.OutageSkip))
	fmt.Println("skipped:", errors.Is(skips(ctx), client.ErrUnavailable))

	unguarded := client.Wrap(c.Semaphore("report"), report, impatient, alarm, client.WithOutagePolicy(client.OutageRunUnguarded))
	fmt.Println(unguarded(ctx))
	// Output:
	// skipped: true
	// alarm, unguarded: true
	// reporting, under a permit: false
	// <nil>
}

// A scheduler that calls jobs itself begins and ends the run around each.
func ExampleRunner_Begin() {
	clients, end := connect("app1")
	defer end()
	due := time.Date(2026, 6, 1, 2, 30, 0, 0, time.UTC)
	runner := client.NewRunner(clients[0].Semaphore("nightly-export"), nil)

	run, err := runner.Begin(context.Background(), due)
	if err != nil {
		fmt.Println(err) // as of Run: a *client.DeniedError for example
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

// A job that is no function is started by Start, and must respect Context.
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

// A job that gives up half-way says so. With firing_on_loss free, another host may run the firing.
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

// Two timetables that share a semaphore need names for their firings; the same due time is then two firings.
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
	turns := 0
	poll := func(context.Context) error {
		if turns++; turns == 3 {
			stop()
		}
		return nil
	}

	runner := client.NewRunner(clients[0].Semaphore("nightly-export"), poll, client.WithLoopDelay(client.DefaultLoopDelay/100))
	fmt.Println(runner.Loop(ctx), turns)
	// Output: context canceled 3
}

// A release that no server answers holds up what follows on the run. This one is given up after 30 s.
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
