package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/client"
)

func ExampleClient_Verify() {
	clients, end := connect("app1", "mailer")
	defer end()
	ctx, c := context.Background(), clients[1]

	send := func(ctx context.Context, token uint64) error {
		_, err := c.Verify(ctx, "nightly-export", token)
		if invalid, ok := errors.AsType[*client.NotValidError](err); ok {
			return fmt.Errorf("nothing was sent: %w", invalid)
		}
		if err != nil {
			return err // unknown: retry or give up
		}
		fmt.Println("sent") // the permit may have ended since then
		return nil
	}

	permit, err := clients[0].Semaphore("nightly-export").Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(send(ctx, permit.Token()))
	fmt.Println(permit.Release(ctx))
	if err := send(ctx, permit.Token()); err != nil {
		fmt.Println("refused")
	}
	// Output:
	// sent
	// <nil>
	// <nil>
	// refused
}
