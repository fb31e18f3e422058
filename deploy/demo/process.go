package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
	"github.com/gatekeeperd/gatekeeper/deploy/servers"
)

// hostProcess is a host as the demo has it: a process, and the account that it writes.
type hostProcess struct {
	name string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended and its account was read
	err  error         // how it ended; after done

	stderr bytes.Buffer // after done
	killed time.Duration

	mu      sync.Mutex // guards records
	records []record
}

// startHosts starts the hosts of every group.
func (d *demo) startHosts(ctx context.Context, jobs []samples.Job) error {
	groups := clusters(jobs)
	for _, group := range groups {
		for i := range d.hosts {
			p, err := startHost(ctx, &host{
				name: fmt.Sprintf("%s-%d", group, i+1), group: group, endpoints: d.cluster.Endpoints(),
				table: d.table, length: d.length,
			})
			if err != nil {
				return err
			}
			d.running = append(d.running, p)
		}
	}
	fmt.Fprintf(d.out, "%d hosts in %d groups, each a process; an hour of the timetable takes %v\n", len(d.running), len(groups), d.hour)
	return nil
}

func startHost(ctx context.Context, h *host) (*hostProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &hostProcess{name: h.name, done: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, self, h.args()...)
	p.cmd.ExtraFiles = []*os.File{w} // descriptor 3
	p.cmd.Stderr = &p.stderr
	servers.DieWithParent(p.cmd)
	err = p.cmd.Start()
	w.Close() // the process has its own
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("start host %s: %w", h, err)
	}
	go func() {
		defer close(p.done)
		defer r.Close()
		err := read(r, func(rec record) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.records = append(p.records, rec)
		})
		p.err = errors.Join(err, p.cmd.Wait())
	}()
	return p, nil
}

// kill is kill -9. Once it has returned the host believes nothing.
func (p *hostProcess) kill() {
	_ = p.signal(syscall.SIGKILL) // it may have ended by itself
	<-p.done
	p.killed = boottime.Now()
}

func (p *hostProcess) signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// holds is how many permits the host believes to hold now.
func (p *hostProcess) holds() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var n int
	for _, r := range p.records {
		switch r.Event {
		case eventGranted:
			n++
		case eventEnded:
			n--
		}
	}
	return n
}

// life is the host's account, once it has ended.
func (p *hostProcess) life() life { return life{host: p.name, records: p.records, killed: p.killed} }

// wait waits for the host's end, which must be a good one unless it was killed.
func (p *hostProcess) wait(within time.Duration) error {
	select {
	case <-p.done:
	case <-time.After(within):
		p.kill()
		return fmt.Errorf("host %s did not end by itself\n%s", p.name, &p.stderr)
	}
	if p.err != nil && p.killed == 0 {
		return fmt.Errorf("host %s: %w\n%s", p.name, p.err, &p.stderr)
	}
	return nil
}

// busiest is the living host that holds most.
func (d *demo) busiest() *hostProcess {
	best := d.running[0]
	for _, p := range d.running {
		if p.holds() > best.holds() {
			best = p
		}
	}
	return best
}

// endHosts waits for the hosts to finish what runs, and returns their accounts.
func (d *demo) endHosts(ctx context.Context) ([]life, error) {
	var lives []life
	var errs []error
	deadline := boottime.Now() + lastMinutes
	for _, p := range d.running {
		errs = append(errs, p.wait(deadline-boottime.Now()))
		lives = append(lives, p.life())
	}
	return lives, errors.Join(append(errs, ctx.Err())...)
}

func (d *demo) killHosts() {
	for _, p := range d.running {
		p.kill()
	}
}
