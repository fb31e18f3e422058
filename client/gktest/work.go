package gktest

import (
	"context"
	"fmt"
	"testing"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// TakeOver stops the holder of a permit, as another host would if it declared the holder dead. The definition must set
// Takeover and admit "ops@gktest" in the group "default". The slot remains occupied until the holder releases the
// permit or it expires.
func (s *Server) TakeOver(t testing.TB, semaphore string, token uint64, reason string) {
	t.Helper()
	s.do(t, fmt.Sprintf("take over token %d", token), func(ctx context.Context) error {
		_, err := s.ops.Semaphore(semaphore).TakeOver(ctx, token, reason)
		return err
	})
}

// CancelJob cancels a job as an operator would: no more of its tasks are handed out, and workers holding one must stop.
// The server's other controls treat a worker like any other permit holder.
func (s *Server) CancelJob(t testing.TB, id, reason string) {
	t.Helper()
	s.do(t, "cancel job "+id, func(ctx context.Context) error {
		_, err := s.ops.Work().CancelJob(ctx, &gatekeeperv1.CancelJobRequest{Id: id, Author: author, Reason: reason})
		return err
	})
}

// Tasks returns a job's tasks in index order, with their payloads and results.
func (s *Server) Tasks(t testing.TB, job string) (tasks []*gatekeeperv1.Task) {
	t.Helper()
	s.do(t, "tasks of job "+job, func(ctx context.Context) error {
		req := &gatekeeperv1.ListTasksRequest{Job: job, Payloads: true, Results: true}
		for {
			r, err := s.ops.Work().ListTasks(ctx, req)
			if err != nil {
				return err
			}
			tasks = append(tasks, r.GetTasks()...)
			if req.From = r.GetNext(); req.From == 0 {
				return nil
			}
		}
	})
	return tasks
}

// Workers returns the workers available for a semaphore, with the tasks they hold.
func (s *Server) Workers(t testing.TB, semaphore string) (workers []*gatekeeperv1.Worker) {
	t.Helper()
	s.do(t, "workers for "+semaphore, func(ctx context.Context) error {
		r, err := s.ops.Work().ListWorkers(ctx, &gatekeeperv1.ListWorkersRequest{Semaphore: semaphore})
		workers = r.GetWorkers()
		return err
	})
	return workers
}
