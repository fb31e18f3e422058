package client_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
)

func ExamplePermit_Firing() {
	clients, end := connect("app1")
	defer end()
	ctx, c := context.Background(), clients[0]

	export := func(ctx context.Context) error {
		_, due := client.PermitOf(ctx).Firing() // the scheduled time, however late the job runs
		fmt.Println("exporting the day before", due.Format(time.DateOnly))
		return nil
	}

	run := client.NewRunner(c.Semaphore("nightly-export"), export)
	if err := run.RunDue(ctx, time.Date(2026, 6, 1, 2, 30, 0, 0, time.UTC)); err != nil {
		fmt.Println(err)
	}
	// Output: exporting the day before 2026-06-01
}
