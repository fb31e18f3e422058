// Package example is the program of the README, so that it compiles and is run by a test.
package example

import (
	"context"
	"errors"
	"log"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
)

// Nightly runs export if this host is the one that may, and is told when to stop.
func Nightly(ctx context.Context, due time.Time, export func(context.Context) error) error {
	// README begins
	c, err := client.Dial(ctx, nil) // GK_ENDPOINTS, or 127.0.0.1:7420
	if err != nil {
		return err
	}
	defer c.Close()
	permit, err := c.Semaphore("nightly-export").TryAcquire(ctx, client.WithFiring("nightly", due))
	if denied, ok := errors.AsType[*client.Denied](err); ok {
		log.Print(denied) // one sentence: why not, and who holds it or ran it
		return nil
	} else if err != nil {
		return err
	}
	defer permit.Release(ctx)
	return export(permit.Context()) // which ends when the job is to stop
	// README ends
}
