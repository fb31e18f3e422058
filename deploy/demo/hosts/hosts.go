// Package hosts implements the `demo` scenario. It runs the Kubernetes project's job schedule at high speed. Each of
// the seven build clusters has two or more hosts, each a separate process, that compete for every due run. The leader
// is killed and restarted, and later a host is killed.
package hosts

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
)

// Scenario holds the scenario's settings and state.
type Scenario struct {
	stage.Stage
	hour     time.Duration
	hosts    int
	schedule fastSchedule
}

// Times of the faults, as fractions of the scenario's length.
const (
	leaderDies     = 0.25
	serverRestarts = 0.4
	hostDies       = 0.5
	stopTimeout    = 15 * time.Second // time for hosts to finish their jobs at the end
)

// Flags defines the scenario's flags.
func (s *Scenario) Flags(f *flag.FlagSet) {
	s.Stage.Flags(f, 6*time.Second)
	f.DurationVar(&s.Length, "for", 30*time.Second, "length of the scenario")
	f.DurationVar(&s.hour, "hour", 2*time.Second, "real time per hour of the schedule")
	f.IntVar(&s.hosts, "hosts", 3, "number of hosts in each group")
}

// Play runs the scenario.
func (s *Scenario) Play(ctx context.Context) error {
	if s.hosts < 2 || s.Length < 10*time.Second || s.hour <= 0 {
		return errors.New("the scenario requires -hosts 2 or more, -for 10s or more, and a positive -hour")
	}
	return s.Run(ctx, s.play)
}

func (s *Scenario) play(ctx context.Context) error {
	jobs, err := samples.Kubernetes()
	if err != nil {
		return err
	}
	defs, err := samples.Definitions(jobs)
	if err != nil {
		return err
	}
	if err := s.Serve(ctx, defs); err != nil {
		return err
	}
	permits := map[string]uint32{}
	for _, def := range defs {
		permits[def.Name] = def.GetPermits()
	}
	s.Epoch = boottime.Now() + time.Second
	s.schedule = fastSchedule{Epoch: s.Epoch, Start: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), Hour: s.hour}
	if err := s.startHosts(ctx, jobs); err != nil {
		return err
	}
	firings, err := s.schedule.firings(jobs, s.Length)
	if err != nil {
		return err
	}
	s.Row("due runs", "%d, in %v of the schedule", len(firings), s.schedule.slowDown(s.Length).Round(time.Minute))
	f, err := s.faults(ctx)
	if err != nil {
		return err
	}
	if err := s.End(ctx, nil, stopTimeout); err != nil {
		return err
	}
	s.report(count(s.Lives(), permits, f.leaderKilled), f)
	return nil
}

// startHosts starts the hosts of every group.
func (s *Scenario) startHosts(ctx context.Context, jobs []samples.Job) error {
	var groups []string
	for _, job := range jobs {
		groups = append(groups, job.Cluster)
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	for _, group := range groups {
		for i := range s.hosts {
			name := fmt.Sprintf("%s-%d", group, i+1)
			if _, err := s.Start(ctx, Part, name, host{Name: name, Group: group, Endpoints: s.Cluster.Endpoints(), Schedule: s.schedule, Length: s.Length}); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(s.Out, "%d hosts in %d groups, each host a separate process; an hour of the schedule takes %v\n", len(s.Processes), len(groups), s.hour)
	return nil
}

// faultTimes records the faults and their times.
type faultTimes struct {
	leader       string
	leaderKilled time.Duration
	host         string
	// freed is the time from the host's death until its last slot was freed. It is zero if a slot is still in use at
	// the end.
	freed time.Duration
}

// faults kills the leader, restarts it, and kills a host, at the times defined above.
func (s *Scenario) faults(ctx context.Context) (*faultTimes, error) {
	if err := s.Until(ctx, leaderDies); err != nil {
		return nil, err
	}
	leader, at, err := s.KillLeader(ctx)
	if err != nil {
		return nil, err
	}
	f := &faultTimes{leader: leader.ID, leaderKilled: at}
	if err := s.Until(ctx, serverRestarts); err != nil {
		return nil, err
	}
	if err := leader.Start(); err != nil {
		return nil, err
	}
	s.Logf("restarted %s", leader.ID)

	if err := s.Until(ctx, hostDies); err != nil {
		return nil, err
	}
	// The victim is the host with the most permits.
	host := slices.MaxFunc(s.Processes, func(a, b *stage.Process) int { return heldPermits(a) - heldPermits(b) })
	host.Kill()
	f.host = host.Name
	s.Logf("killed host %s (kill -9)", host.Name)
	waitCtx, cancel := context.WithTimeout(ctx, s.Epoch+s.Length-boottime.Now())
	defer cancel()
	err = stage.Await(waitCtx, "the host's slots to be free", func() (bool, error) {
		n, err := s.Held(waitCtx, func(acquirer string) bool { return acquirer == host.Name })
		return err == nil && n == 0, nil
	})
	if err == nil {
		f.freed = boottime.Now() - host.Killed()
		s.Logf("its last slot was freed")
	}
	return f, s.Until(ctx, 1)
}

// heldPermits returns the number of permits held by the host, according to its own records.
func heldPermits(p *stage.Process) int {
	l := p.Life()
	return len(l.Since(stage.Granted, 0)) - len(l.Since(stage.Ended, 0))
}
