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

// Part is the first argument of an application process.
const Part = "app"

// app is an application process as a developer would write it with gocron and Gatekeeper. It has a scheduler with the
// same jobs in every process, a Locker that lets each firing run in only one process, and jobs that write to a store
// with their permits' tokens.
type app struct {
	// Name is the acquirer.
	Name      string
	Endpoints []string
	// Store is the address of the store that its jobs write to. The store is an HTTP service that fences writes with
	// the token of the writer's permit.
	Store string
	// Jobs is the number of jobs in the schedule.
	Jobs int
	// Clock is the skew of the scheduler's clock.
	Clock time.Duration

	account stage.Account
	http    http.Client
}

// App runs the application described by args. It runs the scheduler until ctx ends.
func App(ctx context.Context, args []string) (err error) {
	a := app{http: http.Client{Transport: fence.Transport(nil, client.TokenOf), Timeout: 5 * time.Second}}
	if a.account, err = stage.Begin(args, &a); err != nil {
		return err
	}
	jobs, _, err := sampleJobs(a.Jobs)
	if err != nil {
		return err
	}
	c, err := client.Dial(ctx, a.Endpoints, client.WithGroup(group), client.WithAcquirer(a.Name), client.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	defer c.Close()

	clock := skewedClock{clockwork.NewRealClock(), a.Clock}
	locker := gkgocron.NewLocker(c,
		gkgocron.WithNow(clock.Now), // the scheduler's clock
		// An application that finds a firing already claimed keeps trying. If the holder dies and the definition frees
		// the firing, it runs in this process.
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
	a.account.Write(stage.Record{Event: schedulerStarted})
	<-ctx.Done()
	return s.Shutdown()
}

// export is the job. It alternates between working and writing, and checks before each step whether it may continue. A
// write must not be torn, so it is not cancelled with the job. Only the token protects the gap between the check and
// the write. The first write is step 0, which only fences off all previous holders.
func (a *app) export(ctx context.Context, job job) error {
	if err := a.write(ctx, job.Name, 0); err != nil {
		return err
	}
	for step := 1; step <= job.Steps; step++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.account.Write(stage.Record{Event: checked, Semaphore: job.Name, Token: client.TokenOf(ctx), Step: step})
		<-time.After(stepTime) // represents a computation that cannot be interrupted
		if err := a.write(context.WithoutCancel(ctx), job.Name, step); err != nil {
			a.account.Write(stage.Record{Event: refused, Semaphore: job.Name, Token: client.TokenOf(ctx), Step: step, Text: err.Error()})
			return err
		}
	}
	return nil
}

// write writes a step of a job, with the token of the permit in ctx. An error means that the write was refused or did
// not arrive.
func (a *app) write(ctx context.Context, job string, step int) error {
	target := "http://" + a.Store + "/" + url.PathEscape(job)
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, target, strings.NewReader(strconv.Itoa(step)))
	if err != nil {
		return err
	}
	resp, err := a.http.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusNoContent {
		err = fmt.Errorf("the store returned %s: %s", resp.Status, strings.TrimSpace(string(text)))
	}
	return err
}

// skewedClock is the machine's clock with a constant skew. Timers are not affected.
type skewedClock struct {
	clockwork.Clock
	skew time.Duration
}

func (c skewedClock) Now() time.Time                  { return c.Clock.Now().Add(c.skew) }
func (c skewedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c skewedClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }
