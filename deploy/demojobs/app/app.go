// Package app is an application of the demo, as a developer would write it with gocron and Gatekeeper: a scheduler with a timetable, of
// which every process has the same, a Locker so that each firing runs in one of them, and jobs that write to a store under the
// token of their permit.
//
// What it does for the demo, writing down what happens, is in record.go alone.
package app

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/client"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/account"
)

// App is one application process.
type App struct {
	// Name is the acquirer's.
	Name      string
	Endpoints []string
	// Store is the address of what its jobs write to.
	Store string
	// Jobs is how many jobs the timetable has.
	Jobs int
	// Clock is how far its clock is off.
	Clock time.Duration

	recorder *recorder
}

// Run runs the timetable until ctx ends.
func (a *App) Run(ctx context.Context) error {
	jobs, _, err := Timetable(a.Jobs)
	if err != nil {
		return err
	}
	c, err := client.Dial(ctx, a.Endpoints, client.WithGroup(Group), client.WithAcquirer(a.Name), client.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	defer c.Close()

	clock := newClock(a.Clock)
	locker := gkgocron.NewLocker(c,
		gkgocron.WithNow(clock.Now), // that of the scheduler, or none
		// Whoever is late asks on while another has the firing: if that one dies, and the definition says so, it runs here.
		gkgocron.WithJobOptions(client.WithDenialPolicy(client.DenialRunLate), client.WithHooks(a.recorder.hooks())))
	s, err := gocron.NewScheduler(gocron.WithClock(clock), gocron.WithLocation(time.UTC), gocron.WithDistributedLocker(locker))
	if err != nil {
		return err
	}
	locker.Follow(s)
	store := newStore(a.Store)
	for _, job := range jobs {
		_, err := s.NewJob(job.definition(),
			locker.Task(a.recorder.observe(job.Name, func(ctx context.Context) error { return a.export(ctx, job, store) })),
			gocron.WithName(job.Name),
			gocron.WithEventListeners(gocron.AfterLockError(a.recorder.skipped)))
		if err != nil {
			return errors.Join(err, s.Shutdown())
		}
	}
	s.Start()
	a.recorder.write(Record{Event: Started})
	<-ctx.Done()
	return s.Shutdown()
}

// export is the job: it works and writes, works and writes, and looks before each step whether it may go on. The write itself is not
// to be torn, so it does not end with the job: between the look and the write is the gap that only the token covers. It begins with an
// empty write, which shuts out whoever held the permit before.
func (a *App) export(ctx context.Context, job Job, store *store) error {
	if err := store.write(ctx, job.Name, 0); err != nil {
		return err
	}
	for step := 1; step <= job.Steps; step++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.recorder.write(Record{Event: Checked, Job: job.Name, Token: client.TokenOf(ctx), Step: step})
		work()
		if err := store.write(context.WithoutCancel(ctx), job.Name, step); err != nil {
			a.recorder.write(Record{Event: Refused, Job: job.Name, Token: client.TokenOf(ctx), Step: step, Text: err.Error()})
			return err
		}
	}
	return nil
}

// work is a computation that looks neither left nor right.
func work() { <-time.After(StepTime) }

// Args are the arguments by which Parse makes this App.
func (a *App) Args() []string {
	return []string{
		"-name", a.Name, "-endpoints", strings.Join(a.Endpoints, ","), "-store", a.Store,
		"-jobs", strconv.Itoa(a.Jobs), "-clock", a.Clock.String(),
	}
}

// Parse makes the App that was started with Args and an account.
func Parse(args []string) (*App, error) {
	a := &App{recorder: &recorder{account: account.Inherited()}}
	flags := flag.NewFlagSet("demojobs app", flag.ContinueOnError)
	flags.StringVar(&a.Name, "name", "", "its name, the acquirer")
	endpoints := flags.String("endpoints", "", "the servers")
	flags.StringVar(&a.Store, "store", "", "address of what its jobs write to")
	flags.IntVar(&a.Jobs, "jobs", 0, "how many jobs its timetable has")
	flags.DurationVar(&a.Clock, "clock", 0, "how far its clock is off")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	a.Endpoints = strings.Split(*endpoints, ",")
	return a, nil
}
