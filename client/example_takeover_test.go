package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A host presumes the holder dead and takes over. It can acquire the slot once the holder's permit is released or
// expires.
func ExampleSemaphore_TakeOver() {
	clients, end := connect("app1", "app2")
	defer end()
	ctx := context.Background()
	if _, err := clients[0].Declare(ctx, &gatekeeperv1.Definition{Name: "report", Takeover: true}); err != nil {
		panic(err)
	}
	hung, err := clients[0].Semaphore("report").TryAcquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}

	sem := clients[1].Semaphore("report")
	_, acquirer := sem.Caller()
	if _, err := sem.TakeOver(ctx, hung.Token(), "no progress for an hour"); err != nil {
		fmt.Println(err)
		return
	}
	<-hung.Context().Done() // the holder is notified
	fmt.Println("taken over:", errors.Is(context.Cause(hung.Context()), client.ErrTakenOver))
	if err := hung.ReleaseCutShort(ctx); err != nil {
		fmt.Println(err)
	}
	permit, err := sem.Acquire(ctx) // waits for the slot
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(permit.Acquirer() == acquirer, permit.Token() > hung.Token())
	// Output:
	// taken over: true
	// true true
}
