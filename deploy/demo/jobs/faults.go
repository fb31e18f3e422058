package jobs

import (
	"context"
	"slices"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
)

// faults records the faults and their times.
type faults struct {
	kill    killedApp
	leader  killedLeader
	suspend suspendedApp
}

// killedApp is an application that was killed while it was running jobs of both kinds.
type killedApp struct {
	app string
	at  time.Duration
	// held is the number of permits that it still held right after its death, according to the servers. freed is the
	// time from its death until all of them were freed.
	held  int
	freed time.Duration
}

// killedLeader is a leader that was killed.
type killedLeader struct {
	server string
	// leaderless is the time from its death to the next grant.
	leaderless span
}

// suspendedApp is an application that was suspended with SIGSTOP between its check and its write.
type suspendedApp struct {
	app  string
	when span
	// caught is the record of the check. next is the token with which the next holder wrote during the suspension.
	caught stage.Record
	next   uint64
}

// Earliest times of the faults, as fractions of the scenario's length. After that, each fault waits for a suitable
// moment.
const (
	appDies      = 0.15
	leaderDies   = 0.4
	appSuspended = 0.65
)

func (s *Scenario) faults(ctx context.Context) (*faults, error) {
	f := &faults{}
	for _, fault := range []struct {
		from float64
		do   func(context.Context, *faults) error
	}{{appDies, s.killApp}, {leaderDies, s.killLeader}, {appSuspended, s.suspendApp}} {
		if err := s.Until(ctx, fault.from); err != nil {
			return nil, err
		}
		if err := fault.do(ctx, f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// killApp kills an application while it is running jobs of both kinds, and restarts it once the servers have freed its
// permits.
func (s *Scenario) killApp(ctx context.Context, f *faults) error {
	var victim *process
	err := stage.Await(ctx, "an application running jobs of both kinds", func() (bool, error) {
		for _, p := range s.living() {
			// An application whose clock is slow reaches each firing after all the others, so no application would be
			// left to run the job again.
			if p.clock >= 0 && s.busy(p) {
				victim = p
				break
			}
		}
		return victim != nil, nil
	})
	if err != nil {
		return err
	}
	victim.Kill()
	f.kill.app, f.kill.at = victim.Name, victim.Killed()
	isVictim := func(acquirer string) bool { return acquirer == victim.Name }
	if f.kill.held, err = s.Held(ctx, isVictim); err != nil {
		return err
	}
	s.Logf("killed %s (kill -9), which held %d permits", victim.Name, f.kill.held)
	freed, err := s.awaitFreed(ctx, isVictim)
	if err != nil {
		return err
	}
	f.kill.freed = freed - f.kill.at
	restarted, err := s.startApp(ctx, victim.Name, victim.clock)
	if err != nil {
		return err
	}
	s.Logf("its permits were freed; restarted %s", victim.Name)
	return restarted.awaitScheduler(ctx)
}

// busy reports whether the application is running jobs of both kinds. It ignores runs near their start or end, which
// may not be recorded yet or may have ended.
func (s *Scenario) busy(p *process) bool {
	kinds := map[bool]int{}
	for _, rec := range pendingWrites(p.Records()) {
		if j := s.job(rec.Semaphore); rec.Step >= 2 && rec.Step < j.Steps-1 {
			kinds[j.free]++
		}
	}
	return kinds[true] > 0 && kinds[false] > 0
}

// living returns the applications that were not killed, in start order.
func (s *Scenario) living() []*process {
	return slices.DeleteFunc(slices.Clone(s.apps), func(p *process) bool { return p.Killed() > 0 })
}

// killLeader kills the leader while jobs are running, waits for the next leader's first grant, and restarts the server.
func (s *Scenario) killLeader(ctx context.Context, f *faults) error {
	err := stage.Await(ctx, "jobs in progress", func() (bool, error) {
		var n int
		for _, p := range s.living() {
			n += len(pendingWrites(p.Records()))
		}
		return n > s.jobs/20, nil
	})
	if err != nil {
		return err
	}
	leader, at, err := s.KillLeader(ctx)
	if err != nil {
		return err
	}
	var next time.Duration
	err = stage.Await(ctx, "a grant by the next leader", func() (bool, error) {
		next = stage.NextGrant(s.Lives(), at)
		return next > 0, nil
	})
	if err != nil {
		return err
	}
	f.leader = killedLeader{leader.ID, span{at, next}}
	if err := leader.Start(); err != nil {
		return err
	}
	s.Logf("the next leader has granted a permit; restarted %s", leader.ID)
	return leader.Ready(ctx)
}

// suspendApp suspends an application between a check and its write. It resumes the application after the next holder of
// the job and the next holders of the application's other jobs have written.
func (s *Scenario) suspendApp(ctx context.Context, f *faults) error {
	c := &f.suspend
	var victim *process
	err := stage.Await(ctx, "an application between its check and its write", func() (bool, error) {
		for _, p := range s.living() {
			rec, ok := s.nextWrite(p)
			if !ok {
				continue
			}
			caught, err := s.catch(ctx, p, rec)
			if caught {
				victim = p
			}
			return caught, err
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	c.app = victim.Name
	c.caught, c.when.from = victim.caught, victim.suspended.from
	s.Logf("suspended %s (SIGSTOP), partway through %s with token %d", victim.Name, c.caught.Semaphore, c.caught.Token)
	err = stage.Await(ctx, "the next holder's write", func() (bool, error) {
		for _, w := range s.store.history() {
			if w.accepted && w.job == c.caught.Semaphore && w.token > c.caught.Token {
				c.next = w.token
			}
		}
		return c.next > 0 && boottime.Now() > c.when.from+s.Duration+s.Duration/4 && s.successorsWrote(victim), nil
	})
	if err != nil {
		return err
	}
	c.when.until = boottime.Now()
	victim.suspended = c.when
	if err := victim.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	s.Logf("resumed %s (SIGCONT); in the meantime, the holder of token %d wrote", victim.Name, c.next)
	_, err = victim.Await(ctx, "its late write", func(r stage.Record) bool { return r.Event == returned && r.Token == c.caught.Token })
	return err
}

// successorsWrote reports whether the next holder of each job that the application was writing for has written.
func (s *Scenario) successorsWrote(victim *process) bool {
	for _, prev := range pendingWrites(victim.Records()) {
		later := func(rec stage.Record) bool { return rec.Semaphore == prev.Semaphore && rec.Token > prev.Token }
		written := func(w write) bool { return w.job == prev.Semaphore && w.token > prev.Token && w.accepted }
		for _, l := range s.Lives() {
			if slices.ContainsFunc(l.Since(stage.Granted, 0), later) && !s.store.has(written) {
				return false
			}
		}
	}
	return true
}

// nextWrite returns a write that the application is about to make, in a job that will soon have another holder.
func (s *Scenario) nextWrite(p *process) (stage.Record, bool) {
	for _, rec := range pendingWrites(p.Records()) {
		if s.job(rec.Semaphore).Period <= 6*time.Second {
			return rec, true
		}
	}
	return stage.Record{}, false
}

// catch suspends the application, and reports whether it did so before the write that follows the check rec. If the
// write had already been made, catch resumes the application.
func (s *Scenario) catch(ctx context.Context, p *process, rec stage.Record) (bool, error) {
	at := boottime.Now()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return false, err
	}
	select {
	case <-time.After(2 * stepTime): // wait for a write in flight to arrive
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if !s.store.has(func(w write) bool { return w.token == rec.Token && w.step >= rec.Step }) {
		p.caught = rec
		p.suspended = span{at, stage.Never}
		return true, nil
	}
	return false, p.Signal(syscall.SIGCONT)
}

// pendingWrites returns the latest check of each run that has not returned since, and is about to write.
func pendingWrites(records []stage.Record) []stage.Record {
	open := map[uint64]stage.Record{}
	for _, rec := range records {
		switch rec.Event {
		case checked:
			open[rec.Token] = rec
		case returned, refused:
			delete(open, rec.Token)
		}
	}
	var all []stage.Record
	for _, rec := range open {
		all = append(all, rec)
	}
	return all
}

func (s *Scenario) job(name string) job { return find(s.schedule, name) }
