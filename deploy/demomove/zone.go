package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/account"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/belief"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// hosts is how many hosts a zone has. Each is a client of its own, and has its share of the tasks.
const hosts = 3

// zone is the hosts of one build cluster, in one process: each task is held as long as it can be, and otherwise waited for.
type zone struct {
	group     string
	cluster   string // whose tasks they are
	tasks     int
	endpoints []string
	slow      time.Duration // what the slow ones take at most to stop
	deaf      string        // the task that ignores the first order to stop

	account *account.Writer
	kicks   map[string]chan struct{} // by task: its definition was edited
}

func parseZone(args []string) (*zone, error) {
	z := &zone{account: account.Inherited(), kicks: map[string]chan struct{}{}}
	flags := flag.NewFlagSet("demomove zone", flag.ContinueOnError)
	flags.StringVar(&z.group, "group", "", "the zone")
	flags.StringVar(&z.cluster, "cluster", "", "the build cluster whose tasks it holds")
	flags.IntVar(&z.tasks, "tasks", 0, "how many of them; 0 for all")
	flags.DurationVar(&z.slow, "slow", 0, "how long the slow ones take to stop at most")
	flags.StringVar(&z.deaf, "deaf", "", "the task that ignores the first order to stop")
	endpoints := flags.String("endpoints", "", "the servers")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	z.endpoints = strings.Split(*endpoints, ",")
	return z, nil
}

func (z *zone) args() []string {
	return []string{
		"zone", "-group", z.group, "-cluster", z.cluster, "-tasks", fmt.Sprint(z.tasks),
		"-slow", z.slow.String(), "-deaf", z.deaf, "-endpoints", strings.Join(z.endpoints, ","),
	}
}

// tasksOf are the names of the first n tasks of a build cluster; of all of them when n is 0.
func tasksOf(cluster string, n int) ([]string, error) {
	jobs, err := samples.Kubernetes()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, job := range jobs {
		if job.Cluster == cluster && (n == 0 || len(names) < n) {
			names = append(names, job.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no build cluster %q in the timetable", cluster)
	}
	return names, nil
}

// run ends with ctx, when everything is released.
func (z *zone) run(ctx context.Context) error {
	tasks, err := tasksOf(z.cluster, z.tasks)
	if err != nil {
		return err
	}
	var clients []*client.Client
	for i := range hosts {
		c, err := client.Dial(ctx, z.endpoints, client.WithGroup(z.group), client.WithAcquirer(fmt.Sprintf("%s-%d", z.group, i+1)),
			client.WithLogger(slog.New(slog.DiscardHandler)))
		if err != nil {
			return err
		}
		defer c.Close()
		clients = append(clients, c)
	}
	for _, task := range tasks {
		z.kicks[task] = make(chan struct{}, 1)
	}
	now, err := clients[0].Operator().ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{})
	if err != nil {
		return err
	}
	var working sync.WaitGroup
	working.Go(func() { z.listen(ctx, clients[0], now.GetRevision()+1) })
	for i, task := range tasks {
		working.Go(func() { z.keep(ctx, clients[i%hosts], task) })
	}
	working.Wait()
	return nil
}

// listen has tasks asked for again whose definitions are edited.
func (z *zone) listen(ctx context.Context, c *client.Client, from uint64) {
	for r, err := range c.Watch(ctx, &gatekeeperv1.WatchRequest{FromRevision: from}) {
		if err != nil {
			return // the fallback of every task remains
		}
		for _, e := range r.GetEvents() {
			kick, ok := z.kicks[e.GetSemaphore()]
			if !ok || e.GetKind() != gatekeeperv1.EventKind_EVENT_KIND_REPLACED {
				continue
			}
			z.account.Write(record{Event: eventEdited, Task: e.GetSemaphore(), At: boottime.Now()})
			select {
			case kick <- struct{}{}:
			default: // it is to ask anyway
			}
		}
	}
}

// keep holds a task whenever it can.
func (z *zone) keep(ctx context.Context, c *client.Client, task string) {
	deaf := task == z.deaf
	for told := false; ctx.Err() == nil; {
		p, err := c.Semaphore(task).Acquire(ctx)
		if err == nil {
			deaf = z.hold(ctx, p, deaf) && deaf
			told = false
			continue
		}
		if errors.As(err, new(*client.DeniedError)) && !told {
			told = true
			z.account.Write(record{Event: eventWaits, Task: task, At: boottime.Now()})
		}
		select {
		case <-z.kicks[task]:
		case <-time.After(3 * time.Second):
		case <-ctx.Done():
		}
	}
}

// hold holds a permit until it is told to stop, and is deaf to that if it says so; then it says false, for once is enough.
func (z *zone) hold(ctx context.Context, p *client.Permit, deaf bool) bool {
	z.account.Write(record{Event: eventGranted, Task: p.Semaphore(), At: boottime.Now(), Host: p.Acquirer(), Token: p.Token()})
	watch := belief.Of(p, func(until time.Duration, lost bool) {
		z.account.Write(record{
			Event: eventEnded, Task: p.Semaphore(), At: boottime.Now(), Host: p.Acquirer(), Token: p.Token(), Until: until, Lost: lost,
		})
	})
	select {
	case <-p.Context().Done():
		told := record{Event: eventTold, Task: p.Semaphore(), At: boottime.Now(), Host: p.Acquirer(), Token: p.Token(), Cause: context.Cause(p.Context()).Error()}
		if stop, ok := errors.AsType[*client.StopError](context.Cause(p.Context())); ok {
			told.Drain = stop.Drain
		}
		z.account.Write(told)
		z.finish(ctx, p, deaf)
		deaf = false
	case <-ctx.Done():
	}
	watch.Stop()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	_ = p.Release(last) // one that does not get through expires
	return deaf
}

// finish is what a holder does that was told to stop: most are ready soon, every fifth has something to finish, and who is deaf goes on
// for as long as its permit lasts.
func (z *zone) finish(ctx context.Context, p *client.Permit, deaf bool) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(p.Semaphore()))
	n := time.Duration(h.Sum32() % 1000)
	takes := n * 200 * time.Millisecond / 1000
	if n%5 == 0 {
		takes = n * z.slow / 1000
	}
	var ready <-chan time.Time // never
	if !deaf {
		ready = time.After(takes)
	}
	select {
	case <-ready:
	case <-p.Done():
	case <-ctx.Done():
	}
}
