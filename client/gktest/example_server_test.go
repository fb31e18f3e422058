package gktest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
)

func ExampleNewServer() {
	srv := gktest.NewServer("nightly-export") // for example in TestMain
	defer srv.Close()

	c, err := client.Dial(context.Background(), []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	run := client.Wrap(c.Semaphore("nightly-export"), func(context.Context) error {
		fmt.Println("exporting")
		return nil
	})
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output: exporting
}
