package weighted_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/weighted"
)

func ExampleWeighted_TryAcquire() {
	srv := gktest.NewServer("scanner")
	defer srv.Close()
	c, err := client.Dial(context.Background(), []string{srv.Endpoint()})
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
