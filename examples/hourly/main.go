// Command hourly writes a report once an hour, on one of the hosts that run it. It is the first example in
// docs/jobs.md.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// report must return soon after ctx ends, with an error if work remains.
func report(ctx context.Context) error {
	for _, region := range []string{"north", "south"} {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		fmt.Println("report for", region)
	}
	return nil
}

func run(ctx context.Context, schedule string) error {
	c, err := client.Dial(ctx, nil) // GK_ENDPOINTS, or 127.0.0.1:7420
	if err != nil {
		return err
	}
	defer c.Close()
	// Create the definition if it does not exist. An operator may edit it later.
	if _, err := c.Declare(ctx, &gatekeeperv1.Definition{Name: "hourly-report"}); err != nil {
		return err
	}
	scheduler := cron.New()
	job := client.NewRunner(c.Semaphore("hourly-report"), report, client.WithDenialPolicy(client.DenialRunLate))
	if _, err := gkcron.Add(ctx, scheduler, schedule, job); err != nil {
		return err
	}
	scheduler.Start()
	<-ctx.Done()
	<-scheduler.Stop().Done() // waits until a running job has returned and its permit has been released
	return nil
}

func main() {
	schedule := "0 * * * *"
	if len(os.Args) > 1 {
		schedule = os.Args[1]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, schedule); err != nil {
		log.Fatal(err)
	}
}
