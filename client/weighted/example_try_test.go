package weighted_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/internal/clustertest"
	"github.com/gatekeeperd/gatekeeper/client/weighted"
)

func ExampleWeighted_TryAcquire() {
	endpoint, end := clustertest.Open("scanner")
	defer end()
	c, err := client.Dial(context.Background(), []string{endpoint})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	here, elsewhere := weighted.New(c.Semaphore("scanner")), weighted.New(c.Semaphore("scanner"))
	fmt.Println(here.TryAcquire(1), elsewhere.TryAcquire(1))
	here.Release(1)
	fmt.Println(elsewhere.TryAcquire(1))
	elsewhere.Release(1)
	// Output:
	// true false
	// true
}
