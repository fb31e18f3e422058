package cron_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
)

func ExampleAdd() {
	srv := gktest.NewServer("nightly-export")
	defer srv.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	c, err := client.Dial(ctx, []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	ran := make(chan struct{}, 10)
	export := func(context.Context) error { ran <- struct{}{}; return nil }

	runner := client.NewRunner(c.Semaphore("nightly-export"), export, client.WithOutagePolicy(client.OutageWait))
	scheduler := cron.New(cron.WithSeconds())
	if _, err := gkcron.Add(ctx, scheduler, "* * * * * *", runner); err != nil {
		log.Fatal(err)
	}
	scheduler.Start()

	<-ran
	fmt.Println("ran")
	<-scheduler.Stop().Done()
	// Output: ran
}

func ExampleJobWrapper() {
	srv := gktest.NewServer("nightly-export")
	defer srv.Close()
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	scheduler := cron.New()

	schedule, err := cron.ParseStandard("30 2 * * *")
	if err != nil {
		log.Fatal(err)
	}
	guard := gkcron.JobWrapper(ctx, c.Semaphore("nightly-export"), gkcron.Last(schedule, scheduler.Location()))
	job := cron.NewChain(cron.Recover(cron.DefaultLogger), guard).Then(gkcron.Func(func(context.Context) error {
		fmt.Println("exporting")
		return nil
	}))
	scheduler.Schedule(schedule, job)

	job.Run() // cron calls this at 02:30
	job.Run() // on the next host, the same firing is denied
	// Output: exporting
}

// A program that starts jobs itself can derive the due time of each run from the schedule.
func ExampleLatest() {
	schedule, err := cron.ParseStandard("CRON_TZ=Europe/Berlin 30 2 * * *")
	if err != nil {
		log.Fatal(err)
	}
	started := time.Date(2026, 6, 1, 14, 12, 0, 0, time.UTC) // started on each host by a timer with a random delay
	fmt.Println(gkcron.Latest(schedule, started))
	// Output: 2026-06-01 00:30:00 +0000 UTC
}
