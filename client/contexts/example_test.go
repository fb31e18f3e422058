package contexts_test

import (
	"context"
	"log"

	"github.com/gatekeeperd/gatekeeper/client/contexts"
)

// The program connects to the cluster selected by `gkctl context use` or GK_CONTEXT.
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
