package load

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// ReadJobs reads every job in a history twice, each time from a random server. There must be no concurrent changes.
func (c *Clients) ReadJobs(ctx context.Context, entries []history.Entry) error {
	record := c.recorder("reading jobs")
	for range 2 {
		for _, id := range slices.Sorted(maps.Keys(jobIDs(entries))) {
			if err := c.readJob(ctx, record, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// readJob reads a job, retrying until a server responds.
func (c *Clients) readJob(ctx context.Context, record caller, id string) error {
	for {
		done := record.Call(history.Request{Kind: history.JobEnd, Semaphore: semaphoreOf(id), Job: &history.Job{ID: id}})
		callCtx, cancel := context.WithTimeout(ctx, 2*time.Second)
		r, err := c.servers.randomServer(c.operator.random).work.ListTasks(callCtx, &gatekeeperv1.ListTasksRequest{Job: id, Results: true, PageSize: 1000})
		cancel()
		switch {
		case err == nil:
			done(history.Known, history.ReadJob(r.GetJob(), r.GetTasks()), nil)
			return nil
		case status.Code(err) == codes.NotFound:
			done(history.Known, history.Response{Result: history.NoJob}, nil)
			return nil
		}
		done(history.Unknown, history.Response{}, err)
		if ctx.Err() != nil {
			return fmt.Errorf("cannot read job %s: %w", id, err)
		}
		pause(ctx, 50*time.Millisecond)
	}
}
