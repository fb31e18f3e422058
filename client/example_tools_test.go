package client_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A batch moves all definitions to another group, or none of them.
func ExampleClient_Definitions() {
	clients, end := connect("ops")
	defer end()
	ctx, c := context.Background(), clients[0]
	if _, err := c.Declare(ctx, &gatekeeperv1.Definition{Name: "billing", GroupPattern: new("prod")}); err != nil {
		log.Fatal(err)
	}

	batch := &gatekeeperv1.BatchEditRequest{Author: "ops@desk", Reason: "maintenance", RequestId: client.NewRequestID()}
	for record, err := range c.AllDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{}) {
		if err != nil {
			log.Fatal(err)
		}
		changed := record.GetDefinition()
		changed.GroupPattern = new("dr-site")
		batch.Edits = append(batch.Edits, &gatekeeperv1.Edit{
			Change:          &gatekeeperv1.Edit_Replace{Replace: changed},
			ExpectedVersion: record.GetVersion(), // the batch is refused if the definition has been edited since
		})
	}
	_, err := c.Definitions().BatchEdit(ctx, batch)
	fmt.Println(len(batch.Edits), "moved:", err)
	// Output: 2 moved: <nil>
}

// A semaphore that is paused for two hours resumes automatically.
func ExampleClient_Operator() {
	clients, end := connect("ops")
	defer end()
	ctx, c := context.Background(), clients[0]

	paused, err := c.Operator().Pause(ctx, &gatekeeperv1.PauseRequest{
		Selector: &gatekeeperv1.Selector{Names: []string{"nightly-*"}},
		Author:   "ops@desk", Reason: "the disks are being replaced",
		End: &gatekeeperv1.PauseRequest_Duration{Duration: durationpb.New(2 * time.Hour)},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("paused:", paused.GetNames())

	undone, err := c.Operator().Undo(ctx, &gatekeeperv1.UndoRequest{Change: paused.GetRevision(), Author: "ops@desk", RequestId: client.NewRequestID()})
	fmt.Println(undone.GetNotes(), err)
	// Output:
	// paused: [nightly-export]
	// [Resumed: nightly-export.] <nil>
}

func ExampleClient_AllHolders() {
	clients, end := connect("app1", "ops")
	defer end()
	ctx := context.Background()
	if _, err := clients[0].Semaphore("nightly-export").TryAcquire(ctx); err != nil {
		log.Fatal(err)
	}

	for permit, err := range clients[1].AllHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: []string{"nightly-*"}}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(permit.GetSemaphore(), "is held by", permit.GetIdentity().GetAcquirer())
	}
	// Output: nightly-export is held by app1
}

func ExampleClient_AllWaiters() {
	clients, end := connect("app1", "ops")
	defer end()

	for w, err := range clients[1].AllWaiters(context.Background(), &gatekeeperv1.ListWaitersRequest{Names: []string{"nightly-*"}}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(w.GetSemaphore(), "has a waiter:", w.GetIdentity().GetAcquirer())
	}
	// Output:
}

func ExampleClient_WaitingTasks() {
	clients, end := connect("ops")
	defer end()
	ctx, c := context.Background(), clients[0]
	if _, err := c.SubmitJob(ctx, &gatekeeperv1.JobSpec{Id: "photos", Semaphore: "nightly-export"}, twoTasks); err != nil {
		log.Fatal(err)
	}

	jobs, err := c.WaitingTasks(ctx, &gatekeeperv1.ListWaitersRequest{Names: []string{"nightly-*"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range jobs {
		fmt.Println(j.GetTasks(), "tasks from", j.GetJob(), "are waiting for workers on", j.GetSemaphore())
	}
	// Output: 2 tasks from photos are waiting for workers on nightly-export
}

func ExampleClient_AllDenied() {
	clients, end := connect("app1", "ops")
	defer end()

	for d, err := range clients[1].AllDenied(context.Background(), &gatekeeperv1.ListDeniedRequest{Names: []string{"nightly-*"}}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.GetText())
	}
	// Output:
}

func ExampleClient_Watch() {
	clients, end := connect("ops")
	defer end()
	ctx, c := context.Background(), clients[0]

	read, err := c.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: "nightly-export"})
	if err != nil {
		log.Fatal(err)
	}
	from := &gatekeeperv1.WatchRequest{FromRevision: read.GetRecord().GetVersion(), Names: []string{"nightly-*"}}
	for resp, err := range c.Watch(ctx, from) {
		if err != nil {
			log.Fatal(err)
		}
		if resp.GetMissed() {
			continue // read everything again
		}
		for _, event := range resp.GetEvents() {
			fmt.Println(event.GetKind(), event.GetSemaphore())
		}
		if len(resp.GetEvents()) > 0 {
			break
		}
	}
	// Output: EVENT_KIND_CREATED nightly-export
}

func ExampleClient_Members() {
	clients, end := connect("ops")
	defer end()
	ctx, c := context.Background(), clients[0]

	members, err := c.Members(ctx, &gatekeeperv1.GetStatusRequest{})
	if err != nil {
		log.Fatal(err) // no member responded
	}
	show := func(m client.MemberStatus) { fmt.Println(m.ID(), "responding:", m.Err == nil) }
	for _, m := range members {
		show(m)
	}

	status, err := c.Cluster().GetStatus(ctx, &gatekeeperv1.GetStatusRequest{}) // from any reachable member
	fmt.Println("led by", status.GetLeaderId(), err)
	// Output:
	// gk1 responding: true
	// led by gk1 <nil>
}
