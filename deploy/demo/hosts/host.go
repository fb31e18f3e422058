package hosts

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
)

// Part is the first argument of a host process.
const Part = "host"

// gaveUp means that the host received neither a permit nor a denial in time.
const gaveUp stage.Event = "gave up"

// host is one machine in a group. It follows the schedule, requests a permit for every due run, and runs the jobs for
// which it is granted one. It is a separate process that computes its own deadlines and records its beliefs.
type host struct {
	Name, Group string
	Endpoints   []string
	Schedule    fastSchedule
	Length      time.Duration
	// Run is how long every job runs. If it is 0, the schedule determines how long.
	Run time.Duration
	// IgnoreLoss injects a fault that the tally must detect: the host relies on its permits until its jobs are
	// done, regardless of what the library reports.
	IgnoreLoss bool

	account stage.Account
	client  *client.Client
	running sync.WaitGroup
}

// Host runs the host described by args. It follows the schedule to its end, and returns once all started jobs have
// finished.
func Host(ctx context.Context, args []string) (err error) {
	var h host
	if h.account, err = stage.Begin(args, &h); err != nil {
		return err
	}
	jobs, err := samples.InCluster(h.Group)
	if err != nil {
		return err
	}
	firings, err := h.Schedule.firings(jobs, h.Length)
	if err != nil {
		return err
	}
	h.client, err = client.Dial(ctx, h.Endpoints, client.WithGroup(h.Group), client.WithAcquirer(h.Name))
	if err != nil {
		return err
	}
	defer h.client.Close()
	defer h.running.Wait()
	for _, f := range firings {
		if stage.SleepUntil(ctx, h.Schedule.at(f.due)) != nil {
			return nil
		}
		h.running.Go(func() { h.fire(ctx, f) })
	}
	return nil
}

// responseTimeout is how long a host waits for a response. It allows for a failover.
const responseTimeout = 10 * time.Second

// fire runs one due job. It first claims the firing on the job's semaphore, so that it runs only once, and then waits
// for a share of the pool.
func (h *host) fire(ctx context.Context, f firing) {
	acquireCtx, cancel := context.WithTimeout(ctx, responseTimeout)
	defer cancel()
	job := h.request(stage.Record{Semaphore: f.job.Name, Weight: 1, Due: f.due}, func(s *client.Semaphore) (*client.Permit, error) {
		return s.TryAcquire(acquireCtx, client.WithFiring(f.job.Name, f.due))
	})
	if job == nil {
		return
	}
	waitCtx, cancel := context.WithTimeout(job.permit.Context(), responseTimeout)
	defer cancel()
	pool := h.request(stage.Record{Semaphore: samples.Pool(f.job.Cluster), Weight: f.weight}, func(s *client.Semaphore) (*client.Permit, error) {
		return s.Acquire(waitCtx, client.WithWeight(f.weight))
	})
	if pool == nil {
		job.end()
		_ = job.permit.ReleaseNotRun(ctx) // if no server receives the release, the permit expires
		return
	}
	h.account.Write(stage.Record{Event: stage.Began, Semaphore: f.job.Name, Token: job.permit.Token()})
	h.work(f, job, pool)
	for _, held := range []*holding{pool, job} {
		held.end()
		_ = held.permit.Release(ctx)
	}
}

// holding is a permit held by a host. end records that the host no longer relies on it.
type holding struct {
	permit *client.Permit
	end    func()
}

// request requests the permit that the record describes, and records the result. If none is granted, it returns nil.
func (h *host) request(rec stage.Record, acquire func(*client.Semaphore) (*client.Permit, error)) *holding {
	rec.RequestedAt = boottime.Now()
	permit, err := acquire(h.client.Semaphore(rec.Semaphore))
	if err == nil {
		return h.hold(permit, rec)
	}
	rec.Event, rec.Text = gaveUp, err.Error()
	if denied, ok := errors.AsType[*client.DeniedError](err); ok {
		rec.Event, rec.Text = stage.Denied, string(denied.Reason)
	}
	h.account.Write(rec)
	return nil
}

func (h *host) hold(p *client.Permit, rec stage.Record) *holding {
	if !h.IgnoreLoss {
		return &holding{p, h.account.Hold(p, stage.Granted, rec).Stop}
	}
	rec.Event, rec.Token = stage.Granted, p.Token()
	h.account.Write(rec)
	return &holding{p, func() {
		h.account.Write(stage.Record{Event: stage.Ended, Semaphore: rec.Semaphore, Token: rec.Token, Until: boottime.Now()})
	}}
}

// work runs the job until it is done, or until the context of one of its permits ends.
func (h *host) work(f firing, job, pool *holding) {
	runTime := h.Run
	if runTime == 0 {
		runTime = h.Schedule.runTime(f)
	}
	done := time.NewTimer(runTime)
	defer done.Stop()
	if h.IgnoreLoss {
		<-done.C
		return
	}
	select {
	case <-done.C:
	case <-job.permit.Context().Done():
	case <-pool.permit.Context().Done():
	}
}
