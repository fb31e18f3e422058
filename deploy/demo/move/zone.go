package move

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// hosts is the number of hosts in a zone. Each has its own client and a share of the tasks.
const hosts = 3

// Part is the first argument of a zone process.
const Part = "zone"

const (
	// waits means that the group is not admitted. The host requests the permit again after the definition is edited.
	waits stage.Event = "waits"
	// edited means that the host received an event about an edit to the definition.
	edited stage.Event = "edited"
	// ordered means that the permit's context was cancelled by an order to stop. Text is the reason.
	ordered stage.Event = "ordered"
)

// zone runs the hosts in one build cluster as a single process. They hold each task for as long as they can, and
// otherwise wait for it.
type zone struct {
	Group     string
	Tasks     []string
	Endpoints []string
	Slow      time.Duration // the longest time that a slow holder takes to stop
	Stubborn  string        // the task whose holder ignores the first order to stop

	account stage.Account
	wakeups map[string]chan struct{} // by task; signalled after its definition is edited
}

// tasksOf returns the names of the first n tasks in a build cluster, or of all tasks if n is 0.
func tasksOf(cluster string, n int) ([]string, error) {
	jobs, err := samples.InCluster(cluster)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, job := range jobs {
		if n == 0 || len(names) < n {
			names = append(names, job.Name)
		}
	}
	return names, nil
}

// Zone runs the zone described by args. When ctx is done, it releases everything and returns.
func Zone(ctx context.Context, args []string) (err error) {
	z := zone{wakeups: map[string]chan struct{}{}}
	if z.account, err = stage.Begin(args, &z); err != nil {
		return err
	}
	var clients []*client.Client
	for i := range hosts {
		c, err := client.Dial(ctx, z.Endpoints, client.WithGroup(z.Group), client.WithAcquirer(fmt.Sprintf("%s-%d", z.Group, i+1)),
			client.WithLogger(slog.New(slog.DiscardHandler)))
		if err != nil {
			return err
		}
		defer c.Close()
		clients = append(clients, c)
	}
	for _, task := range z.Tasks {
		z.wakeups[task] = make(chan struct{}, 1)
	}
	resp, err := clients[0].Operator().ListCordons(ctx, &gatekeeperv1.ListCordonsRequest{})
	if err != nil {
		return err
	}
	var working sync.WaitGroup
	working.Go(func() { z.listen(ctx, clients[0], resp.GetRevision()+1) })
	for i, task := range z.Tasks {
		working.Go(func() { z.keep(ctx, clients[i%hosts], task) })
	}
	working.Wait()
	return nil
}

// listen triggers a new acquire for each task whose definition is edited.
func (z *zone) listen(ctx context.Context, c *client.Client, from uint64) {
	for r, err := range c.Watch(ctx, &gatekeeperv1.WatchRequest{FromRevision: from}) {
		if err != nil {
			return // each task also has a fallback timer
		}
		for _, e := range r.GetEvents() {
			wakeup, ok := z.wakeups[e.GetSemaphore()]
			if !ok || e.GetKind() != gatekeeperv1.EventKind_EVENT_KIND_REPLACED {
				continue
			}
			z.account.Write(stage.Record{Event: edited, Semaphore: e.GetSemaphore()})
			select {
			case wakeup <- struct{}{}:
			default: // an acquire is already pending
			}
		}
	}
}

// keep holds a task whenever it can.
func (z *zone) keep(ctx context.Context, c *client.Client, task string) {
	stubborn := task == z.Stubborn
	for waiting := false; ctx.Err() == nil; {
		p, err := c.Semaphore(task).Acquire(ctx)
		if err == nil {
			stubborn = z.hold(ctx, p, stubborn) && stubborn
			waiting = false
			continue
		}
		if errors.As(err, new(*client.DeniedError)) && !waiting {
			waiting = true
			z.account.Write(stage.Record{Event: waits, Semaphore: task})
		}
		select {
		case <-z.wakeups[task]:
		case <-time.After(3 * time.Second):
		case <-ctx.Done():
		}
	}
}

// hold keeps a permit until the holder is ordered to stop. It reports whether the holder will ignore the next order. A
// stubborn holder ignores only its first order.
func (z *zone) hold(ctx context.Context, p *client.Permit, stubborn bool) bool {
	watch := z.account.Hold(p, stage.Granted, stage.Record{})
	select {
	case <-p.Context().Done():
		z.account.Write(stage.Record{Event: ordered, Semaphore: p.Semaphore(), Holder: p.Acquirer(), Token: p.Token(), Text: context.Cause(p.Context()).Error()})
		z.finish(ctx, p, stubborn)
		stubborn = false
	case <-ctx.Done():
	}
	watch.Stop()
	releaseCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	_ = p.Release(releaseCtx) // if the release fails, the permit expires
	return stubborn
}

// finish simulates a holder that was ordered to stop. Most holders stop soon, every fifth has work to finish, and a
// stubborn one continues for as long as its permit lasts.
func (z *zone) finish(ctx context.Context, p *client.Permit, stubborn bool) {
	n := time.Duration(samples.Hash(p.Semaphore()) % 1000)
	takes := n * 200 * time.Millisecond / 1000
	if n%5 == 0 {
		takes = n * z.Slow / 1000
	}
	var ready <-chan time.Time // nil: never ready
	if !stubborn {
		ready = time.After(takes)
	}
	select {
	case <-ready:
	case <-p.Done():
	case <-ctx.Done():
	}
}
