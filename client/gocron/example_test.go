package gocron_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
)

func ExampleLocker() {
	srv := gktest.NewServer("nightly-export")
	defer srv.Close()
	c, err := client.Dial(context.Background(), []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	ran := make(chan struct{}, 100)
	export := func(context.Context) error { ran <- struct{}{}; return nil }

	locker := gkgocron.NewLocker(c)
	s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
	if err != nil {
		log.Fatal(err)
	}
	locker.Follow(s) // the Locker reads due times from s
	_, err = s.NewJob(gocron.DurationJob(time.Second), locker.Task(export), gocron.WithName("nightly-export"))
	if err != nil {
		log.Fatal(err)
	}
	s.Start()

	<-ran
	fmt.Println("ran")
	_ = s.Shutdown()
	// Output: ran
}

func ExampleElector() {
	srv := gktest.NewServer("leader")
	defer srv.Close()
	c, err := client.Dial(context.Background(), []string{srv.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	ran := make(chan struct{}, 100)
	export := func(context.Context) error { ran <- struct{}{}; return nil }

	elector := gkgocron.NewElector(c.Semaphore("leader"))
	defer elector.Close()
	s, err := gocron.NewScheduler(gocron.WithDistributedElector(elector))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := s.NewJob(gocron.DurationJob(100*time.Millisecond), elector.Task(export)); err != nil {
		log.Fatal(err)
	}
	s.Start()

	<-ran
	fmt.Println("ran")
	_ = s.Shutdown()
	// Output: ran
}
