// Package stage contains the parts that the demo's scenarios share: three servers, processes that record their beliefs,
// faults, and a report based on those records.
package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/child"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/program"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Stage is a run of a scenario. Its methods must be called from one goroutine.
type Stage struct {
	Report
	// Out receives the report. nil means standard output.
	Out               io.Writer
	Bin, Dir, Profile string
	JSON              string
	// Duration is the duration of every permit.
	Duration time.Duration
	// Length is how long the scenario takes, if that is fixed.
	Length time.Duration

	Cluster   *servers.Cluster
	Client    *client.Client
	Processes []*Process // in start order
	// Epoch is the start of the scenario on the shared clock.
	Epoch time.Duration
}

// Process is a process in the scenario.
type Process struct{ *child.Process[Record] }

// Life returns the records that the process has written so far.
func (p *Process) Life() *Life {
	return &Life{Name: p.Name, Records: p.Records(), Killed: p.Killed()}
}

// Flags defines the flags shared by all scenarios.
func (s *Stage) Flags(f *flag.FlagSet, duration time.Duration) {
	f.StringVar(&s.Bin, "bin", "bin", "directory that contains gatekeeperd and gkctl")
	f.DurationVar(&s.Duration, "duration", duration, "duration of every permit; a dead holder keeps its slots for that long")
	f.StringVar(&s.Profile, "profile", "default", "the servers' timing profile, default or fast")
	f.StringVar(&s.Dir, "dir", "", "directory for the servers' data and logs and the processes' records, which are kept; default is a temporary directory")
	f.StringVar(&s.JSON, "json", "", "file for the report as JSON; empty for none")
}

// Run runs a scenario, prints its report, and saves it if JSON is set. The returned error lists the violations.
func (s *Stage) Run(ctx context.Context, play func(context.Context) error) error {
	if s.Out == nil {
		s.Out = os.Stdout
	}
	if s.Dir == "" {
		dir, err := os.MkdirTemp("", "gatekeeper-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		s.Dir = dir
	}
	defer s.close()
	if err := play(ctx); err != nil {
		return err
	}
	s.print(s.Out)
	return errors.Join(program.SaveJSON(s.JSON, s.Report), s.Verdict())
}

func (s *Stage) close() {
	for _, p := range s.Processes {
		p.Kill()
	}
	s.saveAccounts()
	if s.Client != nil {
		_ = s.Client.Close() // it holds no permits
	}
	if s.Cluster != nil {
		s.Cluster.Kill()
	}
}

// Serve starts three servers with the given definitions, using Duration as the permits' duration. It removes max_hold
// and expect_every, because their values suit jobs that run for hours, whereas the scenarios run for seconds.
func (s *Stage) Serve(ctx context.Context, defs []*gatekeeperv1.Definition) error {
	for _, def := range defs {
		def.MaxHold, def.ExpectEvery, def.Duration = nil, nil, durationpb.New(s.Duration)
	}
	text, err := deffile.Marshal(defs)
	if err != nil {
		return err
	}
	file := filepath.Join(s.Dir, "definitions.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	startCtx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s.Cluster, err = servers.Start(startCtx, servers.Options{
		Binary: filepath.Join(s.Bin, "gatekeeperd"), Dir: s.Dir, Count: 3, Profile: s.Profile, Definitions: file,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "three servers at %s, definitions: %d, permit duration: %v\n", strings.Join(s.Cluster.Endpoints(), ", "), len(defs), s.Duration)
	s.Client, err = client.Dial(ctx, s.Cluster.Endpoints())
	return err
}

// Start starts another instance of this program as a part of the scenario. The part reads its settings with Begin.
func (s *Stage) Start(ctx context.Context, part, name string, settings any) (*Process, error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	p, err := child.Start[Record](ctx, name, []string{part, string(text)})
	if err != nil {
		return nil, err
	}
	s.Processes = append(s.Processes, &Process{p})
	return s.Processes[len(s.Processes)-1], nil
}

// Lives returns the records that each process has written so far.
func (s *Stage) Lives() []*Life {
	var lives []*Life
	for _, p := range s.Processes {
		lives = append(lives, p.Life())
	}
	return lives
}

// End sends the processes a signal, unless signal is nil, and waits for them to exit normally.
func (s *Stage) End(ctx context.Context, signal os.Signal, within time.Duration) error {
	errs := []error{ctx.Err()}
	for _, p := range s.Processes {
		if signal != nil {
			_ = p.Signal(signal) // the process may have been killed
		}
	}
	for deadline, i := boottime.Now()+within, 0; i < len(s.Processes); i++ {
		errs = append(errs, s.Processes[i].Wait(deadline-boottime.Now()))
	}
	return errors.Join(errs...)
}

// KillLeader kills the leader. It returns the server and the time of its death.
func (s *Stage) KillLeader(ctx context.Context) (*servers.Server, time.Duration, error) {
	leader, err := s.Cluster.Leader(ctx)
	if err != nil {
		return nil, 0, err
	}
	leader.Kill()
	s.Logf("killed the leader, %s (kill -9)", leader.ID)
	return leader, boottime.Now(), nil
}

// Held returns the number of permits that matching acquirers hold, according to the servers.
func (s *Stage) Held(ctx context.Context, match func(acquirer string) bool) (int, error) {
	var n int
	for p, err := range s.Client.AllHolders(ctx, &gatekeeperv1.ListHoldersRequest{}) {
		if err != nil {
			return 0, err
		}
		if match(p.GetIdentity().GetAcquirer()) {
			n++
		}
	}
	return n, nil
}

// Logf prints an event with the time since Epoch.
func (s *Stage) Logf(format string, args ...any) {
	fmt.Fprintf(s.Out, "%5.1fs  %s\n", (boottime.Now() - s.Epoch).Seconds(), fmt.Sprintf(format, args...))
}

// Until waits until a fraction of Length has passed since Epoch.
func (s *Stage) Until(ctx context.Context, part float64) error {
	return SleepUntil(ctx, s.Epoch+time.Duration(part*float64(s.Length)))
}

// SleepUntil waits until a time on the shared clock.
func SleepUntil(ctx context.Context, at time.Duration) error {
	select {
	case <-time.After(at - boottime.Now()):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Await waits until cond returns true or an error.
func Await(ctx context.Context, what string, cond func() (bool, error)) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := cond(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		}
	}
}

// saveAccounts writes the processes' accounts next to the servers' logs.
func (s *Stage) saveAccounts() {
	for i, p := range s.Processes {
		var lines bytes.Buffer
		out := json.NewEncoder(&lines)
		for _, r := range p.Records() {
			_ = out.Encode(r) // writing to memory never fails
		}
		file := filepath.Join(s.Dir, fmt.Sprintf("%s-%d", p.Name, i))
		err := os.WriteFile(file+".jsonl", lines.Bytes(), 0o600)
		if stderr := p.Stderr(); stderr != "" {
			err = errors.Join(err, os.WriteFile(file+".log", []byte(stderr), 0o600))
		}
		if err != nil {
			fmt.Fprintln(s.Out, err)
		}
	}
}
