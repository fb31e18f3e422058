package main

import (
	"context"
	"errors"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/internal/loop"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	"github.com/gatekeeperd/gatekeeper/internal/workload"
)

// workloads runs the workloads of gkctl bench with generated stubs on connections to the leader.
type workloads struct {
	*workload.Fixture
	client *client.Client
}

// tokensPerFrame is the number of permits per frame in streams that refresh many permits.
const tokensPerFrame = 100

// newWorkloads creates the semaphores for the largest number of callers. The caller must close the result.
func (b *bench) newWorkloads(ctx context.Context, leader *servers.Server, conns load.Conns) (*workloads, error) {
	c, err := client.Dial(ctx, []string{leader.API}, client.WithGroup(workload.Group), client.WithAcquirer("bench"))
	if err != nil {
		return nil, err
	}
	// Without a timeout and without request ids, a call costs its caller no more than a plain stub call.
	settings := workload.Settings{Prefix: "bench", Callers: b.maxCallers(), Tokens: 1, Duration: permitDuration, Author: "bench", Run: "core"}
	t := &workloads{workload.NewFixture(settings, kinds("acquire", "deny", "refresh", "stream"), c, []*client.Client{c}), c}
	t.UseConns(conns.Interfaces()...)
	return t, t.Create(ctx)
}

func (t *workloads) close() { _ = t.client.Close() } // every permit was released

// kinds returns the kinds of work with the given names.
func kinds(names ...string) (some []*workload.Kind) {
	for _, k := range workload.Kinds() {
		for _, name := range names {
			if k.Name == name {
				some = append(some, k)
			}
		}
	}
	return some
}

// withWorkload prepares a kind of work for the given numbers of callers and tokens per frame, and calls measure.
func (t *workloads) withWorkload(ctx context.Context, kind string, callers, tokens int, measure func(load.Call) error) error {
	t.Tokens = tokens
	s, err := kinds(kind)[0].Prepare(ctx, t.Fixture, callers)
	if err != nil {
		return err
	}
	err = measure(func(ctx context.Context, caller int) (int, error) {
		return s.Call(ctx, loop.Turn{Caller: caller, Since: time.Now()})
	})
	return errors.Join(err, s.Close(context.WithoutCancel(ctx)))
}
