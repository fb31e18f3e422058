package work

import (
	"context"
	"errors"
	"iter"

	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxPage is the largest page size that the servers allow.
const maxPage = 1000

// Get returns a job. The error is a *client.NoSuchJobError if there is no job with that ID.
func Get(ctx context.Context, c *client.Client, id string) (*gatekeeperv1.Job, error) {
	r, err := c.Work().GetJob(ctx, &gatekeeperv1.GetJobRequest{Id: id})
	return r.GetJob(), err
}

// List iterates over the jobs that match req, in order of submission. It reads one page at a time. An error is yielded
// last.
func List(ctx context.Context, c *client.Client, req *gatekeeperv1.ListJobsRequest) iter.Seq2[*gatekeeperv1.Job, error] {
	return func(yield func(*gatekeeperv1.Job, error) bool) {
		page := proto.CloneOf(req)
		page.PageSize = maxPage
		for {
			r, err := c.Work().ListJobs(ctx, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, j := range r.GetJobs() {
				if !yield(j, nil) {
					return
				}
			}
			if page.PageToken = r.GetNextPageToken(); page.PageToken == "" {
				return
			}
		}
	}
}

// Tasks iterates over the tasks of a job that match req, ordered by index. It reads one page at a time. An error is
// yielded last.
func Tasks(ctx context.Context, c *client.Client, req *gatekeeperv1.ListTasksRequest) iter.Seq2[*gatekeeperv1.Task, error] {
	return func(yield func(*gatekeeperv1.Task, error) bool) {
		page := proto.CloneOf(req)
		page.PageSize = maxPage
		for {
			r, err := c.Work().ListTasks(ctx, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, t := range r.GetTasks() {
				if !yield(t, nil) {
					return
				}
			}
			if page.From = r.GetNext(); page.From == 0 {
				return
			}
		}
	}
}

// Cancel cancels a job and returns it. No more of its tasks are handed out, and workers holding its tasks must stop.
// reason is shown to operators. Cancelling an ended or cancelled job has no effect and is not an error.
func Cancel(ctx context.Context, c *client.Client, id, reason string) (*gatekeeperv1.Job, error) {
	r, err := c.Work().CancelJob(ctx, &gatekeeperv1.CancelJobRequest{Id: id, Author: c.Semaphore("").Acquirer(), Reason: reason})
	return r.GetJob(), err
}

// Retry hands failed tasks out again with a new set of attempts and returns how many it retried. It applies to the
// tasks with the given indexes, or to all if none are given. Only tasks that failed before the call are retried, and
// only once, no matter how often the call is retried. If the response to an earlier attempt was lost, the tasks changed
// by that attempt are not counted. Tasks of a cancelled job cannot be retried.
func Retry(ctx context.Context, c *client.Client, id string, indexes ...uint32) (tasks int, err error) {
	j, err := Get(ctx, c, id)
	if err != nil {
		return 0, err
	}
	r, err := c.Work().RetryTasks(ctx, &gatekeeperv1.RetryTasksRequest{Id: id, Indexes: indexes, AsOf: j.GetRevision()})
	return int(r.GetTasks()), err
}

// Drop abandons failed tasks and returns how many it dropped. It applies to the tasks with the given indexes, or to all
// if none are given. Their payloads are removed. It selects and counts tasks the way Retry does.
func Drop(ctx context.Context, c *client.Client, id string, indexes ...uint32) (tasks int, err error) {
	j, err := Get(ctx, c, id)
	if err != nil {
		return 0, err
	}
	r, err := c.Work().DropTasks(ctx, &gatekeeperv1.DropTasksRequest{Id: id, Indexes: indexes, AsOf: j.GetRevision()})
	return int(r.GetTasks()), err
}

// Delete removes a job that has ended, along with its results. The error is a *client.JobNotFinishedError if it has not
// ended, and a *client.NoSuchJobError if it does not exist.
func Delete(ctx context.Context, c *client.Client, id string) error {
	j, err := Get(ctx, c, id)
	if err != nil {
		return err
	}
	return DeleteSubmitted(ctx, c, j)
}

// DeleteSubmitted is like Delete, for a job that the caller has read. It does not delete a job that was submitted later
// under the same ID, and returns no error if the job no longer exists.
func DeleteSubmitted(ctx context.Context, c *client.Client, j *gatekeeperv1.Job) error {
	_, err := c.Work().DeleteJob(ctx, &gatekeeperv1.DeleteJobRequest{Id: j.GetSpec().GetId(), SubmittedRevision: j.GetSubmittedRevision()})
	if _, notFound := errors.AsType[*client.NoSuchJobError](err); notFound {
		return nil
	}
	return err
}

// Workers returns the workers available for a semaphore, with the tasks they hold. An empty name selects all
// semaphores.
func Workers(ctx context.Context, c *client.Client, semaphore string) ([]*gatekeeperv1.Worker, error) {
	r, err := c.Work().ListWorkers(ctx, &gatekeeperv1.ListWorkersRequest{Semaphore: semaphore})
	return r.GetWorkers(), err
}
