// Command soak keeps three servers saturated for a long time and looks for growth in memory, goroutines and the size of
// the data directories. It also checks three guarantees: no permit that is kept alive is lost, no call fails, and no
// leader is elected after the first one, unless the machine stalls for at least half of a leader's lease.
//
// It finishes by printing a table and drawing a plot, and exits with code 1 on growth or a broken guarantee. Growth is
// meaningful only once a server's event history is full, so the first quarter of the run is ignored, and growth is not
// judged in a run shorter than ten minutes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/program"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

func main() { program.Main("soak", command) }

// soak holds the command's options.
type soak struct {
	out      io.Writer
	bin      string
	length   time.Duration
	every    time.Duration
	load     sizes
	profile  string
	plotFile string
	jsonFile string
}

// report holds the results of a run.
type report struct {
	Length  float64  `json:"seconds"`
	Profile string   `json:"profile"`
	Load    sizes    `json:"load"`
	Done    counts   `json:"done"`
	Servers []string `json:"servers"`
	// Samples holds one sample of all servers per interval.
	Samples []sample `json:"samples"`
	Growth  []growth `json:"growth,omitempty"`
	// Judged reports whether the run was long enough for Growth to be meaningful.
	Judged bool     `json:"judged"`
	Broken []string `json:"broken"`
	// Machine lists the elections caused by stalls of the machine.
	Machine []string `json:"machine,omitempty"`
}

func command(ctx context.Context, args []string, out io.Writer) error {
	s := soak{out: out}
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.StringVar(&s.bin, "bin", "bin", "directory that contains gatekeeperd")
	flags.DurationVar(&s.length, "for", time.Hour, "length of the run")
	flags.DurationVar(&s.every, "every", 0, "interval between samples; 0 for 240 samples, at least one second apart")
	flags.StringVar(&s.profile, "profile", "default", "the servers' timing profile, default or fast")
	flags.IntVar(&s.load.Workers, "workers", 48, "callers that acquire and release, as fast as they can")
	flags.IntVar(&s.load.Denied, "denied", 16, "callers that request held permits, as fast as they can")
	flags.IntVar(&s.load.Queued, "queued", 20, "callers that wait in one queue")
	flags.IntVar(&s.load.Kept, "kept", 1000, "permits that are kept alive")
	flags.IntVar(&s.load.Watchers, "watchers", 20, "watch streams")
	flags.StringVar(&s.plotFile, "plot", "bin/soak.svg", "file for the plot; empty for none")
	flags.StringVar(&s.jsonFile, "json", "bin/soak.json", "file for the results as JSON; empty for none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.length <= 0 || s.every < 0 {
		return errors.New("-for must be greater than 0, and -every must not be negative")
	}
	if s.every == 0 {
		s.every = max(s.length/240, time.Second)
	}
	return s.run(ctx)
}

func (s *soak) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "gatekeeper-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cluster, err := servers.Start(ctx, servers.Options{Binary: filepath.Join(s.bin, "gatekeeperd"), Dir: dir, Count: 3, Profile: s.profile})
	if err != nil {
		return err
	}
	defer cluster.Kill()
	r, err := s.soak(ctx, cluster)
	if err != nil {
		return err
	}
	if err := cluster.Stop(); err != nil {
		r.Broken = append(r.Broken, err.Error())
	}
	return s.publish(r)
}

// soak runs the load for the requested time.
func (s *soak) soak(ctx context.Context, cluster *servers.Cluster) (*report, error) {
	c, err := client.Dial(ctx, cluster.Endpoints(), client.WithGroup("soak"), client.WithAcquirer("soak"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // it never returns an error
	l := newLoad(c, s.load)
	if err := l.prepare(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(s.out, "three servers, %v: %s\n", s.length, s.load)
	workCtx, stop := context.WithCancel(ctx)
	defer stop()
	l.start(workCtx)
	var stallRecorder stalls
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	watching.Go(func() { stallRecorder.watch(workCtx) })

	r := &report{Profile: s.profile, Load: s.load}
	for _, server := range cluster.Servers {
		r.Servers = append(r.Servers, server.ID)
	}
	start := time.Now()
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for time.Since(start) < s.length {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		latest, err := takeSample(ctx, cluster)
		if err != nil {
			return nil, err
		}
		latest.At, latest.Done, latest.Stall = time.Since(start).Seconds(), l.done(), stallRecorder.take().Seconds()
		r.Samples = append(r.Samples, latest)
	}
	stop()
	l.end()
	r.Length, r.Done = time.Since(start).Seconds(), l.done()
	r.judge(l.failures())
	return r, nil
}

// publish prints the report, writes its files, and returns an error if a guarantee was broken.
func (s *soak) publish(r *report) error {
	r.print(s.out)
	if err := program.SaveJSON(s.jsonFile, r); err != nil {
		return err
	}
	if s.plotFile != "" {
		if err := os.WriteFile(s.plotFile, r.plot(), 0o600); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "plot written to %s\n", s.plotFile)
	}
	var errs []error
	for _, text := range r.Broken {
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}
