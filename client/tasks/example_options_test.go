package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/go-co-op/gocron/v2"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/tasks"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// connect starts a server with the given semaphores and returns a client connected to it.
func connect(semaphores ...string) (c *client.Client, end func()) {
	srv := gktest.NewServer(semaphores...)
	c, err := client.Dial(context.Background(), []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	return c, func() {
		_ = c.Close()
		srv.Close()
	}
}

func ExampleNewManager() {
	c, end := connect("reports")
	defer end()

	manager, err := tasks.NewManager(c,
		tasks.WithSemaphore(func(task string) string { return "reports" }), // only one task runs at a time
		tasks.WithAcquireOptions(client.WithMetadata(map[string]string{"version": "3"})),
		tasks.WithJobOptions(client.WithOutagePolicy(client.OutageWait)),
		tasks.WithScheduler(gocron.WithLocation(time.UTC)), // must be the same on every host
		tasks.WithNow(time.Now),              // with gocron.WithClock, use that clock's Now
		tasks.WithProbe(tasks.ServerProbe{}), // the default, like the options below
		tasks.WithProbeTimeout(tasks.DefaultProbeTimeout),
		tasks.WithStrategy(tasks.StrategyFunc(tasks.ByAnswer)),
		tasks.WithRetries(tasks.DefaultRetries, tasks.DefaultRetryDelay),
		tasks.WithLogger(slog.Default()),
	)
	if err != nil {
		log.Fatal(err)
	}
	// On shutdown, give the tasks time to finish and then stop them.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := manager.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	if err := manager.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	err = manager.Register(ctx, tasks.Func("late", gocron.DurationJob(time.Hour), func(context.Context) error { return nil }))
	fmt.Println(errors.Is(err, tasks.ErrClosed))
	// Output: true
}

func ExampleManager_RemoveNow() {
	c, end := connect("report")
	defer end()
	ctx := context.Background()
	manager, err := tasks.NewManager(c)
	if err != nil {
		log.Fatal(err)
	}
	defer manager.Close(ctx)

	began := make(chan struct{})
	report := tasks.Func("report", gocron.DurationJob(time.Second), func(ctx context.Context) error {
		close(began)
		<-ctx.Done()
		fmt.Println("removed:", errors.Is(context.Cause(ctx), tasks.ErrRemoved))
		return context.Cause(ctx)
	})
	if err := manager.Register(ctx, report); err != nil {
		log.Fatal(err)
	}
	fmt.Println("name taken:", errors.Is(manager.Register(ctx, report), tasks.ErrRegistered))
	<-began
	if err := manager.RemoveNow(ctx, "report"); err != nil {
		log.Fatal(err)
	}
	fmt.Println("not registered:", errors.Is(manager.Remove(ctx, "report"), tasks.ErrNotRegistered))
	// Output:
	// name taken: true
	// removed: true
	// not registered: true
}

// status returns a line for a status page that lists a host's tasks.
func status(i tasks.Info) string {
	switch i.State {
	case tasks.Initializing, tasks.Acquiring, tasks.TakingOver, tasks.Removing:
		return fmt.Sprintf("%s: %s", i.Name, i.State)
	case tasks.Running:
		return fmt.Sprintf("%s: running under token %d", i.Name, i.Token)
	case tasks.Idle:
	}
	var panicked *tasks.PanicError
	switch {
	case errors.As(i.Err, &panicked):
		return fmt.Sprintf("%s: its last run panicked: %v", i.Name, panicked.Value)
	case errors.Is(i.Skipped, client.ErrDenied):
		return fmt.Sprintf("%s: another host ran it", i.Name)
	}
	return fmt.Sprintf("%s: %s, has run %d times", i.Name, i.State, i.Runs)
}

func ExampleManager_List() {
	c, end := connect("report")
	defer end()
	ctx := context.Background()
	manager, err := tasks.NewManager(c)
	if err != nil {
		log.Fatal(err)
	}
	defer manager.Close(ctx)
	if err := manager.Register(ctx, tasks.Func("report", gocron.DurationJob(time.Hour), func(context.Context) error { return nil })); err != nil {
		log.Fatal(err)
	}
	for _, info := range manager.List() {
		fmt.Println(status(info))
	}
	// Output: report: idle, has run 0 times
}

// A task can be tested without a Manager by calling its methods.
func ExampleTask() {
	ctx := context.Background()
	printing := func(what string) func(context.Context) error {
		return func(context.Context) error { fmt.Println(what); return nil }
	}
	task := tasks.RestartableFunc("report", gocron.DurationJob(time.Hour), printing("run"), printing("reset"))
	fmt.Println(task.Name(), task.Schedule() != nil)
	for _, step := range []func(context.Context) error{task.Initialize, task.Reset, task.Run} {
		if err := step(ctx); err != nil {
			fmt.Println(err)
		}
	}
	task.Cancel()
	// Output:
	// report true
	// reset
	// run
}

// A holder without a probe URL is checked with ServerProbe instead.
func ExampleProbe() {
	var overHTTP tasks.Probe = tasks.HTTPProbe{}
	probe := tasks.ProbeFunc(func(ctx context.Context, holder *gatekeeperv1.Permit) (bool, error) {
		alive, err := overHTTP.Alive(ctx, holder)
		if errors.Is(err, tasks.ErrNoProbeURL) {
			return tasks.ServerProbe{}.Alive(ctx, holder)
		}
		if errors.Is(err, tasks.ErrNotHolder) {
			fmt.Println("another process answered:", err)
		}
		return alive, err
	})

	ctx := context.Background()
	holder := &gatekeeperv1.Permit{Duration: durationpb.New(time.Minute), ExpiresIn: durationpb.New(50 * time.Second)}
	fmt.Println(probe.Alive(ctx, holder))
	fmt.Println(tasks.HTTPProbe{}.Alive(ctx, holder))
	// Output:
	// true <nil>
	// false the holder's permit has no probe URL
}

// A Strategy can examine the holder's record. This one never declares a holder dead within its first hour.
func ExampleStrategy() {
	var byAnswer tasks.Strategy = tasks.StrategyFunc(tasks.ByAnswer)
	lenient := tasks.StrategyFunc(func(ctx context.Context, e tasks.Evidence) tasks.Verdict {
		if time.Since(e.Holder.GetGrantedAt().AsTime()) < time.Hour {
			return tasks.Alive
		}
		return byAnswer.Judge(ctx, e)
	})
	old := tasks.Evidence{Holder: &gatekeeperv1.Permit{}, Task: tasks.Info{Name: "report"}}
	fmt.Println(lenient.Judge(context.Background(), old))
	old.Err = context.DeadlineExceeded
	fmt.Println(lenient.Judge(context.Background(), old), tasks.Retry)
	// Output:
	// dead
	// retry retry
}
