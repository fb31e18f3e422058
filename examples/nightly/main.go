// Command nightly schedules the same job on every host that runs it. Each run takes place on only one host. It is the
// example in the README.
package main

import (
	"context"
	"log"

	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
)

func export(ctx context.Context) error {
	log.Printf("exporting on %s", client.PermitOf(ctx).Acquirer()) // ctx ends when the job must stop
	return nil
}

func main() {
	c, err := client.Dial(context.Background(), nil) // GK_ENDPOINTS, or 127.0.0.1:7420
	if err != nil {
		log.Fatal(err)
	}
	scheduler, job := cron.New(), client.NewRunner(c.Semaphore("nightly-export"), export)
	if _, err := gkcron.Add(context.Background(), scheduler, "@every 2s", job); err != nil {
		log.Fatal(err)
	}
	scheduler.Run()
}
