// Command nightly is the program of the README: a job that is scheduled on several hosts and runs on one of them.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
)

func export(ctx context.Context) error { // must stop when ctx ends
	fmt.Println(os.Getenv("GK_ACQUIRER"), "exports, token", client.TokenOf(ctx))
	return nil
}

func main() {
	c, err := client.Dial(context.Background(), nil) // GK_ENDPOINTS, or 127.0.0.1:7420
	if err != nil {
		log.Fatal(err)
	}
	timetable, job := cron.New(), client.NewRunner(c.Semaphore("nightly-export"), export)
	if _, err := gkcron.Add(context.Background(), timetable, "@every 2s", job); err != nil { // in production: "30 2 * * *"
		log.Fatal(err)
	}
	timetable.Run()
}
