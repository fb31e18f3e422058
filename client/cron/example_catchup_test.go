package cron_test

import (
	"context"
	"fmt"
	"log"

	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
)

// The definition decides which of the missed firings run.
func ExampleCatchUp() {
	srv := gktest.NewServer("hourly-export")
	defer srv.Close()
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	export := func(context.Context) error { return nil }

	schedule, err := cron.ParseStandard("CRON_TZ=Europe/Berlin 30 * * * *")
	if err != nil {
		log.Fatal(err)
	}
	if err := client.NewRunner(c.Semaphore("hourly-export"), export).CatchUp(ctx, schedule.Next); err != nil {
		fmt.Println(err)
	}
	scheduler := cron.New()
	runner := client.NewRunner(c.Semaphore("hourly-export"), export)
	id, err := gkcron.Add(ctx, scheduler, "30 * * * *", runner)
	if err != nil {
		log.Fatal(err)
	}
	scheduler.Start()
	fmt.Println(gkcron.CatchUp(ctx, scheduler, id, runner))
	<-scheduler.Stop().Done()
	// Output: <nil>
}

// A scheduler that starts its own runs can query the missed firings.
func Example_missed() {
	srv := gktest.NewServer("hourly-export")
	defer srv.Close()
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	export := func(context.Context) error { return nil }

	schedule, err := cron.ParseStandard("CRON_TZ=Europe/Berlin 30 * * * *")
	if err != nil {
		log.Fatal(err)
	}
	runner := client.NewRunner(c.Semaphore("hourly-export"), export, client.WithDenialPolicy(client.DenialWait))
	missed, err := runner.Missed(ctx, schedule.Next)
	if err != nil {
		log.Fatal(err)
	}
	for _, due := range missed {
		run, err := runner.Begin(ctx, due)
		if err != nil {
			continue // another host runs it
		}
		if err := run.End(run.Do(export)); err != nil {
			log.Print(err)
		}
	}
	fmt.Println(len(missed), "missed")
	// Output: 0 missed
}
