// Package work is the stories of shared work: `jgroups`, `oddjob` and `words`. The first two play what the articles
// show, with processes that are killed. In the third, ten thousand tasks are shared by workers that join, leave and
// die, while the leader is killed too.
//
// Servers, workers and submitters are processes. Each report is made of what workers and submitters wrote down, and of
// what the servers have recorded.
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

// Part is the first argument of a process of these stories.
const Part = "work-part"

// role is what a process of these stories is; one field is set.
type role struct {
	Worker    *worker    `json:",omitempty"`
	Submitter *submitter `json:",omitempty"`
	Oddjob    *oddjob    `json:",omitempty"`
}

// Process is the process that args describe. It ends with ctx, or when its work is done.
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
	return errors.New("a process of these stories needs a role")
}

// patience bounds each step of a story.
const patience = time.Minute

// shop is a stage on which workers share the tasks of one semaphore.
type shop struct {
	stage.Stage
	semaphore string
	workers   int
	parallel  int
	permits   int
	root      string // of the files that tasks name
}

// open starts the servers with the shop's semaphore.
func (s *shop) open(ctx context.Context) error {
	n := uint32(s.permits)
	if err := s.Serve(ctx, []*gatekeeperv1.Definition{{Name: s.semaphore, Permits: &n}}); err != nil {
		return err
	}
	s.Epoch = boottime.Now()
	return nil
}

// hire starts the worker of this number and waits until the servers know it.
func (s *shop) hire(ctx context.Context, number int) (*stage.Process, error) {
	name := fmt.Sprintf("worker-%d", number)
	p, err := s.Start(ctx, Part, name, role{Worker: &worker{
		Name: name, Semaphore: s.semaphore, Endpoints: s.Cluster.Endpoints(), Parallel: s.parallel, Root: s.root,
	}})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
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

// hireAll starts the first workers.
func (s *shop) hireAll(ctx context.Context) error {
	for i := range s.workers {
		if _, err := s.hire(ctx, i+1); err != nil {
			return err
		}
	}
	s.Say("%d workers have joined, each with %d tasks at a time", s.workers, s.parallel)
	return nil
}

// ignoreOutage is err, unless it says that no server answers: the next call may succeed.
func ignoreOutage(err error) error {
	if errors.Is(err, client.ErrUnavailable) {
		return nil
	}
	return err
}

// submit starts a submitter.
func (s *shop) submit(ctx context.Context, sub *submitter) (*stage.Process, error) {
	sub.Semaphore, sub.Endpoints, sub.Root = s.semaphore, s.Cluster.Endpoints(), s.root
	return s.Start(ctx, Part, sub.Name, role{Submitter: sub})
}

// await waits until the process has written such a record.
func await(ctx context.Context, p *stage.Process, what string, like func(stage.Record) bool) (stage.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return p.Await(ctx, what, like)
}

// granted waits until a worker holds a task with a token above this one, and returns who.
func (s *shop) granted(ctx context.Context, job string, above uint64) (by *stage.Process, grant stage.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = stage.Await(ctx, "a worker of job "+job, func() (bool, error) {
		for _, p := range s.Processes {
			for _, r := range p.Life().Since(stage.Granted, 0) {
				if r.Job == job && r.Token > above {
					by, grant = p, r
					return true, nil
				}
			}
		}
		return false, nil
	})
	return by, grant, err
}
