package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A draining job finishes the work in progress but starts nothing new.
func ExamplePermit_DrainUntil() {
	clients, end := connect("app1", "ops")
	defer end()
	ctx := context.Background()
	drain := func(ctx context.Context) {
		req := &gatekeeperv1.RevokeRequest{Token: client.TokenOf(ctx), Author: "ops@desk", Reason: "patching", Drain: durationpb.New(2 * time.Minute)}
		if _, err := clients[1].Permits().Revoke(ctx, req); err != nil {
			fmt.Println(err)
		}
		<-ctx.Done()
	}

	export := func(ctx context.Context) error {
		permit := client.PermitOf(ctx)
		for _, table := range []string{"orders", "customers", "invoices"} {
			if ctx.Err() != nil {
				return context.Cause(ctx) // do not start another table
			}
			if table == "customers" {
				drain(ctx) // simulates an operator stopping the job
			}
			// Finish the current table while the permit can still be relied on.
			if err := permit.Ensure(context.WithoutCancel(ctx), 20*time.Second); err != nil {
				return err
			}
			fmt.Println(table, "exported, draining:", time.Until(permit.DrainUntil()) > time.Minute)
		}
		return nil
	}

	err := client.Wrap(clients[0].Semaphore("nightly-export"), export)(ctx)
	if stop, ok := errors.AsType[*client.StopError](err); ok {
		fmt.Println("stopped:", errors.Is(stop, client.ErrRevoked), stop.Message, stop.Drain > time.Minute, time.Until(stop.Until) > time.Minute)
	}
	// Output:
	// orders exported, draining: false
	// customers exported, draining: true
	// stopped: true patching true true
}
