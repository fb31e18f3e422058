package client_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A denial has a Message for people to read and a Reason for programs to check.
func ExampleDeniedError() {
	clients, end := connect("app1", "db7")
	defer end()
	ctx := context.Background()
	app1, db7 := clients[0], clients[1]
	billing := &gatekeeperv1.Definition{Name: "billing", GroupPattern: new("prod"), AcquirerPattern: new("app[12]")}
	if _, err := app1.Declare(ctx, billing); err != nil {
		panic(err)
	}

	try := func(c *client.Client, semaphore string, opts ...client.AcquireOption) {
		_, err := c.Semaphore(semaphore).TryAcquire(ctx, opts...)
		if denied, ok := errors.AsType[*client.DeniedError](err); ok {
			fmt.Printf("%s\n  %s\n", denied.Reason, denied.Message)
		}
	}
	prod := client.WithGroup("prod")
	try(app1, "biling", prod)                              // not defined
	try(app1, "billing", client.WithGroup("staging"))      // the wrong group
	try(db7, "billing", prod)                              // the wrong acquirer
	try(app1, "billing", prod, client.WithWeight(2))       // more permits than the semaphore has
	try(app1, "billing", prod)                             // granted
	try(app1, "billing", prod, client.WithHolderID("two")) // taken
	// Output:
	// NO_SUCH_SEMAPHORE
	//   There is no semaphore "biling".
	// GROUP_MISMATCH
	//   Group "staging" does not match the group pattern "prod" of semaphore "billing".
	// ACQUIRER_MISMATCH
	//   Acquirer "db7" does not match the acquirer pattern "app[12]" of semaphore "billing".
	// WEIGHT_EXCEEDS_PERMITS
	//   Weight 2 exceeds the 1 permit of semaphore "billing", so it can never be granted.
	// NO_FREE_PERMIT
	//   The only permit of semaphore "billing" is taken.
}

// Most programs skip the run after any denial. Programs that handle some denials differently check the Reason.
func ExampleReason() {
	advice := func(r client.Reason) string {
		switch r {
		case client.ReasonNoFreePermit:
			return "wait in the queue with Acquire"
		case client.ReasonFiringClaimed:
			return "another holder is running it, but may still fail to finish"
		case client.ReasonFiringDone:
			return "it has already run: nothing to do"
		case client.ReasonFiringForgotten:
			return "it is unknown whether it has run: check, and start it manually if it must run"
		case client.ReasonFiringTooFarAhead:
			return "a clock is wrong: compare the due time, CallerClock and LeaderClock"
		case client.ReasonPaused, client.ReasonCordoned:
			return "an operator has blocked it: try again later"
		case client.ReasonStopping:
			return "this holder's own permit is being stopped: release it"
		case client.ReasonHeldForOperator:
			return "the last run was lost: an operator must clear its slot"
		case client.ReasonAlreadyHeld:
			return "this holder already has a permit with a different weight or firing: release it"
		case client.ReasonNoSuchSemaphore, client.ReasonGroupMismatch, client.ReasonAcquirerMismatch, client.ReasonWeightExceedsPermits:
			return "the definition or the caller is wrong: fix one of them"
		}
		return "a newer server sent an unknown reason: do not run"
	}
	fmt.Println(advice(client.ReasonNoFreePermit))
	fmt.Println(advice(client.ReasonGroupMismatch))
	// Output:
	// wait in the queue with Acquire
	// the definition or the caller is wrong: fix one of them
}

// A waiter is notified of its place in the queue.
func ExampleSemaphore_Acquire() {
	clients, end := connect("app1", "app2")
	defer end()
	ctx := context.Background()
	first, err := clients[0].Semaphore("nightly-export").Acquire(ctx)
	if err != nil {
		panic(err)
	}

	second := clients[1].Semaphore("nightly-export", client.WithPlace(func(p client.Place) {
		fmt.Printf("place %d of %d\n", p.Place, p.QueueLength)
		go first.Release(ctx)
	}))
	permit, err := second.Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(permit.Acquirer(), "holds", second.Name())
	// Output:
	// place 1 of 1
	// app2 holds nightly-export
}

// A caller with other work to do can leave the queue when the semaphore is paused.
func ExampleWithLeaveOnPause() {
	clients, end := connect("app1")
	defer end()
	ctx, c := context.Background(), clients[0]
	_, err := c.Operator().Pause(ctx, &gatekeeperv1.PauseRequest{
		Selector: &gatekeeperv1.Selector{Names: []string{"nightly-export"}}, Author: "ann", Reason: "the disks are being replaced", RequestId: client.NewRequestID(),
	})
	if err != nil {
		panic(err)
	}

	waiting, cancel := context.WithCancel(ctx)
	_, err = c.Semaphore("nightly-export", client.WithPlace(func(p client.Place) {
		fmt.Printf("place %d, paused: %s\n", p.Place, p.Pause.GetReason())
		cancel()
	})).Acquire(waiting)
	fmt.Println("waited until the context ended:", waiting.Err() != nil && err != nil)

	_, err = c.Semaphore("nightly-export", client.WithLeaveOnPause()).Acquire(ctx)
	if d, ok := errors.AsType[*client.DeniedError](err); ok {
		fmt.Println(d.Reason)
	}
	// Output:
	// place 1, paused: the disks are being replaced
	// waited until the context ended: true
	// PAUSED
}

