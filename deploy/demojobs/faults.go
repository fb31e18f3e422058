package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demojobs/app"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// faults are what was done, and when.
type faults struct {
	kill    killedApp
	leader  killedLeader
	suspend suspendedApp
}

// killedApp is an application that was killed while it ran jobs of both kinds.
type killedApp struct {
	app string
	at  time.Duration
	// held is how many permits the servers said it had, just after its death; they were free after freed.
	held  int
	freed time.Duration
}

// killedLeader is a server that was killed while it led.
type killedLeader struct {
	server string
	// without is the time from its death to the next grant.
	without stretch
}

// suspendedApp is an application that was stopped by SIGSTOP between its check and its write.
type suspendedApp struct {
	app  string
	when stretch
	// caught is the write that was to come, and next the token that had written meanwhile.
	caught app.Record
	next   uint64
}

// Not before these parts of the demo's length does a fault happen; then it waits for its moment.
const (
	appDies      = 0.15
	leaderDies   = 0.4
	appSuspended = 0.65
)

// noElection is a time in which no new leader can be elected: a grant that is noted within it after the old leader's death was still
// the old one's.
const noElection = 50 * time.Millisecond

func (d *demo) faults(ctx context.Context) (*faults, error) {
	f := &faults{}
	for _, fault := range []struct {
		from float64
		do   func(context.Context, *faults) error
	}{{appDies, d.killApp}, {leaderDies, d.killLeader}, {appSuspended, d.suspendApp}} {
		if err := d.until(ctx, fault.from); err != nil {
			return nil, err
		}
		if err := fault.do(ctx, f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// killApp kills an application in the middle of jobs of both kinds, and starts it again when the servers have freed what it held.
func (d *demo) killApp(ctx context.Context, f *faults) error {
	var victim *process
	err := await(ctx, "an application in the middle of jobs of both kinds", func() (bool, error) {
		for _, p := range d.living() {
			// Nobody comes later to a firing than the one whose clock is behind: none would run it again.
			if p.life.clock >= 0 && d.busy(p) {
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
	if f.kill.held, err = d.held(ctx, victim.Name); err != nil {
		return err
	}
	d.say("kill -9 of %s, which held %d permits", victim.Name, f.kill.held)
	freed, err := d.freed(ctx, victim.Name)
	if err != nil {
		return err
	}
	f.kill.freed = freed - f.kill.at
	again, err := d.startApp(ctx, victim.Name, victim.life.clock)
	if err != nil {
		return err
	}
	d.say("all of them are free again; %s is started again", victim.Name)
	return again.started(ctx)
}

// busy says whether the application is in the middle of jobs of both kinds. At its edges a run may be over, or not yet seen.
func (d *demo) busy(p *process) bool {
	kinds := map[bool]int{}
	for _, rec := range writing(p.Records()) {
		if j := d.job(rec.Job); rec.Step >= 2 && rec.Step < j.Steps-1 {
			kinds[j.free]++
		}
	}
	return kinds[true] > 0 && kinds[false] > 0
}

// living are the applications that have not been killed, in the order of their starts.
func (d *demo) living() []*process {
	return slices.DeleteFunc(slices.Clone(d.apps), func(p *process) bool { return p.Killed() > 0 })
}

// killLeader kills the leader while jobs run, waits for the next one's first grant, and starts the server again.
func (d *demo) killLeader(ctx context.Context, f *faults) error {
	err := await(ctx, "jobs under way", func() (bool, error) {
		var n int
		for _, p := range d.living() {
			n += len(writing(p.Records()))
		}
		return n > d.jobs/20, nil
	})
	if err != nil {
		return err
	}
	leader, err := d.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	leader.Kill()
	at := boottime.Now()
	d.say("kill -9 of %s, the leader", leader.ID)
	var next time.Duration
	err = await(ctx, "a grant of the next leader", func() (bool, error) {
		for _, p := range d.apps {
			for _, rec := range p.Records() {
				if rec.Event == app.Granted && rec.At > at+noElection && (next == 0 || rec.At < next) {
					next = rec.At
				}
			}
		}
		return next > 0, nil
	})
	if err != nil {
		return err
	}
	f.leader = killedLeader{leader.ID, stretch{at, next}}
	if err := leader.Start(); err != nil {
		return err
	}
	d.say("the next leader has granted; %s is started again", leader.ID)
	return leader.Ready(ctx)
}

// suspendApp stops an application between a check and its write, until the job's next holder has written and so has whoever else was
// granted what it held, and wakes it up.
func (d *demo) suspendApp(ctx context.Context, f *faults) error {
	s := &f.suspend
	var victim *process
	err := await(ctx, "an application between its check and its write", func() (bool, error) {
		for _, p := range d.living() {
			rec, ok := d.about(p)
			if !ok {
				continue
			}
			caught, err := d.catch(ctx, p, rec)
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
	s.app = victim.Name
	s.caught, s.when.from = victim.caught, victim.life.suspended.from
	d.say("SIGSTOP of %s, in the middle of %s with token %d", victim.Name, s.caught.Job, s.caught.Token)
	err = await(ctx, "the next holder's write", func() (bool, error) {
		for _, w := range d.store.history() {
			if w.accepted && w.job == s.caught.Job && w.token > s.caught.Token {
				s.next = w.token
			}
		}
		return s.next > 0 && boottime.Now() > s.when.from+d.duration+d.duration/4 && d.succeeded(victim), nil
	})
	if err != nil {
		return err
	}
	s.when.until = boottime.Now()
	victim.life.suspended = s.when
	if err := victim.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	d.say("SIGCONT of %s: meanwhile token %d has written", victim.Name, s.next)
	_, err = victim.Await(ctx, "its late write", func(r app.Record) bool { return r.Event == app.Returned && r.Token == s.caught.Token })
	return err
}

// succeeded says whether everybody who was granted a permit that the application was writing under has written.
func (d *demo) succeeded(victim *process) bool {
	var grants []app.Record
	for _, p := range d.apps {
		for _, rec := range p.Records() {
			if rec.Event == app.Granted {
				grants = append(grants, rec)
			}
		}
	}
	for _, was := range writing(victim.Records()) {
		later := func(rec app.Record) bool { return rec.Job == was.Job && rec.Token > was.Token }
		written := func(w write) bool { return w.job == was.Job && w.token > was.Token && w.accepted }
		if slices.ContainsFunc(grants, later) && !d.store.has(written) {
			return false
		}
	}
	return true
}

// about is a write that the application is about to make, in a job whose next holder is not long in coming.
func (d *demo) about(p *process) (app.Record, bool) {
	for _, rec := range writing(p.Records()) {
		if d.job(rec.Job).Period <= 6*time.Second {
			return rec, true
		}
	}
	return app.Record{}, false
}

// catch suspends the application, and says whether the write that is to follow rec has not been made. Otherwise it runs on.
func (d *demo) catch(ctx context.Context, p *process, rec app.Record) (bool, error) {
	at := boottime.Now()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return false, err
	}
	select {
	case <-time.After(2 * app.StepTime): // what was on its way arrives
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if !d.store.has(func(w write) bool { return w.token == rec.Token && w.step >= rec.Step }) {
		p.caught = rec
		p.life.suspended = stretch{at, never}
		return true, nil
	}
	return false, p.Signal(syscall.SIGCONT)
}

// writing are the last words of each run that has looked and has not returned: it is about to write.
func writing(records []app.Record) []app.Record {
	open := map[uint64]app.Record{}
	for _, rec := range records {
		switch rec.Event {
		case app.Checked:
			open[rec.Token] = rec
		case app.Returned, app.Refused:
			delete(open, rec.Token)
		}
	}
	var all []app.Record
	for _, rec := range open {
		all = append(all, rec)
	}
	return all
}

// held is how many permits of the applications the servers know, of one or, without a name, of all.
func (d *demo) held(ctx context.Context, name string) (int, error) {
	var n int
	for p, err := range d.client.AllHolders(ctx, &gatekeeperv1.ListHoldersRequest{}) {
		if err != nil {
			return 0, err
		}
		if who := p.GetIdentity().GetAcquirer(); who == name || name == "" && strings.HasPrefix(who, "app") {
			n++
		}
	}
	return n, nil
}

// freed waits until the servers know none, and says when that was.
func (d *demo) freed(ctx context.Context, name string) (time.Duration, error) {
	err := await(ctx, fmt.Sprintf("the end of the permits of %q", name), func() (bool, error) {
		n, err := d.held(ctx, name)
		return n == 0, err
	})
	return boottime.Now(), err
}

func (d *demo) job(name string) job { return find(d.timetable, name) }
