package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
)

// A client whose endpoints belong to two clusters cannot acquire permits, because both clusters could grant one for the
// same job.
func ExampleWrongClusterError() {
	one, other := gktest.NewServer("nightly-export"), gktest.NewServer("nightly-export")
	defer one.Close()
	defer other.Close()
	ctx := context.Background()

	c, err := client.Dial(ctx, []string{one.Endpoint(), other.Endpoint()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	_, err = c.Semaphore("nightly-export").TryAcquire(ctx)
	fmt.Println(errors.Is(err, client.ErrWrongCluster))
	if wrong, ok := errors.AsType[*client.WrongClusterError](err); ok {
		fmt.Println(wrong.Cluster != wrong.Bound)
	}
	// Output:
	// true
	// true
}

// A client that is bound to one cluster cannot use the servers in another.
func ExampleWithCluster() {
	srv := gktest.NewServer("nightly-export")
	defer srv.Close()
	ctx := context.Background()

	c, err := client.Dial(ctx, []string{srv.Endpoint()}, client.WithCluster("0123456789abcdef"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	_, err = c.Semaphore("nightly-export").TryAcquire(ctx)
	fmt.Println(errors.Is(err, client.ErrWrongCluster))
	// Output: true
}
