// Package child starts this program again, as a separate process that writes an account, and has what the account says
// at any moment, also after the process was killed.
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

// Process is a process and the account that it writes, of records R. Kill and Wait are called from one goroutine,
// everything else from any.
type Process[R any] struct {
	// Name is for people.
	Name string

	cmd    *exec.Cmd
	done   chan struct{} // closed when it has ended and its account was read
	err    error         // how it ended; after done
	stderr bytes.Buffer  // after done
	killed time.Duration

	mu      sync.Mutex // guards records
	records []R
}

// Start starts this program with args. The process ends with ctx, and with this one.
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
	w.Close() // the process has its own
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

// Records are those that it has written so far.
func (p *Process[R]) Records() []R {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.records[:len(p.records):len(p.records)]
}

// Said is what it has written to its standard error, once it has ended.
func (p *Process[R]) Said() string {
	<-p.done
	return p.stderr.String()
}

// Signal sends it a signal.
func (p *Process[R]) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Kill is kill -9. Once it has returned the process believes nothing, and all that it has written is in Records.
func (p *Process[R]) Kill() {
	_ = p.Signal(syscall.SIGKILL) // it may have exited already
	<-p.done
	p.killed = boottime.Now()
}

// Killed is when it was gone after Kill, by the shared clock; 0 when it was not killed.
func (p *Process[R]) Killed() time.Duration { return p.killed }

// Wait waits for its end, which must be a good one unless it was killed.
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

// Await waits until it has written a record like this, and returns the first one. It fails when the process ends
// before.
func (p *Process[R]) Await(ctx context.Context, what string, like func(R) bool) (R, error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for seen, ended := 0, false; ; {
		records := p.Records()
		for _, r := range records[seen:] {
			if like(r) {
				return r, nil
			}
		}
		seen = len(records)
		var none R
		if ended {
			return none, errors.Join(fmt.Errorf("%s ended before %s\n%s", p.Name, what, &p.stderr), p.err)
		}
		select {
		case <-tick.C:
		case <-p.done:
			ended = true // the record may be among its last ones
		case <-ctx.Done():
			return none, fmt.Errorf("waited in vain for %s: %w", what, ctx.Err())
		}
	}
}
