package work_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/work"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// connect starts a server and returns a client connected to it. Call end to close both.
func connect() (c *client.Client, end func()) {
	srv := gktest.NewServer("count-words")
	c, err := client.Dial(context.Background(), []string{srv.Endpoint()}, client.WithAcquirer("app1"))
	if err != nil {
		panic(err)
	}
	return c, func() {
		_ = c.Close()
		srv.Close()
	}
}

// startWorker starts a worker and returns a function that stops it.
func startWorker(w work.Worker) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	w.Logger = slog.New(slog.DiscardHandler)
	var running sync.WaitGroup
	running.Go(func() { _ = work.Run(ctx, w) })
	return func() {
		cancel()
		running.Wait()
	}
}

// countWords handles a task by counting the words in its payload.
func countWords(ctx context.Context, t *work.Task) ([]byte, error) {
	if len(t.Payload()) == 0 {
		return nil, errors.New("the text is empty")
	}
	words := len(bytes.Fields(t.Payload()))
	return []byte(strconv.Itoa(words)), ctx.Err()
}

func Example() {
	c, end := connect()
	defer end()
	defer startWorker(work.Worker{Semaphore: c.Semaphore("count-words"), Handle: countWords})()
	ctx := context.Background()

	texts := [][]byte{[]byte("to be or not to be"), []byte("that is the question")}
	job, err := work.Submit(ctx, c, work.Job{ID: "hamlet", Semaphore: "count-words"}, texts)
	if err != nil {
		panic(err)
	}
	for task, err := range work.Results(ctx, c, job.ID) {
		if err != nil {
			panic(err)
		}
		words, err := work.Result(job.ID, task)
		fmt.Println(task.GetIndex(), string(words), err)
	}
	// Output:
	// 0 6 <nil>
	// 1 4 <nil>
}

func ExampleSubmitAndWait() {
	c, end := connect()
	defer end()
	defer startWorker(work.Worker{Semaphore: c.Semaphore("count-words"), Parallel: 2, Handle: countWords})()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	words, err := work.SubmitAndWait(ctx, c, work.Job{Semaphore: "count-words"}, []byte("to be or not to be"))
	fmt.Println(string(words), err)

	_, err = work.SubmitAndWait(ctx, c, work.Job{Semaphore: "count-words"}, nil)
	if failed, ok := errors.AsType[*work.TaskError](err); ok {
		fmt.Println(errors.Is(err, work.ErrFailed), failed.Attempts, failed.Failure)
	}
	// Output:
	// 6 <nil>
	// true 1 the text is empty
}

func ExampleRun() {
	c, end := connect()
	defer end()
	ctx, stop := context.WithCancel(context.Background())
	if _, err := work.Submit(ctx, c, work.Job{ID: "j", Semaphore: "count-words", MaxResult: work.NoResult}, [][]byte{[]byte("a text")}); err != nil {
		panic(err)
	}

	worker := work.Worker{
		Semaphore: c.Semaphore("count-words"),
		Parallel:  8,
		Grace:     work.GraceUnlimited, // lets running tasks finish
		Handle: func(ctx context.Context, t *work.Task) ([]byte, error) {
			fmt.Println("job", t.Job(), "task", t.Index(), "semaphore", t.Spec().GetSemaphore(), "attempt", t.Attempt(), "failed before:", t.LastFailure() != "")
			t.Progress(0.5, "half done")
			fmt.Println("fenced:", t.Token() == client.TokenOf(ctx), t.Permit().Held(), "maximum result:", t.MaxResult())
			if errors.Is(context.Cause(ctx), work.ErrWorkerStops) {
				return nil, context.Cause(ctx) // return the task so that another worker can run it
			}
			return nil, nil
		},
		Ended: func(_ context.Context, r work.Report) {
			fmt.Println(r.Outcome, r.Err, r.Unrecorded)
			stop()
		},
	}
	err := work.Run(ctx, worker)
	fmt.Println(err)
	// Output:
	// job j task 0 semaphore count-words attempt 1 failed before: false
	// fenced: true true maximum result: 0
	// RELEASE_OUTCOME_DONE <nil> <nil>
	// context canceled
}

// A program that stores the last revision with its results receives only later changes after a restart.
func ExampleFollow() {
	c, end := connect()
	defer end()
	defer startWorker(work.Worker{Semaphore: c.Semaphore("count-words"), Handle: countWords})()
	ctx := context.Background()
	if _, err := work.Submit(ctx, c, work.Job{ID: "j", Semaphore: "count-words"}, [][]byte{[]byte("one"), []byte("two words")}); err != nil {
		panic(err)
	}

	stored := uint64(0) // loaded from the program's storage
	dispatched, started := map[uint32]bool{}, false
	var change *work.Change
	var err error
	for change, err = range work.Follow(ctx, c, "j", stored) {
		if err != nil {
			panic(err)
		}
		started = started || change.Started()
		for _, task := range change.Dispatched() {
			dispatched[task.GetIndex()] = true
		}
		for _, task := range change.Returned() {
			fmt.Println(task.GetIndex(), string(task.GetResult()))
		}
		stored = change.Revision
	}
	fmt.Println(started, len(dispatched) <= 2, change.Ended(), stored > 0)
	// Output:
	// 0 1
	// 1 2
	// true true true true
}

