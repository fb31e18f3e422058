package work

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Oddjob reproduces the last section of the article "Distributing Work" at high speed. In the article, the work takes
// 15 s and is due every 10 s. With three workers, one is always idle. At the end, the last round's worker is killed,
// and the idle worker takes over.
type Oddjob struct {
	stage.Stage
	period time.Duration
	rounds int

	dueTimes []time.Time
	claims   map[time.Time]*gatekeeperv1.FiringClaim
	killed   string
}

// oddjobWorkers is the number of Oddjob workers. The semaphore has the same number of permits, because firings overlap.
const oddjobWorkers = 3

const oddjobWork = "work"

// Flags defines the scenario's flags.
func (s *Oddjob) Flags(f *flag.FlagSet) {
	s.Stage.Flags(f, 3*time.Second)
	f.DurationVar(&s.period, "every", 3*time.Second, "time between rounds (10s in the article); the work takes one and a half times as long")
	f.IntVar(&s.rounds, "rounds", 8, "number of rounds")
}

// workTime returns the duration of the work.
func (s *Oddjob) workTime() time.Duration { return s.period * 3 / 2 }

// Play runs the scenario.
func (s *Oddjob) Play(ctx context.Context) error {
	if s.period < time.Second || s.rounds < 2 || s.Duration < time.Second {
		return errors.New("the scenario requires an -every and a -duration of 1s or more, and -rounds 2 or more")
	}
	return s.Run(ctx, s.play)
}

func (s *Oddjob) play(ctx context.Context) error {
	permits := uint32(oddjobWorkers)
	if err := s.Serve(ctx, []*gatekeeperv1.Definition{{
		Name: oddjobWork, Permits: &permits, FiringOnLoss: gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE,
	}}); err != nil {
		return err
	}
	s.Epoch = boottime.Now()
	for i := range oddjobWorkers {
		name := fmt.Sprintf("oddjob-%d", i+1)
		p, err := s.Start(ctx, Part, name, role{Oddjob: &oddjob{
			Name: name, Semaphore: oddjobWork, Endpoints: s.Cluster.Endpoints(), Period: s.period, Takes: s.workTime(),
		}})
		if err != nil {
			return err
		}
		if _, err := await(ctx, p, "the start of its timer", func(r stage.Record) bool { return r.Event == scheduling }); err != nil {
			return err
		}
	}
	s.Logf("%d workers have the same timer: work that takes %v is due every %v", oddjobWorkers, s.workTime(), s.period)
	first := time.Now().Truncate(s.period).Add(s.period)
	for i := range s.rounds {
		s.dueTimes = append(s.dueTimes, first.Add(time.Duration(i)*s.period))
	}
	for i, due := range s.dueTimes {
		if err := s.round(ctx, i, due); err != nil {
			return err
		}
	}
	if err := s.killLastWorker(ctx); err != nil {
		return err
	}
	if err := s.End(ctx, syscall.SIGTERM, stepTimeout); err != nil {
		return err
	}
	if err := s.queryClaims(ctx); err != nil {
		return err
	}
	s.judge(s.Lives())
	return nil
}

// round waits until one worker has claimed the firing and another worker has lost it.
func (s *Oddjob) round(ctx context.Context, i int, due time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	var by, idle []string
	err := stage.Await(ctx, fmt.Sprintf("one worker to run round %d and another to be idle", i+1), func() (bool, error) {
		by, idle = processesWith(s.Lives(), stage.Granted, due), processesWith(s.Lives(), lost, due)
		return len(by) > 0 && len(idle) > 0, nil
	})
	if err == nil {
		s.Logf("round %d: %s working; idle: %s", i+1, strings.Join(by, ", "), strings.Join(idle, ", "))
	}
	return err
}

// processesWith returns the names of the processes that have a record of the given kind about a firing.
func processesWith(lives []*stage.Life, e stage.Event, due time.Time) (names []string) {
	for _, l := range lives {
		if slices.ContainsFunc(l.Records, func(r stage.Record) bool { return r.Event == e && r.Due.Equal(due) }) {
			names = append(names, l.Name)
		}
	}
	return names
}

// killLastWorker kills the last round's worker partway through its work and stops the other workers' timers.
func (s *Oddjob) killLastWorker(ctx context.Context) error {
	due := s.dueTimes[len(s.dueTimes)-1]
	var victim *stage.Process
	var grant stage.Record
	for _, p := range s.Processes {
		for _, r := range p.Life().Since(stage.Granted, 0) {
			if r.Due.Equal(due) {
				victim, grant = p, r
			}
		}
	}
	if err := stage.SleepUntil(ctx, grant.At+s.workTime()/3); err != nil {
		return err
	}
	victim.Kill()
	s.killed = victim.Name
	for _, p := range s.Processes {
		if p != victim {
			_ = p.Signal(syscall.SIGTERM)
		}
	}
	s.Logf("killed %s (kill -9) partway through round %d; stopped the others' timers", s.killed, s.rounds)
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	return stage.Await(ctx, "another worker to take over the last round", func() (bool, error) {
		for _, name := range processesWith(s.Lives(), stage.Granted, due) {
			if name != s.killed {
				s.Logf("%s was notified that round %d is open again, and is taking it over", name, s.rounds)
				return true, nil
			}
		}
		return false, nil
	})
}

// queryClaims queries the servers for their record of each round.
func (s *Oddjob) queryClaims(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	s.claims = map[time.Time]*gatekeeperv1.FiringClaim{}
	for _, due := range s.dueTimes {
		for claim, err := range s.Client.Semaphore(oddjobWork).WatchFiring(ctx, oddjobWork, due, 0) {
			if err != nil {
				return err
			}
			s.claims[due] = claim
			break
		}
	}
	return nil
}
