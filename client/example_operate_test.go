package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A dry run shows what a move would do. A move that contains the digest from its dry run does exactly that or fails.
func ExampleClient_Move() {
	clients, end := connect("ops")
	defer end()
	ctx, c := context.Background(), clients[0]
	for _, name := range []string{"billing", "invoices"} {
		if _, err := c.Declare(ctx, &gatekeeperv1.Definition{Name: name, GroupPattern: new("prod")}); err != nil {
			panic(err)
		}
	}

	move := client.MoveRequest{
		Selector: client.Selector{Names: []string{"billing", "invoices"}}, FromGroup: "prod", ToGroup: "dr-site",
		Drain: 2 * time.Minute, Reason: "prod's storage is failing", DryRun: true,
	}
	plan, err := c.Move(ctx, move)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range plan.GetMoves() {
		fmt.Println(m.GetSemaphore(), "would admit", m.GetGroupPattern())
	}

	// Another operator moves one of the definitions before this move is confirmed.
	if _, err := c.Move(ctx, client.MoveRequest{Selector: client.Selector{Names: []string{"billing"}}, FromGroup: "prod", ToGroup: "test"}); err != nil {
		fmt.Println(err)
	}
	move.DryRun, move.Expected = false, plan.GetDigest()
	_, err = c.Move(ctx, move)
	if changed, ok := errors.AsType[*client.ChangedSinceError](err); ok {
		fmt.Println("not moved, because these changed:", changed.Semaphores)
	}

	move.Expected = "" // move whatever matches now
	moved, err := c.Move(ctx, move)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("moved:", len(moved.GetMoves()), "can be undone:", moved.GetChange() != 0)
	// Output:
	// billing would admit dr-site
	// invoices would admit dr-site
	// not moved, because these changed: [billing]
	// moved: 1 can be undone: true
}

// A pause lets running jobs finish, unless Stop is set.
func ExampleClient_Pause() {
	clients, end := connect("app1")
	defer end()
	ctx, c := context.Background(), clients[0]
	if _, err := c.Semaphore("nightly-export").TryAcquire(ctx); err != nil {
		panic(err)
	}

	pause := client.PauseRequest{
		Selector: client.Selector{Names: []string{"nightly-*"}}, Reason: "the disk is full", End: client.End{After: time.Hour},
		Stop: true, Drain: time.Minute,
	}
	plan, err := c.Preview(ctx, pause)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("holders that must stop:", len(plan.GetEffects()[0].GetStopped()))
	pause.Expected = plan.GetDigest()
	paused, err := c.Pause(ctx, pause)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("paused:", paused.GetNames())

	resumed, err := c.Resume(ctx, client.ResumeRequest{Selector: client.Selector{All: true}, Change: paused.GetRevision()})
	fmt.Println("resumed:", resumed.GetNames(), err)
	// Output:
	// holders that must stop: 1
	// paused: [nightly-export]
	// resumed: [nightly-export] <nil>
}

// A cordon excludes a host from all semaphores, for example during maintenance.
func ExampleClient_Cordon() {
	clients, end := connect("app1")
	defer end()
	ctx, c := context.Background(), clients[0]

	cordon := client.CordonRequest{ID: "patching", AcquirerPattern: "app1", Reason: "kernel upgrade", Drain: time.Minute}
	for _, change := range []client.Previewable{cordon} {
		plan, err := c.Preview(ctx, change)
		fmt.Println("holders that must stop:", len(plan.GetEffects()), err)
	}
	if _, err := c.Cordon(ctx, cordon); err != nil {
		fmt.Println(err)
	}
	_, err := c.Semaphore("nightly-export").TryAcquire(ctx)
	if denied, ok := errors.AsType[*client.DeniedError](err); ok {
		fmt.Println("denied:", denied.Reason)
	}

	if _, err := c.Uncordon(ctx, client.UncordonRequest{ID: "patching"}); err != nil {
		fmt.Println(err)
	}
	_, err = c.Uncordon(ctx, client.UncordonRequest{ID: "patching"})
	if e, ok := errors.AsType[*client.NoSuchCordonError](err); ok {
		fmt.Println("no such cordon:", e.ID)
	}
	// Output:
	// holders that must stop: 0 <nil>
	// denied: CORDONED
	// no such cordon: patching
}

// A change that matches no definitions fails, so that typos in scripts do not go unnoticed.
func ExampleNoMatchError() {
	clients, end := connect("ops")
	defer end()
	ctx, c := context.Background(), clients[0]
	_, err := c.Pause(ctx, client.PauseRequest{Selector: client.Selector{Names: []string{"nightyl-*"}}})
	if e, ok := errors.AsType[*client.NoMatchError](err); ok {
		fmt.Println("nothing was paused; did you mean", e.Suggestion)
	}
	// Output: nothing was paused; did you mean nightly-*
}
