package gocron_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
)

func ExampleNewLocker() {
	srv := gktest.NewServer("nightly-export")
	defer srv.Close()
	c, err := client.Dial(context.Background(), []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	ran := make(chan struct{}, 100)

	options := []gkgocron.Option{
		gkgocron.WithSemaphore(func(job string) *client.Semaphore { return c.Semaphore("nightly-" + job) }),
		gkgocron.WithJobOptions(client.WithOutageLimit(time.Second)), // limits how long gocron waits for the lock
		gkgocron.WithUnscheduled(), // allows RunNow
		gkgocron.WithBegin(func(ctx context.Context, due gkgocron.DueRun) (*client.Run, error) {
			return due.Begin(ctx, client.WithOutagePolicy(client.OutageWait)) // in addition to the Locker's options
		}),
		gkgocron.WithNow(time.Now), // with gocron.WithClock, use that clock's Now
	}
	locker := gkgocron.NewLocker(c, options...)
	s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
	if err != nil {
		log.Fatal(err)
	}
	locker.Follow(s)
	export := func(ctx context.Context) error {
		fmt.Println("exporting under", client.PermitOf(ctx).Semaphore())
		ran <- struct{}{}
		return nil
	}
	job, err := s.NewJob(gocron.CronJob("30 2 * * *", false), locker.Task(export), gocron.WithName("export"))
	if err != nil {
		log.Fatal(err)
	}
	s.Start()
	if err := locker.CatchUp(context.Background(), job, export); err != nil { // runs missed firings according to the definition's misfire policy
		log.Fatal(err)
	}
	if missed, err := locker.Missed(context.Background(), job); len(missed) > 0 || err != nil { // what CatchUp would run
		log.Fatal(missed, err)
	}
	if err := job.RunNow(); err != nil {
		log.Fatal(err)
	}

	<-ran
	_ = s.Shutdown()
	// Output: exporting under nightly-export
}

// An event listener receives the reason why a job did not run.
func ExampleLocker_Lock() {
	srv := gktest.NewServer("nightly-export")
	defer srv.Close()
	c, err := client.Dial(context.Background(), []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	skipped := make(chan struct{}, 100)

	onLockError := gocron.AfterLockError(func(_ uuid.UUID, name string, err error) {
		switch denied, ok := errors.AsType[*client.DeniedError](err); {
		case ok && denied.Reason == client.ReasonFiringDone:
			fmt.Println(name, "has run elsewhere")
		case ok:
			fmt.Println(name, "is denied:", denied)
		case errors.Is(err, gkgocron.ErrRunning):
			fmt.Println(name, "is still running here")
		case errors.Is(err, gkgocron.ErrUnscheduled):
			fmt.Println(name, "is not due; WithUnscheduled would let it run")
		case errors.Is(err, client.ErrUnavailable):
			fmt.Println("no server responded")
		}
		skipped <- struct{}{}
	})
	locker := gkgocron.NewLocker(c)
	_, err = locker.Lock(context.Background(), "nightly-export")
	fmt.Println(errors.Is(err, gkgocron.ErrNotFollowing))

	s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
	if err != nil {
		log.Fatal(err)
	}
	locker.Follow(s)
	job, err := s.NewJob(gocron.CronJob("30 2 * * *", false), locker.Task(func(context.Context) error { return nil }),
		gocron.WithName("nightly-export"), gocron.WithEventListeners(onLockError))
	if err != nil {
		log.Fatal(err)
	}
	s.Start()
	if err := job.RunNow(); err != nil {
		log.Fatal(err)
	}
	<-skipped
	_ = s.Shutdown()
	// Output:
	// true
	// nightly-export is not due; WithUnscheduled would let it run
}

// A scheduler without the Locker does not run its tasks.
func ExampleLocker_Task_notLocked() {
	locker := gkgocron.NewLocker(nil)
	failed := make(chan error, 100)
	s, err := gocron.NewScheduler() // without gocron.WithDistributedLocker(locker)
	if err != nil {
		log.Fatal(err)
	}
	onError := gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { failed <- err })
	job, err := s.NewJob(gocron.CronJob("30 2 * * *", false), locker.Task(func(context.Context) error { return nil }), gocron.WithEventListeners(onError))
	if err != nil {
		log.Fatal(err)
	}
	s.Start()
	if err := job.RunNow(); err != nil {
		log.Fatal(err)
	}

	fmt.Println(errors.Is(<-failed, gkgocron.ErrNotLocked))
	_ = s.Shutdown()
	// Output: true
}

func ExampleElector_IsLeader() {
	srv := gktest.NewServer("leader")
	defer srv.Close()
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Semaphore("leader").TryAcquire(ctx); err != nil { // another scheduler is the leader
		log.Fatal(err)
	}

	elector := gkgocron.NewElector(c.Semaphore("leader"))
	defer elector.Close()
	fmt.Println(errors.Is(elector.IsLeader(ctx), gkgocron.ErrNotLeader))
	// Output: true
}
