package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/fence"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// connect starts a server, and returns a client for each acquirer and a function that closes everything. Programs call
// Dial instead.
func connect(acquirers ...string) (clients []*client.Client, end func()) {
	srv := gktest.NewServer()
	for _, name := range acquirers {
		c, err := client.Dial(context.Background(), []string{srv.Endpoint()}, client.WithAcquirer(name), client.WithLogger(slog.New(slog.DiscardHandler)))
		if err != nil {
			panic(err)
		}
		if _, err := c.Declare(context.Background(), &gatekeeperv1.Definition{Name: "nightly-export", Duration: durationpb.New(time.Minute)}); err != nil {
			panic(err)
		}
		clients = append(clients, c)
	}
	return clients, func() {
		for _, c := range clients {
			_ = c.Close()
		}
		srv.Close()
	}
}

func ExampleWrap() {
	clients, end := connect("app1")
	defer end()
	ctx, c := context.Background(), clients[0]

	export := func(ctx context.Context) error { // ctx ends when the job must stop
		fmt.Println("exporting under a permit:", client.PermitOf(ctx).Held())
		return nil
	}

	run := client.Wrap(c.Semaphore("nightly-export"), export)
	if err := run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: exporting under a permit: true
}

func ExampleRunner_RunDue() {
	clients, end := connect("app1", "app2")
	defer end()
	ctx := context.Background()
	due := time.Date(2026, 6, 1, 2, 0, 0, 0, time.UTC) // the scheduled time, not the current time

	for i, c := range clients {
		runner := client.NewRunner(c.Semaphore("nightly-export"), func(context.Context) error {
			fmt.Printf("app%d exports\n", i+1)
			return nil
		})
		if err := runner.RunDue(ctx, due); err != nil { // nil when another process ran it
			fmt.Println(err)
		}
	}
	// Output: app1 exports
}

func ExampleWithHooks() {
	clients, end := connect("app1")
	defer end()
	ctx, c := context.Background(), clients[0]
	export := func(context.Context) error { return errors.New("disk full") }

	hooks := client.Hooks{
		Denied:   func(_ context.Context, d *client.DeniedError) { fmt.Println("not run:", d) },
		Lost:     func(_ context.Context, l client.Loss) { fmt.Println("must stop:", l.Cause) },
		Overrun:  func(_ context.Context, o client.Overrun) { fmt.Println("still running despite", o.Cause) },
		Finished: func(_ context.Context, r client.Report) { fmt.Println("ran:", r.Ran, "error:", r.Err) },
	}
	_ = client.Wrap(c.Semaphore("nightly-export"), export, client.WithHooks(hooks))(ctx)
	// Output: ran: true error: disk full
}