// SubmitSeq submits a large job without holding all of its tasks in memory.
func ExampleSubmitSeq() {
	c, end := connect()
	defer end()
	ctx := context.Background()
	numbers := func(yield func([]byte, error) bool) {
		for i := range 10_000 {
			if !yield([]byte(strconv.Itoa(i)), nil) {
				return
			}
		}
	}
	job, err := work.SubmitSeq(ctx, c, work.Job{Semaphore: "count-words"}, numbers)
	if err != nil {
		panic(err)
	}
	fmt.Println(job.Job.GetTasks(), job.Repeated)
	// Output: 10000 false
}

// With SubmitterCancel, a job is cancelled when its submitter dies.
func ExampleSubmitterPolicy() {
	c, end := connect()
	defer end()
	ctx := context.Background()
	job := work.Job{ID: "j", Semaphore: "count-words", OnSubmitterLoss: work.SubmitterCancel}
	submitted, err := work.Submit(ctx, c, job, [][]byte{[]byte("a text")})
	if err != nil {
		panic(err)
	}
	fmt.Println(submitted.Submitter.Semaphore(), submitted.Submitter.Duration() == work.SubmitterLease)
	if err := submitted.Submitter.Release(ctx); err != nil { // a crash has the same effect
		panic(err)
	}
	ended, err := work.Wait(ctx, c, "j")
	fmt.Println(ended.GetCancelCause(), err)
	fmt.Println(work.SubmitterKeep, "is the default")
	// Output:
	// submitter/j true
	// CANCEL_CAUSE_SUBMITTER_GONE <nil>
	// keep is the default
}

func ExampleRetry() {
	c, end := connect()
	defer end()
	defer startWorker(work.Worker{Semaphore: c.Semaphore("count-words"), Handle: countWords})()
	ctx := context.Background()
	if _, err := work.Submit(ctx, c, work.Job{ID: "j", Semaphore: "count-words"}, [][]byte{nil, []byte("a text")}); err != nil {
		panic(err)
	}
	if _, err := work.Wait(ctx, c, "j"); err != nil {
		panic(err)
	}
	failed := &gatekeeperv1.ListTasksRequest{Job: "j", States: []gatekeeperv1.TaskState{gatekeeperv1.TaskState_TASK_STATE_FAILED}}
	for task, err := range work.Tasks(ctx, c, failed) {
		fmt.Println(task.GetIndex(), task.GetFailure(), err)
	}
	retried, err := work.Retry(ctx, c, "j")
	fmt.Println("retried", retried, err)
	job, err := work.Wait(ctx, c, "j")
	fmt.Println("failed", job.GetFailed(), err)
	dropped, err := work.Drop(ctx, c, "j", 0)
	fmt.Println("dropped", dropped, err)
	for task, err := range work.Results(ctx, c, "j") {
		if err != nil {
			panic(err)
		}
		_, err = work.Result("j", task)
		fmt.Println(errors.Is(err, work.ErrDropped), err)
	}
	fmt.Println(work.DeleteSubmitted(ctx, c, job)) // does not delete a later job with the same ID
	_, notFound := errors.AsType[*client.NoSuchJobError](work.Delete(ctx, c, "j"))
	fmt.Println("deleted", notFound)
	// Output:
	// 0 the text is empty <nil>
	// retried 1 <nil>
	// failed 1 <nil>
	// dropped 1 <nil>
	// true task 0 of job j: the task was dropped: the text is empty
	// false <nil>
	// <nil>
	// deleted true
}

func ExampleCancel() {
	c, end := connect()
	defer end()
	ctx := context.Background()
	if _, err := work.Submit(ctx, c, work.Job{ID: "j", Semaphore: "count-words", Labels: map[string]string{"team": "web"}}, [][]byte{[]byte("a text")}); err != nil {
		panic(err)
	}
	for job, err := range work.List(ctx, c, &gatekeeperv1.ListJobsRequest{Labels: "team=web"}) {
		fmt.Println(job.GetSpec().GetId(), "waiting", job.GetWaiting(), err)
	}
	for task, err := range work.Tasks(ctx, c, &gatekeeperv1.ListTasksRequest{Job: "j"}) {
		_, resultErr := work.Result("j", task)
		fmt.Println(errors.Is(resultErr, work.ErrNotEnded), err)
	}
	workers, err := work.Workers(ctx, c, "count-words")
	fmt.Println(len(workers), "workers", err)

	if _, err := work.Cancel(ctx, c, "j", "no longer needed"); err != nil {
		panic(err)
	}
	for task, err := range work.Results(ctx, c, "j") {
		_, resultErr := work.Result("j", task)
		fmt.Println(errors.Is(resultErr, work.ErrCancelled), err)
	}
	job, err := work.Get(ctx, c, "j")
	fmt.Println(job.GetCancelAuthor(), job.GetCancelReason(), err)
	// Output:
	// j waiting 1 <nil>
	// true <nil>
	// 0 workers <nil>
	// true <nil>
	// app1 no longer needed <nil>
}
