// Package child starts this program again as a separate process that writes an account. The account can be read at any
// time, even after the process has been killed.
package child

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

	"github.com/gatekeeperd/gatekeeper/deploy/internal/account"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// Process is a child process and its account, whose records are of type R. Kill and Wait must be called from one
// goroutine. The other methods are safe for concurrent use.
type Process[R any] struct {
	// Name is used in messages.
	Name string

	cmd    *exec.Cmd
	done   chan struct{} // closed when the process has exited and its account has been read
	err    error         // exit error; valid after done
	stderr bytes.Buffer  // valid after done
	killed time.Duration

	mu      sync.Mutex // guards records
	records []R
}

// Start starts this program with args. The process is killed when ctx is done or this program exits.
func Start[R any](ctx context.Context, name string, args []string) (*Process[R], error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &Process[R]{Name: name, done: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, self, args...)
	p.cmd.ExtraFiles = []*os.File{w} // descriptor account.File
	p.cmd.Stderr = &p.stderr
	servers.DieWithParent(p.cmd)
	err = p.cmd.Start()
	w.Close() // the child has its own copy
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		defer close(p.done)
		defer r.Close()
		err := account.Read(r, func(rec R) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.records = append(p.records, rec)
		})
		p.err = errors.Join(err, p.cmd.Wait())
	}()
	return p, nil
}

// Records returns the records written so far.
func (p *Process[R]) Records() []R {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.records[:len(p.records):len(p.records)]
}

// Stderr waits until the process has exited and returns what it wrote to standard error.
func (p *Process[R]) Stderr() string {
	<-p.done
	return p.stderr.String()
}

// Signal sends a signal to the process.
func (p *Process[R]) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Kill kills the process (SIGKILL). After Kill returns, the process no longer relies on any permit, and Records
// returns all of its records.
func (p *Process[R]) Kill() {
	_ = p.Signal(syscall.SIGKILL) // it may have exited already
	<-p.done
	p.killed = boottime.Now()
}

// Killed returns the time on the shared clock by which the process was dead, or 0 if it was not killed.
func (p *Process[R]) Killed() time.Duration { return p.killed }

// Wait waits for the process to exit. If that takes too long, it kills the process and returns an error. Otherwise, it
// returns the exit error, or nil if the process had already been killed.
func (p *Process[R]) Wait(within time.Duration) error {
	select {
	case <-p.done:
	case <-time.After(within):
		p.Kill()
		return fmt.Errorf("%s did not exit\n%s", p.Name, &p.stderr)
	}
	if p.err != nil && p.killed == 0 {
		return fmt.Errorf("%s: %w\n%s", p.Name, p.err, &p.stderr)
	}
	return nil
}

// Await waits for a matching record and returns the first one. It fails if the process exits first.
func (p *Process[R]) Await(ctx context.Context, what string, match func(R) bool) (R, error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for seen, ended := 0, false; ; {
		records := p.Records()
		for _, r := range records[seen:] {
			if match(r) {
				return r, nil
			}
		}
		seen = len(records)
		var none R
		if ended {
			return none, errors.Join(fmt.Errorf("%s exited before %s\n%s", p.Name, what, &p.stderr), p.err)
		}
		select {
		case <-tick.C:
		case <-p.done:
			ended = true // check once more, because the record may be among the last ones
		case <-ctx.Done():
			return none, fmt.Errorf("no record of %s: %w", what, ctx.Err())
		}
	}
}
