// Package work contains the scenarios with shared work: `jgroups`, `oddjob` and `words`. The first two reproduce the
// examples in two articles and kill some of the processes. In the third, workers that join, leave and die share ten
// thousand tasks, and the leader is killed as well.
//
// Servers, workers and submitters are processes. Each report is based on the records of the workers, the submitters and
// the servers.
package work

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Part is the first argument of a process in these scenarios.
const Part = "work-part"

// role is a process's role. Exactly one field is set.
type role struct {
	Worker    *worker    `json:",omitempty"`
	Submitter *submitter `json:",omitempty"`
	Oddjob    *oddjob    `json:",omitempty"`
}

// Process runs the process described by args. It returns when ctx is done or the process has finished its work.
func Process(ctx context.Context, args []string) error {
	var r role
	account, err := stage.Begin(args, &r)
	if err != nil {
		return err
	}
	switch {
	case r.Worker != nil:
		return r.Worker.run(ctx, account)
	case r.Submitter != nil:
		return r.Submitter.run(ctx, account)
	case r.Oddjob != nil:
		return r.Oddjob.run(ctx, account)
	}
	return errors.New("the process has no role")
}

// stepTimeout bounds each step of a scenario.
const stepTimeout = time.Minute

// sharedWork is a stage whose workers share the tasks of one semaphore.
type sharedWork struct {
	stage.Stage
	semaphore string
	workers   int
	parallel  int
	permits   int
	root      string // directory that contains the tasks' files
}

// open starts the servers with the scenario's semaphore.
func (s *sharedWork) open(ctx context.Context) error {
	n := uint32(s.permits)
	if err := s.Serve(ctx, []*gatekeeperv1.Definition{{Name: s.semaphore, Permits: &n}}); err != nil {
		return err
	}
	s.Epoch = boottime.Now()
	return nil
}

// startWorker starts the worker with the given number and waits for it to join.
func (s *sharedWork) startWorker(ctx context.Context, number int) (*stage.Process, error) {
	name := fmt.Sprintf("worker-%d", number)
	p, err := s.Start(ctx, Part, name, role{Worker: &worker{
		Name: name, Semaphore: s.semaphore, Endpoints: s.Cluster.Endpoints(), Parallel: s.parallel, Root: s.root,
	}})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	return p, stage.Await(ctx, name+" to join", func() (bool, error) {
		workers, err := work.Workers(ctx, s.Client, s.semaphore)
		for _, w := range workers {
			if w.GetIdentity().GetAcquirer() == name {
				return true, nil
			}
		}
		return false, ignoreOutage(err)
	})
}

// startWorkers starts the initial workers.
func (s *sharedWork) startWorkers(ctx context.Context) error {
	for i := range s.workers {
		if _, err := s.startWorker(ctx, i+1); err != nil {
			return err
		}
	}
	s.Logf("%d workers have joined, each with up to %d tasks at a time", s.workers, s.parallel)
	return nil
}

// ignoreOutage returns nil if no server responded, because the next call may succeed, and err otherwise.
func ignoreOutage(err error) error {
	if errors.Is(err, client.ErrUnavailable) {
		return nil
	}
	return err
}

// submit starts a submitter.
func (s *sharedWork) submit(ctx context.Context, sub *submitter) (*stage.Process, error) {
	sub.Semaphore, sub.Endpoints, sub.Root = s.semaphore, s.Cluster.Endpoints(), s.root
	return s.Start(ctx, Part, sub.Name, role{Submitter: sub})
}

// await waits for a matching record from the process and returns it.
func await(ctx context.Context, p *stage.Process, what string, match func(stage.Record) bool) (stage.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	return p.Await(ctx, what, match)
}

// granted waits until a worker holds one of the job's tasks with a token above the given one. It returns the worker and
// the record of the grant.
func (s *sharedWork) granted(ctx context.Context, job string, above uint64) (holder *stage.Process, grant stage.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	err = stage.Await(ctx, "a worker for job "+job, func() (bool, error) {
		for _, p := range s.Processes {
			for _, r := range p.Life().Since(stage.Granted, 0) {
				if r.Job == job && r.Token > above {
					holder, grant = p, r
					return true, nil
				}
			}
		}
		return false, nil
	})
	return holder, grant, err
}
