package work

import (
	"context"
	"syscall"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// change is a change to the cluster that is made once the submitter has received the given fraction of the results.
type change struct {
	fraction float64
	apply    func(context.Context) error
}

// changes returns the scenario's changes in order.
func (s *Words) changes() []change {
	var leader *servers.Server
	worker := func(i int) *stage.Process { return s.Processes[i-1] } // the first processes are the first workers
	return []change{
		{0.1, func(ctx context.Context) error { return s.join(ctx, s.workers+1) }},
		{0.2, func(context.Context) error { return s.kill(worker(1)) }},
		{0.3, func(context.Context) error {
			s.Logf("%s will leave after finishing its current tasks", worker(2).Name)
			return worker(2).Signal(syscall.SIGTERM)
		}},
		{0.4, func(ctx context.Context) (err error) {
			leader, _, err = s.KillLeader(ctx)
			return err
		}},
		{0.5, func(context.Context) error {
			s.Logf("restarting %s", leader.ID)
			return leader.Start()
		}},
		{0.6, func(ctx context.Context) error { return s.join(ctx, s.workers+2) }},
		{0.7, func(context.Context) error { return s.kill(worker(3)) }},
		{0.8, s.restartSubmitter},
	}
}

// applyChanges applies each change once the submitter has received enough results.
func (s *Words) applyChanges(ctx context.Context, tasks int) error {
	for _, c := range s.changes() {
		want, n := int(c.fraction*float64(tasks)), 0
		_, err := await(ctx, s.submitter, "more results", func(r stage.Record) bool {
			if r.Event == returned {
				n++
			}
			return n >= want
		})
		if err != nil {
			return err
		}
		if err := c.apply(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *Words) join(ctx context.Context, number int) error {
	p, err := s.startWorker(ctx, number)
	if err == nil {
		s.Logf("%s joined", p.Name)
	}
	return err
}

func (s *Words) kill(p *stage.Process) error {
	p.Kill()
	s.killed = append(s.killed, p)
	s.Logf("killed %s (kill -9)", p.Name)
	return nil
}

// restartSubmitter kills the submitter and restarts it. The new process follows the job from the last change that the
// old one had fully processed.
func (s *Words) restartSubmitter(ctx context.Context) (err error) {
	s.submitter.Kill()
	var after uint64
	for _, r := range s.submitter.Life().Since(seen, 0) {
		after = r.Revision
	}
	s.Logf("killed the submitter (kill -9); its successor will request the missing results")
	s.submitter, err = s.submit(ctx, &submitter{Name: "submitter", Files: s.files, After: after})
	return err
}
