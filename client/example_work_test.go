package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// twoTasks yields the payloads of two tasks. It may be ranged over more than once.
func twoTasks(yield func([]byte, error) bool) {
	_ = yield([]byte("a"), nil) && yield([]byte("b"), nil)
}

// Most programs execute tasks with package work, which is built on OfferWork.
func ExampleSemaphore_OfferWork() {
	srv := gktest.NewServer("resize")
	defer srv.Close()
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{srv.Endpoint()}, client.WithGroup("prod"), client.WithAcquirer("app1"), client.WithSubmitBuffer(client.DefaultSubmitBuffer))
	if err != nil {
		panic(err)
	}
	defer c.Close()
	if _, err := c.SubmitJob(ctx, &gatekeeperv1.JobSpec{Id: "photos", Semaphore: "resize"}, twoTasks); err != nil {
		panic(err)
	}

	sem := c.Semaphore("resize")
	fmt.Println("offered by", sem.Acquirer(), "in", sem.Group())
	var stream *client.WorkStream
	executed := 0
	err = sem.OfferWork(ctx, client.WorkHandler{
		Open: func(s *client.WorkStream) (slots int, ok bool) { stream = s; return 1, true },
		Task: func(t *client.WorkTask) {
			executed++
			last := executed == 2
			go func() { // must not block the stream
				t.Progress(0.5, "half")
				fmt.Printf("%s, under a token: %t\n", t.Task.GetPayload(), client.TokenOf(t.Context()) == t.Permit.Token())
				end := client.WorkEnd{Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE, Result: []byte("resized")}
				if err := t.End(ctx, end); err != nil {
					fmt.Println(err)
				}
				if last {
					t.Stream().Drain()
					t.Stream().Close()
				} else {
					t.Stream().Take(1)
				}
			}()
		},
	})
	<-stream.Done()
	fmt.Println("over:", err)
	// Output:
	// offered by app1 in prod
	// a, under a token: true
	// b, under a token: true
	// over: <nil>
}

func ExampleClient_FollowJob() {
	clients, end := connect("app1")
	defer end()
	ctx, c := context.Background(), clients[0]
	if _, err := c.SubmitJob(ctx, &gatekeeperv1.JobSpec{Id: "photos", Semaphore: "nightly-export"}, twoTasks); err != nil {
		panic(err)
	}
	for r, err := range c.FollowJob(ctx, &gatekeeperv1.FollowJobRequest{Id: "photos"}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(r.GetJob().GetState(), "with", r.GetJob().GetTasks(), "tasks, over:", r.GetJob().GetOver())
		if _, err := c.Work().CancelJob(ctx, &gatekeeperv1.CancelJobRequest{Id: "photos"}); err != nil {
			panic(err)
		}
	}
	// Output:
	// JOB_STATE_OPEN with 2 tasks, over: false
	// JOB_STATE_CANCELLED with 2 tasks, over: true
}

func ExampleClient_SubmitJob_errors() {
	clients, end := connect("app1")
	defer end()
	ctx, c := context.Background(), clients[0]
	job := &gatekeeperv1.JobSpec{Id: "photos", Semaphore: "nightly-export"}
	if _, err := c.SubmitJob(ctx, job, twoTasks); err != nil {
		panic(err)
	}

	job.Priority = 7
	_, err := c.SubmitJob(ctx, job, twoTasks)
	if differs, ok := errors.AsType[*client.JobDiffersError](err); ok {
		fmt.Println("a different job has the id", differs.ID)
	}
	job.Id = "posters"
	_, err = c.SubmitJob(ctx, job, func(yield func([]byte, error) bool) { yield(make([]byte, 100_000), nil) })
	if limit, ok := errors.AsType[*client.WorkLimitError](err); ok {
		fmt.Println(limit.Needed, "exceeds", limit.Limit, "of", limit.Max)
	}
	_, err = c.Work().DeleteJob(ctx, &gatekeeperv1.DeleteJobRequest{Id: "photos"})
	if notOver, ok := errors.AsType[*client.JobNotFinishedError](err); ok {
		fmt.Println(notOver.ID, "is not over")
	}
	_, err = c.Work().GetJob(ctx, &gatekeeperv1.GetJobRequest{Id: "posters"})
	if none, ok := errors.AsType[*client.NoSuchJobError](err); ok {
		fmt.Println("there is no job", none.ID)
	}
	// Output:
	// a different job has the id photos
	// 100000 exceeds max_task_bytes of 65536
	// photos is not over
	// there is no job posters
}

// While no server responds, only a limited number of submissions can wait.
func ExampleSubmitBufferError() {
	c, err := client.Dial(context.Background(), []string{"127.0.0.1:1"}, client.WithSubmitBuffer(1))
	if err != nil {
		panic(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	refused := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := c.SubmitJob(ctx, &gatekeeperv1.JobSpec{Id: client.NewRequestID(), Semaphore: "resize"}, twoTasks)
			refused <- err
		}()
	}
	full, ok := errors.AsType[*client.SubmitBufferError](<-refused)
	fmt.Println(ok, errors.Is(full, client.ErrUnavailable))
	fmt.Println(full)
	cancel()
	<-refused
	// Output:
	// true true
	// no server responded, and the limit on waiting submissions (1) has been reached: submit again later with the same id, or allow more with WithSubmitBuffer
}

// A task's context ends with ErrTaskCancelled when its job is cancelled.
func ExampleWorkTask() {
	clients, end := connect("app1")
	defer end()
	ctx, c := context.Background(), clients[0]
	if _, err := c.SubmitJob(ctx, &gatekeeperv1.JobSpec{Id: "photos", Semaphore: "nightly-export"}, twoTasks); err != nil {
		panic(err)
	}
	err := c.Semaphore("nightly-export").OfferWork(ctx, client.WorkHandler{
		Open: func(*client.WorkStream) (slots int, ok bool) { return 1, true },
		Denied: func(d *client.DeniedError) {
			if d.Reason != client.ReasonNoTask { // NO_TASK only means that the worker is waiting for a task
				fmt.Println(d)
			}
		},
		Task: func(t *client.WorkTask) {
			go func() {
				if _, err := c.Work().CancelJob(ctx, &gatekeeperv1.CancelJobRequest{Id: "photos"}); err != nil {
					panic(err)
				}
				<-t.Context().Done()
				fmt.Println(errors.Is(context.Cause(t.Context()), client.ErrTaskCancelled))
				fmt.Println(t.End(ctx, client.WorkEnd{Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT}))
				t.Stream().Close()
			}()
		},
	})
	fmt.Println(err)
	// Output:
	// true
	// <nil>
	// <nil>
}