// WithOneWaiter keeps runs from piling up during a pause: while one run waits in the queue, the next one is denied.
func ExampleWithOneWaiter() {
	clients, end := connect("app1")
	defer end()
	ctx, c := context.Background(), clients[0]
	_, err := c.Operator().Pause(ctx, &gatekeeperv1.PauseRequest{
		Selector: &gatekeeperv1.Selector{Names: []string{"nightly-export"}}, Author: "ann", Reason: "the disks are being replaced", RequestId: client.NewRequestID(),
	})
	if err != nil {
		panic(err)
	}

	// A real timer would start a run every minute. The first run waits in the queue until the pause ends.
	waiting, cancel := context.WithCancel(ctx)
	var runs sync.WaitGroup
	queued := make(chan struct{})
	once := sync.OnceFunc(func() { close(queued) }) // the place may be reported more than once
	sem := c.Semaphore("nightly-export", client.WithPlace(func(client.Place) { once() }))
	run := client.Wrap(sem, func(context.Context) error { return nil }, client.WithDenialPolicy(client.DenialWait), client.WithOneWaiter())
	runs.Go(func() { _ = run(waiting) })
	<-queued
	fmt.Println(run(ctx))
	cancel()
	runs.Wait()
	// Output: The semaphore "nightly-export" is paused (the disks are being replaced). Another acquire by "app1" in group "default" is already waiting.
}

// WithExpectedRevision acquires optimistically: the permit is granted only if no permit has been acquired, released or
// lost since the revision was read.
func ExampleWithExpectedRevision() {
	clients, end := connect("app1", "app2")
	defer end()
	ctx := context.Background()
	read, err := clients[0].Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: "nightly-export"})
	if err != nil {
		panic(err)
	}
	seen := read.GetRecord().GetPermitRevision()

	for _, c := range clients {
		permit, err := c.Semaphore("nightly-export").TryAcquire(ctx, client.WithExpectedRevision(seen))
		if changed, ok := errors.AsType[*client.RevisionChangedError](err); ok {
			fmt.Println("another caller got there first:", changed.Current > changed.Expected)
			continue
		}
		fmt.Println("acquired:", err)
		_ = permit.Release(ctx)
	}
	// Output:
	// acquired: <nil>
	// another caller got there first: true
}

// NeedsAction reports whether the denial persists until an operator intervenes. A Runner logs the same message and command.
func ExampleDeniedError_NeedsAction() {
	clients, end := connect("app1")
	defer end()
	_, err := clients[0].Semaphore("nightly-exprot").TryAcquire(context.Background())
	if denied, ok := errors.AsType[*client.DeniedError](err); ok && denied.NeedsAction() {
		fmt.Println(denied)
		fmt.Println(denied.ExplainCommand())
		fmt.Println(errors.Is(err, client.ErrDenied)) // true for every *DeniedError
	}
	// Output:
	// There is no semaphore "nightly-exprot".
	// gkctl explain nightly-exprot --group default --acquirer app1
	// true
}

// A holder id identifies a single holder, so a second acquisition with the same id fails while the permit is held.
func ExampleInUseError() {
	clients, end := connect("app1")
	defer end()
	ctx, sem := context.Background(), clients[0].Semaphore("nightly-export", client.WithHolderID("worker"))
	permit, err := sem.TryAcquire(ctx)
	if err != nil {
		panic(err)
	}

	_, err = sem.TryAcquire(ctx)
	if used, ok := errors.AsType[*client.InUseError](err); ok {
		fmt.Println(used.HolderID, "already holds token", used.Token == permit.Token())
	}
	_ = permit.Release(ctx)
	_, err = sem.TryAcquire(ctx)
	fmt.Println("after the release:", err)
	// Output:
	// worker already holds token true
	// after the release: <nil>
}

// An application that retries an acquisition after a crash identifies it by a request id.
func ExampleWithRequestID() {
	clients, end := connect("app1", "app1") // one process, before and after a crash
	defer end()
	ctx := context.Background()
	id := client.NewRequestID() // stored with the work
	opts := []client.AcquireOption{client.WithRequestID(id), client.WithHolderID("import-17")}

	first, err := clients[0].Semaphore("nightly-export").TryAcquire(ctx, opts...)
	if err != nil {
		panic(err)
	}
	_ = clients[0].Close() // simulates a crash: nothing is released
	again, err := clients[1].Semaphore("nightly-export").TryAcquire(ctx, opts...)
	if err != nil {
		panic(err)
	}
	fmt.Println("the same permit:", again.Token() == first.Token())

	_ = again.Release(ctx)
	_, err = clients[1].Semaphore("nightly-export").TryAcquire(ctx, opts...)
	if ended, ok := errors.AsType[*client.RequestEndedError](err); ok {
		fmt.Println("not granted again:", ended.How)
	}
	// Output:
	// the same permit: true
	// not granted again: released
}
