package cron_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
)

// report is a job that can be stopped.
type report struct{ name string }

func (r report) Run() { _ = r.RunContext(context.Background()) }

func (r report) RunContext(ctx context.Context) error {
	_, err := fmt.Fprintln(os.Stdout, "reporting", r.name, "under a permit:", client.PermitOf(ctx) != nil)
	return err
}

func ExampleContextJob() {
	srv := gktest.NewServer("report")
	defer srv.Close()
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	var job gkcron.ContextJob = report{"totals"}
	guard := gkcron.JobWrapper(ctx, c.Semaphore("report"), nil) // no due time: runs are not claimed
	cron.NewChain(guard).Then(report{"totals"}).Run()
	_ = job.RunContext(ctx) // called directly
	// Output:
	// reporting totals under a permit: true
	// reporting totals under a permit: false
}

// Without a JobWrapper, a Func runs like any other job: without a permit, and with a context that is never cancelled.
func ExampleFunc() {
	job := gkcron.Func(func(ctx context.Context) error {
		fmt.Println("under a permit:", client.PermitOf(ctx) != nil)
		return nil
	})
	job.Run()
	fmt.Println(job.RunContext(context.Background()))
	// Output:
	// under a permit: false
	// under a permit: false
	// <nil>
}
