// Package jobs implements the `jobs` scenario: gocron jobs with Gatekeeper, under faults. Three applications, each a
// separate process, run the same schedule of fifty real jobs at high speed. One application's clock is off by two
// seconds. An application is killed, then the leader. Finally, an application is suspended for longer than its permits
// last and then resumed.
//
// The report is based on the applications' records, on the writes that their store received, and on the servers'
// record of every firing. The application itself is in app.go, written as a developer would write it. The code specific
// to the scenario is in record.go.
package jobs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Scenario is a run of the scenario: three applications and three faults.
type Scenario struct {
	stage.Stage
	jobs int
	skew time.Duration

	schedule []job
	store    *store
	apps     []*process // in start order
	window   window
}

// process is an application process, plus information about it that it cannot record itself.
type process struct {
	*stage.Process
	clock, started time.Duration
	suspended      span
	// caught is its last record before it was suspended.
	caught stage.Record
}

const (
	// stopTimeout is the time allowed for applications to stop, and for a fault that waits for a suitable moment.
	stopTimeout = 30 * time.Second
	// auditTimeout is the time allowed for querying the servers for their record of every firing.
	auditTimeout = 30 * time.Second
)

// Flags defines the scenario's flags.
func (s *Scenario) Flags(f *flag.FlagSet) {
	s.Stage.Flags(f, 3*time.Second)
	f.DurationVar(&s.Length, "for", 40*time.Second, "length of the scenario")
	f.IntVar(&s.jobs, "jobs", 50, "number of jobs in the schedule")
	f.DurationVar(&s.skew, "clock", -2*time.Second, "skew of the third application's clock")
}

// Play runs the scenario.
func (s *Scenario) Play(ctx context.Context) error {
	if s.Length < 10*time.Second || s.Duration < time.Second || s.jobs < 6 {
		return errors.New("the scenario requires -for 10s or more, a -duration of 1s or more, and -jobs 6 or more")
	}
	return s.Run(ctx, s.play)
}

func (s *Scenario) play(ctx context.Context) error {
	defs, err := s.define()
	if err != nil {
		return err
	}
	if s.store, err = openStore(ctx); err != nil {
		return err
	}
	defer s.store.close()
	if err := s.Serve(ctx, defs); err != nil {
		return err
	}
	faults, err := s.work(ctx)
	if err != nil {
		return err
	}
	e, err := s.evidence(ctx, faults)
	if err != nil {
		return err
	}
	e.report(&s.Report, faults)
	return nil
}

// define creates the schedule and its definitions, which are taken from real jobs. In half of the definitions, a firing
// that was cut short may run again.
func (s *Scenario) define() ([]*gatekeeperv1.Definition, error) {
	schedule, sample, err := sampleJobs(s.jobs)
	if err != nil {
		return nil, err
	}
	all, err := samples.Definitions(sample)
	if err != nil {
		return nil, err
	}
	byName := map[string]*gatekeeperv1.Definition{}
	for _, def := range all {
		byName[def.Name] = def
	}
	var defs []*gatekeeperv1.Definition
	for i, j := range schedule {
		def := byName[j.Name]
		def.FiringOnLoss = gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_SPENT
		if j.free = i%2 == 0; j.free {
			def.FiringOnLoss = gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE
		}
		defs = append(defs, def)
		s.schedule = append(s.schedule, j)
	}
	return defs, nil
}

// work starts the applications, injects the faults, and stops the applications.
func (s *Scenario) work(ctx context.Context) (*faults, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Length+stopTimeout)
	defer cancel()
	for i, skew := range []time.Duration{0, 0, s.skew} {
		if _, err := s.startApp(ctx, fmt.Sprintf("app%d", i+1), skew); err != nil {
			return nil, err
		}
	}
	for _, p := range s.apps {
		if err := p.awaitScheduler(ctx); err != nil {
			return nil, err
		}
	}
	s.Epoch = boottime.Now()
	s.window = window{from: time.Now(), wall: time.Now(), boot: s.Epoch}
	fmt.Fprintf(s.Out, "three applications, each a separate process with the same schedule of %d jobs; app3's clock is off by %v\n", len(s.schedule), s.skew)

	f, err := s.faults(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.Until(ctx, 1); err != nil {
		return nil, err
	}
	// Applications with a slow clock may not have reached later firings.
	s.window.until = time.Now().Add(-max(s.skew, -s.skew))
	return f, s.End(ctx, syscall.SIGTERM, stopTimeout)
}

func (s *Scenario) startApp(ctx context.Context, name string, skew time.Duration) (*process, error) {
	started := boottime.Now()
	p, err := s.Start(ctx, Part, name, app{Name: name, Endpoints: s.Cluster.Endpoints(), Store: s.store.address, Jobs: s.jobs, Clock: skew})
	if err != nil {
		return nil, err
	}
	s.apps = append(s.apps, &process{Process: p, clock: skew, started: started})
	return s.apps[len(s.apps)-1], nil
}

// awaitScheduler waits until the application's scheduler is running.
func (p *process) awaitScheduler(ctx context.Context) error {
	_, err := p.Await(ctx, "the start of its scheduler", func(r stage.Record) bool { return r.Event == schedulerStarted })
	return err
}

// evidence waits until no application holds a permit, and then queries the servers for their record of every firing.
func (s *Scenario) evidence(ctx context.Context, f *faults) (*evidence, error) {
	ctx, cancel := context.WithTimeout(ctx, auditTimeout)
	defer cancel()
	var lives []*life
	for _, p := range s.apps {
		lives = append(lives, &life{*p.Life(), p.clock, p.started, p.suspended})
	}
	e := &evidence{history: newHistory(lives), jobs: s.schedule, writes: s.store.history(), window: s.window, leaderless: f.leader.leaderless}
	if _, err := s.awaitFreed(ctx, func(acquirer string) bool { return strings.HasPrefix(acquirer, "app") }); err != nil {
		return nil, err
	}
	firings := map[firing]bool{}
	for _, j := range e.jobs {
		for _, due := range j.due(e.window.from, e.window.until) {
			firings[firing{j.Name, due}] = true
		}
	}
	for claimed := range e.byFiring {
		firings[claimed] = true
	}
	var err error
	e.queried = len(firings)
	e.claims, err = queryClaims(ctx, s.Client, firings)
	return e, err
}

// awaitFreed waits until the matching acquirers hold no permits, according to the servers, and returns the current
// time.
func (s *Scenario) awaitFreed(ctx context.Context, match func(acquirer string) bool) (time.Duration, error) {
	err := stage.Await(ctx, "the applications' permits to end", func() (bool, error) {
		n, err := s.Held(ctx, match)
		return n == 0, err
	})
	return boottime.Now(), err
}
