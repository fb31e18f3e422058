package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverName is River's name in the report.
const riverName = "River"

// riverTask is an empty task.
type riverTask struct {
	ID string `json:"id"` // submission id
}

func (riverTask) Kind() string { return "task" }

// newRiver starts River on a running server, in the database that contains the locks. River is configured to fetch
// tasks as often as possible, far more often than by default.
func (p *postgres) newRiver(ctx context.Context) ([]variant, error) {
	driver := riverpgxv5.New(p.pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	registered := river.NewWorkers()
	river.AddWorker(registered, river.WorkFunc(func(context.Context, *river.Job[riverTask]) error { return nil }))
	client, err := river.NewClient(driver, &river.Config{
		Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
		Workers:       registered,
		FetchCooldown: river.FetchCooldownMin,
	})
	if err != nil {
		return nil, err
	}
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	p.river = client
	l := &ledger{}
	const eventBuffer = 1 << 20 // more than the number of events in a window, because events that do not fit are dropped
	events, _ := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: eventBuffer, Kinds: []river.EventKind{river.EventKindJobCompleted, river.EventKindJobFailed}})
	go func() {
		for e := range events {
			var id string
			if n, err := fmt.Sscanf(string(e.Job.EncodedArgs), `{"id": %q}`, &id); e.Kind != river.EventKindJobCompleted || n != 1 || err != nil {
				l.fail(fmt.Errorf("job %s: River reported %s (%w)", e.Job.EncodedArgs, e.Kind, err))
				return
			}
			l.recorded(id)
		}
	}()
	return taskVariants(riverName, 1, "InsertManyFast, Work", l, func(ctx context.Context, id string, tasks int) error {
		if tasks == 1 {
			_, err := client.Insert(ctx, riverTask{id}, nil)
			return err
		}
		all := make([]river.InsertManyParams, tasks)
		for i := range all {
			all[i].Args = riverTask{id}
		}
		n, err := client.InsertManyFast(ctx, all)
		if err == nil && n != tasks {
			err = errors.New("not all tasks were inserted")
		}
		return err
	}), nil
}

// stopRiver stops River's client, if it was started.
func stopRiver(client *river.Client[pgx.Tx]) {
	if client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = client.StopAndCancel(ctx) // the server is also stopped
}
