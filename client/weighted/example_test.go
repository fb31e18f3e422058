package weighted_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/weighted"
)

func Example() {
	srv := gktest.NewServer("scanner")
	defer srv.Close()
	c, err := client.Dial(context.Background(), []string{srv.Endpoint()})
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
