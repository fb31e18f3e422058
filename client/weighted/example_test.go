package weighted_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/internal/clustertest"
	"github.com/gatekeeperd/gatekeeper/client/weighted"
)

func Example() {
	endpoint, end := clustertest.Open("scanner")
	defer end()
	c, err := client.Dial(context.Background(), []string{endpoint})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	sem := weighted.New(c.Semaphore("scanner"))
	if err := sem.Acquire(sem.Context(), 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println("may scan:", sem.Context().Err() == nil)
	sem.Release(1)
	// Output: may scan: true
}
