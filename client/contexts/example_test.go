package contexts_test

import (
	"context"
	"log"

	"github.com/gatekeeperd/gatekeeper/client/contexts"
)

// A program reaches the cluster that `gkctl context use` has chosen, or GK_CONTEXT names.
func ExampleDial() {
	c, err := contexts.Dial(context.Background(), "")
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	permit, err := c.Semaphore("nightly").TryAcquire(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	_ = permit.Release(context.Background())
}
