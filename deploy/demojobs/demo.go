package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/deploy/demojobs/app"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/child"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// demo is one run: three servers, three applications, and three faults.
type demo struct {
	out      io.Writer
	bin      string
	length   time.Duration
	jobs     int
	duration time.Duration
	skew     time.Duration
	profile  string
	dir      string
	jsonFile string

	timetable []job
	cluster   *servers.Cluster
	client    *client.Client
	store     *store
	apps      []*process // in the order of their starts
	began     time.Duration
	window    window
}

// process is a process of an application, and the parts of its life that it cannot tell itself.
type process struct {
	*child.Process[app.Record]
	life *life
	// caught is where it was when it was suspended.
	caught app.Record
}

const (
	// lastMinutes are for applications to end, and for a fault that waits for its moment.
	lastMinutes = 30 * time.Second
	// auditTime is for asking the servers about every firing.
	auditTime = 30 * time.Second
)

func (d *demo) run(ctx context.Context) error {
	if d.length < 10*time.Second || d.duration < time.Second || d.jobs < 6 {
		return errors.New("a demo needs -for 10s or more, a -duration of 1s or more, and -jobs 6 or more")
	}
	if d.dir == "" {
		dir, err := os.MkdirTemp("", "gatekeeper-demojobs-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		d.dir = dir
	}
	if err := d.start(ctx); err != nil {
		return err
	}
	defer d.cluster.Kill()
	defer d.client.Close()
	defer d.store.close()
	defer d.keep()
	defer d.killApps()

	faults, err := d.work(ctx)
	if err != nil {
		return err
	}
	e, err := d.evidence(ctx, faults)
	if err != nil {
		return err
	}
	r := newReport(e, faults)
	if err := d.publish(r); err != nil {
		return err
	}
	return r.verdict()
}

// start starts the servers with the definitions, and the store.
func (d *demo) start(ctx context.Context) error {
	file := filepath.Join(d.dir, "definitions.yaml")
	if err := d.define(file); err != nil {
		return err
	}
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var err error
	if d.store, err = openStore(ctx); err != nil {
		return err
	}
	d.cluster, err = servers.Start(starting, servers.Options{
		Binary: filepath.Join(d.bin, "gatekeeperd"), Dir: d.dir, Count: 3, Profile: d.profile, Definitions: file,
	})
	if err != nil {
		d.store.close()
		return err
	}
	if d.client, err = client.Dial(ctx, d.cluster.Endpoints(), client.WithGroup(app.Group)); err != nil {
		d.cluster.Kill()
		d.store.close()
		return err
	}
	fmt.Fprintf(d.out, "three servers at %s, %d definitions, permits of %v\n", strings.Join(d.cluster.Endpoints(), ", "), len(d.timetable), d.duration)
	return nil
}

// define writes the real definitions of the timetable's jobs, but with a duration that suits their speed. Every other one says that a
// firing which was cut short is free.
func (d *demo) define(file string) error {
	timetable, sample, err := app.Timetable(d.jobs)
	if err != nil {
		return err
	}
	defs, err := samples.Definitions(sample)
	if err != nil {
		return err
	}
	byName := map[string]*gatekeeperv1.Definition{}
	for _, def := range defs {
		byName[def.Name] = def
	}
	defs = nil
	for i, j := range timetable {
		def := byName[j.Name]
		def.MaxHold, def.ExpectEvery = nil, nil // these are not sped up
		def.Duration = durationpb.New(d.duration)
		def.FiringOnLoss = gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_SPENT
		if i%2 == 0 {
			def.FiringOnLoss = gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE
		}
		defs = append(defs, def)
		d.timetable = append(d.timetable, job{j, i%2 == 0})
	}
	text, err := deffile.Marshal(defs)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// work starts the applications, has the faults happen, and ends the applications.
func (d *demo) work(ctx context.Context) (*faults, error) {
	ctx, cancel := context.WithTimeout(ctx, d.length+lastMinutes)
	defer cancel()
	for _, a := range []struct {
		name string
		off  time.Duration
	}{{"app1", 0}, {"app2", 0}, {"app3", d.skew}} {
		if _, err := d.startApp(ctx, a.name, a.off); err != nil {
			return nil, err
		}
	}
	for _, p := range d.apps {
		if err := p.started(ctx); err != nil {
			return nil, err
		}
	}
	d.began = boottime.Now()
	d.window = window{from: time.Now(), wall: time.Now(), boot: d.began}
	fmt.Fprintf(d.out, "three applications, each a process with the same timetable of %d jobs; the clock of app3 is off by %v\n", len(d.timetable), d.skew)

	f, err := d.faults(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.until(ctx, 1); err != nil {
		return nil, err
	}
	// What came up later may not have been begun everywhere.
	d.window.until = time.Now().Add(-max(d.skew, -d.skew))
	return f, d.endApps(ctx)
}

func (d *demo) startApp(ctx context.Context, name string, off time.Duration) (*process, error) {
	a := app.App{Name: name, Endpoints: d.cluster.Endpoints(), Store: d.store.address, Jobs: d.jobs, Clock: off}
	l := &life{app: name, clock: off, started: boottime.Now()}
	p, err := child.Start[app.Record](ctx, name, append([]string{"app"}, a.Args()...))
	if err != nil {
		return nil, err
	}
	d.apps = append(d.apps, &process{Process: p, life: l})
	return d.apps[len(d.apps)-1], nil
}

// started waits until the application's scheduler runs.
func (p *process) started(ctx context.Context) error {
	_, err := p.Await(ctx, "its scheduler ran", func(r app.Record) bool { return r.Event == app.Started })
	return err
}

// now is what the application has told so far.
func (p *process) now() *life {
	l := *p.life
	l.records, l.killed = p.Records(), p.Killed()
	return &l
}

// endApps ends the applications in the way that an operator does.
func (d *demo) endApps(ctx context.Context) error {
	for _, p := range d.apps {
		_ = p.Signal(syscall.SIGTERM) // it may be dead
	}
	var errs []error
	deadline := boottime.Now() + lastMinutes
	for _, p := range d.apps {
		errs = append(errs, p.Wait(deadline-boottime.Now()))
	}
	return errors.Join(append(errs, ctx.Err())...)
}

func (d *demo) killApps() {
	for _, p := range d.apps {
		p.Kill()
	}
}

// evidence waits until the servers have nothing taken any more, and asks them about every firing.
func (d *demo) evidence(ctx context.Context, f *faults) (*evidence, error) {
	ctx, cancel := context.WithTimeout(ctx, auditTime)
	defer cancel()
	var lives []*life
	for _, p := range d.apps {
		lives = append(lives, p.now())
	}
	e := &evidence{history: newHistory(lives), jobs: d.timetable, writes: d.store.history(), window: d.window, leaderless: f.leader.without}
	if _, err := d.freed(ctx, ""); err != nil {
		return nil, err
	}
	firings := map[firing]bool{}
	for _, j := range e.jobs {
		for _, due := range j.Due(e.window.from, e.window.until) {
			firings[firing{j.Name, due}] = true
		}
	}
	for claimed := range e.by {
		firings[claimed] = true
	}
	var err error
	e.asked = len(firings)
	e.claims, err = askClaims(ctx, d.client, firings)
	return e, err
}

// keep writes what the applications told beside the servers' logs, for those who look closer.
func (d *demo) keep() {
	for i, p := range d.apps {
		var lines bytes.Buffer
		out := json.NewEncoder(&lines)
		for _, rec := range p.Records() {
			_ = out.Encode(rec) // into memory
		}
		file := filepath.Join(d.dir, fmt.Sprintf("%s-%d", p.Name, i))
		err := os.WriteFile(file+".jsonl", lines.Bytes(), 0o600)
		if said := p.Said(); said != "" {
			err = errors.Join(err, os.WriteFile(file+".log", []byte(said), 0o600))
		}
		if err != nil {
			fmt.Fprintln(d.out, err)
		}
	}
}

// until waits for a part of the demo's length to have passed.
func (d *demo) until(ctx context.Context, part float64) error {
	select {
	case <-time.After(d.began + time.Duration(part*float64(d.length)) - boottime.Now()):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// await waits until it is so.
func await(ctx context.Context, what string, so func() (bool, error)) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := so(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for %s: %w", what, ctx.Err())
		}
	}
}

// say prints what happened, with the time since the applications began.
func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.out, "%5.1fs  %s\n", (boottime.Now() - d.began).Seconds(), fmt.Sprintf(format, args...))
}