func ExampleWithDenialPolicy() {
	clients, end := connect("app1", "app2")
	defer end()
	ctx := context.Background()
	export := func(context.Context) error { fmt.Println("exporting"); return nil }

	other, err := clients[1].Semaphore("nightly-export").TryAcquire(ctx)
	if err != nil {
		panic(err)
	}
	sem := clients[0].Semaphore("nightly-export")
	waiting := client.WithHooks(client.Hooks{Waiting: func(_ context.Context, d *client.DeniedError) {
		fmt.Println("waiting because of", d.Reason)
		go other.Release(ctx)
	}})

	err = client.Wrap(sem, export, client.WithDenialPolicy(client.DenialSkip))(ctx) // the default
	fmt.Println("skipped:", errors.As(err, new(*client.DeniedError)))

	late := client.Wrap(sem, export, client.WithDenialPolicy(client.DenialRunLate), client.WithWaitLimit(time.Hour), waiting)
	if err := late(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// skipped: true
	// waiting because of NO_FREE_PERMIT
	// exporting
}

func ExampleRunner_Loop() {
	clients, end := connect("app1")
	defer end()
	ctx, stop := context.WithCancel(context.Background())
	c := clients[0]

	consume := func(ctx context.Context) error {
		fmt.Println("consuming on this host only")
		stop() // usually called on a signal
		<-ctx.Done()
		return nil
	}

	runner := client.NewRunner(c.Semaphore("nightly-export"), consume)
	err := runner.Loop(ctx) // waits for a permit, runs, and waits again after a loss
	fmt.Println(err)
	// Output:
	// consuming on this host only
	// context canceled
}

func ExamplePermit_Ensure() {
	clients, end := connect("app1")
	defer end()
	c := clients[0]

	export := func(ctx context.Context) error {
		permit := client.PermitOf(ctx)
		for _, table := range []string{"orders", "customers"} {
			permit.Progress()
			// Replacing a table takes up to 20 s, and must not be cut short.
			if err := permit.Ensure(ctx, 20*time.Second); err != nil {
				return err
			}
			fmt.Println("replacing", table)
		}
		return nil
	}

	sem := c.Semaphore("nightly-export", client.WithStallLimit(10*time.Minute))
	if err := client.Wrap(sem, export)(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// replacing orders
	// replacing customers
}

func ExamplePermit_Context() {
	clients, end := connect("app1", "ops")
	defer end()
	ctx := context.Background()
	permit, err := clients[0].Semaphore("nightly-export").TryAcquire(ctx)
	if err != nil {
		panic(err)
	}
	go func() { // an operator
		_, _ = clients[1].Permits().Revoke(ctx, &gatekeeperv1.RevokeRequest{Token: permit.Token(), Author: "ops@desk", Reason: "disk is full"})
	}()

	<-permit.Context().Done()
	switch cause := context.Cause(permit.Context()); {
	case errors.Is(cause, client.ErrRevoked), errors.Is(cause, client.ErrMoved), errors.Is(cause, client.ErrHeldTooLong):
		fmt.Println("an operator is stopping the job; still held:", permit.Held())
	case errors.Is(cause, client.ErrExpiring):
		fmt.Println("no server is responding, and the permit is about to expire")
	case errors.Is(cause, client.ErrLost):
		fmt.Println("too late")
	}
	_ = permit.Release(ctx) // the job has stopped
	// Output: an operator is stopping the job; still held: true
}

func ExampleClient_Declare() {
	clients, end := connect("app1")
	defer end()
	ctx, c := context.Background(), clients[0]

	skipped, err := c.Declare(ctx,
		&gatekeeperv1.Definition{Name: "nightly-export", GroupPattern: new("prod")},
		&gatekeeperv1.Definition{Name: "hourly-report"},
	)
	fmt.Println("not changed:", skipped, err)
	// Output: not changed: [nightly-export] <nil>
}

func ExampleSemaphore_TryAcquire() {
	clients, end := connect("app1", "app2")
	defer end()
	due := time.Date(2026, 6, 1, 2, 30, 0, 0, time.UTC)
	log := log.New(io.Discard, "", 0) // Firing "nightly" due 2026-06-01T02:30:00Z was run by "app1" in group "default" ...
	export := func(context.Context) error { fmt.Println("exporting"); return nil }

	nightly := func(ctx context.Context, c *client.Client) error {
		permit, err := c.Semaphore("nightly-export").TryAcquire(ctx, client.WithFiring("nightly", due))
		if denied, ok := errors.AsType[*client.DeniedError](err); ok {
			log.Print(denied) // includes the reason, and who holds the permit or ran the firing
			return nil
		} else if err != nil {
			return err
		}
		defer permit.Release(ctx)
		return export(permit.Context()) // this context ends when the job must stop
	}

	for _, c := range clients {
		if err := nightly(context.Background(), c); err != nil {
			fmt.Println(err)
		}
	}
	// Output: exporting
}

func ExampleSemaphore_TryAcquireFor() {
	clients, end := connect("app1", "app2")
	defer end()
	ctx := context.Background()
	if _, err := clients[1].Semaphore("nightly-export").TryAcquire(ctx); err != nil {
		panic(err)
	}

	_, err := clients[0].Semaphore("nightly-export").TryAcquireFor(ctx, time.Second)
	if denied, ok := errors.AsType[*client.DeniedError](err); ok {
		fmt.Println(denied.Reason, "held by", denied.Holders[0].GetIdentity().GetAcquirer())
	}
	// Output: NO_FREE_PERMIT held by app2
}

func ExampleTokenOf() {
	clients, end := connect("app1")
	defer end()
	c := clients[0]
	storage := httptest.NewServer(fence.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	defer storage.Close()

	api := http.Client{Transport: fence.Transport(nil, client.TokenOf)}
	export := func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, storage.URL+"/export", http.NoBody)
		if err != nil {
			return err
		}
		resp, err := api.Do(r) // sends the permit's token
		if err != nil {
			return err
		}
		fmt.Println(resp.Status)
		return resp.Body.Close()
	}

	if err := client.Wrap(c.Semaphore("nightly-export"), export)(context.Background()); err != nil {
		fmt.Println(err)
	}
	api.CloseIdleConnections()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	// Output: 200 OK
}
