package tasks_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/tasks"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// HelloWorld is the task from the StopLight article.
type HelloWorld struct {
	Said chan string
}

func (HelloWorld) Name() string                     { return "hello-world" }
func (HelloWorld) Schedule() gocron.JobDefinition   { return gocron.DurationJob(time.Second) }
func (HelloWorld) Initialize(context.Context) error { return nil } // no need to do anything
func (HelloWorld) Cancel()                          {}             // no need to do anything

func (h HelloWorld) Run(context.Context) error {
	h.Said <- "Hello World!"
	return nil
}

func ExampleManager() {
	srv := gktest.NewServer("hello-world")
	defer srv.Close()
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	manager, err := tasks.NewManager(c)
	if err != nil {
		log.Fatal(err)
	}
	defer manager.Close(ctx)
	hello := HelloWorld{Said: make(chan string, 100)}
	if err := manager.Register(ctx, hello); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-hello.Said)

	for _, task := range manager.List() {
		fmt.Println(task.Name, "uses semaphore", task.Semaphore)
	}
	if err := manager.Remove(ctx, "hello-world"); err != nil { // lets a run finish; RemoveNow would stop it
		log.Fatal(err)
	}
	_, _, registered := manager.Get("hello-world")
	fmt.Println("registered:", registered)
	// Output:
	// Hello World!
	// hello-world uses semaphore hello-world
	// registered: false
}

func ExampleFunc() {
	srv := gktest.NewServer("hello-world")
	defer srv.Close()
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	manager, err := tasks.NewManager(c)
	if err != nil {
		log.Fatal(err)
	}
	defer manager.Close(ctx)

	said := make(chan string, 100)
	hello := tasks.Func("hello-world", gocron.DurationJob(time.Second), func(context.Context) error {
		said <- "Hello World!"
		return nil
	})
	if err := manager.Register(ctx, hello); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-said)
	// Output: Hello World!
}

// A host dies partway through a report. Another host detects this, cleans up, and runs the report again.
func ExampleRestartableFunc() {
	srv := gktest.NewServer()
	defer srv.Close()
	ctx := context.Background()
	hosts := make(map[string]*client.Client)
	for _, name := range []string{"app1", "app2"} {
		c, err := client.Dial(ctx, []string{srv.Endpoint()}, client.WithAcquirer(name))
		if err != nil {
			log.Fatal(err)
		}
		defer c.Close()
		hosts[name] = c
	}
	definition := &gatekeeperv1.Definition{Name: "report", Takeover: true, Duration: durationpb.New(2 * time.Second)}
	if _, err := hosts["app1"].Declare(ctx, definition); err != nil {
		log.Fatal(err)
	}
	if _, err := hosts["app1"].Semaphore("report").TryAcquire(ctx); err != nil {
		log.Fatal(err)
	}
	hosts["app1"].Close() // does not release the permit

	strategy := tasks.StrategyFunc(func(ctx context.Context, e tasks.Evidence) tasks.Verdict {
		if e.Holder.GetIdentity().GetAcquirer() == "app1" {
			return tasks.Dead // known to be dead in this example
		}
		return tasks.ByAnswer(ctx, e)
	})
	manager, err := tasks.NewManager(hosts["app2"], tasks.WithStrategy(strategy))
	if err != nil {
		log.Fatal(err)
	}
	defer manager.Close(ctx)
	ran := make(chan struct{})
	var once sync.Once
	compile := func(context.Context) error {
		once.Do(func() {
			fmt.Println("compiling")
			close(ran)
		})
		return nil
	}
	reset := func(context.Context) error {
		fmt.Println("removing the draft")
		return nil
	}
	if err := manager.Register(ctx, tasks.RestartableFunc("report", gocron.DurationJob(time.Second), compile, reset)); err != nil {
		log.Fatal(err)
	}
	<-ran
	// Output:
	// removing the draft
	// compiling
}

// Hosts probe each other over HTTP. A host that fails to answer three times is considered dead.
func ExampleHTTPProbe() {
	srv := gktest.NewServer("report")
	defer srv.Close()
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	patient := tasks.StrategyFunc(func(ctx context.Context, e tasks.Evidence) tasks.Verdict {
		if e.Err != nil && e.Attempt >= 3 {
			return tasks.Dead
		}
		return tasks.ByAnswer(ctx, e) // alive or dead, or retry if there was no answer
	})
	manager, err := tasks.NewManager(c,
		tasks.WithProbeURL("http://app1.example.com:8080/tasks"), // the URL at which other hosts reach this process
		tasks.WithProbe(tasks.HTTPProbe{}),
		tasks.WithProbeTimeout(time.Second),
		tasks.WithStrategy(patient),
		tasks.WithRetries(3, 5*time.Second),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer manager.Close(ctx)
	mux := http.NewServeMux()
	mux.Handle("/tasks", manager.Handler())
	// Serve mux, and then register the tasks.
}
