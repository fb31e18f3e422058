package work

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
)

// JGroups reproduces the session at the end of the article "A simple clustered task distribution system". Three workers
// share short tasks, and the worker running a long task is killed partway through. Another worker takes the task over,
// and the submitter gets its result.
type JGroups struct {
	sharedWork
	long time.Duration
}

// Flags defines the scenario's flags.
func (s *JGroups) Flags(f *flag.FlagSet) {
	s.Stage.Flags(f, 3*time.Second)
	f.IntVar(&s.workers, "workers", 3, "number of workers")
	f.DurationVar(&s.long, "long", 15*time.Second, "duration of the long task")
}

// Play runs the scenario.
func (s *JGroups) Play(ctx context.Context) error {
	if s.workers < 2 || s.Duration < time.Second || s.long <= 0 {
		return errors.New("the scenario requires -workers 2 or more, a -duration of 1s or more, and a positive -long")
	}
	s.semaphore, s.parallel, s.permits = "tasks", 1, s.workers
	return s.Run(ctx, s.play)
}

func (s *JGroups) play(ctx context.Context) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	if err := s.startWorkers(ctx); err != nil {
		return err
	}
	sleeps := append(make([]time.Duration, 2*s.workers), s.long)
	sub, err := s.submit(ctx, &submitter{Name: "submitter", Sleeps: sleeps})
	if err != nil {
		return err
	}
	var jobs []string
	for i := range sleeps {
		jobs = append(jobs, sleepJob(i))
	}
	short, long := jobs[:2*s.workers], jobs[2*s.workers]
	for _, job := range short {
		if err := s.result(ctx, sub, job); err != nil {
			return err
		}
	}
	if err := s.takeOver(ctx, long); err != nil {
		return err
	}
	if err := s.result(ctx, sub, long); err != nil {
		return err
	}
	e, err := s.evidence(ctx, jobs, 1)
	if err != nil {
		return err
	}
	if err := errors.Join(sub.Wait(stepTimeout), s.End(ctx, syscall.SIGTERM, stepTimeout)); err != nil {
		return err
	}
	e.add(s.Lives())
	e.wrong = func(_ task, result string) string {
		if _, err := time.Parse(time.UnixDate, result); err != nil {
			return err.Error()
		}
		return ""
	}
	s.spread(e, short)
	e.judge(&s.Report)
	return nil
}

// result waits until the submitter has received a job's result, and prints it.
func (s *JGroups) result(ctx context.Context, sub *stage.Process, job string) error {
	r, err := await(ctx, sub, "the result of "+job, func(r stage.Record) bool {
		return (r.Event == returned || r.Event == failed) && r.Job == job
	})
	if err != nil {
		return err
	}
	by := "an unknown worker"
	for _, l := range s.Lives() {
		if slices.ContainsFunc(l.Records, func(w stage.Record) bool { return w.Event == stage.Granted && w.Token == r.Token }) {
			by = l.Name
		}
	}
	s.Logf("%s <== result = %s, by %s", job, r.Text, by)
	return nil
}

// takeOver kills a job's worker partway through the job and waits until another worker takes it over.
func (s *JGroups) takeOver(ctx context.Context, job string) error {
	victim, first, err := s.granted(ctx, job, 0)
	if err != nil {
		return err
	}
	s.Logf("%s ==> running on %s for %v", job, victim.Name, s.long)
	if err := stage.SleepUntil(ctx, first.At+s.long/3); err != nil {
		return err
	}
	victim.Kill()
	s.Logf("killed %s (kill -9) partway through %s", victim.Name, job)
	successor, second, err := s.granted(ctx, job, first.Token)
	if err != nil {
		return err
	}
	if successor.Name == victim.Name {
		s.Violationf("%s was handed to %s again, even though that worker is dead", job, victim.Name)
	}
	after := second.At - victim.Killed()
	s.Logf("%s ==> taken over by %s", job, successor.Name)
	s.Row("taken over", "%s, from %s by %s, %.2fs after the kill; the permits' duration is %v", job, victim.Name, successor.Name, after.Seconds(), s.Duration)
	return nil
}

// spread reports how the short tasks were distributed. They were submitted one after another, so each worker should
// have executed some of them.
func (s *JGroups) spread(e *evidence, short []string) {
	by := map[string]int{}
	for _, job := range short {
		for _, g := range e.attempts[task{job, 0}] {
			by[g.Life.Name]++
		}
	}
	s.Row("spread", "%d short tasks across %d workers", len(short), len(by))
	for i := range s.workers {
		if name := fmt.Sprintf("worker-%d", i+1); by[name] == 0 {
			s.Violationf("%s got none of the short tasks", name)
		}
	}
}
