package work

import (
	"context"
	"errors"
	"iter"

	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxPage is the largest page that a server gives.
const maxPage = 1000

// Get reads a job. The error is a *client.NoSuchJobError if there is none of that id.
func Get(ctx context.Context, c *client.Client, id string) (*gatekeeperv1.Job, error) {
	r, err := c.Work().GetJob(ctx, &gatekeeperv1.GetJobRequest{Id: id})
	return r.GetJob(), err
}

// List reads the jobs that match req in the order of their submission, page after page. An error is the last element.
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

// Tasks reads the tasks of a job that match req by index, page after page. An error is the last element.
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

// Cancel has no more tasks of a job handed out, and the workers of those that are held must stop. reason is for people.
// Cancelling a job that is over, or was cancelled before, changes nothing and is no error. It returns the job.
func Cancel(ctx context.Context, c *client.Client, id, reason string) (*gatekeeperv1.Job, error) {
	r, err := c.Work().CancelJob(ctx, &gatekeeperv1.CancelJobRequest{Id: id, Author: c.Semaphore("").Acquirer(), Reason: reason})
	return r.GetJob(), err
}

// Retry hands failed tasks out again, those of the indexes or all, with new attempts, and returns how many. It takes
// tasks that have failed before it is called, each once however often the call is repeated; tasks that an attempt has
// changed whose answer was lost are not counted. Tasks of a cancelled job cannot be retried.
func Retry(ctx context.Context, c *client.Client, id string, indexes ...uint32) (tasks int, err error) {
	j, err := Get(ctx, c, id)
	if err != nil {
		return 0, err
	}
	r, err := c.Work().RetryTasks(ctx, &gatekeeperv1.RetryTasksRequest{Id: id, Indexes: indexes, AsOf: j.GetRevision()})
	return int(r.GetTasks()), err
}

// Drop gives failed tasks up, those of the indexes or all, and returns how many. Their payloads are removed. It takes,
// and counts, the same tasks as Retry.
func Drop(ctx context.Context, c *client.Client, id string, indexes ...uint32) (tasks int, err error) {
	j, err := Get(ctx, c, id)
	if err != nil {
		return 0, err
	}
	r, err := c.Work().DropTasks(ctx, &gatekeeperv1.DropTasksRequest{Id: id, Indexes: indexes, AsOf: j.GetRevision()})
	return int(r.GetTasks()), err
}

// Delete removes a job that is over, with its results. The error is a *client.JobNotOverError if it is not, and a
// *client.NoSuchJobError if there is none.
func Delete(ctx context.Context, c *client.Client, id string) error {
	j, err := Get(ctx, c, id)
	if err != nil {
		return err
	}
	return DeleteSubmitted(ctx, c, j)
}

// DeleteSubmitted is Delete of a job that the caller has read. It leaves a job alone that was submitted under the same
// id since, and is no error if the job is gone already.
func DeleteSubmitted(ctx context.Context, c *client.Client, j *gatekeeperv1.Job) error {
	_, err := c.Work().DeleteJob(ctx, &gatekeeperv1.DeleteJobRequest{Id: j.GetSpec().GetId(), SubmittedRevision: j.GetSubmittedRevision()})
	if _, gone := errors.AsType[*client.NoSuchJobError](err); gone {
		return nil
	}
	return err
}

// Workers reads who offers to work for a semaphore, and what they hold; for the empty name, of all semaphores.
func Workers(ctx context.Context, c *client.Client, semaphore string) ([]*gatekeeperv1.Worker, error) {
	r, err := c.Work().ListWorkers(ctx, &gatekeeperv1.ListWorkersRequest{Semaphore: semaphore})
	return r.GetWorkers(), err
}
