package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	own "github.com/gatekeeperd/gatekeeper/deploy/internal/account"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
)

// host is one machine of a group: it knows the timetable, asks for a permit for everything that falls due, and runs what it is
// granted. It is a process of its own, with its own deadlines, and writes down what it believes.
type host struct {
	name, group string
	endpoints   []string
	table       timetable
	length      time.Duration
	fault       fault
	run         time.Duration // how long every job runs; 0: as the timetable says

	account *account
	client  *client.Client
	running sync.WaitGroup
}

// fault is what a host does wrong on purpose, so that a test can see the count notice it.
type fault string

const (
	// faultless is a host that does as the client library says.
	faultless fault = ""
	// believeLonger is a host that goes on believing in its permits until it is done with them, whatever the library says.
	believeLonger fault = "believe-longer"
)

func parseHost(args []string) (*host, error) {
	h := &host{}
	flags := flag.NewFlagSet("demo host", flag.ContinueOnError)
	flags.StringVar(&h.name, "name", "", "its name, the acquirer")
	flags.StringVar(&h.group, "group", "", "its group, a cluster of the timetable")
	endpoints := flags.String("endpoints", "", "the servers")
	flags.DurationVar(&h.table.epoch, "epoch", 0, "when the timetable begins, by the shared clock")
	start := flags.String("start", "", "where the timetable begins")
	flags.DurationVar(&h.table.hour, "hour", time.Second, "how long an hour of it takes")
	flags.DurationVar(&h.length, "for", 0, "how long to work")
	flags.DurationVar(&h.run, "run", 0, "how long every job runs; 0 for as long as the timetable says")
	flags.Func("fault", "what to do wrong on purpose: "+string(believeLonger), func(s string) error {
		if h.fault = fault(s); h.fault != believeLonger {
			return errors.New("no such fault")
		}
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	h.endpoints = strings.Split(*endpoints, ",")
	h.account = &account{own.Inherited()}
	var err error
	h.table.start, err = time.Parse(time.RFC3339, *start)
	return h, err
}

// serve works through the timetable until its end, and returns when everything that it began has ended.
func (h *host) serve(ctx context.Context) error {
	jobs, err := samples.Kubernetes()
	if err != nil {
		return err
	}
	var mine []samples.Job
	for _, job := range jobs {
		if job.Cluster == h.group {
			mine = append(mine, job)
		}
	}
	firings, err := h.table.firings(mine, h.length)
	if err != nil {
		return err
	}
	h.client, err = client.Dial(ctx, h.endpoints, client.WithGroup(h.group), client.WithAcquirer(h.name))
	if err != nil {
		return err
	}
	defer h.client.Close()
	for _, f := range firings {
		select {
		case <-time.After(h.table.at(f.due) - boottime.Now()):
		case <-ctx.Done():
			h.running.Wait()
			return nil
		}
		h.running.Go(func() { h.fire(ctx, f) })
	}
	h.running.Wait()
	return nil
}

// patience is how long a host tries to get an answer, through a fail-over too.
const patience = 10 * time.Second

// fire runs one due job: its own semaphore with the firing first, so that it runs once, and then its share of the pool, for which it waits.
func (h *host) fire(ctx context.Context, f firing) {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	job := h.ask(record{Semaphore: f.job.Name, Weight: 1, Firing: f.String()}, func(s *client.Semaphore) (*client.Permit, error) {
		return s.TryAcquire(asking, client.WithFiring(f.job.Name, f.due))
	})
	if job == nil {
		return
	}
	waiting, cancel := context.WithTimeout(job.permit.Context(), patience)
	defer cancel()
	pool := h.ask(record{Semaphore: samples.Pool(f.job.Cluster), Weight: f.weight}, func(s *client.Semaphore) (*client.Permit, error) {
		return s.Acquire(waiting, client.WithWeight(f.weight))
	})
	if pool == nil {
		job.release(ctx, (*client.Permit).ReleaseNotRun)
		return
	}
	job.ran.Store(true)
	length := h.run
	if length == 0 {
		length = h.table.running(f)
	}
	h.work(length, job, pool)
	pool.release(ctx, (*client.Permit).Release)
	job.release(ctx, (*client.Permit).Release)
}

// ask asks for what the record describes and writes down what came of it; without a permit it returns nil.
func (h *host) ask(what record, acquire func(*client.Semaphore) (*client.Permit, error)) *holding {
	what.Asked = boottime.Now()
	permit, err := acquire(h.client.Semaphore(what.Semaphore))
	if err == nil {
		return hold(h.account, permit, what, h.fault)
	}
	what.Event, what.Reason = eventGaveUp, err.Error()
	if denied, ok := errors.AsType[*client.DeniedError](err); ok {
		what.Event, what.Reason = eventDenied, string(denied.Reason)
	}
	h.account.write(what)
	return nil
}

// work is the job: it ends when it is done, or when one of its permits tells it to stop.
func (h *host) work(length time.Duration, job, pool *holding) {
	done := time.NewTimer(length)
	defer done.Stop()
	if h.fault == believeLonger {
		<-done.C
		return
	}
	select {
	case <-done.C:
	case <-job.permit.Context().Done():
	case <-pool.permit.Context().Done():
	}
}

// hostArgs are the arguments by which the demo starts a host.
func (h *host) args() []string {
	args := []string{"host",
		"-name", h.name, "-group", h.group, "-endpoints", strings.Join(h.endpoints, ","),
		"-epoch", h.table.epoch.String(), "-start", h.table.start.Format(time.RFC3339), "-hour", h.table.hour.String(),
		"-for", h.length.String(), "-run", h.run.String(),
	}
	if h.fault != faultless {
		args = append(args, "-fault", string(h.fault))
	}
	return args
}

func (h *host) String() string { return fmt.Sprintf("%s of %s", h.name, h.group) }
