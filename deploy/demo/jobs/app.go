package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/fence"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
)

// Part is the first argument of a process that is an application.
const Part = "app"

// app is one application process, as a developer would write it with gocron and Gatekeeper: a scheduler with a
// timetable, of which every process has the same, a Locker so that each firing runs in one of them, and jobs that write
// to a store under the token of their permit.
type app struct {
	// Name is the acquirer's.
	Name      string
	Endpoints []string
	// Store is the address of what its jobs write to: an HTTP service that is fenced by the token of the writer's
	// permit.
	Store string
	// Jobs is how many jobs the timetable has.
	Jobs int
	// Clock is how far its clock is off.
	Clock time.Duration

	account stage.Account
	http    http.Client
}

// App is the application that args describe. It runs the timetable until ctx ends.
func App(ctx context.Context, args []string) (err error) {
	a := app{http: http.Client{Transport: fence.Transport(nil, client.TokenOf), Timeout: 5 * time.Second}}
	if a.account, err = stage.Begin(args, &a); err != nil {
		return err
	}
	jobs, _, err := timetableOf(a.Jobs)
	if err != nil {
		return err
	}
	c, err := client.Dial(ctx, a.Endpoints, client.WithGroup(group), client.WithAcquirer(a.Name), client.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	defer c.Close()

	clock := wrongClock{clockwork.NewRealClock(), a.Clock}
	locker := gkgocron.NewLocker(c,
		gkgocron.WithNow(clock.Now), // that of the scheduler, or none
		// A late application asks again while another has the firing: if that one dies, and the definition says so, it
		// runs here.
		gkgocron.WithJobOptions(client.WithDenialPolicy(client.DenialRunLate), client.WithHooks(a.hooks())))
	s, err := gocron.NewScheduler(gocron.WithClock(clock), gocron.WithLocation(time.UTC), gocron.WithDistributedLocker(locker))
	if err != nil {
		return err
	}
	locker.Follow(s)
	for _, job := range jobs {
		_, err := s.NewJob(job.definition(),
			locker.Task(a.observe(func(ctx context.Context) error { return a.export(ctx, job) })),
			gocron.WithName(job.Name),
			gocron.WithEventListeners(gocron.AfterLockError(a.skipped)))
		if err != nil {
			return errors.Join(err, s.Shutdown())
		}
	}
	s.Start()
	a.account.Write(stage.Record{Event: schedulerRuns})
	<-ctx.Done()
	return s.Shutdown()
}

// export is the job. It works and writes, works and writes, and looks before each step whether it may continue. A write
// must not be torn, so it does not end with the job: between the look and the write is the gap that only the token
// covers. It begins with an empty write, which shuts out all who held the permit before.
func (a *app) export(ctx context.Context, job job) error {
	if err := a.write(ctx, job.Name, 0); err != nil {
		return err
	}
	for step := 1; step <= job.Steps; step++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.account.Write(stage.Record{Event: checked, Semaphore: job.Name, Token: client.TokenOf(ctx), Step: step})
		<-time.After(stepTime) // a computation that cannot be interrupted
		if err := a.write(context.WithoutCancel(ctx), job.Name, step); err != nil {
			a.account.Write(stage.Record{Event: refused, Semaphore: job.Name, Token: client.TokenOf(ctx), Step: step, Text: err.Error()})
			return err
		}
	}
	return nil
}

// write writes a step of a job, under the token of the permit in ctx. An error says that it was refused, or did not
// arrive.
func (a *app) write(ctx context.Context, job string, step int) error {
	target := "http://" + a.Store + "/" + url.PathEscape(job)
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, target, strings.NewReader(strconv.Itoa(step)))
	if err != nil {
		return err
	}
	answer, err := a.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusNoContent {
		err = fmt.Errorf("the store answers %s: %s", answer.Status, strings.TrimSpace(string(text)))
	}
	return err
}

// wrongClock is the machine's clock, and off by a fixed time: what an application sees on a machine whose clock is
// wrong. Timers run as they do everywhere.
type wrongClock struct {
	clockwork.Clock
	off time.Duration
}

func (c wrongClock) Now() time.Time                  { return c.Clock.Now().Add(c.off) }
func (c wrongClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c wrongClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }
