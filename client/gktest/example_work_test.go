package gktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/work"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A partitioned worker stops its task in time, and another worker runs it.
func TestResize_WorkerPartitioned_OtherWorkerRunsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "resize")
		ctx, stop := context.WithCancel(t.Context())
		causes, done := make(chan error, 2), make(chan error, 2)
		worker := func(acquirer string, takes time.Duration) *client.Client {
			c := srv.Dial(t, acquirer)
			resize := func(ctx context.Context, _ *work.Task) ([]byte, error) {
				select {
				case <-ctx.Done():
					causes <- context.Cause(ctx)
					return nil, ctx.Err()
				case <-time.After(takes):
					return []byte("done by " + acquirer), nil
				}
			}
			go func() { done <- work.Run(ctx, work.Worker{Semaphore: c.Semaphore("resize"), Handle: resize}) }()
			return c
		}
		first := worker("w1", time.Hour)
		job, err := work.Submit(ctx, srv.Dial(t, "submitter"), work.Job{Semaphore: "resize"}, [][]byte{[]byte("a.png")})
		if err != nil {
			t.Fatal(err)
		}
		srv.Advance(t, time.Second)
		if w := srv.Workers(t, "resize"); len(w) != 1 || len(w[0].GetTasks()) != 1 {
			t.Errorf("workers = %v, want one worker with one task", w)
		}
		worker("w2", time.Second)
		srv.Partition(t, first)
		srv.Advance(t, 5*time.Minute)
		if cause := <-causes; !errors.Is(cause, client.ErrExpiring) {
			t.Errorf("cause = %v, want ErrExpiring", cause)
		}
		if task := srv.Tasks(t, job.ID)[0]; string(task.GetResult()) != "done by w2" || task.GetAttempts() != 2 {
			t.Errorf("task = %v, want w2's result on attempt 2", task)
		}
		stop()
		srv.Heal(t, first)
		<-done
		<-done
	})
}

func TestResize_JobIsCancelled_Stops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "resize")
		c := srv.Dial(t, "w1")
		ctx, stop := context.WithCancel(t.Context())
		causes, done := make(chan error, 1), make(chan error, 1)
		resize := func(ctx context.Context, _ *work.Task) ([]byte, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil, ctx.Err()
		}
		go func() { done <- work.Run(ctx, work.Worker{Semaphore: c.Semaphore("resize"), Handle: resize}) }()
		job, err := work.Submit(ctx, c, work.Job{Semaphore: "resize"}, [][]byte{[]byte("a.png")})
		if err != nil {
			t.Fatal(err)
		}
		srv.Advance(t, time.Second)
		srv.CancelJob(t, job.ID, "wrong pictures")
		if cause := <-causes; !errors.Is(cause, client.ErrTaskCancelled) {
			t.Errorf("cause = %v, want ErrTaskCancelled", cause)
		}
		stop()
		<-done
	})
}

func TestExport_TakenOver_Stops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		srv.Define(t, &gatekeeperv1.Definition{Name: "nightly-export", Takeover: true})
		p, err := srv.Dial(t, "app1").Semaphore("nightly-export").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		srv.TakeOver(t, "nightly-export", p.Token(), "it does not answer probes")
		<-p.Context().Done()
		if !errors.Is(context.Cause(p.Context()), client.ErrTakenOver) {
			t.Errorf("cause = %v, want ErrTakenOver", context.Cause(p.Context()))
		}
	})
}
